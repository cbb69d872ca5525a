# SPDX-License-Identifier: MIT
"""In-place writes into a tensor: when they are allowed, and what they record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autocalc._dispatch.device.addresses import repeats
from autocalc._dispatch.device.device import DeviceArray
from autocalc._dispatch.device.dual_parts import missing_levels, pair
from autocalc._dispatch.selection.arrays import arrays, constant
from autocalc._dispatch.selection.state import current
from autocalc._graph._node import Leaf
from autocalc._ops._operator import partial_writes
from autocalc._ops._operator.arguments import check_tensor, numbers_only
from autocalc._ops._operator.coerce import as_operand, not_a_tensor
from autocalc._ops._operator.method import method
from autocalc._ops._operator.out import shares_elements, spoken
from autocalc._ops._operator.traced import traced
from autocalc._ops._operator.view_tracker import base_of, follow, steps, view_chain_of
from autocalc._ops.views import broadcasting, view
from autocalc._tensor import Tensor, make
from autocalc.errors import DTypeError, GradError, ShapeError


def check_writable(
    where: str, x: Tensor, other: Any = None, *, one_value: bool = False
) -> bool:
    """Return whether the write must be recorded; raise if it is not allowed.

    With `one_value`, several elements may share memory, since all become equal.
    """
    try:
        a = x._array
    except AttributeError:
        raise not_a_tensor(where, x) from None
    if not (one_value or a.flags.c_contiguous) and repeats(a):
        raise shares_elements(where, x)
    base = base_of(x)
    if not a.flags.writeable and base._array.flags.writeable:
        a.flags.writeable = True  # `expand` clears it; nothing overlaps here
    recorded = current().grad and (
        x._edge is not None
        or base._edge is not None
        or (isinstance(other, Tensor) and other._edge is not None)
    )
    if recorded:
        _check_history(where, x, base)
        if x._edge is None and base._edge is not None:
            follow(x)  # the view was made without recording
    return recorded


def _check_history(where: str, x: Tensor, base: Tensor) -> None:
    """Raise if a recorded write into `x` cannot have a correct gradient."""
    if x._edge.__class__ is Leaf or base._edge.__class__ is Leaf:
        what = "a leaf Variable" if base is x else "a view of a leaf Variable"
        raise GradError(
            f"{where}: {what} that requires grad is being used in an in-place "
            f"operation. Its shape is {x.shape}; do it under ac.no_grad(), or use the "
            "operation that returns a new tensor."
        )
    expanded = base is not x and any(
        op.name == "expand" for op, *_ in steps(x._view[1])
    )
    if expanded or (base._view is not None and base._view.opaque):
        raise GradError(
            f"{where}: the tensor of shape {x.shape} shares its memory with another by "
            "expand() or by a Function that returned its input, as modules with a "
            "full backward hook do. A write into it cannot have a gradient. Call "
            "clone() on it before the write, or use a module without inplace=True."
        )


def give_tangent(x: Tensor, source: Tensor) -> None:
    """Make a tensor and all of its views dual, if a dual tensor is written into them.

    Tensors that share the memory by `detach` get no tangent.
    """
    base: Any = base_of(x)
    for level in missing_levels(base._array, source._array):
        base._array = pair(level, base._array, None)
        family = base._view
        for one in family.views if family is not None else ():
            view = one()
            if view is not None and base_of(view) is base:
                view._array = _seen(base._array, view_chain_of(view))


def _seen(a: Any, view_chain: Any) -> Any:
    """Return the view of an array that a view chain makes."""
    for op, attributes, _ in steps(view_chain):
        a = op.function(a, *attributes)
    return a


def write(where: str, x: Tensor, result: Tensor, recorded: bool) -> Tensor:
    """Copy `result` into `x`; if recorded, also give `x` the edge of `result`."""
    if result._array.shape != x._array.shape:
        raise ShapeError(
            f"{where}: an output with shape {list(x.shape)} doesn't match the "
            f"broadcast shape {list(result.shape)} of the operands."
        )
    if result.dtype.category > x.dtype.category:
        raise DTypeError(
            f"{where}: result type {spoken(result.dtype)} can't be cast to the desired "
            f"output type {spoken(x.dtype)}; convert the tensor first."
        )
    converted = as_operand(result, x.dtype)
    if converted._array.__class__ is DeviceArray:
        give_tangent(x, converted)
    arrays.copy(converted._array, into=x._array)
    x._cell().count += 1
    if recorded:
        # A rule that saved its output holds the memory of `result`, which is not
        # shared.
        partial_writes.record_write(x, converted._edge)
    return x


def copy_into(x: Tensor, src: Any, where: str = "copy_") -> Tensor:
    """Copy the values of `src`, broadcast and converted."""
    recorded = check_writable(where, x, src)
    if not isinstance(src, Tensor):
        return fill_(x, src)
    if recorded:
        source = src if src.shape == x.shape else _spread(where, src, x)
        converted = as_operand(source, x.dtype)
        shared = arrays.may_overlap(converted._array, x._array)
        if shared or base_of(x) is x:  # a whole tensor needs a node of its own
            converted = view.clone(converted)
        return write(where, x, converted, recorded)
    if src._array.__class__ is DeviceArray:
        give_tangent(x, src)
    a, b = x._array, src._array
    if a.shape != b.shape:
        b = _spread(where, make(b, None), x)._array
    arrays.copy(arrays.copy(b) if arrays.may_overlap(a, b) else b, into=a)
    x._cell().count += 1
    return x


def _spread(where: str, src: Tensor, x: Tensor) -> Tensor:
    """Return `src` expanded to the shape of the tensor that it is written into."""
    try:
        return broadcasting.expand(src, x.shape)
    except ShapeError:
        raise ShapeError(
            f"{where}: the new values have shape {src.shape}, but the tensor has shape "
            f"{x.shape}; they must have its shape, or broadcast to it."
        ) from None


@method("copy_")
@traced(light=True)
def copy_(x: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Copy `src`, broadcast and converted, into this tensor; return the tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.zeros(2, 3)
    >>> x.copy_(ac.tensor([1, 2, 3]))
    tensor([[1., 2., 3.],
            [1., 2., 3.]])
    """
    return copy_into(x, src)


@method("fill_")
@traced(light=True)
def fill_(x: Tensor, value: Any) -> Tensor:
    """Set every element to `value`, in place; return the tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.zeros(3).fill_(0.5)
    tensor([0.5000, 0.5000, 0.5000])
    """
    recorded = check_writable("fill_", x, one_value=True)
    if isinstance(value, Tensor):
        if value.ndim:
            raise ShapeError(
                f"fill_: `value` has shape {value.shape}; it must be a number or a "
                "tensor without dimensions. Use copy_() for more elements."
            )
        return copy_into(x, value)
    fill_array(x._array, numbers_only("fill_", value))
    x._cell().count += 1
    if recorded:
        partial_writes.record_write(x, None)
    return x


def fill_array(a: Any, value: Any) -> None:
    """Set every element of an array to a number."""
    if a.flags.c_contiguous:
        arrays.refill(a, value)
    else:
        arrays.copy(constant(value, a.dtype), into=a)


def into(input: Tensor, result: Tensor, where: str) -> Tensor:
    """Write `result` into `input`; return `input`."""
    recorded = check_writable(where, input)
    return write(where, input, result, recorded)


def kernel_into(
    operator: Any, input: Tensor, attributes: tuple[Any, ...], inplace: bool, where: str
) -> Tensor:
    """Run the operator of an elementwise kernel; with `inplace`, over its input.

    If the write is recorded, the values that the rule saves need memory of their own.
    """
    if not inplace:
        return operator(input, *attributes)  # type: ignore[no-any-return]  # a Tensor
    if check_writable(where, input) or not input.is_floating_point():
        if operator.op.reads_itself:
            return maybe_into(input, lambda x: operator(x, *attributes), True, where)
        return into(input, operator(input, *attributes), where)
    kernel = getattr(arrays, operator.op.name)
    kernel(input._array, *attributes, into=input._array)
    input._bump()
    return input


def maybe_into(
    input: Tensor, function: Callable[[Tensor], Tensor], inplace: bool, where: str
) -> Tensor:
    """Return function(input); with `inplace`, in the memory of `input`."""
    if not inplace:
        return function(input)
    check_tensor(where, input)
    # The backward rules read the input, which the write would overwrite.
    kept = view.clone(input) if input.requires_grad else input
    return into(input, function(kept), where)
