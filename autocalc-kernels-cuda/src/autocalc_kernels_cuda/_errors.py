# SPDX-License-Identifier: MIT
"""Errors of values that a kernel finds on the device, kept there until the host waits.

A kernel that checks what it reads, labels say, is given the record and a number::

    LABELS = _errors.number("cross_entropy", ("target",))
    kernel(grid, block, (..., _errors.record(), LABELS))

and calls ``report_error(record, LABELS, 0, index, value)`` of `common.cuh`; the 0 is
the operand's place among the names.  The first error since the last look is kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autocalc.errors import kernel_data_error

#: What each number means, from 1: 0 in the record says that there is no error.
_NAMES: list[tuple[str, tuple[str, ...]]] = []

#: The record of each device, and the devices whose record a kernel may have written.
_records: dict[int, Any] = {}
_watched: set[int] = set()


def number(kernel: str, operands: tuple[str, ...]) -> Any:
    """Return the number under which a kernel reports errors of these operands."""
    _NAMES.append((kernel, operands))
    return np.uint64(len(_NAMES))


def record() -> Any:
    """Return the device's record, for a kernel that is launched at once."""
    import cupy

    device = cupy.cuda.runtime.getDevice()
    _watched.add(device)
    found = _records.get(device)
    if found is None:
        found = _records[device] = cupy.zeros(4, np.int64)
    return found


def raise_pending() -> None:
    """Raise the error that a kernel has reported, if any, once the stream has ended.

    The record is read only if a kernel was given it since the last time.
    """
    if not _watched:
        return
    import cupy

    device = cupy.cuda.runtime.getDevice()
    if device not in _watched:
        return
    _watched.discard(device)
    kernel, operand, index, value = _records[device].get().tolist()
    if kernel == 0:
        return
    _records[device].fill(0)
    name, operands = _NAMES[kernel - 1]
    raise kernel_data_error(name, operands[operand], index, value)
