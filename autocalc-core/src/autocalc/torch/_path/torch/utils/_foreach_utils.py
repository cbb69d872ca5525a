# SPDX-License-Identifier: MIT
"""`torch.utils._foreach_utils`: lists of tensors, grouped by device and dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autocalc.torch import _mentioned

_Column = Sequence[Any]


def _group_tensors_by_device_and_dtype(
    tensorlistlist: Sequence[_Column], with_indices: bool = False
) -> dict[tuple[Any, Any], tuple[list[list[Any]], list[int]]]:
    """Return the rows of lists, by the device and dtype of the first list's tensors.

    Each value holds the parts of all lists and, if `with_indices`, the row numbers.
    """
    rows: dict[tuple[Any, Any], list[int]] = {}
    for index, tensor in enumerate(tensorlistlist[0]):
        rows.setdefault((tensor.device, tensor.dtype), []).append(index)
    return {
        kind: (
            [[column[i] for i in found] if column else [] for column in tensorlistlist],
            found if with_indices else [],
        )
        for kind, found in rows.items()
    }


def _device_has_foreach_support(device: Any) -> bool:
    """Return True: a list of tensors is processed one by one."""
    return True


def _has_foreach_support(tensors: Sequence[Any], device: Any) -> bool:
    """Return True: a list of tensors is processed one by one."""
    return True


__getattr__ = _mentioned.names_of(__name__)
