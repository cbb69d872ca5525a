# SPDX-License-Identifier: MIT
"""The class of groups, and the messages by which ranks learn of each other's state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autocalc.distributed import _mpi

#: Tags of the messages about a rank's state: its program ends before the group, or it
#: waits in a certain call.
_LEAVING, _WAITING = 1, 2

#: The most bytes of the name of a call.
_NAME = 64


class Channel:
    """A communicator for messages of calls that all ranks make in the same order."""

    def __init__(self, comm: Any) -> None:
        self.comm = comm
        self._tag = 0

    def next_tags(self) -> tuple[int, int]:
        """Return two tags that no running call uses; they are equal on all ranks."""
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
        #: MPI's communicators: for collectives, for the user's messages, for AutoCalc's
        #: messages, for comparisons of calls, and for the ranks' messages at the end.
        self.comm: Any = None
        self.messages: Any = None
        self.channel = Channel(None)
        self.checks: Any = None
        self.control: Any = None
        self._rank, self._size = 0, 1
        #: Running calls; the references keep their buffers alive.
        self.outstanding: set[Any] = set()
        #: The group of all ranks, and the members' ranks in it.
        self.world = self if world is None else world
        #: The ranks whose programs have ended, and the calls in which others said that
        #: they wait.
        self.left: set[int] = set()
        self.waiting: dict[int, str] = {}
        self._told = False
        self._sent: list[Any] = []  # messages must live until the process ends
        self.local_rank, self.local_size = 0, 1
        #: For the group of all ranks: whether each rank of this host has its own core.
        self.has_core = False
        #: For the group of all ranks: whether some ranks can only communicate over a
        #: network.
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
        """Return the group itself, because copies of its users keep the same ranks."""
        return self

    def __str__(self) -> str:
        """Return the name of this process for messages: its global rank."""
        world = self.world
        text = f"rank {world.rank()} of {world.size()}"
        if world is self:
            return text
        return f"{text}, in the group of {', '.join(map(str, self.ranks))},"

    def new_channel(self) -> Channel:
        """Return a channel whose messages other calls cannot receive."""
        return Channel(None if self.comm is None else self.comm.Dup())

    def free(self) -> None:
        """Free the communicators of a group that has ended."""
        for comm in (self.comm, self.messages, self.checks, self.channel.comm):
            if comm is not None:
                comm.Free()

    # ---- messages about the state of ranks -----------------------------------------

    def members_left(self, where: str) -> list[int]:
        """Return the ranks of the group whose programs are known to have ended.

        If another rank asks where this rank waits, the answer is `where`.
        """
        self.world._listen(where)
        return sorted(self.world.left.intersection(self.ranks))

    def _listen(self, where: str) -> None:
        """Read the messages of other ranks, and answer the ranks that ask."""
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
        """Tell the other ranks that this program ended without ending the group."""
        self._tell(_LEAVING, b"")

    def tell_waiting(self, where: str) -> None:
        """Tell the other ranks, once, that this rank waits in the call `where`."""
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
