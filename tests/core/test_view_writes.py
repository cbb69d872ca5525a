# SPDX-License-Identifier: MIT
"""Writes through views and indices while gradients are recorded."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, GradError, KernelDataError, ShapeError
from autocalc.testing import gradcheck, gradgradcheck

pytestmark = pytest.mark.core


def leaf(*sizes, seed=0):
    values = np.random.default_rng(seed).normal(size=sizes)
    return ac.tensor(values, requires_grad=True)


def a_number_into_a_column(x, v):
    y = x * x
    y[:, 0] *= 2
    return y


def a_part_of_itself(x, v):
    y = x * x
    y[1] = (y[0] * 1) * (y[2] * 1)
    y[1:] = y[:-1]
    return y * y


def numbers_where_a_mask_holds(x, v):
    y = x * x
    y[y.detach() > 0.5] = 0.3
    y[ac.tensor([True, False, True])] += 1
    return y * y


def values_where_a_mask_holds(x, v):
    y = x * 1
    y[np.eye(3, 4, dtype=bool)] = v[0, :3] * v[1, :3]
    y[:, np.array([True, False, False, True])] = v[0, :2]
    return y * y


def index_tensors(x, v):
    y = x * x
    y[[0, 2], 1:3] = v[:, :2] * v[:, 2:]
    y[[0, 1], [-1, 0]] = v[0, :2]
    y[..., [[0], [3]]] = 2.0
    y[[1, 1, 1]] = ac.stack([v[0] * 2, v[1] * 3, v[0] * v[1]])
    return y * y


def into_a_tensor_without_history(x, v):
    y = ac.zeros(3, 4, dtype=ac.float64)
    for i in range(3):
        y[i] = x[i] * i
    row = y[1]
    row += v[0] * v[1]
    y.t()[0, 0] = v[0, 0]
    return y * y


def views_that_were_there_before(x, v):
    y = x * x
    row, flat, column = y[1], y.view(-1), y.mT[2]
    row.mul_(3).add_(v[0])
    flat[::5].copy_(v[0, :3])
    column.fill_(0.7)
    y.mul_(2)
    return ac.cat([row, flat, column, y[2]]) * ac.cat([row, flat, column, y[2]])


def a_view_whose_base_is_gone(x, v):
    row, other = (x * x).unsqueeze(0)[0], None
    other = row[1]
    row[1] = v[0]
    row.t()[0].mul_(v[1, :3])
    return ac.cat([row.reshape(-1), other]) * 2


def a_base_that_is_no_row_major_array(x, v):
    y = ac.from_numpy(np.ones((3, 4)).T[:, ::2])
    y[0] = v[0, :2]
    y.t()[1].mul_(x[0])
    z = ac.from_numpy(np.ones((3, 4))[:, :3])
    z.mul_(x[:, 1:])
    z[:, ::2].view(6)[1:3].mul_(v[0, :2])  # in a compact copy it would be no view
    return ac.cat([y.reshape(-1), z.reshape(-1)]) ** 2


def a_view_made_without_recording(x, v):
    y = x * x
    with ac.no_grad():
        row = y[0]
    row.mul_(v[0])
    return y * y


def a_broadcast_value(x, v):
    y = x * 1
    y[:] = v[0]
    y[0:2, 1:] = v[:, :1]
    y[2] = v[1:2].unsqueeze(0)
    y[0, 0] = v[1, 1]
    return y * y


PROGRAMS = [
    a_number_into_a_column,
    a_part_of_itself,
    numbers_where_a_mask_holds,
    values_where_a_mask_holds,
    index_tensors,
    into_a_tensor_without_history,
    views_that_were_there_before,
    a_view_whose_base_is_gone,
    a_base_that_is_no_row_major_array,
    a_view_made_without_recording,
    a_broadcast_value,
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients(program):
    inputs = leaf(3, 4), leaf(2, 4, seed=1)
    assert gradcheck(program, inputs)
    assert gradgradcheck(program, inputs)


VIEWS = [
    lambda t: t[0],
    lambda t: t[1:],
    lambda t: t[..., -1],
    lambda t: t[..., ::2],
    lambda t: t.mT if t.ndim > 1 else t.unsqueeze(1),
    lambda t: t.unsqueeze(0),
    lambda t: t.permute(*reversed(range(t.ndim))),
]
WRITES = [
    lambda t, v: t.mul_(1.5),
    lambda t, v: t.mul_(v),
    lambda t, v: t.add_(t.clone() * v),
    lambda t, v: t.fill_(0.25),
    lambda t, v: t.copy_(v * v),
    lambda t, v: t.sigmoid_(),
    lambda t, v: t.__setitem__(t.detach() > 0.4, v),
    lambda t, v: t.__setitem__((..., [0, -1]), v),
]


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed):
    """Ten views and writes in any order; all views are looked at in the end."""

    def program(x, v):
        rng = np.random.default_rng(seed)
        y = (x * x).reshape(2, 3, 2) if seed % 2 else ac.zeros_like(x)
        alive = [y]
        for _ in range(10):
            t = alive[rng.integers(len(alive))]
            if rng.random() < 0.4 and t.ndim and t.shape[0] > 1:
                alive.append(VIEWS[rng.integers(len(VIEWS))](t))
            elif t.ndim:
                WRITES[rng.integers(len(WRITES))](t, v[rng.integers(3)] * 1)
        weights = rng.normal(size=len(alive))
        return ac.stack(
            [(t * t).sum() * w for t, w in zip(alive, weights, strict=True)]
        )

    assert gradcheck(program, (leaf(12, seed=seed), leaf(3, seed=seed + 1)))


def test_writes_are_counted_and_saved_arrays_guarded():
    x = leaf(3)
    y = x * 1
    z = y[1:] * y[1:]
    y[0] = 5.0
    with pytest.raises(GradError, match="`mul` needs was changed in place"):
        z.sum().backward()
    y = x * 1
    z = y.exp()
    z[:2][0] += 1
    with pytest.raises(GradError, match="`exp` needs was changed in place"):
        z.sum().backward()


def test_a_leaf_and_its_views_are_refused():
    w = leaf(3)
    view = w[1:]
    with pytest.raises(GradError, match="fill_: a view of a leaf Variable"):
        w[0] = 1.0
    with pytest.raises(GradError, match="mul_: a view of a leaf Variable"):
        view.mul_(2)
    with pytest.raises(GradError, match="a leaf"):
        w[[0, 1]] = 1.0
    with ac.no_grad():
        w[0] = 5.0
        view.fill_(2.0)
        w[w > 4] += 1
    assert w.tolist() == [6.0, 2.0, 2.0]


def test_memory_that_is_shared_by_unknown_ways_is_refused():
    class Same(ac.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[:2]

        @staticmethod
        def backward(ctx, g):
            return ac.cat([g, g[:1] * 0])

    y = leaf(3) * 1
    z = Same.apply(y)
    for t in (y, z, y[1:]):
        with pytest.raises(GradError, match="a Function that returned its input"):
            t.mul_(2)
    one = (leaf(1) * 1).expand(1)
    with pytest.raises(GradError, match=r"shares its memory with another by expand"):
        one.mul_(2)


def test_a_view_that_became_a_leaf_stands_alone():
    base = ac.zeros(3)
    view = base[1:].requires_grad_()
    base.add_(leaf(3).float())
    assert view.is_leaf
    assert view.requires_grad
    (view * 2).sum().backward()
    assert view.grad.tolist() == [2.0, 2.0]


def test_other_storage_ends_the_relation():
    base = ac.zeros(3)
    view = base[1:]
    view.data = ac.ones(2)
    view.mul_(leaf(2).float())
    assert not base.requires_grad
    history = leaf(3) * 1
    part = history[1:]
    part.detach_()
    part.mul_(2)
    assert not part.requires_grad


def test_errors_of_assignment():
    x = ac.zeros(2, 3)
    with pytest.raises(ShapeError, match=r": the values have shape \(2,\), but the"):
        x[0] = ac.ones(2)
    with pytest.raises(
        ShapeError, match=r"a mask of shape \(3,\) is given for the dimensions 0 to 0"
    ):
        x[ac.tensor([True, False, True])] = 1
    with pytest.raises(KernelDataError, match=r"`index\[1\]` holds 3 at element 1"):
        x[[0, 1], [0, 3]] = 1
    with pytest.raises(ArgumentError, match="is expanded"):
        ac.ones(1).expand(3)[0:2] = ac.ones(2)


def test_views_do_not_keep_each_other():
    gc.collect()
    gc.disable()
    try:
        base = ac.zeros(4)
        views = [weakref.ref(base[i % 4]) for i in range(100)]
        assert not any(one() for one in views)
        assert len(base._view.views) <= 32
        gone = weakref.ref(base)
        view = base[1:]
        del base
        assert gone() is not None  # its view needs it
        del view
        assert gone() is None
    finally:
        gc.enable()


def test_an_assignment_into_integers_and_booleans():
    x = ac.arange(6).reshape(2, 3)
    x[0] = 7
    x[1, [0, 2]] = ac.tensor([8, 9])
    x[x == 4] = -1
    assert x.tolist() == [[7, 7, 7], [8, -1, 9]]
    x[:, 1] = [1.9, 2.2]
    assert x[:, 1].tolist() == [1, 2]
    b = ac.zeros(3, dtype=ac.bool)
    b[[0, 2]] = True
    assert b.tolist() == [True, False, True]
