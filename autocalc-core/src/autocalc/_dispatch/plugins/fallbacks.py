# SPDX-License-Identifier: MIT
"""Calls that no kernel package accepted, so that the reference had to run them.

They are noted while ``AUTOCALC_STRICT`` is set.  With ``1``, the first one is an error.
With ``list``, the program continues, and prints a list of them when it ends.
"""

from __future__ import annotations

import atexit
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from autocalc._kernels.kernel_set import DispatchKey


@dataclass(frozen=True)
class Fall:
    """A kind of call that ran on a reference kernel, because no faster one accepts it.

    Attributes
    ----------
    kernel
        The kernel's name.
    dtypes
        The dtypes of the operands in the order of the signature, outputs first; "None"
        for an absent operand.
    reasons
        The answer of each kernel set, such as ``"simd-avx2: float64 is not for me"``.

    Examples
    --------
    >>> import autocalc as ac
    >>> print(ac.kernels.Fall("add", ("int8",) * 3, ("simd-avx2: int8 is not for me",)))
    add(int8, int8, int8): simd-avx2: int8 is not for me
    """

    kernel: str
    dtypes: tuple[str, ...]
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        sets: dict[str, list[str]] = {}
        for one in self.reasons:
            name, _, reason = one.partition(": ")
            sets.setdefault(reason.rstrip("."), []).append(name)
        listed = "; ".join(f"{', '.join(names)}: {why}" for why, names in sets.items())
        return f"{self.kernel}({', '.join(self.dtypes)}): {listed}"


#: The calls in the order in which they occurred; each is noted once.
_falls: dict[Fall, None] = {}

#: Not empty once it is certain that the list will be printed at the end.
_announced: list[bool] = []


def falls() -> tuple[Fall, ...]:
    """Return which kinds of calls ran on reference kernels, and the reasons.

    They are recorded while ``AUTOCALC_STRICT`` is set to ``list`` or to ``1``.  Calls
    for which the reference kernels were chosen, for example by `use`, are left out.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.kernels.falls()
    ()
    """
    return tuple(_falls)


def note(key: DispatchKey, reasons: Sequence[str], tell: bool) -> tuple[Fall, ...]:
    """Note a call that ran on the reference; return those noted before it.

    With `tell`, all of them are printed when the process ends.
    """
    dtypes = tuple("None" if dtype is None else str(dtype) for dtype in key.dtypes)
    fall = Fall(key.kernel, dtypes, tuple(reasons))
    earlier = tuple(one for one in _falls if one != fall)
    _falls[fall] = None
    if tell and not _announced:
        _announced.append(True)
        atexit.register(_tell)
    return earlier


def forget() -> None:
    """Start a new list."""
    _falls.clear()


def listed() -> str:
    """Return the list as text; "" if it is empty."""
    if not _falls:
        return ""
    lines = "".join(f"\n  {fall}" for fall in _falls)
    return f"AUTOCALC_STRICT=list: {len(_falls)} kinds of calls fell back:{lines}"


def _tell() -> None:
    text = listed()
    if text:
        print(text, file=sys.stderr)  # noqa: T201  the user asked for it
