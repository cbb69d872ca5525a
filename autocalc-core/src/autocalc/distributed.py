# SPDX-License-Identifier: MIT
"""What programs for several processes ask for: here a group has one process.

`is_initialized` answers False until a program makes the group.  In a group of one, sums
and copies over all processes are what they were; more processes are an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from autocalc._absent import lookup as _lookup
from autocalc._config import launched as _launched
from autocalc._tensor import Tensor
from autocalc._tensor.checks import as_int as _as_int
from autocalc._tensor.checks import sequence as _sequence
from autocalc._tensor.checks import short as _short
from autocalc.errors import ArgumentError, DTypeError, ShapeError

__all__ = [
    "ReduceOp",
    "all_gather",
    "all_reduce",
    "barrier",
    "broadcast",
    "destroy_process_group",
    "get_backend",
    "get_rank",
    "get_world_size",
    "init_process_group",
    "is_available",
    "is_initialized",
    "reduce",
]


class ReduceOp(Enum):
    """What is done with the tensors of all processes; of one, nothing."""

    SUM = "sum"
    AVG = "avg"
    PRODUCT = "product"
    MIN = "min"
    MAX = "max"


#: The name that the group was made with, if there is one.
_backends: list[str] = []


def is_available() -> bool:
    """Return True: a group of one process can be made."""
    return True


def is_initialized() -> bool:
    """Return whether `init_process_group` made the group."""
    return bool(_backends)


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: Any = None,
    world_size: int = -1,
    rank: int = -1,
    **words: Any,
) -> None:
    """Make the group, whose one process is this one.

    Parameters
    ----------
    backend
        What `get_backend` returns; "gloo" by default.
    init_method, timeout, **words
        Where and how processes find each other: without effect.
    world_size, rank
        1 and 0; -1: those of the environment, ``WORLD_SIZE`` and ``RANK``.

    Raises
    ------
    ArgumentError
        If there is a group already, or more than one process is asked for.
    DTypeError
        If an argument is of the wrong kind.

    Examples
    --------
    >>> import autocalc.distributed as dist
    >>> dist.init_process_group("gloo", world_size=1, rank=0)
    >>> dist.get_rank(), dist.get_world_size()
    (0, 1)
    >>> dist.destroy_process_group()
    """
    del init_method, timeout, words
    where = "init_process_group"
    name_given: Any = backend
    if name_given is not None and not isinstance(name_given, str):
        message = f"{where}: `backend` is {_short(backend)}; it must be a text."
        raise DTypeError(message)
    if is_initialized():
        message = f"{where}: there is a group; destroy_process_group() ends it."
        raise ArgumentError(message)
    for name, value, only in (("world_size", world_size, 1), ("rank", rank, 0)):
        number = _as_int(where, name, value)
        launched = _launched(name.upper()) if number == -1 else str(number)
        if launched not in (None, str(only)):
            message = (
                f"{where}: `{name}` is {launched}; AutoCalc trains in one process, in "
                f"a group of size 1 with rank 0. Start one, without torchrun."
            )
            raise ArgumentError(message)
    _backends.append(backend or "gloo")


def destroy_process_group(group: Any = None) -> None:
    """End the group.

    Raises
    ------
    ArgumentError
        If there is none.
    """
    _check_group("destroy_process_group", group)
    _backends.clear()


def get_rank(group: Any = None) -> int:
    """Return the number of this process: 0.

    Raises
    ------
    ArgumentError
        If there is no group.
    """
    _check_group("get_rank", group)
    return 0


def get_world_size(group: Any = None) -> int:
    """Return the number of processes: 1.

    Raises
    ------
    ArgumentError
        If there is no group.
    """
    _check_group("get_world_size", group)
    return 1


def get_backend(group: Any = None) -> str:
    """Return the name that the group was made with.

    Raises
    ------
    ArgumentError
        If there is no group.
    """
    _check_group("get_backend", group)
    return _backends[0]


def barrier(group: Any = None, async_op: bool = False) -> None:
    """Wait for all processes: return at once.

    Raises
    ------
    ArgumentError
        If there is no group, or `async_op` is asked for.
    """
    _check_call("barrier", group, async_op)


def all_reduce(
    tensor: Tensor,
    op: ReduceOp = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
) -> None:
    """Combine the tensors of all processes in place: of one, `tensor` stays as it is.

    Parameters
    ----------
    tensor
        The process's own, of any shape.
    op
        A `ReduceOp`; of one tensor all of them are the tensor.
    group
        None, the group of all.
    async_op
        False.

    Raises
    ------
    DTypeError
        If `tensor` or `op` is of the wrong kind.
    ArgumentError
        If there is no group, or `async_op` is asked for.

    Examples
    --------
    >>> import autocalc as ac
    >>> import autocalc.distributed as dist
    >>> dist.init_process_group()
    >>> total = ac.tensor([1.0, 2.0])
    >>> dist.all_reduce(total, op=dist.ReduceOp.SUM)
    >>> total /= dist.get_world_size()
    >>> total
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    _check_tensor("all_reduce", "tensor", tensor)
    _check_op("all_reduce", op)
    _check_call("all_reduce", group, async_op)


def reduce(
    tensor: Tensor,
    dst: int,
    op: ReduceOp = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
) -> None:
    """Combine the tensors of all processes in that of process `dst`; see `all_reduce`.

    Raises
    ------
    DTypeError
        If an argument is of the wrong kind.
    ArgumentError
        If there is no group or no process `dst`, or `async_op` is asked for.
    """
    _check_tensor("reduce", "tensor", tensor)
    _check_op("reduce", op)
    _check_call("reduce", group, async_op)
    _check_process("reduce", "dst", dst)


def broadcast(
    tensor: Tensor, src: int, group: Any = None, async_op: bool = False
) -> None:
    """Give all processes the tensor of process `src`: this one has it.

    Raises
    ------
    DTypeError
        If an argument is of the wrong kind.
    ArgumentError
        If there is no group or no process `src`, or `async_op` is asked for.
    """
    _check_tensor("broadcast", "tensor", tensor)
    _check_call("broadcast", group, async_op)
    _check_process("broadcast", "src", src)


def all_gather(
    tensor_list: Sequence[Tensor],
    tensor: Tensor,
    group: Any = None,
    async_op: bool = False,
) -> None:
    """Write the tensors of all processes into a list of tensors, here of one.

    Parameters
    ----------
    tensor_list
        One tensor, which is written; of the shape of `tensor`.
    tensor
        The process's own.
    group
        None, the group of all.
    async_op
        False.

    Raises
    ------
    DTypeError
        If an argument is of the wrong kind.
    ShapeError
        If the list has not one tensor of that shape.
    ArgumentError
        If there is no group, or `async_op` is asked for.

    Examples
    --------
    >>> import autocalc as ac
    >>> import autocalc.distributed as dist
    >>> dist.init_process_group()
    >>> parts = [ac.zeros(2) for _ in range(dist.get_world_size())]
    >>> dist.all_gather(parts, ac.tensor([1.0, 2.0]))
    >>> parts
    [tensor([1., 2.])]
    >>> dist.destroy_process_group()
    """
    _check_tensor("all_gather", "tensor", tensor)
    _check_call("all_gather", group, async_op)
    parts = _sequence("all_gather", "tensor_list", tensor_list)
    for part in parts:
        _check_tensor("all_gather", "tensor_list", part)
    shapes = [part.shape for part in parts]
    if shapes != [tensor.shape]:
        message = (
            f"all_gather: `tensor_list` has tensors of shapes {shapes}; it must have "
            f"one of shape {tensor.shape}."
        )
        raise ShapeError(message)
    parts[0].detach().copy_(tensor.detach())


def _check_group(where: str, group: Any) -> None:
    if not is_initialized():
        message = f"{where}: there is no group; init_process_group() makes it."
        raise ArgumentError(message)
    if group is not None:
        message = (
            f"{where}: `group` is {_short(group)}; there is one group: leave it out."
        )
        raise ArgumentError(message)


def _check_call(where: str, group: Any, async_op: Any) -> None:
    _check_group(where, group)
    if async_op is not False:
        message = (
            f"{where}: `async_op` is {_short(async_op)}; it must be False: every call "
            f"has ended when it returns."
        )
        raise ArgumentError(message)


def _check_process(where: str, name: str, number: Any) -> None:
    if _as_int(where, name, number) != 0:
        message = f"{where}: `{name}` is {number}; the one process is number 0."
        raise ArgumentError(message)


def _check_tensor(where: str, name: str, value: Any) -> None:
    if not isinstance(value, Tensor):
        message = f"{where}: `{name}` is {_short(value)}; it must be a tensor."
        raise DTypeError(message)


def _check_op(where: str, op: Any) -> None:
    if not isinstance(op, ReduceOp):
        message = f"{where}: `op` is {_short(op)}; it must be a ReduceOp."
        raise DTypeError(message)


__getattr__ = _lookup(__name__)
