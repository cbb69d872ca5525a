# SPDX-License-Identifier: MIT
"""The floating-point state of this thread: detect changes, and restore the default.

A kernel may enable flushing of subnormals or another rounding mode.  If it does not
restore the state, all later results of the process change, including those of the kit.
For that reason, the kit compares the state with the default and not with the state
before the call, and restores the default itself.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np


class _Probe(NamedTuple):
    """Operands with exactly known results, whatever the current state is."""

    one: Any
    parts: Any  # parts of the distance to the next number
    nearest: bytes  # their sums with 1
    small: Any  # the least normal number, and a quarter of it
    factors: Any  # each product is in the next two fields
    quarter: bytes
    tiny: bytes


def _probe_of(kind: Any, unsigned: Any) -> _Probe:
    info = np.finfo(kind)
    eps = kind(info.eps)
    one = np.array([1, -1, 1], kind)
    nearest = one + np.array([1, -1, 0], kind) * eps  # exact in every direction
    bits = np.array([1 << info.nmant, 1 << (info.nmant - 2)], unsigned)
    return _Probe(
        one=one,
        parts=np.array([0.75, -0.75, 0.25], kind) * eps,
        nearest=nearest.tobytes(),
        small=bits.view(kind),
        factors=np.array([0.25, 4], kind),
        quarter=bits[1].tobytes(),
        tiny=bits[0].tobytes(),
    )


_PROBES = (_probe_of(np.float32, np.uint32), _probe_of(np.float64, np.uint64))


def _deviations(probe: _Probe) -> Iterator[str]:
    """Compare results with those in the default state; 5 us for a dtype."""
    if (probe.one + probe.parts).tobytes() != probe.nearest:
        yield "results do not round to nearest"
    products = (probe.small * probe.factors).tobytes()
    half = len(products) // 2
    if products[:half] != probe.quarter:
        yield "subnormal results become zero"
    if products[half:] != probe.tiny:
        yield "subnormal operands are read as zero"


def deviation() -> str:
    """Return how this thread's state differs from the default, "" if it does not."""
    if _traps() not in {0, None}:  # the arithmetic below would end the process
        return "floating-point exceptions stop the process"
    with np.errstate(all="ignore"):
        found = [text for probe in _PROBES for text in _deviations(probe)]
    if not found and _direction() not in {0, None}:
        found = ["results do not round to nearest"]
    return ", ".join(dict.fromkeys(found))


def restore() -> None:
    """Restore the default state, if the system has a function for it."""
    if _set is not None:
        _set(_DEFAULT)


# ---- the C library -------------------------------------------------------------------


def _function(name: str, *arguments: Any) -> Callable[..., int] | None:
    """Return a function of <fenv.h>, or None if it does not exist."""
    if os.name != "posix":
        return None
    function: Any = getattr(ctypes.CDLL(None), name, None)
    if function is not None:
        function.argtypes = arguments
    return function  # type: ignore[no-any-return]


def _default() -> ctypes.c_void_p:
    """Return FE_DFL_ENV, which is an object of the library on macOS, -1 elsewhere."""
    if sys.platform == "darwin":
        held = ctypes.c_char.in_dll(ctypes.CDLL(None), "_FE_DFL_ENV")
        return ctypes.c_void_p(ctypes.addressof(held))
    return ctypes.c_void_p(-1)


_set = _function("fesetenv", ctypes.c_void_p)
_DEFAULT = _default()
_get_direction = _function("fegetround")
_get_traps = _function("fegetexcept")  # exists in glibc


def _direction() -> int | None:
    return None if _get_direction is None else _get_direction()


def _traps() -> int | None:
    return None if _get_traps is None else _get_traps()
