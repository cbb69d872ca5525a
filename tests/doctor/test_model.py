# SPDX-License-Identifier: MIT
"""What one step of a model shows: each planted fault is named, and a sound one not."""

from __future__ import annotations

import pytest
from tests.doctor.checks import model as checks
from tests.kernel_table import TABLE, adapt

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError
from autocalc.plugin import KernelSet

X = (ac.arange(64 * 6).reshape(64, 6) % 7 - 3).float()


def found(model, inputs=X, loss=None, level=None):
    """Return {subject: texts} of a step's findings."""
    result = {}
    for one in checks.examine(model, inputs, loss):
        if level is None or one.level == level:
            result.setdefault(one.subject, []).append(one.text)
    return result


def mlp():
    return nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 3))


def test_a_sound_model():
    findings = checks.examine(mlp(), X)
    assert {f.level for f in findings} == {"ok"}, findings
    subjects = ["gradients", "graph", "copies", "dead units", "subnormals"]
    assert [f.subject for f in findings] == subjects
    assert findings[0].text == "all 4 parameters get one"


def test_a_parameter_that_is_not_used():
    model = mlp()
    model.register_module("spare", nn.Linear(2, 2))
    model.forward = lambda x: model[2](model[1](model[0](x)))
    texts = found(model, level="warning")
    assert texts == {
        "gradients": ["2 of 6 parameters get none: spare.weight, spare.bias"]
    }


def test_zeros_as_gradients():
    model = mlp()
    texts = found(model, loss=lambda y: (y * 0).sum(), level="warning")
    assert texts["gradients"][0].startswith(
        "4 of 4 parameters get zeros only: 0.weight"
    )


def test_frozen_parameters_are_meant():
    model = mlp()
    model[0].requires_grad_(False)
    assert found(model)["gradients"] == ["all 2 parameters get one"]


def test_dead_units_are_named_with_their_module():
    model = mlp()
    with ac.no_grad():
        model[0].bias[:5] = -1e4
    texts = found(model, level="warning")["dead units"]
    assert texts == [
        "5 of 32 units in 1 are 0 for all 64 samples: no gradient passes them"
    ]


def test_dead_units_of_a_function(tmp_path):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(6, 4)

        def forward(self, x):
            return nn.functional.relu(self.inner(x) - 1e4)

    texts = [
        f.text
        for f in checks.examine(Net(), X, folder=__file__)
        if f.level == "warning"
    ]
    dead = next(text for text in texts if "units" in text)
    assert dead.startswith("4 of 4 units in the model, at ")
    assert "test_model.py" in dead
    assert "`return nn.functional.relu(self.inner(x) - 1e4)`" in dead


@pytest.mark.parametrize("kernels", ["", "maximum"])
def test_dead_units_whatever_kernel_runs(install, kernels):
    """A set that has the lead of relu's decomposition runs no kernel of that name."""
    impls = {name: adapt(TABLE[name]) for name in kernels.split()}
    sets = [KernelSet("mine", family="mine", load=lambda: impls, rank=900)]
    install(mine=sets)
    model = nn.Sequential(nn.Linear(6, 32), nn.ReLU6(), nn.Linear(32, 8), nn.ReLU())
    with ac.no_grad():
        for layer, dead in ((model[0], 5), (model[2], 2)):
            layer.bias.fill_(10.0)
            layer.bias[:dead] = -1e4
    texts = found(model, level="warning")["dead units"]
    assert [text.split(" are ")[0] for text in texts] == [
        "5 of 32 units in 1",
        "2 of 8 units in 3",
    ]


def test_few_samples_prove_nothing():
    model = mlp()
    with ac.no_grad():
        model[0].bias[:5] = -1e4
    texts = found(model, X[:4])["dead units"]
    assert texts == ["no ReLU was seen with enough samples"]


class Vanishing(nn.Module):
    """Multiplies by exponentials of which some are subnormal."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(6, 3)

    def forward(self, x):
        return self.inner(x) * (-30 * x[:, :3]).exp()


def test_subnormal_results_are_named():
    texts = found(Vanishing(), level="warning")["subnormals"]
    count = int((X[:, :3] == 3).sum())  # exp(-90)
    start = f"{count} of 192 results of exp in the model are below the normal numbers"
    assert any(text.startswith(start) for text in texts)


class Wasteful(nn.Module):
    """Computes a metric with history, and keeps it, as asked."""

    def __init__(self, keeps):
        super().__init__()
        self.inner, self.keeps, self.kept = nn.Linear(6, 3), keeps, []

    def forward(self, x):
        y = self.inner(x)
        metric = (y * y).sum()
        self.kept.append(metric if self.keeps else metric.item())
        self.metric = metric
        return y


def test_a_graph_that_nobody_needs():
    texts = found(Wasteful(False), level="warning")["graph"]
    told = "2 of 5 recorded operations do not lead to the loss: mul, sum"
    assert texts[0] == told
    assert texts[1].startswith("3 recorded operations live on")  # linear, mul, sum
    assert "live on after two steps" in texts[1]


def test_a_metric_without_history_is_fine():
    class Careful(Wasteful):
        def forward(self, x):
            y = self.inner(x)
            with ac.no_grad():
                self.metric = (y * y).sum()
            return y

    assert found(Careful(False), level="warning") == {}


def test_an_input_that_requires_a_gradient():
    x = X.clone().requires_grad_()
    assert (
        "an input requires a gradient" in found(mlp(), x, level="note")["gradients"][0]
    )


def test_copies_are_named_with_shape_and_place():
    class Turning(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(64, 3)

        def forward(self, x):
            return self.inner(x.t().contiguous())

    x = ac.randn(64, 512)
    texts = [t for t in found(Turning(), x)["copies"] if "(512, 64)" in t]
    assert len(texts) == 1
    assert texts[0].startswith("a copy of 0.12 MiB in the model: an operand of")
    assert "strides (4, 2048)" in texts[0]


def test_the_model_is_as_before():
    model = nn.Sequential(nn.Linear(6, 4), nn.BatchNorm1d(4), nn.Dropout(0.3))
    model[0].weight.grad = ac.ones(4, 6)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    state = ac.get_rng_state()
    checks.examine(model, X)
    assert all(
        bool((value == before[n]).all()) for n, value in model.state_dict().items()
    )
    assert bool((ac.get_rng_state() == state).all())
    assert model[0].weight.grad.sum().item() == 24
    assert model[0].bias.grad is None
    with ac.kernels.count() as calls:
        model(X)
    assert calls


@pytest.mark.parametrize(
    ("model", "loss", "message"),
    [
        (mlp, lambda y: y, r"the loss must be a tensor of one element; it is of shape"),
        (mlp, lambda y: 3, r"the loss must be a tensor of one element"),
        (mlp, lambda y: y.detach().sum(), r"the loss has no gradient history"),
        (nn.Flatten, None, r"the loss has no gradient history"),
    ],
)
def test_what_is_no_step(model, loss, message):
    with pytest.raises(ArgumentError, match=f"doctor: {message}"):
        checks.examine(model(), X, loss)


def test_an_output_without_a_tensor():
    class Odd(nn.Module):
        def forward(self, x):
            return "text"

    with pytest.raises(ArgumentError, match="doctor: the model returns a str; let"):
        checks.examine(Odd(), X)


def test_outputs_in_a_tuple_or_a_dict():
    class Many(nn.Module):
        def __init__(self, kind):
            super().__init__()
            self.inner, self.kind = nn.Linear(6, 2), kind

        def forward(self, x):
            y = self.inner(x)
            return {"y": (y, 3)} if self.kind is dict else (y, 3)

    for kind in (tuple, dict):
        assert found(Many(kind), level="warning") == {}
