# SPDX-License-Identifier: MIT
"""`torch.multiprocessing`: Python's `multiprocessing`, with `spawn` for ranks.

A queue transfers a tensor as a copy.
"""

from __future__ import annotations

import multiprocessing
from multiprocessing import *  # noqa: F403  all of it
from typing import Any

from torch.multiprocessing.spawn import ProcessContext as ProcessContext
from torch.multiprocessing.spawn import ProcessRaisedException as ProcessRaisedException
from torch.multiprocessing.spawn import spawn as spawn
from torch.multiprocessing.spawn import start_processes as start_processes

_strategy = "file_system"


def get_all_sharing_strategies() -> set[str]:
    """Return the names that `set_sharing_strategy` accepts."""
    return {"file_descriptor", "file_system"}


def get_sharing_strategy() -> str:
    """Return the name that was set; tensors are always copied between processes."""
    return _strategy


def set_sharing_strategy(new_strategy: str) -> None:
    """Store the name of a sharing strategy; it has no effect."""
    global _strategy
    _strategy = new_strategy


def __getattr__(name: str) -> Any:
    return getattr(multiprocessing, name)
