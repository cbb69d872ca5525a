# SPDX-License-Identifier: MIT
"""Check that all ranks have the same model, and give them the same values."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from autocalc import distributed
from autocalc._ops.creation.constants import zeros
from autocalc._ops.creation.from_data import tensor
from autocalc._tensor import Tensor
from autocalc._tensor.dtypes import int64
from autocalc.distributed import ProcessGroup
from autocalc.errors import DistributedError


def check_same_parameters(
    where: str, group: ProcessGroup, named: Sequence[tuple[str, Tensor]]
) -> None:
    """Raise on all ranks if their parameters differ in name, shape or dtype."""
    texts = [f"{name} {tuple(x.shape)} {x.dtype.name}" for name, x in named]
    counts = _of_all(group, tensor([len(texts)], dtype=int64))
    rank = group.world.rank()
    if len({int(count) for count in counts}) > 1:
        pairs = zip(group.ranks, counts, strict=True)
        numbers = ", ".join(f"{int(c)} on rank {r}" for r, c in pairs)
        raise DistributedError(
            f"{where}: ranks have different numbers of parameters: {numbers}. Build "
            f"the same model on all ranks."
        )
    own = tensor([_number(text) for text in texts], dtype=int64)
    digests = _of_all(group, own)
    for other, theirs in zip(group.ranks, digests, strict=True):
        for i, text in enumerate(texts):
            if int(theirs[i]) != int(digests[0][i]):
                raise DistributedError(
                    f"{where}: parameter {i} of rank {other} differs from that of rank "
                    f"{group.ranks[0]}; on this rank, {rank}, it is {text}. Build the "
                    "same model on all ranks."
                )


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "little")


def _of_all(group: ProcessGroup, own: Tensor) -> list[Tensor]:
    found = [zeros(own.shape, dtype=int64) for _ in range(group.size())]
    distributed.all_gather(found, own, group)
    return found


def broadcast_all(
    tensors: Sequence[Tensor], number: int, group: ProcessGroup | None
) -> None:
    """Send the tensors of one rank, given by its number in the group, to all ranks."""
    works = [
        distributed.broadcast(x, group=group, async_op=True, group_src=number)
        for x in tensors
    ]
    for work in works:
        assert work is not None
        work.wait()
