# SPDX-License-Identifier: MIT
"""`Work`: a running call, which can be tested and waited for."""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from datetime import timedelta
from typing import Any

from autocalc._dispatch.selection.state import enter, leave
from autocalc._tensor.checks import number
from autocalc.distributed import _mpi
from autocalc.distributed._process_group import ProcessGroup
from autocalc.errors import ArgumentError, DistributedError

#: The seconds of polling before a wait begins to sleep, and the seconds of each sleep.
#: MPI moves large messages through shared memory in pieces, one for each test of the
#: request: with sleeps in between, 3.3 MB took 30 ms.  For that reason, a rank with its
#: own core polls longer.
_ASK, _ASK_IN_SHARED_MEMORY, _SLEEP = 0.003, 0.03, 5e-4

#: The seconds after which a wait checks whether a rank has left, and the seconds for
#: which it continues after a rank has left.
_LOOK_AFTER, _GRACE = 1.0, 5.0

#: The seconds that other ranks get to report where they wait, after a timeout.
_ANSWER = 2.0

#: The steps of a call, as a generator.  It yields the requests that the next step
#: needs, and is sent their statuses.  It returns the rank that it received from, if
#: any.
Steps = Generator[list[Any], Any, Any]


class Work:
    """A call with ``async_op=True``, which runs while the program continues.

    The call makes progress whenever `is_completed` or `wait` is called.  Do not use the
    tensors of the call before it has ended.

    Examples
    --------
    >>> import autocalc as ac
    >>> import autocalc.distributed as dist
    >>> dist.init_process_group()
    >>> total = ac.tensor([1.0, 2.0])
    >>> work = dist.all_reduce(total, async_op=True)
    >>> work.wait()
    True
    >>> total
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """

    def __init__(self, where: str, group: ProcessGroup, steps: Steps) -> None:
        self._where = where
        self._group = group
        self._steps = steps
        self._pending: list[Any] = []
        self._statuses: list[Any] = []
        self._done = False
        self._source: int | None = None
        group.outstanding.add(self)
        self._advance()

    def is_completed(self) -> bool:
        """Return whether the call has ended, without waiting."""
        while not self._done:
            if not self._is_passed():
                return False
            self._advance(self._statuses)
        return True

    def wait(self, timeout: timedelta | float | None = None) -> bool:
        """Wait until the call has ended; return True.

        Parameters
        ----------
        timeout
            A `timedelta`, or seconds; by default the timeout of the group.

        Raises
        ------
        DistributedError
            If the call takes longer than `timeout`, if a rank has left, or if MPI
            reports an error.  The group cannot be used after this error.
        """
        limit = self._group.timeout if timeout is None else seconds("wait", timeout)
        world = self._group.world
        patient = world.has_core and not world.uses_network
        ask = _ASK_IN_SHARED_MEMORY if patient else _ASK
        started, left_at = time.monotonic(), None
        while not self.is_completed():
            waited = time.monotonic() - started
            _pause(waited > ask)
            if waited > limit:
                self._fail(f"has waited {limit:g} s.{self._roll_call()}", _STUCK)
            if waited > _LOOK_AFTER and self._group.members_left(self._where):
                left_at = waited if left_at is None else left_at
            if left_at is not None and waited - left_at > _GRACE:
                ranks = ", ".join(map(str, self._group.members_left(self._where)))
                self._fail(f"waits for rank {ranks}, whose program has ended.", _LEFT)
        return True

    def source_rank(self) -> int:
        """Return the rank that sent the tensor, after a call of `irecv` has ended.

        Raises
        ------
        DistributedError
            If the call failed, or if it received nothing.
        """
        if self._source is None:
            message = f"source_rank: {self._where} has received nothing yet."
            raise DistributedError(message)
        return self._source

    def _is_passed(self) -> bool:
        """Return whether the requests of this step are all complete."""
        try:
            return _mpi.completed(self._pending, self._statuses)
        except Exception as error:
            raise self._translated(error) from error

    def _advance(self, statuses: list[Any] | None = None) -> None:
        token = enter(grad=False)
        try:
            self._pending = self._steps.send(statuses)
            self._statuses = _mpi.new_statuses(self._pending)
        except StopIteration as end:
            self._source = end.value
            self._done, self._pending, self._statuses = True, [], []
            self._group.outstanding.discard(self)
        except Exception as error:
            raise self._translated(error) from error
        finally:
            leave(token)

    def _translated(self, error: Exception) -> Exception:
        """Return MPI's error as a `DistributedError`, and other errors unchanged."""
        if not _mpi.is_error(error):
            return error
        return self._error(f"got an error from MPI: {error}.", _FROM_MPI)

    def _roll_call(self) -> str:
        """Ask the other ranks of the group where they wait; return their answers."""
        group, until = self._group, time.monotonic() + _ANSWER
        group.tell_waiting(self._where)
        others = {r for r in group.ranks if r != group.world.rank()}
        silent, gone = others, list[int]()
        while silent and time.monotonic() < until:
            time.sleep(_SLEEP)
            gone = group.members_left(self._where)
            silent = others.difference(group.world.waiting, gone)
        words = [
            f"rank {r} waits as well, in {where}"
            for r, where in sorted(group.world.waiting.items())
            if r in others
        ]
        words += [f"rank {r} does not answer" for r in sorted(silent)]
        words += [f"the program of rank {r} has ended" for r in gone]
        text = "; ".join(words)
        why = " It is stopped, cut off, or still computes." if silent else ""
        return f" {text[:1].upper()}{text[1:]}.{why}"

    def _fail(self, what: str, advice: str) -> None:
        raise self._error(what, advice)

    def _error(self, what: str, advice: str) -> DistributedError:
        return DistributedError(f"{self._where}: {self._group} {what} {advice}")


_STUCK = (
    "AUTOCALC_DISTRIBUTED_DEBUG=detail finds calls that differ; `timeout` of "
    "init_process_group or AUTOCALC_DISTRIBUTED_TIMEOUT say how long to wait."
)
_LEFT = "All ranks must make the same calls."
_FROM_MPI = (
    "Do all ranks give tensors of one shape and dtype? "
    "AUTOCALC_DISTRIBUTED_DEBUG=detail says which do not."
)


def _pause(sleeps: bool) -> None:
    """Yield the processor to other threads, or sleep for a moment."""
    if sleeps:
        time.sleep(_SLEEP)
    elif hasattr(os, "sched_yield"):
        os.sched_yield()


def seconds(where: str, timeout: Any) -> float:
    """Return a positive time in seconds."""
    if isinstance(timeout, timedelta):
        timeout = timeout.total_seconds()
    result = number(where, "timeout", timeout)
    if not result > 0:
        raise ArgumentError(f"{where}: `timeout` is {result:g} s; it must be above 0.")
    return result
