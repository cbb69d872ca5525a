# SPDX-License-Identifier: MIT
"""Start a call: wait for it, return it as `Work`, or record it for a compiled step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from autocalc._dispatch.selection.state import recorder
from autocalc._ops.callback import callback
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flag
from autocalc.distributed._process_group import ProcessGroup
from autocalc.distributed._work import Steps, Work
from autocalc.errors import CompileError


def run(
    where: str, group: ProcessGroup, steps: Steps, async_op: bool = False
) -> Work | None:
    """Start a call; wait for its end unless it is asynchronous."""
    check_flag(where, "async_op", async_op)
    work = Work(where, group, steps)
    if async_op:
        return work
    work.wait()
    return None


def is_recorded(where: str, async_op: Any) -> bool:
    """Return whether `ac.compile` is recording; raise if it cannot record the call."""
    if recorder() is None:
        return False
    if async_op:
        raise CompileError(
            f"{where}: `async_op` is True in a compiled step, but a replay cannot wait "
            "for the call. Do not give it: a replay starts the call as soon as its "
            "tensors are complete. Alternatively, start the call and wait for it in "
            "two functions of ac.callback."
        )
    return True


def record(
    function: Callable[..., Any],
    read: Sequence[Tensor],
    written: Sequence[Tensor],
    **words: Any,
) -> None:
    """Record the call ``function(*read)`` for each replay of the compiled step."""
    callback(partial(function, **words), *read, mutates=list(written))
