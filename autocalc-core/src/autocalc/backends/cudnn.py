# SPDX-License-Identifier: MIT
"""Settings of cuDNN, which is not there: ``cudnn.benchmark = True`` has no effect.

Examples
--------
>>> import autocalc as ac
>>> ac.backends.cudnn.benchmark = True
>>> ac.backends.cudnn.is_available()
False
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from autocalc._tensor.checks import check_flags

__all__ = [
    "allow_tf32",
    "benchmark",
    "benchmark_limit",
    "deterministic",
    "enabled",
    "flags",
    "is_available",
    "version",
]

#: Whether to use cuDNN.
enabled = True
#: Whether to choose the algorithms of convolutions by timing them.
benchmark = False
#: How many algorithms are timed.
benchmark_limit = 10
#: Whether to use deterministic algorithms alone.
deterministic = False
#: Whether products may be of fewer digits.
allow_tf32 = True


def is_available() -> bool:
    """Return False: AutoCalc does not use cuDNN."""
    return False


def version() -> None:
    """Return None: AutoCalc does not use cuDNN."""


@contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
) -> Iterator[None]:
    """Accept PyTorch's settings for a ``with`` block; they have no effect."""
    check_flags("cudnn.flags", enabled=enabled, benchmark=benchmark)
    check_flags("cudnn.flags", deterministic=deterministic, allow_tf32=allow_tf32)
    given: dict[str, bool | int] = {
        "enabled": enabled,
        "benchmark": benchmark,
        "benchmark_limit": benchmark_limit,
        "deterministic": deterministic,
        "allow_tf32": allow_tf32,
    }
    settings = globals()
    before = {name: settings[name] for name in given}
    settings.update(given)
    try:
        yield
    finally:
        settings.update(before)
