# SPDX-License-Identifier: MIT
"""Anomaly mode: errors that name the operator and the line that recorded it."""

from __future__ import annotations

import re
import warnings

import pytest
from tests.operator_table import Node, Version

import autocalc as ac
from autocalc.autograd import detect_anomaly, set_detect_anomaly
from autocalc.errors import AutocalcWarning, GradError

pytestmark = [
    pytest.mark.core,
    pytest.mark.filterwarnings("ignore:detect_anomaly. anomaly mode is on"),
]

HERE = re.escape(__file__) + r":\d+, in "


def test_the_mode_says_that_it_is_on():
    with pytest.warns(AutocalcWarning, match="detect_anomaly: anomaly mode is on"):
        detect_anomaly()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with set_detect_anomaly(True):
            pass


def root_of_zero():
    x = ac.tensor([0.0, 1.0], requires_grad=True)
    y = x.sqrt()
    return (y * 0).sum()


@pytest.mark.parametrize("create_graph", [False, True])
def test_the_operator_that_gave_nan_is_named(create_graph):
    with detect_anomaly():
        loss = root_of_zero()
        match = (
            r"Function 'sqrtBackward' returned nan values in its 0th output\. The "
            r"output has shape \(2,\) and comes from output gradients without NaN.*"
            rf"{HERE}root_of_zero: `y = x\.sqrt"
        )
        with pytest.raises(GradError, match=match):
            loss.backward(create_graph=create_graph)


def test_nan_passes_where_it_is_not_looked_for():
    root_of_zero().backward()
    with detect_anomaly(check_nan=False):
        assert not ac.is_anomaly_check_nan_enabled()
        root_of_zero().backward()


def test_a_cotangent_with_nan_is_no_fault_of_the_operator():
    x = ac.ones(2, requires_grad=True)
    with (
        detect_anomaly(),
        pytest.raises(GradError, match=r"'mulBackward'.*that hold NaN"),
    ):
        (x * 2).backward(ac.tensor([0.0, float("nan")]))


def test_parts_of_a_tensor_are_looked_at():
    x = ac.zeros(3, requires_grad=True)
    with detect_anomaly(), pytest.raises(GradError, match=r"'sliceBackward'.*`x\[0\]"):
        x[0].backward(ac.tensor(float("nan")))


def test_a_change_in_place_names_both_lines():
    x = ac.ones(2, requires_grad=True)
    with detect_anomaly():
        y = (x * 2).exp()
        with ac.no_grad():
            y.add_(1)
        match = (
            r"shape \(2,\) that `exp` needs was changed in place.*version 1, saved at "
            rf"version 0.*last change was at {HERE}\w+: `y\.add_\(1\)`\. It was "
            rf"recorded at {HERE}\w+: `y = \(x \* 2\)\.exp\(\)`\."
        )
        with pytest.raises(GradError, match=match):
            y.sum().backward()


def test_outside_of_the_mode_the_error_says_how_to_know():
    x = ac.ones(2, requires_grad=True)
    y = x.exp()
    with ac.no_grad():
        y.add_(1)
    with pytest.raises(GradError, match=r"version 1.*detect_anomaly\(\) around"):
        y.sum().backward()


class Broken(ac.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return {}["nothing"]


def test_a_rule_that_fails_is_named():
    x = ac.ones(2, requires_grad=True)
    with detect_anomaly():
        y = Broken.apply(x)
        match = (
            rf"rule of `Broken` failed with KeyError: 'nothing'\..*{HERE}\w+: `y = Br"
        )
        with pytest.raises(GradError, match=match) as caught:
            y.sum().backward()
    assert isinstance(caught.value.__cause__, KeyError)


def test_what_was_recorded_before_has_no_line():
    x = ac.ones(2, requires_grad=True)
    y = Broken.apply(x)
    with (
        detect_anomaly(),
        pytest.raises(GradError, match="recorded outside of detect_"),
    ):
        y.sum().backward()


def test_the_mode_ends_and_leaves_nothing_behind():
    plain = Node.__init__
    assert not ac.is_anomaly_enabled()
    with detect_anomaly(), set_detect_anomaly(True, check_nan=False), detect_anomaly():
        assert ac.is_anomaly_enabled()
        assert Node.__init__ is not plain
    set_detect_anomaly(True)
    try:
        assert ac.is_anomaly_enabled()
        assert ac.is_anomaly_check_nan_enabled()
    finally:
        set_detect_anomaly(False)
    assert Node.__init__ is plain
    assert "__setattr__" not in vars(Version)
