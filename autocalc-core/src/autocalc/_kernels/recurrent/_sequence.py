# SPDX-License-Identifier: MIT
"""Steps, gates and error budgets that recurrent layers share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from autocalc._kernels import xp as numpy_xp
from autocalc._kernels.budgets import Inputs, magnitude, ulp
from autocalc._kernels.precision import narrow
from autocalc._kernels.rules import expect_ndim, expect_shape, float_dtype
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, DType, Meta, Sample, Work
from autocalc._kernels.work import nbytes

#: The roundings of an activation, including those of the parts of its formula.
ACTIVATION = 4


def numbers(operands: Inputs) -> Any:
    return [None if a is None else np.asarray(a, np.float64) for a in operands]


def optional_magnitude(a: Any) -> Any:
    return None if a is None else magnitude(a)


def projected(xp: Any, x: Array, w: Array, *biases: Array | None) -> Array:
    """Return the products of all steps' inputs with the input weights."""
    out = xp.matmul(x, w.T)
    for bias in biases:
        out = out if bias is None else out + bias
    return out


def carried(off: Array, w: Array) -> Array:
    """Bound the error of ``a w`` if the elements of a have the error `off`."""
    return np.sqrt(np.matmul(off**2, w**2))


class Sums:
    """The products of one call, and bounds of their errors."""

    def __init__(self, operands: Inputs, eps: float) -> None:
        x, w_ih, w_hh, b_ih, b_hh = map(optional_magnitude, operands)
        self.eps, self.w = eps, w_hh
        self.of_x = projected(np, x, w_ih, b_ih)
        self.off_x = (x.shape[2] + 3) * eps * self.of_x
        self.bias = 0.0 if b_hh is None else b_hh

    def off_h(self, h: Array, off: Array) -> Array:
        """Bound the error of ``w_hh h + b_hh`` if h has the error `off`."""
        size = np.matmul(np.abs(h), self.w.T) + self.bias
        return (self.w.shape[1] + 3) * self.eps * size + carried(off, self.w.T)

    def off(self, t: int, h: Array, off: Array) -> Array:
        """Bound the error of all sums of step `t`."""
        size = np.matmul(np.abs(h), self.w.T) + self.bias + self.of_x[t]
        return self.off_x[t] + self.off_h(h, off) + 2 * self.eps * size


def sigmoid(off: Array, value: Array, eps: float) -> Array:
    """Bound the error of a sigmoid with this value if its argument has the error `off`.

    A sigmoid may be computed from a tanh, whose rounding error is eps.  Gates are
    multiplied and added, so their error relative to 1 is relevant.
    """
    return off * (value * (1 - value) + off) + (ACTIVATION * value + 1) * eps


def tanh(off: Array, value: Array, eps: float) -> Array:
    return off * (1 - value**2 + off) + ACTIVATION * eps * np.abs(value)


def joined_steps(xp: Any, parts: dict[int, Array], like: Array, width: int) -> Array:
    """Return the results of all steps as one array ``[T, B, width]``."""
    if not parts:
        return xp.zeros((*like.shape[:2], width), like.dtype)
    return xp.stack([parts[t] for t in range(len(parts))])


def joined(parts: dict[int, Array], like: Array) -> Array:
    return joined_steps(np, parts, like, like.shape[2])


def states_before(xp: Any, out: Array, first: Array, reverse: bool) -> Array:
    """Return the state at the beginning of each step."""
    if not out.shape[0]:
        return out
    first = first.reshape(1, *first.shape)
    parts = [out[1:], first] if reverse else [first, out[:-1]]
    return xp.concatenate(parts)


def states_before_each_step(expected: Any, h0: Array, reverse: bool) -> Array:
    return states_before(np, np.asarray(expected, np.float64), h0, reverse)


def with_last(limits: Sequence[Any], expected: Inputs, eps: float) -> list[Any]:
    """Add the rounding error of the result to the limits."""
    return [
        None if e is None else limit + ulp(e, eps)
        for limit, e in zip(limits, expected, strict=True)
    ]


TEXT = "K eps of the products' terms in each step, carried through the next ones"


def product(d: Array, off: Array, w: Array, eps: float) -> Array:
    """Bound the error of ``d w`` if d has the error `off`."""
    size = np.matmul(np.abs(d), np.abs(w))
    return (d.shape[-1] + 2) * eps * size + carried(off, w)


def rows(x: Array) -> Array:
    """Return the rows of all steps and examples as a matrix."""
    return x.reshape(x.shape[0] * x.shape[1], x.shape[2])


def times(d: Array, off: Array, a: Array, eps: float) -> Array:
    """Bound the error of ``d^T a`` over all steps and examples."""
    return product(rows(d).T, rows(off).T, rows(a), eps)


def total(d: Array, off: Array, eps: float) -> Array:
    ones = np.ones((*d.shape[:2], 1))
    return times(d, off, ones, eps)[:, 0]


def sum_of(parts: dict[int, Array], like: Array, width: int) -> Array:
    return joined_steps(np, parts, like, width)


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
    """Check the operands' shapes; return (dtype, steps, batch, hidden)."""
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
    """Return the steps in the order of computation."""
    return range(steps - 1, -1, -1) if reverse else range(steps)


def products(steps: int, batch: int, features: int, hidden: int, gates: int) -> float:
    """Return the number of operations in the matrix products of one pass."""
    return 2.0 * steps * batch * gates * hidden * (features + hidden)


def sequence_work(
    passes: int, x: Meta, hidden: int, gates: int, each: float, operands: Sequence[Any]
) -> Work:
    steps, batch, features = x.shape
    flops = passes * products(steps, batch, features, hidden, gates)
    metas = [a for a in operands if isinstance(a, Meta)]
    return Work(flops + each * steps * batch * hidden, nbytes(*metas))


def work(
    rule: Callable[..., Any], gates: int, each: float, kept: int = 1
) -> Callable[..., Work]:
    """Return the work of a forward call, with `each` operations per state element.

    The first `kept` outputs of the rule are always written.
    """

    def count(x: Meta, *rest: Any) -> Work:
        outs = rule(x, *rest)
        outs = (outs,) if isinstance(outs, Meta) else outs[:kept]
        return sequence_work(1, x, outs[0].shape[2], gates, each, (x, *rest, *outs))

    return count


def backward_work(
    rule: Callable[..., Any], gates: int, each: float, x: int = 1
) -> Callable[..., Work]:
    """Return the work of a backward call, whose operand `x` is the layer's input."""

    def count(*args: Any) -> Work:
        hidden = args[0].shape[2]
        return sequence_work(2, args[x], hidden, gates, each, (*args, *rule(*args)))

    return count


def blocks(a: Array, gates: int) -> list[Array]:
    """Split the last dimension into the blocks of the gates."""
    hidden = a.shape[-1] // gates
    return [a[..., i * hidden : (i + 1) * hidden] for i in range(gates)]


def weight_gradient(xp: Any, d: Array, a: Array) -> Array:
    """Return the gradient of a weight: ``d^T a`` over all steps and examples."""
    rows = d.shape[0] * d.shape[1]
    return xp.matmul(d.reshape(rows, d.shape[2]).T, a.reshape(rows, a.shape[2]))


def for_each(
    xp: Any,
    hidden: int,
    sigmoids: tuple[bool, ...],
    numbers: tuple[float, float],
    like: Array,
) -> Array:
    """Return one number per gate, repeated H times: one for sigmoids, one for tanhs."""
    each = (numbers[0] if sigmoid else numbers[1] for sigmoid in sigmoids)
    return xp.concatenate([xp.full((hidden,), n, like.dtype) for n in each])


class Gates:
    """Computes the activations of all gates together, with sigmoids as scaled tanhs.

    It uses sigmoid(a) = (1 + tanh(a / 2)) / 2.  This takes four kernels for any number
    of gates; separate sigmoids take nine.

    Parameters
    ----------
    sigmoids
        A flag for each gate: True for a sigmoid, False for a tanh.
    """

    def __init__(
        self, xp: Any, hidden: int, sigmoids: tuple[bool, ...], like: Array
    ) -> None:
        self.xp = xp
        self.scale = for_each(xp, hidden, sigmoids, (0.5, 1.0), like)
        self.shift = for_each(xp, hidden, sigmoids, (0.5, 0.0), like)

    def __call__(self, sums: Array) -> Array:
        """Return the activations of ``[B, gates * H]``."""
        return self.xp.tanh(sums * self.scale) * self.scale + self.shift


def wanted(results: Sequence[Any], want: int, like: Array) -> tuple[Any, ...]:
    """Call the functions of the wanted results; round to the dtype of `like`."""
    each = enumerate(results)
    return tuple(narrow(make(), like) if want >> i & 1 else None for i, make in each)


#: The sizes (T, B, I, H), and which of the two biases exist.
CALLS = (
    ((1, 1, 1, 1), 0b01),
    ((3, 2, 5, 4), 0b11),
    ((2, 5, 3, 17), 0b10),
    ((4, 9, 16, 33), 0b11),
    ((0, 2, 3, 4), 0b11),
    ((3, 0, 3, 4), 0b11),
    ((2, 3, 0, 4), 0b00),
)


LARGE = ((5, 37, 64, 128), 0b11)


class LayerOperands(NamedTuple):
    """The operands x, w_ih, w_hh, b_ih, b_hh, h0 and, for LSTMs, c0 of one call."""

    label: str
    weights: tuple[Any, ...]
    states: tuple[Array, ...]
    reverse: bool


def calls(make: Make, gates: int, states: int) -> Iterator[LayerOperands]:
    for n, (sizes, biases) in enumerate((*CALLS, LARGE)):
        steps, batch, features, hidden = sizes
        rows, scale = gates * hidden, 0.6 * float(hidden) ** -0.5
        weights = (
            make.normal(steps, batch, features),
            make.normal(rows, features, scale=scale),
            make.normal(rows, hidden, scale=scale),
            make.normal(rows) if biases & 0b01 else None,
            make.normal(rows) if biases & 0b10 else None,
        )
        first = tuple(make.normal(batch, hidden) for _ in range(states))
        large = "large, " if sizes == LARGE[0] else ""
        yield LayerOperands(f"{large}{sizes}", weights, first, n % 2 == 1)


def in_turns(
    label: str, inputs: tuple[Any, ...], attributes: tuple[Any, ...], n: int, outs: int
) -> Iterator[Sample]:
    """Yield a call for all outputs, or one for the first half and one for the rest.

    The conformance kit tests each combination of the wanted outputs.  For six outputs,
    these are 63 combinations.
    """
    every, half = (1 << outs) - 1, (1 << outs // 2) - 1
    for want in (every,) if n == 1 else (half, every - half):
        yield Sample(label, inputs, attributes, want)


def answer(reference: Callable[..., Any], *operands: Any) -> Any:
    with np.errstate(all="ignore"):
        return reference(numpy_xp, *operands)
