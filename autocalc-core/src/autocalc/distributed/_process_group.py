# SPDX-License-Identifier: MIT
"""The ranks that work together, and what they are told of each other."""

from __future__ import annotations

from typing import Any

from autocalc.distributed import _mpi

#: Tag of the message of a rank whose program ends before the group does.
_LEAVING = 1


class ProcessGroup:
    """The ranks that work together; `init_process_group` makes it.

    Examples
    --------
    >>> import autocalc.distributed as dist
    >>> from autocalc.distributed import ProcessGroup
    >>> dist.init_process_group()
    >>> dist.get_world_size()
    1
    >>> dist.destroy_process_group()
    """

    def __init__(self, backend: str, comm: Any, timeout: float) -> None:
        self.backend = backend
        self.timeout = timeout
        #: MPI's communicators: for collectives, for messages, for sums in a fixed
        #: order, for comparisons, and for what ranks tell each other at the end.
        self.comm: Any = None
        self.messages: Any = None
        self.ordered: Any = None
        self.checks: Any = None
        self.control: Any = None
        self._rank, self._size = 0, 1
        #: Calls under way: their buffers must live.
        self.outstanding: set[Any] = set()
        #: Ranks whose programs have ended.
        self.left: set[int] = set()
        self._tag = 0
        self._leaving: list[Any] = []  # messages must live until the process ends
        self.local_rank, self.local_size = 0, 1
        if comm is not None:
            self._join(comm)

    def _join(self, comm: Any) -> None:
        self._rank, self._size = comm.Get_rank(), comm.Get_size()
        names = ("comm", "messages", "ordered", "checks", "control")
        for name in names:
            setattr(self, name, comm.Dup())

    def rank(self) -> int:
        """Return the number of this process, from 0."""
        return self._rank

    def size(self) -> int:
        """Return the number of processes."""
        return self._size

    def next_tags(self) -> tuple[int, int]:
        """Return two tags that no call under way uses; the same on all ranks."""
        self._tag = (self._tag + 2) % (_mpi.LAST_TAG - 1)
        return self._tag, self._tag + 1

    def someone_left(self) -> bool:
        """Return whether the program of another rank has ended, as far as is known."""
        if self.control is None:
            return False
        status = _mpi.module(None).Status()
        while self.control.Iprobe(tag=_LEAVING, status=status):
            source = status.Get_source()
            self.control.Recv(bytearray(1), source, _LEAVING)
            self.left.add(source)
        return bool(self.left)

    def leave(self) -> None:
        """Tell the others that this program has ended without ending the group."""
        others = [r for r in range(self._size) if r != self._rank]
        requests = [self.control.Isend(b"1", r, _LEAVING) for r in others]
        _mpi.completed(requests)
        self._leaving = requests

    def new_communicator(self) -> Any:
        """Return a communicator for calls that no other calls can get between."""
        return None if self.comm is None else self.comm.Dup()
