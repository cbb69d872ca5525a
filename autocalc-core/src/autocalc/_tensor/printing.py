# SPDX-License-Identifier: MIT
"""The printed form of tensors."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autocalc._dispatch.device.dual_parts import has_tangent
from autocalc._dispatch.device.levels import levels_of, shown
from autocalc._tensor import dtypes
from autocalc._tensor._number_texts import Form, form_of
from autocalc._tensor.checks import as_int, check_flag, number
from autocalc._tensor.device import host_array
from autocalc.errors import ArgumentError


@dataclass(frozen=True)
class Options:
    """How tensors print: above `threshold` elements, `edgeitems` at each end."""

    precision: int = 4
    threshold: int = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_ENDLESS = 2**62
_PROFILES = {
    "default": Options(),
    "short": Options(precision=2, edgeitems=2),
    "full": Options(threshold=_ENDLESS),
}
_options = _PROFILES["default"]


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are printed; options that are not given keep their values.

    Parameters
    ----------
    precision
        The number of digits after the decimal point, 4 initially.  If all floats are
        whole numbers, no digits are printed after the point.
    threshold, edgeitems
        A tensor with more than `threshold` elements (1000 initially) is shortened to
        `edgeitems` elements (3 initially) at each end of a dimension.
    linewidth
        The number of characters in a line, 80 initially.
    profile
        The name of a set of options, ``"default"``, ``"short"`` or ``"full"``; the
        other arguments are applied after it.
    sci_mode
        True to print floats with exponents, False to print them without.  By default
        exponents are used if the largest number is above 10^8, if it is more than 1000
        times the smallest, or if the smallest is below 10^-4.

    Raises
    ------
    ArgumentError
        If `profile` is unknown, a number is negative or not a number, or `sci_mode` is
        not True or False.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.set_printoptions(precision=2)
    >>> ac.tensor(0.125)
    tensor(0.12)
    >>> ac.set_printoptions(profile="default")
    """
    global _options
    if profile is not None and profile not in _PROFILES:
        raise ArgumentError(
            f"set_printoptions: `profile`={profile!r}; it must be one of "
            f"{', '.join(_PROFILES)}."
        )
    given: dict[str, Any] = {
        "precision": precision,
        "threshold": None if threshold is None else _elements(threshold),
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    given = {name: value for name, value in given.items() if value is not None}
    for name, value in given.items():
        if as_int("set_printoptions", name, value) < 0:
            message = f"set_printoptions: `{name}`={value}; it must be 0 or more."
            raise ArgumentError(message)
    if sci_mode is not None:
        check_flag("set_printoptions", "sci_mode", sci_mode)
    base = _options if profile is None else _PROFILES[profile]
    _options = replace(base, sci_mode=sci_mode, **given)


def current_options() -> Options:
    """Return the current options for printing."""
    return _options


def restore(options: Options) -> None:
    """Restore options that `current_options` returned."""
    global _options
    _options = options


def _elements(threshold: Any) -> int:
    """Return a number of elements, which may be infinite, as an integer."""
    n = number("set_printoptions", "threshold", threshold)
    return -1 if math.isnan(n) else int(min(n, _ENDLESS))  # -1 is refused


def _start(kind: type) -> str:
    """Return ``tensor(``, or the name of a user's class with a parenthesis."""
    ours = kind.__module__.partition(".")[0] in {"autocalc", "torch"}
    return "tensor(" if ours else f"{kind.__name__}("


def describe(x: Any) -> str:  # a Tensor, whose module imports this one
    """Return ``tensor([...], dtype=..., grad_fn=...)``; defaults are left out."""
    levels = levels_of(x._array)
    if levels:
        return _describe_batched(x, levels[-1])
    o = _options
    elements = "..." if x.is_meta else "[]"
    if x.numel() and not x.is_meta:
        elements = _elements_text(x, o)
    start = _start(type(x))
    text = start + elements
    length = len(text) - text.rfind("\n") + 1
    for extra in _extras(x):
        if length + len(extra) + 2 > o.linewidth:
            text += f",\n{' ' * len(start)}{extra}"
            length = len(start) + len(extra)
        else:
            text += f", {extra}"
            length += len(extra) + 2
    return f"{text})"


def _describe_batched(x: Any, level: Any) -> str:
    """Return the elements of all examples of a level of `vmap`."""
    value = describe(_bare(x, shown(x._array, level, 0))).replace("\n", "\n    ")
    return f"BatchedTensor(lvl={level.number}, bdim=0, value=\n    {value}\n)"


def _bare(x: Any, array: Any) -> Any:
    """Return a tensor of the class of `x` with an array, and without a history."""
    bare: Any = object.__new__(x.__class__)
    bare._array = array
    bare._edge = bare._version = bare._view = None
    return bare


def _extras(x: Any) -> list[str]:
    """Return the texts that follow the elements: size, dtype, history."""
    extras = []
    if x.device.type != "cpu":
        extras.append(f"device={str(x.device)!r}")
    usual = [dtypes.get_default_dtype()]
    if x.numel():
        usual += [dtypes.int64, dtypes.bool_, usual[0].to_complex()]
    hidden = x.is_meta or (_options.edgeitems == 0 and x.numel() > _options.threshold)
    if hidden or (x.numel() == 0 and x.ndim != 1):
        extras.append(f"size={tuple(x.shape)}")
    if x.dtype not in usual:
        extras.append(f"dtype={x.dtype!r}")
    if not x.is_leaf:
        extras.append(f"grad_fn=<{x._node().op.name}>")
    elif x.requires_grad:
        extras.append("requires_grad=True")
    array = x._array
    if has_tangent(array) and array.raw.level.active and array.raw.tangent is not None:
        extras.append(f"tangent={describe(_bare(x, array.raw.tangent))}")
    return extras


def _elements_text(x: Any, o: Options) -> str:
    """Return the elements in brackets, in lines of the options' width."""
    array = host_array(x._array)
    if x.is_floating_point():
        with np.errstate(invalid="ignore"):  # for signalling NaNs
            array = array.astype(np.float64)
    elif x.is_complex():
        array = array.astype(np.complex128)
    edge = o.edgeitems if array.size > o.threshold else None
    shown = array
    for axis, n in enumerate(array.shape):
        shown = shown.take(shown_places(n, edge), axis)
    form = form_of(shown.reshape(-1).tolist(), o.precision, o.sci_mode)
    if array.ndim == 0:
        return form(array.item())
    return _nested(array, len(_start(type(x))), form, edge, o.linewidth)


def shown_places(size: int, edge: int | None) -> list[int]:
    """Return the indices along a dimension that are shown."""
    if edge is None or size <= 2 * edge:
        return list(range(size))
    return [*range(edge), *range(size - edge, size)]


def _nested(
    array: Any, indent: int, form: Form, edge: int | None, linewidth: int
) -> str:
    """Return the rows of an array in brackets, or the elements of a vector."""
    places: list[int | None] = [*shown_places(len(array), edge)]
    if len(places) < len(array):
        places.insert(len(places) // 2, None)  # stands for the omitted elements
    if array.ndim > 1:
        rows = [
            "..." if i is None else _nested(array[i], indent + 1, form, edge, linewidth)
            for i in places
        ]
        between = "," + "\n" * (array.ndim - 1) + " " * (indent + 1)
        return f"[{between.join(rows)}]"
    gap = " ..." if edge else "..."
    texts = [gap if i is None else form(array[i].item()) for i in places]
    count = max((linewidth - indent) // (form.width + 2), 1)
    lines = [", ".join(texts[i : i + count]) for i in range(0, len(texts), count)]
    between = ",\n" + " " * (indent + 1)
    return f"[{between.join(lines)}]"
