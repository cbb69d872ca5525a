# SPDX-License-Identifier: MIT
"""Random tensors.

All numbers come from the words of the counter-based generator.  So every kernel set and
any number of threads draws the same numbers.
"""

from __future__ import annotations

import math
from typing import Any

from autocalc._dispatch.device.device import DeviceArray, same_place
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.call import KernelCall
from autocalc._dispatch.selection.state import current
from autocalc._kernels.table import TABLE
from autocalc._ops._operator.layouts import laid_out
from autocalc._ops._operator.traced import traced
from autocalc._ops.creation.constants import (
    Size,
    count_of,
    dtype_of,
    finished,
    float_or,
    like,
    placed,
    shape_of,
)
from autocalc._ops.creation.like import finished_like, kind_of
from autocalc._ops.random.random_integers import (
    check_held,
    integers_below,
    random_words,
)
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.device import Device, dtype_at, present
from autocalc._tensor.dtypes import DType
from autocalc._tensor.generator import Generator, chosen, drawn_dtype
from autocalc._tensor.layouts import check_layout
from autocalc._tensor.layouts import layout as Layout
from autocalc._tensor.memory_format import MemoryFormat
from autocalc.errors import ArgumentError, DTypeError

_KERNELS = {name: KernelCall(TABLE[name]) for name in ("uniform", "normal")}


def random_into(kernel: str, out: Any, low: float, high: float, generator: Any) -> None:
    """Fill the float array `out` by a random kernel, and advance the generator."""
    call = _KERNELS[kernel]
    dtype = out.dtype
    words = 2 * out.size * (2 if dtype.itemsize == 8 else 1)
    seed, offset = chosen(kernel, generator).draw(words)
    low, high = float(low), float(high)
    if offset.__class__ is DeviceArray and not same_place(offset.dtype, dtype):
        drawn = arrays.empty(out.shape, offset.dtype.of(dtype))
        call(seed, offset, low, high, into=drawn)
        arrays.copy(drawn, into=out)  # it raises if examples share the memory
        return
    key = dtype, low, high
    selection = current().selection
    run = selection.tables[call.index].get(key)
    if run is None:
        run, _ = call.decided(seed, offset, low, high, into=out)
        selection.remember(call.index, key, run)
    run(out, seed, offset, low, high)


def drawn_floats(
    where: str,
    kernel: str,
    shape: tuple[int, ...],
    kind: DType,
    generator: Generator | None,
    dtype: Any = None,
) -> Any:
    """Return floats of a kernel; `dtype` selects the device, by default the CPU."""
    if kind.is_complex:
        return _drawn_complex(kernel, shape, dtype or kind.numpy, generator)
    if not kind.is_floating_point:
        raise DTypeError(
            f"{where}: supports float32 and float64, not {kind.name}; use randint for "
            "integers."
        )
    dtype = dtype or kind.numpy
    return draws(kernel, shape, dtype, generator)


def _drawn_complex(kernel: str, shape: Any, dtype: Any, generator: Any) -> Any:
    """Return complex numbers: both parts uniform, or the variance 1 in all."""
    real = dtypes.of(dtype).to_real().numpy
    array = arrays.empty((*shape, 2), drawn_dtype(real))
    spread = math.sqrt(0.5) if kernel == "normal" else 1.0
    random_into(kernel, array, 0.0, spread, generator)
    return arrays.as_complex(array)


def draws(kernel: str, shape: tuple[int, ...], dtype: Any, generator: Any) -> Any:
    """Return a new array with numbers of a kernel, under `vmap` for each example."""
    array = arrays.empty(shape, drawn_dtype(dtype))
    random_into(kernel, array, 0.0, 1.0, generator)
    return array


@traced(declares=False)
def rand(
    *sizes: Size,
    size: Size = None,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
    layout: Layout | None = None,
    pin_memory: bool | None = False,
) -> Tensor:
    """Return numbers drawn evenly from [0, 1).

    Parameters
    ----------
    *sizes
        The sizes of the result, as separate arguments or as one sequence.
    size
        The sizes as a keyword argument.
    generator
        The generator of the random numbers; None uses the generator that `manual_seed`
        seeds.
    out
        A tensor to write the result into; the result is converted to its dtype.
    dtype
        The dtype of the result.
    device
        The device of the result; by default the CPU.
    requires_grad
        Whether operations on the result are recorded for gradients.
    layout
        It must be ``strided``, the only layout.
    pin_memory
        Accepted so that programs for PyTorch run; it has no effect.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.rand(2, 3).shape
    autocalc.Size([2, 3])
    """
    if layout is not None or pin_memory is not False:
        check_layout("rand", layout, pin_memory)
    kind = dtype_of(dtype, out)
    there = dtype_at(device, kind.numpy)
    shape = shape_of("rand", sizes, size)
    array = drawn_floats("rand", "uniform", shape, kind, generator, there)
    return finished("rand", array, out, requires_grad)


@traced(declares=False)
def randn(
    *sizes: Size,
    size: Size = None,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
    layout: Layout | None = None,
    pin_memory: bool | None = False,
) -> Tensor:
    """Return numbers drawn from the standard normal distribution.

    Parameters
    ----------
    *sizes
        The sizes of the result, as separate arguments or as one sequence.
    size
        The sizes as a keyword argument.
    generator
        The generator of the random numbers; None is the generator that `manual_seed`
        seeds.
    out
        A tensor to write the result into; the result is converted to its dtype.
    dtype
        The dtype of the result.
    device
        The device of the result; by default the CPU.
    requires_grad
        Whether operations on the result are recorded for gradients.
    layout
        It must be ``strided``, the only layout.
    pin_memory
        Accepted so that programs for PyTorch run; it has no effect.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.randn(2, 3).shape
    autocalc.Size([2, 3])
    """
    if layout is not None or pin_memory is not False:
        check_layout("randn", layout, pin_memory)
    kind = dtype_of(dtype, out)
    there = dtype_at(device, kind.numpy)
    shape = shape_of("randn", sizes, size)
    array = drawn_floats("randn", "normal", shape, kind, generator, there)
    return finished("randn", array, out, requires_grad)


@traced
def rand_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
    memory_format: MemoryFormat | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = False,
) -> Tensor:
    """Return numbers drawn evenly from [0, 1), with the shape and dtype of `input`.

    Parameters
    ----------
    input
        The tensor whose shape and dtype the result has.
    generator
        The generator of the random numbers; None uses the generator that `manual_seed`
        seeds.
    dtype
        The dtype of the result.
    device
        The device of the result; by default the CPU.
    requires_grad
        Whether operations on the result are recorded for gradients.
    memory_format
        The layout of the elements in memory; by default that of `input`.
    layout
        It must be ``strided``, the only layout.
    pin_memory
        Accepted so that programs for PyTorch run; it has no effect.

    Raises
    ------
    ShapeError
        If `channels_last` is requested for a tensor that does not have four dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.rand_like(ac.ones(2, 3)).shape
    autocalc.Size([2, 3])
    """
    if layout is not None or pin_memory is not False:
        check_layout("rand_like", layout, pin_memory)
    kind = kind_of("rand_like", input, dtype, device)
    dtype, shape = dtypes.of(kind), input.shape
    array = drawn_floats("rand", "uniform", shape, dtype, generator, kind)
    return finished_like("rand_like", array, input, memory_format, requires_grad)


@traced
def randn_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
    memory_format: MemoryFormat | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = False,
) -> Tensor:
    """Return standard normal numbers with the shape and dtype of `input`.

    Parameters
    ----------
    input
        The tensor whose shape and dtype the result has.
    generator
        The generator of the random numbers; None uses the generator that `manual_seed`
        seeds.
    dtype
        The dtype of the result.
    device
        The device of the result; by default the CPU.
    requires_grad
        Whether operations on the result are recorded for gradients.
    memory_format
        The layout of the elements in memory; by default that of `input`.
    layout
        It must be ``strided``, the only layout.
    pin_memory
        Accepted so that programs for PyTorch run; it has no effect.

    Raises
    ------
    ShapeError
        If `channels_last` is requested for a tensor that does not have four dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.randn_like(ac.ones(2, 3)).shape
    autocalc.Size([2, 3])
    """
    if layout is not None or pin_memory is not False:
        check_layout("randn_like", layout, pin_memory)
    kind = kind_of("randn_like", input, dtype, device)
    dtype, shape = dtypes.of(kind), input.shape
    array = drawn_floats("randn", "normal", shape, dtype, generator, kind)
    return finished_like("randn_like", array, input, memory_format, requires_grad)


# ---- integers ------------------------------------------------------------------------


@traced(declares=False)
def randint(
    low: Any = None,
    high: Any = None,
    size: Any = None,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
    layout: Layout | None = None,
    pin_memory: bool | None = False,
) -> Tensor:
    """Return integers drawn evenly from `low` to `high - 1`.

    ``randint(high, size)`` draws from 0 to `high - 1`.

    Parameters
    ----------
    low
        The smallest integer; 0 by default.
    high
        The end of the range, one more than the largest integer.
    size
        The sizes of the result, as separate arguments or as one sequence.
    generator
        The generator of the random numbers; None uses the generator that `manual_seed`
        seeds.
    out
        A tensor to write the result into; the result is converted to its dtype.
    dtype
        The dtype of the result.
    device
        The device of the result; by default the CPU.
    requires_grad
        Whether operations on the result are recorded for gradients.
    layout
        It must be ``strided``, the only layout.
    pin_memory
        Accepted so that programs for PyTorch run; it has no effect.

    Raises
    ------
    ArgumentError
        If `size` is missing, or the dtype cannot hold all integers from `low` to
        `high - 1`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.randint(3, (4,)).shape, ac.randint(-1, 1, (2, 2)).dtype
    (autocalc.Size([4]), autocalc.int64)
    """
    if layout is not None or pin_memory is not False:
        check_layout("randint", layout, pin_memory)
    if device is not None:
        present(device)
    if low is None:
        low = 0
    elif size is None and not hasattr(high, "__index__"):
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    if size is None:
        raise ArgumentError(f"randint: low={low}, high={high}: `size` is missing.")
    kind = float_or(dtype, dtypes.int64 if out is None else like("out", out).dtype)
    shape = shape_of("randint", (size,))
    drawn = integers_below("randint", low, high, shape, kind, generator)
    array = drawn if kind is dtypes.int64 else arrays.cast(drawn, kind.numpy)
    return finished("randint", placed(array, device), out, requires_grad)


def randint_like(
    input: Tensor,
    low: int | None = None,
    high: int | None = None,
    *,
    generator: Generator | None = None,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
    memory_format: MemoryFormat | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = False,
) -> Tensor:
    """Return random integers with the shape and dtype of `input`.

    They are drawn evenly from `low` to `high - 1`; ``randint_like(input, high)`` draws
    from 0 to `high - 1`.

    Parameters
    ----------
    input
        The tensor whose shape and dtype the result has.
    low
        The smallest integer; 0 by default.
    high
        The end of the range: one more than the largest integer.
    generator
        The generator of the random numbers; None uses the generator that `manual_seed`
        seeds.
    dtype
        The dtype of the result.
    device
        The device of the result; by default the CPU.
    requires_grad
        Whether operations on the result are recorded for gradients.
    memory_format
        The layout of the elements in memory; by default that of `input`.
    layout
        It must be ``strided``, the only layout.
    pin_memory
        Accepted so that programs for PyTorch run; it has no effect.

    Raises
    ------
    ArgumentError
        If `high` is missing.
    ShapeError
        If `channels_last` is requested for a tensor that does not have four dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.randint_like(ac.ones(2, 3), 10).shape
    autocalc.Size([2, 3])
    """
    if layout is not None or pin_memory is not False:
        check_layout("randint_like", layout, pin_memory)
    if low is None and high is None:
        raise ArgumentError("randint_like: `high` is missing.")
    first, last = (0, low) if high is None else (low, high)
    made = randint(
        first,
        last,
        like("randint_like", input).shape,
        generator=generator,
        dtype=float_or(dtype, input.dtype),
        device=device,
    )
    made = laid_out("randint_like", made, memory_format, input)
    return finished("randint_like", made._array, None, requires_grad)


@traced(declares=False)
def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
    layout: Layout | None = None,
    pin_memory: bool | None = False,
) -> Tensor:
    """Return the integers 0 to n - 1 in random order.

    Parameters
    ----------
    n
        The number of elements.
    generator
        The generator of the random numbers; None uses the generator that `manual_seed`
        seeds.
    out
        A tensor to write the result into; the result is converted to its dtype.
    dtype
        The dtype of the result.
    device
        The device of the result; by default the CPU.
    requires_grad
        Whether operations on the result are recorded for gradients.
    layout
        It must be ``strided``, the only layout.
    pin_memory
        Accepted so that programs for PyTorch run; it has no effect.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.randperm(3).sort()[0]
    tensor([0, 1, 2])
    """
    if layout is not None or pin_memory is not False:
        check_layout("randperm", layout, pin_memory)
    if device is not None:
        present(device)
    kind = float_or(dtype, dtypes.int64 if out is None else like("out", out).dtype)
    count = count_of("randperm", n)
    check_held("randperm", 0, count, kind)
    order = arrays.argsort(random_words((count,), generator), 0)
    array = order if kind is dtypes.int64 else arrays.cast(order, kind.numpy)
    return finished("randperm", placed(array, device), out, requires_grad)
