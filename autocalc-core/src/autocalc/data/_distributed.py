# SPDX-License-Identifier: MIT
"""A sampler that divides the order of an epoch among processes."""

from __future__ import annotations

from collections.abc import Iterator, Sized

import numpy as np

from autocalc import distributed
from autocalc._tensor.checks import as_int, check_flag, require
from autocalc.data._arrays import Indices
from autocalc.data._samplers import Sampler
from autocalc.data._shuffle import permutation
from autocalc.errors import ArgumentError


class DistributedSampler(Sampler):
    """A sampler for n processes; each process gets every n-th sample of a common order.

    Process r gets the samples r, r + n, r + 2 n and so on.  `set_epoch` selects a new
    order. All processes get the same number of samples.  For this, the order is either
    extended by its first samples or cut at the end.

    Parameters
    ----------
    dataset : sized
        The data set.  Only its length is used.
    num_replicas : int, optional
        The number of processes n.  The default is the size of the process group of
        `distributed.init_process_group`.
    rank : int, optional
        The number r of this process, counted from 0.  The default is the rank of this
        process.
    shuffle : bool, default True
        True for a random order, which is determined by `seed` and the epoch.  False for
        the order of the data set.
    seed : int, default 0
        The seed of the random order.  It must be the same in all processes.
    drop_last : bool, default False
        True to cut the order at the end.  False to extend it by its first samples.

    Raises
    ------
    ArgumentError
        If `rank` is not less than `num_replicas`, or if both are missing and there is
        no process group.

    Examples
    --------
    >>> import autocalc as ac
    >>> parts = [
    ...     ac.data.DistributedSampler(range(5), num_replicas=2, rank=r, shuffle=False)
    ...     for r in range(2)
    ... ]
    >>> list(parts[0]), list(parts[1])
    ([0, 2, 4], [1, 3, 0])
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        where = "DistributedSampler"
        check_flag(where, "shuffle", shuffle)
        check_flag(where, "drop_last", drop_last)
        n = distributed.get_world_size() if num_replicas is None else num_replicas
        r = distributed.get_rank() if rank is None else rank
        self.num_replicas = as_int(where, "num_replicas", n)
        self.rank = as_int(where, "rank", r)
        if not 0 <= self.rank < self.num_replicas:
            raise ArgumentError(
                f"{where}: Invalid rank {self.rank} of "
                f"`num_replicas`={self.num_replicas} processes; it must be between 0 "
                f"and {self.num_replicas - 1}."
            )
        self.dataset = dataset
        self.shuffle = shuffle
        self.seed = as_int(where, "seed", seed)
        self.drop_last = drop_last
        self.epoch = 0
        whole = len(dataset) // self.num_replicas
        rest = len(dataset) % self.num_replicas > 0 and not drop_last
        self.num_samples = whole + rest
        self.total_size = self.num_samples * self.num_replicas

    def __len__(self) -> int:
        """Return the number of indices of this process."""
        return self.num_samples

    def __iter__(self) -> Iterator[int]:
        """Return an iterator over the indices of this process."""
        order = np.resize(self._order(), self.total_size)
        return iter(order[self.rank :: self.num_replicas].tolist())

    def _order(self) -> Indices:
        """Return the order that all processes share."""
        count = len(self.dataset)
        if self.shuffle:
            return permutation(count, self.seed % 2**64, self.epoch)
        return np.arange(count, dtype=np.int64)

    def set_epoch(self, epoch: int) -> None:
        """Set the number of the next epoch, which selects its random order.

        Raises
        ------
        ArgumentError
            If `epoch` is negative.
        """
        number = as_int("set_epoch", "epoch", epoch)
        require("set_epoch", "epoch", number, number >= 0, "0 or more")
        self.epoch = number
