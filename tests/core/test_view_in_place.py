# SPDX-License-Identifier: MIT
"""Tensors that become views of themselves: ``t_``, ``squeeze_`` and their like."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc.errors import GradError


def test_shapes_change_and_memory_stays():
    x = ac.arange(6).reshape(1, 2, 3).clone()
    place = x.data_ptr()
    assert x.squeeze_() is x
    assert x.t_().shape == (3, 2)
    assert x.unsqueeze_(-1).shape == (3, 2, 1)
    assert x.transpose_(0, 2).shape == x.clone().swapaxes_(0, 1).swapdims_(0, 1).shape
    assert x.shape == (1, 2, 3)
    assert x.data_ptr() == place
    assert x.reshape(-1).tolist() == list(range(6))


def test_views_made_before_follow_what_is_written():
    w = ac.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    x = w * 1
    row = x[0]
    x.t_()
    x[0] *= 10  # the first column of what x was
    assert row.tolist() == [10, 2]
    (x.sum() + row.sum()).backward()
    assert w.grad.tolist() == [[20, 2], [10, 1]]


def test_a_view_of_a_view():
    w = ac.ones(2, 3, requires_grad=True)
    base = w * 1
    part = base[:, 1:]
    part.t_()
    part[0] *= 5
    base.sum().backward()
    assert w.grad.tolist() == [[1, 5, 1], [1, 5, 1]]


def test_leaves():
    w = ac.ones(2, 3, requires_grad=True)
    with pytest.raises(GradError, match=r"t_: a leaf of shape \(2, 3\) that requires"):
        w.t_()
    with ac.no_grad():
        w.t_()
    (w * 2).sum().backward()
    assert w.grad.shape == w.shape == (3, 2)
