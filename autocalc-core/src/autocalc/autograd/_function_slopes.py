# SPDX-License-Identifier: MIT
"""The tangents of the results of a user's `Function`.

`forward` runs on dual tensors.  The tangents of its results are then replaced: by those
of the method `jvp`, or else by the derivative of `backward` with respect to its
cotangents, which is linear in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autocalc._dispatch.device.dual_parts import (
    both,
    has_tangent,
    pair,
    primal_at,
    tangent_at,
    top,
    zeros_like,
)
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import enter, leave
from autocalc._graph._node import Leaf
from autocalc._tensor import Tensor, make
from autocalc.errors import GradError


def arrays_before(args: Sequence[Any]) -> list[Any] | None:
    """Return the arrays of arguments as they are before `forward` writes into them.

    None if no argument has a tangent.
    """
    if not any(isinstance(a, Tensor) and has_tangent(a._array) for a in args):
        return None
    return [_apart(_array(a)) for a in args]


def _apart(array: Any) -> Any:
    """Return an array with the same parts, whose tangent stays as it is."""
    return both(array, _apart) if has_tangent(array) else array


def with_slopes(
    cls: Any, ctx: Any, bare: list[Any], outputs: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Return the outputs of `forward` with the tangents that the function defines.

    `bare` are the arrays of the arguments before the call.
    """
    kept = ctx._for_forward if _has_jvp(cls) and ctx._for_forward else ctx._to_save
    saved = [_array(t) for t in kept]
    found = _replaced(cls, ctx, bare, saved, [_array(y) for y in outputs])
    results = []
    for y, array in zip(outputs, found, strict=True):
        if array is None or not y.is_floating_point():
            results.append(y)
        elif id(y) in ctx._dirty:
            y._array = array
            results.append(y)
        else:
            result = make(array, y._edge)
            result._version, result._view = y._version, y._view
            _moved(ctx, y, result)
            results.append(result)
    return tuple(results)


def _moved(ctx: Any, old: Tensor, new: Tensor) -> None:
    """Let marks and saved tensors of an output follow it."""
    if id(old) in ctx._non_differentiable:
        ctx._non_differentiable.add(id(new))
    ctx._to_save = tuple(new if t is old else t for t in ctx._to_save)
    ctx._kept.append(old)  # so that no other tensor gets its number


def _array(x: Any) -> Any:
    return x._array if isinstance(x, Tensor) else None


def _has_jvp(cls: Any) -> bool:
    return getattr(cls, "jvp", None) is not None


def _replaced(
    cls: Any, ctx: Any, args: list[Any], saved: list[Any], found: list[Any]
) -> list[Any]:
    """Return the arrays of outputs with replaced tangents, at all levels."""
    levels = [level for a in args if (level := top(a)) is not None]
    if not levels:
        return found
    level = max(levels, key=lambda x: x.number)
    inner, kept, primals = (
        [None if a is None else primal_at(a, level) for a in some]
        for some in (args, saved, found)
    )
    slopes = [None if a is None else tangent_at(a, level) for a in args]
    tangents = _tangents(cls, ctx, inner, slopes, kept, primals)
    below = _replaced(cls, ctx, inner, kept, primals)
    return [
        None
        if y is None
        else pair(level, y, None if t is None else primal_at(t, level))
        for y, t in zip(below, tangents, strict=True)
    ]


def _tangents(
    cls: Any,
    ctx: Any,
    args: list[Any],
    slopes: list[Any],
    saved: list[Any],
    primals: list[Any],
) -> list[Any]:
    """Return the tangents of all outputs; None is zero."""
    ctx._saved = tuple([None if a is None else make(a, None) for a in saved])
    token = enter(grad=not _has_jvp(cls))
    try:
        if _has_jvp(cls):
            return _by_jvp(cls, ctx, args, slopes, len(primals))
        return _by_backward(cls, ctx, slopes, primals)
    finally:
        leave(token)
        ctx._saved = None


def _by_jvp(
    cls: Any, ctx: Any, args: list[Any], slopes: list[Any], count: int
) -> list[Any]:
    given = []
    for a, slope in zip(args, slopes, strict=True):
        t = slope
        if t is None and a is not None and ctx._makes_zeros:
            t = zeros_like(a) if arrays.dtype(a).kind == "f" else None
        given.append(None if t is None else make(t, None))
    results = cls.jvp(ctx, *given)
    results = results if isinstance(results, (tuple, list)) else (results,)
    if len(results) != count:
        raise GradError(
            f"{cls.__name__}.jvp: returned {len(results)} tangents for {count} "
            f"outputs; return one for each output of `forward`, and None for zero."
        )
    return [_array(t) for t in results]


def _by_backward(
    cls: Any, ctx: Any, slopes: list[Any], primals: list[Any]
) -> list[Any]:
    from autocalc._forward.transposed import products

    seeds = [
        None if y is None or arrays.dtype(y).kind != "f" else _seed(y) for y in primals
    ]
    needs, ctx.needs_input_grad = (
        ctx.needs_input_grad,
        tuple(t is not None for t in slopes),
    )
    try:
        found = cls.backward(ctx, *seeds)
    except NotImplementedError:
        raise GradError(
            f"{cls.__name__}: a tangent arrives, but the class has neither `jvp` nor "
            f"`backward`. Define the static method `jvp`, which returns tangents."
        ) from None
    finally:
        ctx.needs_input_grad = needs
    found = found if isinstance(found, tuple) else (found,)
    ends, directions = [], []
    for g, t in zip(found, slopes, strict=False):
        if t is not None and g is not None and g._edge is not None:
            ends.append(g)
            directions.append(make(arrays.expand(t, g.shape), None))
    return products(ends, seeds, directions) if ends else [None] * len(primals)


def _seed(y: Any) -> Tensor:
    zeros = arrays.expand(arrays.constant(0, y), y.shape)
    return make(zeros, Leaf(y.shape))
