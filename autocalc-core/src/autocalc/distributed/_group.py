# SPDX-License-Identifier: MIT
"""Make the group of all ranks; query and end groups."""

from __future__ import annotations

import atexit
import warnings
from datetime import timedelta
from typing import Any

from autocalc._config import launched, settings
from autocalc._tensor.checks import as_int, short
from autocalc.distributed import _failure, _mpi, _placement
from autocalc.distributed._launch import mpi_launch
from autocalc.distributed._process_group import ProcessGroup
from autocalc.distributed._work import Steps, Work, seconds
from autocalc.errors import (
    ArgumentError,
    DistributedError,
    DistributedWarning,
    DTypeError,
)

#: The default time that a call waits for other ranks, in seconds, as in PyTorch.
TIMEOUT = 1800.0

#: The group of all ranks, if it exists, followed by the groups of some ranks.
_groups: list[ProcessGroup] = []


class GroupMember:
    """The result of `new_group` on a rank that is not in the group.

    Examples
    --------
    >>> import autocalc.distributed as dist
    >>> dist.get_rank(dist.GroupMember.NON_GROUP_MEMBER)
    -1
    """

    #: The rank does not take part in calls of the group; they warn and return.
    NON_GROUP_MEMBER: Any = object()


def is_available() -> bool:
    """Return True, because a group of one process can be made even without MPI."""
    return True


def is_mpi_available() -> bool:
    """Return whether mpi4py is installed, which groups of several processes need."""
    return _mpi.is_installed()


def is_initialized() -> bool:
    """Return whether `init_process_group` has made the group of all ranks."""
    return bool(_groups)


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | float | None = None,
    world_size: int = -1,
    rank: int = -1,
    **words: Any,
) -> None:
    """Make the group of all processes that ``mpirun`` or ``srun`` started.

    All processes must call it.  A process that was started alone becomes a group of
    one, with or without MPI.  In a group of several processes, an uncaught error ends
    the program on all ranks.  The threads of a host are divided among its ranks.  If
    the launcher did not bind the ranks to cores, each rank is bound to its own cores.

    Parameters
    ----------
    backend
        The default is "mpi" if several processes were started.  Other names, which
        programs for PyTorch use, mean the same.  For a group of one process,
        `get_backend` returns the given name.
    init_method
        Accepted so that programs for PyTorch run; it has no effect, because MPI finds
        the processes.
    timeout
        How long a call waits for other ranks, as a `timedelta` or in seconds.  The
        default is ``AUTOCALC_DISTRIBUTED_TIMEOUT``, or 30 minutes if that is not set.
        After this time, the waiting rank asks the other ranks in which call they wait.
        It collects the answers for 2 seconds and raises an error that lists them.  The
        error ends the program on all ranks.
    world_size, rank
        The number of processes and the number of this one: the launcher's values, or
        -1.
    **words
        Further arguments of PyTorch's function; they have no effect.

    Raises
    ------
    ArgumentError
        If the group exists already, or if `world_size` or `rank` differs from the
        launcher's value.
    DTypeError
        If an argument has the wrong type.
    DistributedError
        If several processes were started, and mpi4py or its MPI library is missing, or
        the library does not belong to the launcher.

    Examples
    --------
    >>> import autocalc.distributed as dist
    >>> dist.init_process_group("gloo", world_size=1, rank=0)
    >>> dist.get_rank(), dist.get_world_size()
    (0, 1)
    >>> dist.destroy_process_group()
    """
    del init_method, words
    where = "init_process_group"
    name_given: Any = backend
    if name_given is not None and not isinstance(name_given, str):
        raise DTypeError(
            f"{where}: `backend` is {short(backend)}; it must be a string."
        )
    if is_initialized():
        message = f"{where}: a group already exists; destroy_process_group() ends it."
        raise ArgumentError(message)
    limit = _usual_timeout() if timeout is None else seconds(where, timeout)
    launch = mpi_launch()
    several = launch is not None and launch.size > 1
    size, place = (launch.size, launch.rank) if several and launch else (1, 0)
    _check_asked(where, "world_size", world_size, size, several)
    _check_asked(where, "rank", rank, place, several)
    name = "mpi" if several else backend or "gloo"
    group = ProcessGroup(name, _mpi.world(launch) if several else None, limit)
    _groups.append(group)
    if several:
        _begin(group)


def _usual_timeout() -> float:
    """Return the timeout in seconds from the environment, or the default."""
    chosen = settings().distributed_timeout
    return TIMEOUT if chosen is None else chosen


def _check_asked(
    where: str, name: str, value: Any, started: int, several: bool
) -> None:
    """Raise unless the arguments agree with the processes that were started."""
    asked = as_int(where, name, value)
    text = str(asked)
    if asked == -1:
        said = launched(name.upper())
        if said is None or several:
            return
        text = said
    if text == str(started):
        return
    if several:
        what = f"the launcher's is {started}. Leave it out."
    else:
        what = (
            "this process was started alone, a group of size 1 with rank 0. Start "
            "several with: mpirun -n 4 python program.py"
        )
    raise ArgumentError(f"{where}: `{name}` is {text}; {what}")


def _begin(group: ProcessGroup) -> None:
    """Install the error hooks, and divide the threads of a host among its ranks."""
    _failure.install(group)
    atexit.register(_at_exit)
    host = group.control.Split_type(_mpi.module(None).COMM_TYPE_SHARED)
    group.local_rank, group.local_size = host.Get_rank(), host.Get_size()
    group.has_core = _placement.place(host)
    group.uses_network = _placement.uses_network(host, group.size())


def _at_exit() -> None:
    """Tell the other ranks that this program ends, if the group still exists."""
    if _groups and _groups[0].size() > 1:
        _groups[0].leave()


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """End a group, by default all groups; all members must call it.

    The members wait for each other.

    Raises
    ------
    ArgumentError
        If the group does not exist.
    DistributedError
        If a rank does not make the call in time.
    """
    where = "destroy_process_group"
    if group is GroupMember.NON_GROUP_MEMBER:
        return
    ending = group_of(where, group)
    ended = [*_groups] if ending is _groups[0] else [ending]
    if ending.size() > 1:
        for work in [work for one in ended for work in one.outstanding]:
            work.wait()
        Work(where, ending, meeting(ending)).wait()
    if ending is not _groups[0]:
        ending.free()
        _groups.remove(ending)
        return
    if ending.size() > 1:
        atexit.unregister(_at_exit)
        _failure.uninstall()
    _groups.clear()


def meeting(group: ProcessGroup) -> Steps:
    """Wait until all ranks have made this call."""
    if group.size() > 1:
        yield [group.comm.Ibarrier()]


def get_rank(group: ProcessGroup | None = None) -> int:
    """Return the number of this process in a group, from 0, or -1 if it is no member.

    Raises
    ------
    ArgumentError
        If the group does not exist.
    """
    if group is GroupMember.NON_GROUP_MEMBER:
        return -1
    return group_of("get_rank", group).rank()


def get_world_size(group: ProcessGroup | None = None) -> int:
    """Return the number of processes of a group, or -1 if this one is no member.

    Raises
    ------
    ArgumentError
        If the group does not exist.
    """
    if group is GroupMember.NON_GROUP_MEMBER:
        return -1
    return group_of("get_world_size", group).size()


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """Return the number of this process among all on its machine, from 0.

    Parameters
    ----------
    fallback_rank
        The value to return if there is no group.

    Raises
    ------
    ArgumentError
        If there is neither a group nor a `fallback_rank`.
    """
    if fallback_rank is not None and not is_initialized():
        return as_int("get_node_local_rank", "fallback_rank", fallback_rank)
    return group_of("get_node_local_rank", None).local_rank


def get_backend(group: ProcessGroup | None = None) -> str:
    """Return "mpi"; for a group of one process, the name that it was made with.

    Raises
    ------
    ArgumentError
        If the group does not exist.
    """
    return group_of("get_backend", group).backend


def group_of(where: str, group: Any) -> ProcessGroup:
    """Return the group; raise if it is not a group or does not contain this rank."""
    if not _groups:
        message = f"{where}: there is no group; call init_process_group() first."
        raise ArgumentError(message)
    if group is None:
        return _groups[0]
    if group is GroupMember.NON_GROUP_MEMBER:
        message = f"{where}: this rank, {_groups[0].rank()}, is not in the group."
        raise ArgumentError(message)
    if not any(group is one for one in _groups):
        raise ArgumentError(
            f"{where}: `group` is {short(group)}; it must be an active group that "
            "new_group returned, or None for all ranks."
        )
    found: ProcessGroup = group
    return found


def is_outside(where: str, group: Any) -> bool:
    """Return whether this rank is outside of the group; warn if so, as PyTorch does."""
    if group is not GroupMember.NON_GROUP_MEMBER or not _groups:
        return False
    rank = _groups[0].rank()
    message = f"{where}: this rank, {rank}, is not in the group; nothing is done."
    warnings.warn(message, DistributedWarning, stacklevel=3)
    return True


def are_several() -> bool:
    """Return whether this process is one of several ranks."""
    return bool(_groups) and _groups[0].size() > 1


def add_group(group: ProcessGroup) -> ProcessGroup:
    """Register a group of some ranks."""
    _groups.append(group)
    return group


def current_group() -> ProcessGroup | None:
    """Return the group of all ranks, or None."""
    return _groups[0] if _groups else None


def check_rank(where: str, name: str, rank: Any, group: ProcessGroup) -> int:
    """Return a member's rank in the group, given its global rank."""
    found = as_int(where, name, rank)
    if found not in group.ranks:
        only = "the one process is number 0"
        if group is not group.world:
            only = f"ranks of the group are {', '.join(map(str, group.ranks))}"
        elif group.size() > 1:
            only = f"ranks are 0 to {group.size() - 1}"
        raise ArgumentError(f"{where}: `{name}` is {found}; {only}.")
    return group.ranks.index(found)


def member(where: str, name: str, rank: Any, number: Any, group: ProcessGroup) -> int:
    """Return a member's rank in the group, given its global rank or that rank."""
    if (rank is None) == (number is None):
        raise ArgumentError(
            f"{where}: `{name}` is {short(rank)} and `group_{name}` is "
            f"{short(number)}; give exactly one of them: the number among all ranks, "
            "or the number in the group."
        )
    if number is None:
        return check_rank(where, name, rank, group)
    found = as_int(where, f"group_{name}", number)
    if not 0 <= found < group.size():
        raise ArgumentError(
            f"{where}: `group_{name}` is {found}; the group has {group.size()} ranks, "
            "numbered from 0."
        )
    return found


def refuse_alone(where: str, group: ProcessGroup) -> None:
    """Raise if the group has no other rank that a message could go to."""
    if group.size() == 1:
        message = (
            f"{where}: this process is the only one in the group, so there is no rank "
            "to exchange messages with."
        )
        raise DistributedError(message)
