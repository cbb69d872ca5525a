# SPDX-License-Identifier: MIT
"""A module that several processes train, each with a part of the batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from autocalc._dispatch.selection.state import recorder
from autocalc._graph._grad_mode import is_grad_enabled, no_grad
from autocalc._graph._node import Node
from autocalc._ops.callback import callback
from autocalc._tensor import Tensor, node_and_slot
from autocalc._tensor.checks import as_int, check_flags, number
from autocalc.autograd._early import watch
from autocalc.distributed import ProcessGroup
from autocalc.distributed._group import current_group, group_of
from autocalc.errors import ArgumentError, CompileError
from autocalc.nn._distributed.broadcast_parameters import (
    broadcast_all,
    check_same_parameters,
)
from autocalc.nn._distributed.data_parallel import check_devices, check_module
from autocalc.nn._distributed.join import Turn, check_all_active, take_turn
from autocalc.nn._distributed.reducer import Reducer
from autocalc.nn._module.module import Module

_WHERE = "DistributedDataParallel"

#: The bytes of a megabyte, the unit of `bucket_cap_mb`.
_MB = 2**20


class DistributedDataParallel(Module):
    """Wraps a module and averages its gradients over all ranks in the backward pass.

    Each rank computes the gradients of its part of the batch.  The gradients are
    grouped into buckets.  While backward still computes other gradients, each full
    bucket is summed over all ranks and divided by the number of ranks.  So n ranks
    compute the same step as one process that has a batch of B samples, if each rank
    uses the mean loss over its B / n samples.

    When the wrapper is made, all ranks take the parameters and buffers of the first
    rank.  If there is no process group, or if the group has one rank, the wrapper only
    calls the module.

    Parameters
    ----------
    module
        The module to wrap.  It must have the same parameters on all ranks.
    device_ids, output_device
        None, or device numbers and devices.  They have no effect.
    dim
        The dimension of the batch.  It has no effect.
    broadcast_buffers
        True to copy the buffers of rank 0 to all ranks before each forward pass in
        training.
    init_sync
        True to compare the parameters of all ranks and to copy those of rank 0 to all
        ranks.
    process_group
        The group of ranks over which gradients are averaged, made by
        `distributed.new_group`. None means all ranks.
    bucket_cap_mb
        The size of a bucket in megabytes.  The default is 2 if all ranks are on one
        host. Otherwise it is 1/32 of the size of all gradients, but at least 0.125 and
        at most 25.
    find_unused_parameters
        True if some parameters may have no gradient on some or all ranks.  A missing
        gradient then counts as 0.  If False, a missing gradient is an error.
    check_reduction
        Accepted for compatibility with PyTorch.  It has no effect.
    gradient_as_bucket_view
        True to make each ``grad`` a view of its bucket.  This saves one copy and half
        of the memory for gradients.
    **words
        Other arguments of PyTorch's class, for example ``static_graph``.  They are
        accepted, but have no effect.

    Attributes
    ----------
    module
        The wrapped module.

    Notes
    -----
    Use the parameters only in ``forward`` of the module, and compute the loss from its
    result.  A compiled training step averages gradients in the same way.

    Method: Li et al., "PyTorch Distributed", VLDB 2020.

    Raises
    ------
    DTypeError
        If `module` is not a `Module`.
    ArgumentError
        If this rank is not in `process_group`, or if no parameter requires a gradient.
    DistributedError
        If the models of the ranks differ.  The backward pass raises it if a gradient is
        missing.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.nn.parallel import DistributedDataParallel as DDP
    >>> model = DDP(ac.nn.Linear(3, 2))
    >>> with model.no_sync():
    ...     model(ac.zeros(5, 3)).shape
    autocalc.Size([5, 2])
    >>> list(model.state_dict())
    ['module.weight', 'module.bias']
    """

    module: Module

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        init_sync: bool = True,
        process_group: ProcessGroup | None = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        **words: Any,
    ) -> None:
        super().__init__()
        del check_reduction, words
        check_module(_WHERE, module)
        check_devices(_WHERE, device_ids, output_device)
        check_flags(
            _WHERE,
            broadcast_buffers=broadcast_buffers,
            init_sync=init_sync,
            find_unused_parameters=find_unused_parameters,
            gradient_as_bucket_view=gradient_as_bucket_view,
        )
        megabytes = None
        if bucket_cap_mb is not None:
            megabytes = number(_WHERE, "bucket_cap_mb", bucket_cap_mb)
        if megabytes is not None and not megabytes > 0:
            message = f"{_WHERE}: `bucket_cap_mb` is {megabytes:g}; it must be above 0."
            raise ArgumentError(message)
        self.dim = as_int(_WHERE, "dim", dim)
        self.module = module
        self.broadcast_buffers = broadcast_buffers
        self.find_unused_parameters = find_unused_parameters
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.require_backward_grad_sync = True
        self._reducer: Reducer | None = None
        self._joining: dict[str, Any] | None = None
        group = (
            current_group()
            if process_group is None
            else group_of(_WHERE, process_group)
        )
        if group is not None and group.size() > 1:
            self._distribute(group, megabytes, init_sync)

    def _distribute(
        self, group: ProcessGroup, megabytes: float | None, init_sync: bool
    ) -> None:
        """Give all ranks the same model, and create the reducer of its gradients."""
        if init_sync:
            check_same_parameters(_WHERE, group, list(self.module.named_parameters()))
            tensors = [*self.module.parameters(), *self.module.buffers()]
            broadcast_all(tensors, 0, group)
        trained = [(n, p) for n, p in self.module.named_parameters() if p.requires_grad]
        if not trained:
            raise ArgumentError(
                f"{_WHERE}: no parameter of the module requires a gradient; there is "
                "nothing to average, so call the module itself."
            )
        limit = None if megabytes is None else megabytes * _MB
        flags = self.gradient_as_bucket_view, self.find_unused_parameters
        self._reducer = Reducer(group, trained, limit, *flags)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Return ``module(*inputs, **kwargs)``; backward averages the gradients."""
        reducer = self._reducer
        if reducer is None or not is_grad_enabled():
            return self.module(*inputs, **kwargs)
        syncs = self.require_backward_grad_sync
        source = self._turn(syncs) if self._joining is not None else 0
        reducer.prepare(syncs)
        if syncs and self.training:
            self._sync_buffers(source)
        output = self.module(*inputs, **kwargs)
        if syncs:
            for node in _nodes(output):
                watch(node, reducer.begin)
        return output

    def _sync_buffers(self, source: int) -> None:
        buffers = list(self.module.buffers())
        if not self.broadcast_buffers or not buffers:
            return
        assert self._reducer is not None
        group = self._reducer.group
        with no_grad():
            if source == 0:
                give = partial(_broadcast_from_0, group=group)
                callback(give, *buffers, mutates=buffers)
            else:
                broadcast_all(buffers, source, group)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Return a context in which each rank adds up its gradients without averaging.

        The first backward pass after the context averages the accumulated sum.

        Examples
        --------
        >>> import autocalc as ac
        >>> model = ac.nn.parallel.DistributedDataParallel(ac.nn.Linear(3, 2))
        >>> with model.no_sync():
        ...     model(ac.ones(1, 3)).sum().backward()
        >>> model(ac.ones(1, 3)).sum().backward()
        >>> model.module.bias.grad
        tensor([2., 2.])
        """
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    # ---- uneven inputs -----------------------------------------------------------

    @contextmanager
    def join(
        self,
        divide_by_initial_world_size: bool = True,
        enable: bool = True,
        throw_on_early_termination: bool = False,
    ) -> Iterator[None]:
        """Return a context for ranks that have different numbers of batches.

        A rank that has no more batches contributes zeros to the sums of the other
        ranks. At the end, all ranks have the model of the last rank that had data.

        Parameters
        ----------
        divide_by_initial_world_size
            True to divide sums by the number of all ranks.  False to divide by the
            number of ranks that still have data.
        enable
            False for a context that does nothing, for ranks that all have the same
            number of batches.
        throw_on_early_termination
            True to raise an error on all ranks as soon as one rank has no more data.

        Raises
        ------
        DistributedError
            If `throw_on_early_termination` is True and a rank has no more data.

        Examples
        --------
        >>> import autocalc as ac
        >>> model = ac.nn.parallel.DistributedDataParallel(ac.nn.Linear(3, 2))
        >>> with model.join():
        ...     for batch in [ac.ones(4, 3), ac.ones(2, 3)]:
        ...         model(batch).sum().backward()
        """
        reducer = self._reducer
        if reducer is None or not enable:
            yield
            return
        self._joining = {
            "by_all": divide_by_initial_world_size,
            "throws": throw_on_early_termination,
            "source": 0,
        }
        try:
            yield
            self._shadow(reducer)
        finally:
            self._joining = None
            reducer.divisor = reducer.group.size()

    def _turn(self, syncs: bool) -> int:
        """Tell the other ranks that this one has data; return whose buffers count."""
        if recorder() is not None:
            raise CompileError(
                f"{_WHERE}.join: before each step, the ranks exchange which of them "
                "have data, and a replay of a compiled step cannot do this. Do not "
                "compile the step."
            )
        assert self._reducer is not None
        return self._take(take_turn(self._reducer.group, True, syncs))

    def _take(self, turn: Turn) -> int:
        joining, reducer = self._joining, self._reducer
        assert joining is not None
        assert reducer is not None
        if joining["throws"]:
            check_all_active(f"{_WHERE}.join", reducer.group, turn)
        if not joining["by_all"]:
            reducer.divisor = len(turn.active)
        joining["source"] = turn.active[-1]
        return turn.active[-1]

    def _shadow(self, reducer: Reducer) -> None:
        """Take part in the steps of the ranks that still have data."""
        assert self._joining is not None
        while True:
            turn = take_turn(reducer.group, False, False)
            if not turn.active:
                break
            source = self._take(turn)
            if turn.syncs:
                if self.training:
                    self._sync_buffers(source)
                reducer.shadow()
        source = self._joining["source"]
        tensors = [*self.module.parameters(), *self.module.buffers()]
        broadcast_all(tensors, source, reducer.group)


def _broadcast_from_0(*buffers: Tensor, group: ProcessGroup) -> None:
    broadcast_all(buffers, 0, group)


def _nodes(output: Any) -> Iterator[Node]:
    """Yield the nodes of the tensors in the output of a module."""
    if isinstance(output, Tensor):
        if output._edge is not None and not output.is_leaf:
            yield node_and_slot(output._edge)[0]
    elif isinstance(output, Mapping):
        for value in output.values():
            yield from _nodes(value)
    elif isinstance(output, (list, tuple)):
        for value in output:
            yield from _nodes(value)
