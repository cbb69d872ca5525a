# SPDX-License-Identifier: MIT
"""How precisely products of float32 are to be taken, where kernels have a choice.

"highest" is float32's own precision.  "high" allows TF32 of a GPU, or a float32 taken
as the sum of two bfloat16; "medium" allows one bfloat16 as well.  A kernel set says
which of them its kernels need (`KernelSet.precision`), and which set runs a call is
decided for each precision apart: selections *follow* a change.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal
from weakref import WeakSet

Precision = Literal["highest", "high", "medium"]

#: From the most to the least precise; each allows what those before it allow.
PRECISIONS: tuple[Precision, ...] = ("highest", "high", "medium")

_precision: Precision = "highest"

#: Whether "high" was asked for by a GPU's setting, which CPUs do not follow.
_gpus_alone = False

_lock = threading.Lock()

#: What keeps decisions that depend on the precision: ``x.follow(before, now)``.
_followers: WeakSet[Any] = WeakSet()


def float32_matmul_precision() -> Precision:
    """Return the precision that `ac.set_float32_matmul_precision` has set.

    If the device of a kernel set can multiply float32 with less precision, its kernels
    read this value in each call, and use less precision for "high" and "medium" only.
    Alternatively, `KernelSet.precision` declares the precision of all its kernels.

    Examples
    --------
    >>> from autocalc.plugin import float32_matmul_precision
    >>> float32_matmul_precision()
    'highest'
    """
    return "high" if _gpus_alone else _precision


def deciding_precision() -> Precision:
    """Return the precision by which kernel sets are chosen."""
    return _precision


def allows(needed: Precision) -> bool:
    """Return whether kernels may run that need this precision to be allowed."""
    return PRECISIONS.index(needed) <= PRECISIONS.index(_precision)


def choose_matmul_precision(precision: Precision) -> None:
    """Keep what the user has asked for, and notify the subscribers."""
    global _precision, _gpus_alone
    with _lock:
        before, _precision, _gpus_alone = _precision, precision, False
        if before != precision:
            for follower in list(_followers):
                follower.follow(before, precision)


def allow_on_gpus() -> None:
    """Let kernels that ask at each call find "high", if they would find "highest"."""
    global _gpus_alone
    _gpus_alone = _precision == "highest"


@contextmanager
def matmul_precision(precision: Precision) -> Iterator[None]:
    """Let products have a precision inside a ``with`` block, in all threads."""
    before = _precision
    choose_matmul_precision(precision)
    try:
        yield
    finally:
        choose_matmul_precision(before)


def follow(follower: Any) -> None:
    """Tell `follower` of each change, as long as it lives."""
    with _lock:
        _followers.add(follower)
