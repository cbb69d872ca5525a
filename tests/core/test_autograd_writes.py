# SPDX-License-Identifier: MIT
"""Writes in place: part of the history, or caught when a rule needs what is gone."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc.errors import GradError


def leaf(*values):
    return ac.tensor(list(values), requires_grad=True)


def test_a_recorded_write_becomes_part_of_the_history():
    x = leaf(1.0, 2.0)
    y = x * 1
    y.mul_(3)
    y += x
    y.sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]


def test_a_tensor_without_history_takes_one():
    w, x = leaf(2.0), ac.tensor([5.0])
    x.mul_(w)
    assert x.requires_grad
    x.backward()
    assert w.grad.item() == 5.0


@pytest.mark.parametrize(
    "overwrite",
    [
        lambda y: y.zero_(),
        lambda y: y.fill_(3.0),
        lambda y: y.copy_(ac.ones(2)),
        lambda y: y.uniform_(),
        lambda y: y.normal_(),
    ],
)
def test_what_was_overwritten_has_the_gradient_0(overwrite):
    x = leaf(1.0, 2.0)
    y = x * 2
    overwrite(y)
    assert y.requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_a_write_with_a_rule_that_saves_what_is_overwritten():
    x = leaf(2.0, 3.0)
    y = x * 1
    y.mul_(y)
    y.mul_(x)
    y.clamp_(max=20.0)
    y.sum().backward()
    assert x.grad.tolist() == [12.0, 0.0]
    y = x * 1
    y.div_(x * 2)
    y.sum().backward()
    assert x.grad.tolist() == [12.0, 0.0]


@pytest.mark.parametrize("write", [ac.Tensor.clamp_, ac.Tensor.clip_])
def test_limits_get_a_gradient_though_what_is_limited_has_none(write):
    low, high = leaf(0.0, 0.0), leaf(1.0, 1.0)
    y = write(ac.tensor([-1.0, 2.0]), min=low, max=high)
    y.sum().backward()
    assert low.grad.tolist() == [1.0, 0.0]
    assert high.grad.tolist() == [0.0, 1.0]
    y = ac.ones(2).clip_(low, high)
    assert y.requires_grad


def test_operands_by_name_are_seen():
    w = leaf(2.0, 3.0)
    y = ac.ones(2)
    y.addcmul_(tensor1=w, tensor2=w)
    y.sum().backward()
    assert w.grad.tolist() == [4.0, 6.0]
    x = leaf(2.0, 3.0)
    y = x * 1
    y.addcmul_(tensor1=y, tensor2=y)
    y.sum().backward()
    assert x.grad.tolist() == [5.0, 7.0]


def test_copies_carry_their_history():
    w = leaf(1.0, 2.0)
    y = ac.zeros(2)
    y.copy_(w)
    (y * y).sum().backward()
    assert w.grad.tolist() == [2.0, 4.0]


def test_a_leaf_is_not_written():
    x = leaf(1.0, 2.0)
    with pytest.raises(
        GradError, match=r"add_: a leaf Variable that requires grad is being"
    ):
        x.add_(1)
    with ac.no_grad():
        x.add_(1)
    assert x.tolist() == [2.0, 3.0]
    assert x.requires_grad


@pytest.mark.parametrize("through", ["itself", "view", "detach", "view of detach"])
def test_a_changed_saved_input_is_caught(through):
    x = leaf(1.0, 2.0)
    y = x * 1
    z = (y * y).sum()
    with ac.no_grad():
        if through == "itself":
            y += 1
        elif through == "view":
            y[0:1].zero_()
        elif through == "detach":
            y.detach().add_(1)
        else:
            y.detach().reshape(2, 1).fill_(0)
    message = (
        r"shape \(2,\) that `mul` needs was changed in place after.*version 1, saved "
        r"at version 0"
    )
    with pytest.raises(GradError, match=message):
        z.backward()


def test_a_changed_saved_output_is_caught():
    x = leaf(1.0, 2.0)
    y = x.exp()
    y.detach().mul_(2)
    with pytest.raises(GradError, match="`exp` needs was changed in place"):
        y.sum().backward()


def test_a_change_that_nobody_saved_is_harmless():
    x = leaf(1.0, 2.0)
    y = x + 1
    z = y * 2  # saves its factor only
    with ac.no_grad():
        y.mul_(100)
    z.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_a_changed_leaf_is_caught_as_well():
    w = leaf(1.0)
    y = w * w
    with ac.no_grad():
        w -= 1
    with pytest.raises(GradError, match="changed in place"):
        y.backward()


def test_a_write_before_the_save_is_fine():
    x = leaf(1.0, 2.0)
    y = x * 1
    y += 1
    y += 1
    (y * y).sum().backward()
    assert x.grad.tolist() == [6.0, 8.0]
