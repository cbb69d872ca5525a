# SPDX-License-Identifier: MIT
"""How precise float32 products must be, if kernels have a choice.

"highest" is float32's own precision.  "high" allows TF32 on a GPU, or a float32 as the
sum of two bfloat16.  "medium" also allows one bfloat16.  A kernel set declares which of
them its kernels need (`KernelSet.precision`).  The set that runs a call is decided
separately for each precision, so selections *follow* a change of it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal
from weakref import WeakSet

Precision = Literal["highest", "high", "medium"]

#: From the most to the least precise; each also allows what earlier ones allow.
PRECISIONS: tuple[Precision, ...] = ("highest", "high", "medium")

_precision: Precision = "highest"

#: Whether a GPU's setting asked for "high", which CPUs do not follow.
_gpus_alone = False

_lock = threading.Lock()

#: Objects with decisions that depend on the precision: ``x.follow(before, now)``.
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
    """Store the user's precision, and notify the subscribers."""
    global _precision, _gpus_alone
    with _lock:
        before, _precision, _gpus_alone = _precision, precision, False
        if before != precision:
            for follower in list(_followers):
                follower.follow(before, precision)


def allow_on_gpus() -> None:
    """Let kernels that ask at each call get "high" where they would get "highest"."""
    global _gpus_alone
    _gpus_alone = _precision == "highest"


@contextmanager
def matmul_precision(precision: Precision) -> Iterator[None]:
    """Set the precision of products in a ``with`` block, for all threads."""
    before = _precision
    choose_matmul_precision(precision)
    try:
        yield
    finally:
        choose_matmul_precision(before)


def follow(follower: Any) -> None:
    """Notify `follower` of each change as long as it lives."""
    with _lock:
        _followers.add(follower)
