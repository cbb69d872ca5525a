# SPDX-License-Identifier: MIT
"""How tensors print."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autocalc._tensor import dtypes
from autocalc._tensor.checks import as_int
from autocalc.errors import ArgumentError


@dataclass(frozen=True)
class Options:
    """More elements than `threshold` are shortened to `edgeitems` at each end."""

    precision: int = 4
    threshold: int = 1000
    edgeitems: int = 3
    linewidth: int = 75
    sci_mode: bool | None = None


_PROFILES = {
    "default": Options(),
    "short": Options(precision=2, edgeitems=2),
    "full": Options(threshold=2**62),
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
    """Set how tensors print; what is left out stays as it is.

    Parameters
    ----------
    precision
        Digits behind the point at most.
    threshold, edgeitems
        Tensors of more elements are shortened to so many at each end.
    linewidth
        Characters in a line.
    profile
        ``"default"``, ``"short"`` or ``"full"``, before the others are set.
    sci_mode
        Whether numbers have exponents; by default where they need them.

    Raises
    ------
    ArgumentError
        If there is no such profile, or a number is negative.

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
        message = (
            f"set_printoptions: `profile`={profile!r}; it must be one of "
            f"{', '.join(_PROFILES)}."
        )
        raise ArgumentError(message)
    given: dict[str, Any] = {
        "precision": precision,
        "threshold": None if threshold is None else int(min(threshold, 2**62)),
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    given = {name: value for name, value in given.items() if value is not None}
    for name, value in given.items():
        if as_int("set_printoptions", name, value) < 0:
            message = f"set_printoptions: `{name}`={value}; it must be 0 or more."
            raise ArgumentError(message)
    base = _options if profile is None else _PROFILES[profile]
    _options = replace(base, sci_mode=sci_mode, **given)


def describe(x: Any) -> str:  # a Tensor, whose module imports this one
    """Return ``tensor([...], dtype=..., grad_fn=...)``; defaults are left out."""
    o = _options
    style: Any = {}
    if o.sci_mode is not None and x.is_floating_point():
        code = "e" if o.sci_mode else "f"
        style["formatter"] = {"float_kind": lambda v: f"{v:.{o.precision}{code}}"}
    array = x._array
    if x.is_floating_point() and x.itemsize == 2:
        array = array.astype(np.float32)  # NumPy knows no formats of bfloat16
    text = np.array2string(
        array, separator=", ", prefix="tensor(", threshold=o.threshold,
        edgeitems=o.edgeitems, max_line_width=o.linewidth, precision=o.precision,
        suppress_small=False, floatmode="maxprec", **style,
    )  # fmt: skip
    extras = ""
    usual = (dtypes.get_default_dtype(), dtypes.int64, dtypes.bool_)
    if x.dtype not in usual:
        extras += f", dtype={x.dtype!r}"
    if x.numel() == 0 and x.ndim != 1:
        extras += f", size={x.shape}"
    if not x.is_leaf:
        extras += f", grad_fn=<{x._node().op.name}>"
    elif x.requires_grad:
        extras += ", requires_grad=True"
    return f"tensor({text}{extras})"
