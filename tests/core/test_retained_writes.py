# SPDX-License-Identifier: MIT
"""`retain_grad` before a write in place: it keeps the gradient of what there is now."""

from __future__ import annotations

import pytest

import autocalc as ac

pytestmark = pytest.mark.core


def written(write):
    """Return the gradients of a tensor that was written into, and of its origin."""
    x = ac.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    write(y)
    (y * ac.tensor([1.0, 10.0])).sum().backward()
    return y.grad.tolist(), x.grad.tolist()


def test_a_write_of_the_whole():
    assert written(lambda y: y.mul_(3)) == ([1.0, 10.0], [6.0, 60.0])


def test_a_write_of_a_part():
    def write(y):
        y[0] = 5.0

    assert written(write) == ([1.0, 10.0], [0.0, 20.0])


def test_a_write_by_a_view():
    assert written(lambda y: y[1:].mul_(3)) == ([1.0, 10.0], [2.0, 60.0])


def test_a_view_that_retains():
    x = ac.ones(2, requires_grad=True)
    y = x * 2
    part = y[1:]
    part.retain_grad()
    y.mul_(3)
    (part * 10).sum().backward()
    assert part.grad.tolist() == [10.0]
    assert x.grad.tolist() == [0.0, 60.0]


def test_asked_again_after_the_write():
    def write(y):
        y.mul_(3)
        y.retain_grad()

    assert written(write)[0] == [1.0, 10.0]


def test_other_hooks_stay_with_what_was():
    seen = []
    x = ac.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda grad: seen.append(grad.tolist()))
    y.mul_(3)
    y.sum().backward()
    assert seen == [[3.0, 3.0]]
