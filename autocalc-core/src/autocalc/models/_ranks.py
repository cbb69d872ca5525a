# SPDX-License-Identifier: MIT
"""Training on several ranks: each has a part of each batch."""

from __future__ import annotations

from typing import Any

from autocalc import distributed, nn
from autocalc._ops.creation.from_data import tensor
from autocalc._tensor import Tensor
from autocalc._tensor.dtypes import float64
from autocalc._tensor.generator import manual_seed
from autocalc.distributed._group import current_group
from autocalc.errors import ArgumentError
from autocalc.nn.parallel import DistributedDataParallel

#: More than the ranks and the steps of any training: seeds of steps differ.
_RANKS, _STEPS = 2**16, 2**31


class _Loss(nn.Module):
    """A model whose call is its loss."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, inputs: Tensor, targets: Tensor) -> Any:
        return self.model.loss(inputs, targets)


class Averaged(DistributedDataParallel):
    """A model of text whose gradients are the mean over all ranks."""

    def __init__(self, model: Any) -> None:
        super().__init__(_Loss(model), gradient_as_bucket_view=True)

    def loss(self, inputs: Tensor, targets: Tensor) -> Any:
        """Return the loss of this rank's part."""
        return self(inputs, targets)


def count() -> int:
    """Return how many ranks there are."""
    group = current_group()
    return 1 if group is None else group.size()


def averaged(model: Any) -> Any:
    """Return the model, or one that averages gradients where there are ranks."""
    return Averaged(model) if count() > 1 else model


def shared(model: nn.Module) -> nn.Module:
    """Return a model of images as it trains: averaged, norms over all ranks' batches.

    Among several ranks its batch norms are replaced in place.
    """
    if count() == 1:
        return model
    synced = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    return DistributedDataParallel(synced, gradient_as_bucket_view=True)


def check_batch(size: int) -> None:
    """Raise unless all ranks get as many stretches of a batch."""
    if size % count():
        raise ArgumentError(
            f"TextTraining: `batch_size` is {size} and there are {count()} ranks; it "
            "counts the samples of all ranks together and must be a multiple of the "
            "number of ranks."
        )


def part(rows: Tensor) -> Tensor:
    """Return this rank's rows of a batch that all ranks know."""
    n = count()
    return rows if n == 1 else rows[distributed.get_rank() :: n].contiguous()


def mean(value: Tensor) -> Tensor:
    """Return the mean of all ranks' values."""
    if count() == 1:
        return value
    total = value.clone()
    distributed.all_reduce(total, distributed.ReduceOp.AVG)
    return total


def total(value: float) -> float:
    """Return the sum of all ranks' values."""
    if count() == 1:
        return value
    found = tensor(value, dtype=float64)
    distributed.all_reduce(found)
    return float(found.item())


def is_mine(number: int) -> bool:
    """Return whether this rank does a piece of work that the ranks share."""
    return count() == 1 or number % count() == distributed.get_rank()


def seed_step(seed: int, step: int) -> None:
    """Let dropout differ from rank to rank, and follow from seed, rank and step."""
    if count() > 1:
        place = step * _RANKS + distributed.get_rank()
        manual_seed((seed * _STEPS * _RANKS + place) % 2**63)
