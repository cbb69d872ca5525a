# SPDX-License-Identifier: MIT
"""What the recurrent kernels share: checks, the order of steps, products of all steps.

Sequences are ``[T, B, I]``: step, example, feature, with any strides, so that a
permuted view of ``[B, T, I]`` is one.  A kernel is one layer in one direction; weights
have G blocks of H rows, one for each gate.  The products with `w_ih`, and all those of
the weights' gradients, are one matrix product for all steps; the product with `w_hh`
is one for each step, since each needs the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autocalc._kernels.rules import expect_ndim, expect_shape, float_dtype
from autocalc._kernels.spec import Array, DType, Meta, Shape, Work
from autocalc._kernels.work import nbytes


def check(
    name: str,
    gates: int,
    x: Meta,
    w_ih: Meta,
    w_hh: Meta,
    b_ih: Meta | None,
    b_hh: Meta | None,
    **states: Meta,
) -> tuple[DType, int, int, int]:
    """Raise unless the operands fit; return (dtype, steps, batch, hidden)."""
    dtype = float_dtype(name, x, w_ih, w_hh, b_ih, b_hh, *states.values())
    expect_ndim(name, "x", x, 3)
    expect_ndim(name, "w_hh", w_hh, 2)
    steps, batch, features = x.shape
    hidden = w_hh.shape[1]
    expect_shape(name, "w_hh", w_hh, (gates * hidden, hidden))
    expect_shape(name, "w_ih", w_ih, (gates * hidden, features))
    expect_shape(name, "b_ih", b_ih, (gates * hidden,))
    expect_shape(name, "b_hh", b_hh, (gates * hidden,))
    for word, meta in states.items():
        expect_shape(name, word, meta, (batch, hidden))
    return dtype, steps, batch, hidden


def order(steps: int, reverse: bool) -> range:
    """Return the steps in the order in which they are taken."""
    return range(steps - 1, -1, -1) if reverse else range(steps)


def products(steps: int, batch: int, features: int, hidden: int, gates: int) -> float:
    """Return the multiplications and additions of the products of one pass."""
    return 2.0 * steps * batch * gates * hidden * (features + hidden)


def work(
    rule: Callable[..., Any], gates: int, each: float, kept: int = 1
) -> Callable[..., Work]:
    """Return what a forward call costs: `each` operations for a state's element.

    Of what the rule answers, the first `kept` outputs are always written.
    """

    def count(x: Meta, *rest: Any) -> Work:
        outs = rule(x, *rest)
        outs = (outs,) if isinstance(outs, Meta) else outs[:kept]
        return _work(1, x, outs[0].shape[2], gates, each, (x, *rest, *outs))

    return count


def backward_work(
    rule: Callable[..., Any], gates: int, each: float, x: int = 1
) -> Callable[..., Work]:
    """Return what a backward call costs, whose operand `x` is the layer's input."""

    def count(*args: Any) -> Work:
        hidden = args[0].shape[2]
        return _work(2, args[x], hidden, gates, each, (*args, *rule(*args)))

    return count


def _work(
    passes: int, x: Meta, hidden: int, gates: int, each: float, operands: Sequence[Any]
) -> Work:
    steps, batch, features = x.shape
    flops = passes * products(steps, batch, features, hidden, gates)
    metas = [a for a in operands if isinstance(a, Meta)]
    return Work(flops + each * steps * batch * hidden, nbytes(*metas))


# ---- in the array namespace ----------------------------------------------------------


def blocks(a: Array, gates: int) -> list[Array]:
    """Return the gates' blocks of the last dimension."""
    hidden = a.shape[-1] // gates
    return [a[..., i * hidden : (i + 1) * hidden] for i in range(gates)]


def projected(xp: Any, x: Array, w: Array, bias: Array | None) -> Array:
    """Return the products of all steps with the input's weights."""
    out = xp.matmul(x, w.T)
    return out if bias is None else out + bias


def joined(xp: Any, parts: dict[int, Array], like: Array, width: int) -> Array:
    """Return what each step made as one array ``[T, B, width]``."""
    if not parts:
        return xp.zeros((*like.shape[:2], width), like.dtype)
    return xp.stack([parts[t] for t in range(len(parts))])


def before(xp: Any, out: Array, first: Array, reverse: bool) -> Array:
    """Return the state that each step began with."""
    if not out.shape[0]:
        return out
    first = first[None]
    parts = [out[1:], first] if reverse else [first, out[:-1]]
    return xp.concatenate(parts)


def times(xp: Any, d: Array, a: Array) -> Array:
    """Return ``d^T a`` over all steps and examples: a weight's gradient."""
    rows = d.shape[0] * d.shape[1]
    return xp.matmul(d.reshape(rows, d.shape[2]).T, a.reshape(rows, a.shape[2]))


# ---- in primitives -------------------------------------------------------------------


def blocks_in(k: Any, a: Array, gates: int) -> list[Array]:
    """Return the same in the namespace `k`."""
    hidden = k.shape(a)[-1] // gates
    return [
        k.slice(a, (..., slice(i * hidden, (i + 1) * hidden))) for i in range(gates)
    ]


class Gates:
    """The activations of all gates at once, sigmoids being tanhs of other scales.

    sigmoid(a) = (1 + tanh(a / 2)) / 2: four kernels whatever the number of gates, where
    a sigmoid of its own takes nine.

    Parameters
    ----------
    sigmoids
        Which gates have a sigmoid; the others a tanh.
    """

    def __init__(
        self, k: Any, hidden: int, sigmoids: tuple[bool, ...], like: Array
    ) -> None:
        self.k = k
        self.scale = _for_each(k, hidden, sigmoids, (0.5, 1.0), like)
        self.shift = _for_each(k, hidden, sigmoids, (0.5, 0.0), like)

    def __call__(self, sums: Array) -> Array:
        """Return the activations of ``[B, gates * H]``."""
        k = self.k
        height = k.tanh(k.mul(sums, self.scale))
        return k.add(k.mul(height, self.scale), self.shift)


class Slopes:
    """The slopes of all gates at once, of their values.

    s (1 - s) of a sigmoid, (1 + a) (1 - a) of a tanh.
    """

    def __init__(
        self, k: Any, hidden: int, sigmoids: tuple[bool, ...], like: Array
    ) -> None:
        self.k = k
        self.shift = _for_each(k, hidden, sigmoids, (0.0, 1.0), like)

    def __call__(self, values: Array) -> Array:
        """Return the slopes of ``[B, gates * H]``."""
        k = self.k
        rest = k.add(k.neg(values), k.constant(1, values))
        return k.mul(k.add(values, self.shift), rest)


def _for_each(
    k: Any,
    hidden: int,
    sigmoids: tuple[bool, ...],
    numbers: tuple[float, float],
    like: Array,
) -> Array:
    """Return a number for each gate, H times: one for sigmoids, one for tanhs."""
    each = (numbers[0] if sigmoid else numbers[1] for sigmoid in sigmoids)
    return k.cat([k.full((hidden,), n, k.dtype(like)) for n in each], 0)


def slope_in(k: Any, s: Array, one: Array) -> Array:
    """Return s (1 - s), the slope of the sigmoid whose value is s."""
    return k.mul(s, k.add(one, k.neg(s)))


def step_of(k: Any, a: Array, t: int) -> Array:
    """Return step `t`, without the dimension of steps."""
    return k.slice(a, (t, ...))


def product_in(k: Any, a: Array, b: Array) -> Array:
    return k.gemm(a, b, None)[0]


def turned(k: Any, a: Array) -> Array:
    return k.permute(a, (1, 0))


def rows_of(k: Any, a: Array) -> Array:
    """Return ``[T, B, N]`` as a matrix of one row for each step and example."""
    steps, batch, width = k.shape(a)
    return k.reshape(a, (steps * batch, width))


def projected_in(k: Any, x: Array, w: Array, bias: Array | None) -> Array:
    out, _ = k.gemm(rows_of(k, x), turned(k, w), bias)
    return k.reshape(out, (*k.shape(x)[:2], k.shape(w)[0]))


def joined_in(k: Any, parts: dict[int, Array], shape: Shape, like: Array) -> Array:
    if not parts:
        return k.zeros(shape, k.dtype(like))
    one = (1, *shape[1:])
    return k.cat([k.reshape(parts[t], one) for t in range(len(parts))], 0)


def before_in(k: Any, out: Array, first: Array, reverse: bool) -> Array:
    steps = k.shape(out)[0]
    if not steps:
        return out
    first = k.reshape(first, (1, *k.shape(first)))
    inner = k.slice(out, slice(1, None) if reverse else slice(0, steps - 1))
    return k.cat([inner, first] if reverse else [first, inner], 0)


def times_in(k: Any, d: Array, a: Array) -> Array:
    return product_in(k, turned(k, rows_of(k, d)), rows_of(k, a))


def total_in(k: Any, d: Array) -> Array:
    """Sum over steps and examples: a bias's gradient."""
    return k.sum(rows_of(k, d), (0,), False)


def back_in(k: Any, d: Array, w: Array) -> Array:
    """Return ``d w`` for all steps: the input's gradient."""
    out = product_in(k, rows_of(k, d), w)
    return k.reshape(out, (*k.shape(d)[:2], k.shape(w)[1]))


def wanted(results: Sequence[Any], want: int) -> tuple[Any, ...]:
    """Call for those results that are wanted."""
    return tuple(make() if want >> i & 1 else None for i, make in enumerate(results))
