# SPDX-License-Identifier: MIT
"""The ranks that work together, and what they know of each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autocalc.distributed import _mpi

#: Tags of what ranks tell each other: that a program ends before the group does, and in
#: which call a rank waits.
_LEAVING, _WAITING = 1, 2

#: Bytes of the name of a call.
_NAME = 64


class Channel:
    """A communicator for messages of calls that all ranks make in the same order."""

    def __init__(self, comm: Any) -> None:
        self.comm = comm
        self._tag = 0

    def next_tags(self) -> tuple[int, int]:
        """Return two tags that no call under way uses; the same on all ranks."""
        self._tag = (self._tag + 2) % (_mpi.LAST_TAG - 1)
        return self._tag, self._tag + 1


class ProcessGroup:
    """A group of ranks: all of them, or those passed to `new_group`.

    Examples
    --------
    >>> import autocalc.distributed as dist
    >>> from autocalc.distributed import ProcessGroup
    >>> dist.init_process_group()
    >>> isinstance(dist.group.WORLD, ProcessGroup), dist.group.WORLD.size()
    (True, 1)
    >>> dist.destroy_process_group()
    """

    def __init__(
        self,
        backend: str,
        comm: Any,
        timeout: float,
        ranks: Sequence[int] | None = None,
        world: ProcessGroup | None = None,
    ) -> None:
        self.backend = backend
        self.timeout = timeout
        #: MPI's communicators: for collectives, for the user's messages, for our own,
        #: for comparisons, and for what all ranks tell each other at the end.
        self.comm: Any = None
        self.messages: Any = None
        self.channel = Channel(None)
        self.checks: Any = None
        self.control: Any = None
        self._rank, self._size = 0, 1
        #: Calls under way: their buffers must live.
        self.outstanding: set[Any] = set()
        #: The group of all ranks, and the members' numbers in it.
        self.world = self if world is None else world
        #: Ranks whose programs have ended; what others said that they wait in.
        self.left: set[int] = set()
        self.waiting: dict[int, str] = {}
        self._told = False
        self._sent: list[Any] = []  # messages must live until the process ends
        self.local_rank, self.local_size = 0, 1
        #: Of the group of all: whether each rank of this host has a core.
        self.has_core = False
        #: Of the group of all: whether some ranks reach each other over a network only.
        self.uses_network = False
        if comm is not None:
            self._join(comm)
        self.ranks = list(range(self._size) if ranks is None else ranks)

    def _join(self, comm: Any) -> None:
        self._rank, self._size = comm.Get_rank(), comm.Get_size()
        self.comm, self.messages, self.checks = (comm.Dup() for _ in range(3))
        self.channel = Channel(comm.Dup())
        self.control = comm.Dup() if self.world is self else self.world.control

    def rank(self) -> int:
        """Return the number of this process in the group, from 0."""
        return self._rank

    def size(self) -> int:
        """Return the number of processes."""
        return self._size

    def __deepcopy__(self, memo: Any) -> ProcessGroup:
        """Return the group itself: copies of what knows it talk to the same ranks."""
        return self

    def __str__(self) -> str:
        """Return the name of this process, for messages: its number among all ranks."""
        world = self.world
        text = f"rank {world.rank()} of {world.size()}"
        if world is self:
            return text
        return f"{text}, in the group of {', '.join(map(str, self.ranks))},"

    def new_channel(self) -> Channel:
        """Return a channel for calls that no other calls can get between."""
        return Channel(None if self.comm is None else self.comm.Dup())

    def free(self) -> None:
        """Give back the communicators of a group that has ended."""
        for comm in (self.comm, self.messages, self.checks, self.channel.comm):
            if comm is not None:
                comm.Free()

    # ---- what ranks tell each other ------------------------------------------------

    def members_left(self, where: str) -> list[int]:
        """Return the ranks of the group whose programs have ended, as far as known.

        A rank that asks where this one waits gets `where` as the answer.
        """
        self.world._listen(where)
        return sorted(self.world.left.intersection(self.ranks))

    def _listen(self, where: str) -> None:
        """Read what other ranks have sent; answer those that wait."""
        if self.control is None:
            return
        status = _mpi.module(None).Status()
        while self.control.Iprobe(status=status):
            source, tag = status.Get_source(), status.Get_tag()
            text = bytearray(_NAME)
            self.control.Recv(text, source, tag)
            if tag == _LEAVING:
                self.left.add(source)
            else:
                self.waiting[source] = text.rstrip(b"\0").decode(errors="replace")
                self.tell_waiting(where)

    def leave(self) -> None:
        """Tell the others that this program has ended without ending the group."""
        self._tell(_LEAVING, b"")

    def tell_waiting(self, where: str) -> None:
        """Tell the others once that this rank waits in the call `where`."""
        world = self.world
        if not world._told:
            world._told = True
            world._tell(_WAITING, where.encode())

    def _tell(self, tag: int, text: bytes) -> None:
        others = [r for r in range(self._size) if r != self._rank]
        padded = text[:_NAME].ljust(_NAME, b"\0")
        requests = [self.control.Isend(padded, r, tag) for r in others]
        _mpi.completed(requests, _mpi.new_statuses(requests))
        self._sent += requests
