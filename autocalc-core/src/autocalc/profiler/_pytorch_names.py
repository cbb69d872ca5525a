# SPDX-License-Identifier: MIT
"""Names of PyTorch's profiler, so that programs for it run."""

from __future__ import annotations

from contextlib import ContextDecorator
from enum import Enum

from autocalc._tensor.checks import check_type


class ProfilerActivity(Enum):
    """The devices in PyTorch's profiler; AutoCalc's profiler always records kernels.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.profiler.ProfilerActivity.CPU.name
    'CPU'
    """

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class record_function(ContextDecorator):
    """A named block or function of PyTorch's profiler; it has no effect here.

    AutoCalc's `profile` names operators and modules without it.

    Parameters
    ----------
    name, args
        The name of the block, and a description.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.profiler.record_function("loss"):
    ...     y = ac.ones(1).sum()
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        check_type("record_function", "name", name, str, "a text")
        self.name, self.args = name, args

    def __enter__(self) -> record_function:
        """Begin the block."""
        return self

    def __exit__(self, *error: object) -> None:
        """End the block."""


def kineto_available() -> bool:
    """Return False, because AutoCalc does not use the library of PyTorch's profiler.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.profiler.kineto_available()
    False
    """
    return False
