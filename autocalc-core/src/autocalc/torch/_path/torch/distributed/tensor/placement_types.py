# SPDX-License-Identifier: MIT
"""The classes with which plans divide tensors among processes; without effect here."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Partial", "Placement", "Replicate", "Shard"]


class Placement:
    """How a tensor is distributed over one dimension of a mesh of processes."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Return whether each process has one part, along dimension `dim`."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        """Return whether each process has the whole tensor."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Return whether each process has one summand of the tensor."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclass(frozen=True)
class Shard(Placement):
    """Each process has one part of the tensor, along dimension `dim`."""

    dim: int


@dataclass(frozen=True)
class Replicate(Placement):
    """Each process has the whole tensor."""


@dataclass(frozen=True)
class Partial(Placement):
    """Each process has one summand of the tensor."""

    reduce_op: str = "sum"


@dataclass(frozen=True)
class _StridedShard(Shard):
    """Each process has several parts that are not contiguous."""

    split_factor: int
