# SPDX-License-Identifier: MIT
"""The mean of the gradients of all ranks, computed in buckets during backward.

A bucket holds the gradients of some parameters, one after the other.  When its last
gradient is complete, the sum of the bucket over all ranks starts, in the same order on
all ranks.  The sum makes progress whenever another gradient is complete.  Backward ends
when the last bucket is done. Method: Li et al., "PyTorch Distributed", VLDB 2020,
section 3.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from autocalc._dispatch.selection.state import recorder
from autocalc._graph._grad_mode import no_grad
from autocalc._graph._node import Node
from autocalc._graph._walk import Walk
from autocalc._ops.callback import callback
from autocalc._ops.creation.constants import zeros
from autocalc._ops.creation.from_data import tensor
from autocalc._tensor import Tensor
from autocalc._tensor.dtypes import DType, int32
from autocalc.autograd._early import EarlyDelivery
from autocalc.distributed import ProcessGroup, ReduceOp, Work
from autocalc.distributed._reduce import all_reduce_steps
from autocalc.errors import CompileError, DistributedError

_WHERE = "DistributedDataParallel"

#: The default number of bytes of a bucket.  Buckets are small enough that the first one
#: is sent early and the last one is small.  They are large enough that a smaller one
#: would not be faster.
_BUCKETS, _SMALLEST, _LARGEST = 32, 2**17, 25 * 2**20

#: The same if all ranks are on one host.  There nothing waits for a network, and each
#: bucket costs 0.2 to 0.5 ms of a step.
_ON_ONE_HOST = 2 * 2**20

Named = tuple[str, Tensor]


class Bucket:
    """Gradients that are summed in one call.

    Attributes
    ----------
    flat
        All gradients, one after the other.
    names, params, views
        The parameters, and the part of `flat` that holds the gradient of each of them.
    waiting
        The number of missing gradients.
    """

    def __init__(self, named: Sequence[Named]) -> None:
        self.names = [name for name, _ in named]
        self.params = [param for _, param in named]
        size = sum(param.numel() for param in self.params)
        self.flat = zeros(size, dtype=self.params[0].dtype)
        self.views = list(self._parts())
        self.waiting = len(named)
        self.work: Work | None = None

    def _parts(self) -> Iterator[Tensor]:
        start = 0
        for param in self.params:
            end = start + param.numel()
            yield self.flat[start:end].reshape(param.shape)
            start = end

    @property
    def nbytes(self) -> int:
        """The number of bytes that are sent."""
        return int(self.flat.numel() * self.flat.dtype.itemsize)


def usual_bucket(group: ProcessGroup, named: Sequence[Named]) -> float:
    """Return the default number of bytes of a bucket."""
    if not group.world.uses_network:
        return float(_ON_ONE_HOST)
    total = sum(p.numel() * p.dtype.itemsize for _, p in named)
    return float(min(max(total / _BUCKETS, _SMALLEST), _LARGEST))


def in_buckets(named: Sequence[Named], limit: float) -> list[Bucket]:
    """Sort parameters into buckets of one dtype, the last parameters first.

    Backward computes gradients in roughly that order.
    """
    buckets: list[Bucket] = []
    running: dict[DType, list[Named]] = {}
    filled: dict[DType, int] = {}
    for name, param in reversed(named):
        dtype = param.dtype
        running.setdefault(dtype, []).append((name, param))
        size = filled.get(dtype, 0) + param.numel() * dtype.itemsize
        filled[dtype] = size
        if size >= limit:
            buckets.append(Bucket(running.pop(dtype)))
            filled[dtype] = 0
    return [*buckets, *map(Bucket, running.values())]


class Reducer:
    """Averages gradients over all ranks; hooks of the parameters call it.

    Parameters
    ----------
    group
        The group of ranks.
    named
        The parameters that are trained, with their names.
    bucket_bytes
        The number of bytes after which a bucket is full; None means the default.
    as_views
        Whether gradients are parts of the buckets and are not copied back.
    find_unused
        Whether a parameter may have no gradient on some ranks.

    Attributes
    ----------
    armed
        Whether the next backward averages.
    divisor
        The divisor of the sums.
    """

    def __init__(
        self,
        group: ProcessGroup,
        named: Sequence[Named],
        bucket_bytes: float | None,
        as_views: bool,
        find_unused: bool,
    ) -> None:
        self.group = group
        self._channel = group.new_channel()
        if bucket_bytes is None:
            bucket_bytes = usual_bucket(group, named)
        self.buckets = in_buckets(named, bucket_bytes)
        self.as_views = as_views
        self.find_unused = find_unused
        self.armed = False
        self.divisor = group.size()
        places = [(b, i) for b in self.buckets for i in range(len(b.params))]
        self._leaves = {b.params[i]._edge: (b, i) for b, i in places}
        self._numbers = {edge: n for n, edge in enumerate(self._leaves)}
        self._ready: set[Any] = set()
        self._unused: set[Any] = set()
        self._started = 0
        self._walk: Walk | None = None
        self._delivery: EarlyDelivery | None = None
        for edge, (bucket, i) in self._leaves.items():
            hook = partial(self._on_gradient, edge)
            bucket.params[i].register_post_accumulate_grad_hook(hook)

    # ---- a backward pass ---------------------------------------------------------

    def begin(self, walk: Walk, node: Node) -> None:
        """Find the parameters that a pass reaches when it starts at the output."""
        if walk is self._walk or not self.armed or walk.deliver is None:
            return  # `autograd.grad` delivers nothing
        self._walk = walk
        found = EarlyDelivery(walk, node, set(self._leaves))
        arrived = [e for e in self._leaves if e in walk.leaves and e not in found.last]
        reached = {*found.last, *arrived}
        unused = [edge for edge in self._leaves if edge not in reached]
        self._check_unused(unused)
        self._unused = set(unused)
        for edge in unused:
            self._mark(edge)
        if recorder() is None:
            self._delivery = found
            found.start(arrived, self.poll)

    def _check_unused(self, unused: list[Any]) -> None:
        if not unused or self.find_unused:
            return
        names = [self._name(edge) for edge in reversed(unused)]  # in parameter order
        rank = self.group.world.rank()
        shown = ", ".join(names[:5]) + (" and others" if len(names) > 5 else "")
        raise DistributedError(
            f"{_WHERE}: rank {rank}: the loss does not depend on {shown}. "
            f"Use all parameters, freeze these with requires_grad_(False), or pass "
            f"find_unused_parameters=True."
        )

    def _name(self, edge: Any) -> str:
        bucket, i = self._leaves[edge]
        return bucket.names[i]

    def _on_gradient(self, edge: Any, param: Tensor) -> None:
        """Process a gradient that is complete."""
        del param
        if not self.armed:
            return
        if edge in self._ready:
            raise DistributedError(
                f"{_WHERE}: {self._name(edge)} received a second gradient in one "
                "backward pass, after the first one was sent. Use parameters only "
                "inside of the module's forward."
            )
        self._mark(edge)

    def _mark(self, edge: Any) -> None:
        """Copy a gradient into its bucket; start and finish the sums that are ready."""
        bucket, i = self._leaves[edge]
        self._ready.add(edge)
        self._fill(bucket, i, edge)
        bucket.waiting -= 1
        while self._started < len(self.buckets):
            following = self.buckets[self._started]
            if following.waiting:
                break
            self._start(following)
        if recorder() is None:  # else each start polls, in replays too
            self.poll()
        if len(self._ready) == len(self._leaves):
            self._finish()

    def _fill(self, bucket: Bucket, i: int, edge: Any) -> None:
        view, gradient = bucket.views[i], edge.grad
        with no_grad():
            if gradient is None:
                view.zero_()
            elif gradient._array is not view._array:
                view.copy_(gradient)
        if self.as_views and edge.grad is not None and recorder() is None:
            edge.grad = view

    def _start(self, bucket: Bucket) -> None:
        self._started += 1
        callback(partial(self._start_sum, bucket), bucket.flat, mutates=bucket.flat)

    def _start_sum(self, bucket: Bucket, flat: Tensor) -> None:
        steps = all_reduce_steps(self.group, self._channel, flat, ReduceOp.SUM)
        bucket.work = Work(_WHERE, self.group, steps)
        self.poll()

    def poll(self) -> None:
        """Let the running sums make progress."""
        for bucket in self.buckets:
            if bucket.work is not None:
                bucket.work.is_completed()

    def _finish(self) -> None:
        """Wait for all sums, and copy them to the parameters."""
        used = self._used_by_any() if self.find_unused else None
        for bucket in self.buckets:
            end = partial(self._end_sum, bucket)
            callback(end, bucket.flat, mutates=bucket.flat)
        for edge, (bucket, i) in self._leaves.items():
            if used is None or used[self._numbers[edge]]:
                self._hand_back(edge, bucket.views[i])
        self.reset()

    def _end_sum(self, bucket: Bucket, flat: Tensor) -> None:
        work, bucket.work = bucket.work, None
        if work is not None:
            work.wait()
        flat.div_(self.divisor)

    def _hand_back(self, edge: Any, view: Tensor) -> None:
        with no_grad():
            if edge.grad is None:
                edge.grad = view if self.as_views else view.clone()
            elif edge.grad is not view:
                edge.grad.copy_(view)

    def _used_by_any(self) -> list[bool]:
        """Return which parameters have a gradient on at least one rank."""
        if recorder() is not None:
            raise CompileError(
                f"{_WHERE}: find_unused_parameters=True inspects each backward pass, "
                "which a replay of a compiled step cannot do. Do not give it, or do "
                "not compile the step."
            )
        counts = tensor([int(e not in self._unused) for e in self._leaves], dtype=int32)
        steps = all_reduce_steps(self.group, self._channel, counts, ReduceOp.SUM)
        Work(_WHERE, self.group, steps).wait()
        return [count > 0 for count in counts.tolist()]

    def reset(self) -> None:
        """Prepare for the next backward pass."""
        if self._delivery is not None:
            self._delivery.close()
        self._walk = self._delivery = None
        self._ready.clear()
        self._unused.clear()
        self._started = 0
        for bucket in self.buckets:
            bucket.waiting = len(bucket.params)

    def prepare(self, sync: bool) -> None:
        """Begin a forward pass; `sync` says whether its backward averages."""
        if self._ready:
            rank = self.group.world.rank()
            missing = [self._name(e) for e in self._leaves if e not in self._ready]
            raise DistributedError(
                f"{_WHERE}: rank {rank}: the last backward pass computed no gradient "
                f"of {', '.join(missing[:5])}, and all ranks wait for it. Compute the "
                "loss from what the module returns, and pass "
                "find_unused_parameters=True if it may leave parameters out."
            )
        self.armed = sync

    # ---- for ranks without data --------------------------------------------------

    def shadow(self) -> None:
        """Take part in all collective calls of a backward pass, with gradients of 0."""
        for bucket in self.buckets:
            bucket.flat.zero_()
            self._start_sum(bucket, bucket.flat)
        if self.find_unused:
            self._unused = set(self._leaves)
            self._used_by_any()
            self._unused.clear()
        for bucket in self.buckets:
            self._end_sum(bucket, bucket.flat)
