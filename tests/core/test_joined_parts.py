# SPDX-License-Identifier: MIT
"""Gradients of parts of a tensor: joined without sums, where they fill it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.dispatcher import arrays, common_storage, reshaped_view, slice_ranges

import autocalc as ac
from autocalc.nn import functional

SHAPE = (3, 6, 2)


def summed(shape: tuple[int, ...], parts: list[tuple[Any, Any]]) -> Any:
    """Add the parts to zeros, one by one."""
    total = np.zeros(shape)
    for index, value in parts:
        total[index] += value
    return total


class Calls:
    """Counts the calls of kernels."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
        self.count = dict.fromkeys(names, 0)
        for name in names:
            monkeypatch.setattr(arrays, name, self._counted(name))

    def _counted(self, name: str) -> Any:
        kernel = getattr(arrays, name)

        def call(*args: Any, **words: Any) -> Any:
            self.count[name] += 1
            return kernel(*args, **words)

        return call


@pytest.mark.parametrize(
    "indices",
    [
        [(slice(None), slice(0, 2), ...), (slice(None), slice(2, 6), ...)],
        [(slice(None), slice(2, 6), ...), (slice(None), slice(0, 2), ...)],
        [(2, ...), (0, ...), (-2, ...)],
    ],
)
def test_parts_that_fill_the_whole_are_copied(
    indices: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    values = [(i, np.random.default_rng(0).random(SHAPE)[i]) for i in indices]
    calls = Calls(monkeypatch, "copy", "add", "fill")
    out, owned = arrays.joined(SHAPE, values)
    assert owned
    assert np.array_equal(out, summed(SHAPE, values))
    assert calls.count == {"copy": len(values), "add": 0, "fill": 0}


@pytest.mark.parametrize(
    "indices",
    [
        [(slice(0, 2), ...)],  # a gap
        [(slice(0, 2), ...), (slice(1, 3), ...)],  # an overlap
        [(slice(0, 2), ...), (slice(None), slice(0, 3), ...)],  # crosswise
        [(slice(None, None, 2), ...), (slice(1, None, 2), ...)],  # in turns
        [(slice(0, 2), slice(0, 3), ...), (slice(2, 3), ...)],  # of two dimensions
        [(slice(None), ...), (slice(None), ...)],  # all, twice
        [(slice(2, 1), ...), (slice(0, 3), ...)],  # nothing, and all
        [(None, slice(0, 1)), (None, slice(1, 3))],  # with a new dimension
    ],
)
def test_other_parts_are_added_to_zeros(indices: list[Any]) -> None:
    values = [(i, np.random.default_rng(0).random(SHAPE)[i]) for i in indices]
    assert slice_ranges(SHAPE, indices) is None
    out, owned = arrays.joined(SHAPE, values)
    assert owned
    assert np.array_equal(out, summed(SHAPE, values))


def test_parts_of_one_memory_are_the_result() -> None:
    memory = np.random.default_rng(0).random((2, 5, 6, 3))  # [B, S, 3H, D]
    turned = memory.transpose(0, 2, 1, 3)
    indices = [(slice(None), slice(i, i + 2), ...) for i in (0, 2, 4)]
    out, owned = arrays.joined((2, 6, 5, 3), [(i, turned[i]) for i in indices])
    assert not owned  # others may see it
    assert np.shares_memory(out, memory)
    assert np.array_equal(out, turned)
    assert out.strides == turned.strides


@pytest.mark.parametrize("odd", ["order", "memory", "strides", "size", "dtype"])
def test_parts_elsewhere_are_no_such_memory(odd: str) -> None:
    memory = np.random.default_rng(0).random((4, 3) if odd != "size" else (5, 3))
    values = [memory[0:2], memory[2:4]]
    places = slice_ranges((4, 3), [(slice(0, 2), ...), (slice(2, 4), ...)])
    assert places is not None
    if odd == "order":
        values.reverse()
    elif odd == "memory":
        values[1] = memory.copy()[2:4]
    elif odd == "strides":
        values[1] = memory.ravel()[6:].reshape(3, 2).T
    elif odd == "dtype":
        values = [value.view(np.int64) for value in values]
    assert common_storage((4, 3), places, values) is None


def test_gradient_of_parts_used_beside_the_whole() -> None:
    x = ac.randn(4, 6, dtype=ac.float64, requires_grad=True)
    y = x * 1.0  # no leaf: parts wait for each other
    a, b = y[:, :2], y[:, 2:]
    loss = (a * a).sum() + (y * y * y).sum() + (b * 3.0).sum()
    grads = ac.autograd.grad(loss, (x, y, a, b))
    expected = 3 * x.detach().numpy() ** 2
    expected[:, :2] += 2 * x.detach().numpy()[:, :2]
    expected[:, 2:] += 3
    np.testing.assert_allclose(grads[0].numpy(), expected, rtol=1e-14)
    np.testing.assert_allclose(grads[1].numpy(), expected, rtol=1e-14)
    np.testing.assert_array_equal(grads[2].numpy(), 2 * a.detach().numpy())
    np.testing.assert_array_equal(grads[3].numpy(), np.full((4, 4), 3.0))


def test_overlapping_parts_do_not_wait_for_each_other() -> None:
    x = ac.ones(50, requires_grad=True)
    y = x * 2.0
    total = ac.zeros(())
    for i in range(50):
        total = total + y[i:].sum()
    total.backward()
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.numpy(), 2 * np.arange(1.0, 51.0))


def projected(x: Any, heads: int) -> Any:
    """Attend with queries, keys and values from one tensor [B, S, 3 * H * D]."""
    batch, length, width = x.shape
    every = x.reshape(batch, length, 3 * heads, width // 3 // heads)
    q, k, v = every.permute(0, 2, 1, 3).split(heads, 1)
    return functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def test_attention_leaves_nothing_to_join(monkeypatch: pytest.MonkeyPatch) -> None:
    x = ac.randn(2, 5, 24, requires_grad=True)
    calls = Calls(monkeypatch, "add", "copy", "fill")
    seed = ac.randn(2, 2, 5, 4)
    projected(x * 1.0, 2).backward(seed)
    assert calls.count == {"add": 0, "copy": 0, "fill": 0}
    assert x.grad is not None
    apart = ac.tensor(x.detach().numpy(), requires_grad=True)
    parts = [apart[..., 8 * i : 8 * i + 8].clone() for i in range(3)]
    q, k, v = (part.reshape(2, 5, 2, 4).permute(0, 2, 1, 3) for part in parts)
    out = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    out.backward(seed)
    assert apart.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), apart.grad.numpy(), rtol=1e-5, atol=1e-6)


def test_gradients_of_a_projection() -> None:
    x = ac.randn(1, 3, 12, dtype=ac.float64, requires_grad=True)
    assert ac.testing.gradcheck(lambda x: projected(x * 1.0, 2), (x,))
    assert ac.testing.gradgradcheck(lambda x: projected(x * 1.0, 2), (x,))


@pytest.mark.parametrize(
    ("axes", "shape", "possible"),
    [
        ((0, 2, 1, 3), (2, 4, 15), False),
        ((0, 1, 3, 2), (6, 5, 4), True),
        ((0, 1, 3, 2), (2, 3, 20), False),
        ((1, 0, 2, 3), (3, 2, 2, 2, 5), True),
        ((1, 0, 2, 3), (3, 2, 20, 1), True),
        ((0, 1, 2, 3), (120,), True),
    ],
)
def test_reshaped_view(
    axes: tuple[int, ...], shape: tuple[int, ...], possible: bool
) -> None:
    a = np.arange(120.0).reshape(2, 3, 4, 5).transpose(axes)
    view = reshaped_view(a, shape)
    assert (view is not None) is possible
    if view is not None:
        assert np.shares_memory(view, a)
        assert np.array_equal(view, a.reshape(shape))


def test_reshaped_view_of_repeated_and_empty() -> None:
    assert reshaped_view(np.broadcast_to(np.ones(3), (4, 3)), (2, 2, 3)) is not None
    assert reshaped_view(np.broadcast_to(np.ones(3), (4, 3)), (12,)) is None
    empty = reshaped_view(np.ones((0, 3, 2)).transpose(2, 1, 0), (0, 7))
    assert empty is not None
    assert empty.shape == (0, 7)
