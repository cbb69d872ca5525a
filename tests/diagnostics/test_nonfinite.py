# SPDX-License-Identifier: MIT
"""The operator that made the first NaN or infinity."""

from __future__ import annotations

import pytest
from tests.diagnostics.marked import marked

import autocalc as ac
from autocalc import nn
from autocalc.diagnostics import find_nonfinite
from autocalc.errors import ArgumentError, CompileError, NonFiniteError

pytestmark = pytest.mark.core


class Root(nn.Module):
    def forward(self, x):
        return x.sqrt()  # root


def test_a_backward_rule_is_named_with_the_line_of_its_forward():
    x = ac.tensor([0.0, 4.0], requires_grad=True)
    model = nn.Sequential(Root(), nn.Identity())
    wrong = pytest.raises(NonFiniteError, match=r"backward: `sqrt`")
    with wrong as caught, find_nonfinite():
        (model(x) * 0).sum().backward()
    found = caught.value.finding
    assert (found.phase, found.operator) == ("backward", "sqrt")
    assert (found.layer, found.module) == ("0", "Root")
    assert (found.line.file, found.line.number) == (__file__, marked(__file__, "root"))


def test_nothing_is_found_where_all_is_finite():
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.LayerNorm(8), nn.Linear(8, 2))
    adam = ac.optim.AdamW(net.parameters())
    with find_nonfinite() as found:
        net(ac.randn(5, 4)).square().mean().backward()
        adam.step()
    assert found.first is None
    assert repr(found) == "find_nonfinite: nothing was found."


def test_an_update_is_named():
    p = ac.full((3,), 3e38, requires_grad=True)
    p.grad = ac.full((3,), -3e38)
    sgd = ac.optim.SGD([p], lr=10.0)
    wrong = pytest.raises(NonFiniteError, match=r"update: `sgd")
    with wrong as caught, find_nonfinite():
        sgd.step()  # update
    found = caught.value.finding
    assert found.phase == "update"
    assert found.line.number == marked(__file__, "update")
    # The parameters before they were overwritten.
    assert all(one.finite for one in found.inputs)
    assert found.inputs[0].high == pytest.approx(3e38)


def test_nan_in_the_data_is_said_to_come_from_outside():
    x = ac.tensor([1.0, float("nan")])
    with find_nonfinite(stop=False) as found:
        (x * 2 + 1).exp()
    assert len(found.findings) == 1
    assert (found.first.operator, found.first.made) == ("mul", False)
    assert "was given NaN from outside" in repr(found)


def test_masks_are_no_finding():
    mask = ac.tensor([[True, False], [False, False]])
    with find_nonfinite() as found:
        scores = ac.randn(2, 2).masked_fill(mask, float("-inf"))
        scores.softmax(-1).sum()
        ac.full((2,), float("inf")) + 1.0
    assert found.findings == []


def test_all_that_make_some_are_listed_without_stop():
    x = ac.tensor([0.0, 1.0])
    with find_nonfinite(stop=False) as found:
        x.log() * x
        (1.0 / x).sin()
    assert [one.operator for one in found.findings] == ["log", "mul", "div", "sin"][
        : len(found.findings)
    ]
    assert [one.kind for one in found.findings][:2] == ["inf", "nan"]


def test_a_composite_is_seen_as_one_operator():
    """What its decomposition computes on the way is its own affair."""
    x = ac.full((2, 3), float("-inf"))
    with ac.kernels.use("reference"), find_nonfinite(stop=False) as found:
        ac.nn.functional.softmax(x, -1)
    assert [one.operator for one in found.findings] == ["softmax"]


def test_findings_print_as_tables_and_are_plain_data():
    x = ac.tensor([0.0, 1.0])
    with find_nonfinite(stop=False) as found:
        x.log()
    data = found.first.to_dict()
    assert data["operator"] == "log"
    assert data["inputs"][0]["shape"] == [2]
    assert data["line"]["file"] == __file__
    text = repr(found.first)
    assert "forward: `log` gave infinity at " in text
    assert "operand" in text
    assert "<table>" in found.first._repr_html_()


def test_anomaly_mode_is_put_back():
    with ac.autograd.set_detect_anomaly(True):
        with find_nonfinite():
            assert ac.is_anomaly_enabled()
        assert ac.is_anomaly_enabled()
        assert ac.is_anomaly_check_nan_enabled()
    assert not ac.is_anomaly_enabled()


def test_blocks_can_stand_in_each_other():
    with find_nonfinite(stop=False) as outer, find_nonfinite(stop=False) as inner:
        ac.zeros(2).log()
    assert len(outer.findings) == len(inner.findings) == 1


def test_wrong_flags_are_refused():
    with pytest.raises(ArgumentError, match="find_nonfinite: `stop` is 'yes'"):
        find_nonfinite(stop="yes")
    with pytest.raises(ArgumentError, match="find_nonfinite: `inf` is 3"):
        find_nonfinite(inf=3)


def test_a_block_in_a_recorded_function_is_refused():
    @ac.compile
    def step(x):
        with find_nonfinite():
            return x + 1

    with pytest.raises(CompileError, match="find_nonfinite: this runs in a function"):
        step(ac.ones(2))


def test_nobody_pays_who_does_not_look():
    from tests.dispatcher import Decomposed

    from autocalc.diagnostics import _calls

    with find_nonfinite():
        assert Decomposed.compute is _calls._watched_compute
    assert Decomposed.compute is _calls._compute
    assert Decomposed.__call__ is _calls._call


def test_what_is_added_into_counts_as_given():
    from tests.dispatcher import arrays

    x, rstd = ac.ones(2, 3)._array, ac.ones(2, 1)._array
    into = ac.full((2, 3), float("nan"))._array, None
    with find_nonfinite(stop=False) as found:
        arrays.rms_norm_backward(x, x, rstd, None, want=1, accumulate=1, into=into)
    assert [one.made for one in found.findings] == [False]
    assert found.first.kernel == "rms_norm_backward"
    assert (found.first.inputs[0].name, found.first.inputs[0].nan) == ("dx", 6)


@pytest.mark.parametrize("dtype", [ac.float16, ac.bfloat16])
def test_halves_are_looked_at_after_they_are_rounded(dtype):
    x = ac.tensor([1.0, 80.0], dtype=dtype, requires_grad=True)
    with find_nonfinite(stop=False) as found:
        y = x.exp() * 2
    large = dtype is ac.float16  # the largest is 65504
    # The exponential is computed in float32, which the gradient needs, and rounded.
    assert [one.operator for one in found.findings] == (["copy"] if large else [])
    if large:
        assert found.first.outputs[0].dtype == "float16"
        assert found.first.outputs[0].inf == 1
    with find_nonfinite(inf=False, stop=False) as found:
        (y - y).sum().backward()
    # Infinity minus itself; the gradient is that of the numbers before the rounding.
    made = [(one.phase, one.operator) for one in found.findings]
    assert made == ([("forward", "sub")] if large else [])


def test_a_cast_that_overflows_is_named():
    with find_nonfinite(stop=False) as found:
        ac.full((2,), 1e6).half()
    calls = [(one.operator, one.kernel, one.kind) for one in found.findings]
    assert calls == [("to", "copy", "inf")]
