# SPDX-License-Identifier: MIT
"""The states of optimizers: what `load_state_dict` keeps, and what it converts."""

from __future__ import annotations

import copy
import io

import pytest

import autocalc as ac
from autocalc.errors import ArgumentError

pytestmark = pytest.mark.core

#: Settings with which an optimizer keeps all that it can keep.
SETTINGS = {
    "Adam": {"amsgrad": True},
    "AdamW": {"amsgrad": True},
    "LBFGS": {"max_iter": 3},
    "Muon": {"momentum": 0.9},
    "RMSprop": {"momentum": 0.9, "centered": True},
    "SGD": {"momentum": 0.9},
}
NAMES = sorted(
    name
    for name in ac.optim.__all__
    if isinstance(getattr(ac.optim, name), type)
    # SparseAdam takes sparse gradients: tests/sparse/test_sparse_gradients.py.
    and name not in ("Optimizer", "SparseAdam", "ZeroRedundancyOptimizer")
)
HALF = ac.bfloat16
#: What they keep of a parameter that is a matrix.
KEPT = {
    "ASGD": {"step", "ax", "eta", "mu"},
    "Adadelta": {"step", "square_avg", "acc_delta"},
    "Adafactor": {"step", "row_var", "col_var"},
    "Adagrad": {"step", "sum"},
    "Adamax": {"step", "exp_avg", "exp_inf"},
    "Lion": {"exp_avg"},
    "Muon": {"momentum_buffer"},
    "NAdam": {"step", "exp_avg", "exp_avg_sq", "mu_product"},
    "RAdam": {"step", "exp_avg", "exp_avg_sq"},
    "RMSprop": {"step", "square_avg", "momentum_buffer", "grad_avg"},
    "Rprop": {"step", "prev", "step_size"},
    "SGD": {"momentum_buffer"},
}


class Kept(ac.optim.Optimizer):
    """Keeps its state in float32, whatever the parameters are."""

    def __init__(self, params, lr=0.1):
        super().__init__(params, {"lr": lr})

    @ac.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["step"] = ac.tensor(0.0)
                    state["mean"] = ac.zeros(p.shape)
                    state["rows"] = ac.zeros(p.shape[0], dtype=ac.float64)
                    state["mask"] = ac.ones(p.shape, dtype=ac.bool)
                    state["nested"] = {"last": [ac.zeros(p.shape), None]}
                    state["nothing"] = None
                state["step"] += 1
                state["mean"].lerp_(p.grad.float(), 0.001)
                state["rows"] += p.grad.double().sum(-1)
                state["nested"]["last"][0].copy_(p.grad)
                p.sub_((group["lr"] * state["mean"]).to(p.dtype))
        self.state["calls"] = self.state.get("calls", 0) + 1


def trained(make, dtype=HALF, steps=3):
    w = ac.arange(6.0).reshape(2, 3).to(dtype).requires_grad_()
    optimizer = make([w])
    for _ in range(steps):
        step(optimizer, w)
    return w, optimizer


def step(optimizer, w):
    def closure():
        optimizer.zero_grad()
        loss = ((w - 1) ** 2).sum()
        loss.backward()
        return loss

    optimizer.step(closure) if isinstance(optimizer, ac.optim.LBFGS) else (
        closure(),
        optimizer.step(),
    )


def saved(optimizer):
    file = io.BytesIO()
    ac.save(optimizer.state_dict(), file)
    file.seek(0)
    return ac.load(file)


def test_the_state_of_an_optimizer_of_ones_own_is_kept_as_it_was_saved():
    w, optimizer = trained(Kept)
    v = w.detach().clone().requires_grad_()
    other = Kept([v])
    state = copy.deepcopy(optimizer.state_dict())
    other.load_state_dict(state)
    found, wanted = other.state[v], optimizer.state[w]
    assert found.keys() == wanted.keys()
    for name in ("step", "mean", "rows", "mask"):
        assert found[name].dtype == wanted[name].dtype
        assert found[name].equal(wanted[name])
    assert found["nothing"] is None
    assert found["nested"]["last"][0].dtype == ac.float32
    assert other.state["calls"] == 3
    for _ in range(3):
        step(optimizer, w)
        step(other, v)
    assert v.equal(w)
    assert other.state[v]["mean"].equal(optimizer.state[w]["mean"])
    before = state["state"][0]["nested"]["last"][0]
    assert not before.equal(other.state[v]["nested"]["last"][0])  # nothing is shared


def test_what_a_class_of_ones_own_adds_to_an_optimizer_is_kept():
    class Averaged(ac.optim.AdamW):
        def step(self, closure=None):
            super().step(closure)
            for p in self.param_groups[0]["params"]:
                self.state[p].setdefault("average", ac.zeros(p.shape)).lerp_(
                    p.detach().float(), 0.01
                )

    w, optimizer = trained(Averaged)
    other = Averaged([v := w.detach().clone().requires_grad_()])
    other.load_state_dict(saved(optimizer))
    assert other.state[v]["average"].dtype == ac.float32
    assert other.state[v]["average"].equal(optimizer.state[w]["average"])
    step(optimizer, w)
    step(other, v)
    assert v.equal(w)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("old", "new"), [(ac.float32, HALF), (HALF, ac.float32)])
def test_autocalcs_optimizers_convert_to_the_dtype_of_the_parameters(name, old, new):
    def make(params):
        return getattr(ac.optim, name)(params, **SETTINGS.get(name, {}))

    w, optimizer = trained(make, old)
    v = w.detach().to(new).requires_grad_()
    other = make([v])
    other.load_state_dict(optimizer.state_dict())
    kept, had = other.state[v], optimizer.state[w]
    assert kept.keys() == had.keys()
    tensors = {n for n, x in kept.items() if isinstance(x, ac.Tensor)}
    converted = tensors - {"step", "eta", "mu", "mu_product"}  # which are numbers
    assert all(
        kept[n].dtype == new and kept[n].equal(had[n].to(new)) for n in converted
    )
    assert converted
    step(other, v)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [HALF, ac.float32])
def test_a_saved_training_goes_on(name, dtype):
    """Also in an optimizer that was made with other settings."""
    w, optimizer = trained(
        lambda params: getattr(ac.optim, name)(params, **SETTINGS.get(name, {})), dtype
    )
    assert optimizer.state[w].keys() == KEPT.get(name, optimizer.state[w].keys())
    v = w.detach().clone().requires_grad_()
    other = getattr(ac.optim, name)([v], lr=7.0)
    other.load_state_dict(saved(optimizer))
    for _ in range(5):
        step(optimizer, w)
        step(other, v)
    assert v.equal(w)


@pytest.mark.parametrize("name", NAMES)
def test_a_step_counts_as_a_write(name):
    w = ac.full((3, 2), 2.0, requires_grad=True)
    loss = (w * w).sum()
    step(getattr(ac.optim, name)([w]), w)
    with pytest.raises(ac.errors.GradError, match="`mul` needs was changed in"):
        loss.backward()


@pytest.mark.parametrize("name", sorted({*NAMES} - {"LBFGS"}))
def test_a_late_parameter_counts_its_own_steps(name):
    params = [ac.ones(2, 1, requires_grad=True) for _ in range(2)]
    optimizer = getattr(ac.optim, name)(params)
    for p in params:
        for _ in range(3):
            p.grad = ac.tensor([[1.0], [-2.0]])
            optimizer.step()
        p.grad = None
    assert params[0].tolist() == params[1].tolist() != [[1], [1]]


def test_what_all_parameters_share_is_saved_by_zero_redundancy_too():
    w = ac.ones(2, 2, requires_grad=True)
    optimizer = ac.optim.ZeroRedundancyOptimizer([w], Kept)
    step(optimizer, w)
    optimizer.consolidate_state_dict()
    assert optimizer.state_dict()["state"]["calls"] == 1


def matrices():
    return [ac.nn.Parameter(ac.ones(3, 2)), ac.nn.Parameter(ac.ones(2, 2))]


@pytest.mark.parametrize("name", NAMES)
def test_named_parameters_go_into_groups_and_states(name):
    optimizer = getattr(ac.optim, name)
    plain = optimizer(matrices(), lr=0.1, **SETTINGS.get(name, {}))
    params = matrices()
    pairs = zip(["a", "b"], params, strict=True)
    named = optimizer(pairs, lr=0.1, **SETTINGS.get(name, {}))
    (group,) = named.param_groups
    assert group["params"][0] is params[0]
    assert group["param_names"] == ["a", "b"]
    assert named.state_dict()["param_groups"][0]["param_names"] == ["a", "b"]
    plain.load_state_dict(named.state_dict())  # names that are loaded are kept
    assert plain.param_groups[0]["param_names"] == ["a", "b"]
    unnamed = optimizer(matrices(), lr=0.1, **SETTINGS.get(name, {})).state_dict()
    named.load_state_dict(unnamed)  # and those that are there stay
    assert named.param_groups[0]["param_names"] == ["a", "b"]


def test_a_groups_parameters_are_named_or_not():
    a, b = matrices()
    advice = r"SGD: some parameters have names and others do not; give model\.named"
    with pytest.raises(ArgumentError, match=advice):
        ac.optim.SGD([("a", a), b])
    sgd = ac.optim.SGD([("a", a)])
    with pytest.raises(ArgumentError, match=advice):
        sgd.add_param_group({"params": [b]})
    sgd.add_param_group({"params": [("b", b)]})
    assert [group["param_names"] for group in sgd.param_groups] == [["a"], ["b"]]
    with pytest.raises(
        TypeError, match=r"`params\[0\]` is a tuple of 3; it must be a n"
    ):
        ac.optim.SGD([("a", a, b)])
    with pytest.raises(ArgumentError, match="is given twice"):
        ac.optim.SGD([("a", a), ("b", a)])
