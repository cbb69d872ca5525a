# SPDX-License-Identifier: MIT
"""An optimizer whose state is divided among the ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any

from autocalc import distributed
from autocalc._graph._grad_mode import enable_grad, no_grad
from autocalc._io.files import load, save
from autocalc._ops.callback import callback
from autocalc._ops.creation.constants import empty
from autocalc._ops.creation.from_data import frombuffer, tensor
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_switches, short
from autocalc._tensor.dtypes import int64, uint8
from autocalc.distributed import ProcessGroup
from autocalc.distributed._group import current_group, group_of
from autocalc.errors import ArgumentError, DTypeError
from autocalc.optim._lbfgs import LBFGS
from autocalc.optim._optimizer import Optimizer, Params
from autocalc.optim._state import number_in


class ZeroRedundancyOptimizer(Optimizer):
    """Distributes the state of an optimizer over all ranks.

    Each rank updates a part of the parameters and stores only the state of that part.
    Then all ranks exchange the updated parameters.  On n ranks, the state takes 1/n of
    the memory on each rank.  The state of Adam, for example, is two tensors for each
    parameter.

    The gradients must be the same on all ranks, as `DistributedDataParallel` makes
    them. Then the parameters are the same as with an ordinary optimizer.

    Method: Rajbhandari et al., "ZeRO" (SC 2020), stage 1.

    Parameters
    ----------
    params
        The parameters or groups of parameters.  They must be the same on all ranks.
    optimizer_class
        The class of the optimizer, such as `AdamW`.  It must update each parameter
        independently of the others.
    process_group
        The ranks that share the state, as made by `distributed.new_group`.  None means
        all ranks.
    parameters_as_bucket_view, overlap_with_ddp
        Accepted for compatibility with PyTorch.  They have no effect.
    **defaults
        The arguments of `optimizer_class`.

    Attributes
    ----------
    optim
        The optimizer of this rank's parameters, an instance of `optimizer_class`.

    Raises
    ------
    DTypeError
        If `optimizer_class` is not a subclass of `Optimizer`, or if it is `LBFGS`.
    ArgumentError
        If this rank is not in `process_group`.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.Linear(3, 2)
    >>> optimizer = ac.optim.ZeroRedundancyOptimizer(
    ...     layer.parameters(), ac.optim.AdamW, lr=0.01
    ... )
    >>> layer(ac.ones(1, 3)).sum().backward()
    >>> optimizer.step()
    >>> optimizer.consolidate_state_dict()
    >>> sorted(optimizer.state_dict()["state"][0])
    ['exp_avg', 'exp_avg_sq', 'step']
    """

    def __init__(
        self,
        params: Params,
        optimizer_class: Callable[..., Optimizer],
        process_group: Any = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Any,
    ) -> None:
        check_switches(
            self._name,
            parameters_as_bucket_view=parameters_as_bucket_view,
            overlap_with_ddp=overlap_with_ddp,
        )
        self._group = _group_of(self._name, process_group)
        kind: Any = optimizer_class
        fits = isinstance(kind, type) and issubclass(kind, Optimizer)
        if not fits or issubclass(kind, LBFGS):  # it reads all parameters at once
            raise DTypeError(
                f"{self._name}: `optimizer_class` is {short(kind)}; give an optimizer "
                "class that updates each parameter independently, such as "
                "ac.optim.AdamW."
            )
        self.optim = optimizer_class(params, **defaults)
        self.defaults = self.optim.defaults
        self.param_groups = self.optim.param_groups
        self.state = self.optim.state
        self._cells = {}
        self._whole: dict[str, Any] | None = None
        self._assign()

    def add_param_group(self, param_group: Any) -> None:
        """Add a group of parameters with settings of its own, on all ranks.

        Raises
        ------
        ArgumentError
            If a setting is out of range, if a parameter is not a leaf, or if a
            parameter is in a group already.
        """
        self.optim.add_param_group(param_group)
        self._assign()

    def _assign(self) -> None:
        """Give each parameter to the rank with the least load, the largest first."""
        group = self._group
        self._rank, size = (0, 1) if group is None else (group.rank(), group.size())
        params = [p for g in self.param_groups for p in g["params"]]
        loads = [0] * size
        self._owners: list[int] = [0] * len(params)
        for i in sorted(range(len(params)), key=lambda i: -params[i].numel()):
            owner = loads.index(min(loads))
            self._owners[i] = owner
            loads[owner] += params[i].numel()

    def _owned(self) -> list[tuple[int, Tensor]]:
        """Return all parameters, each with the rank that updates it."""
        params = (p for g in self.param_groups for p in g["params"])
        return list(zip(self._owners, params, strict=True))

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters; all ranks have to call it.

        Parameters
        ----------
        closure
            A function that computes the loss and the gradients again, and returns the
            loss.  It is called before the update.

        Returns
        -------
        The result of the closure, or None.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        self._whole = None
        hidden = [
            (p._edge, p._edge.grad)
            for owner, p in self._owned()
            if owner != self._rank and p._edge is not None
        ]
        for edge, _ in hidden:
            edge.grad = None
        try:
            self.optim.step()
        finally:
            for edge, gradient in hidden:
                edge.grad = gradient
        if len(set(self._owners)) > 1:
            params = [p for _, p in self._owned()]
            with no_grad():
                callback(self._exchange, *params, mutates=params)
        return loss

    def _exchange(self, *params: Tensor) -> None:
        """Send each parameter from its owner to all ranks."""
        works = [
            distributed.broadcast(p, group=self._group, async_op=True, group_src=owner)
            for owner, p in zip(self._owners, params, strict=True)
        ]
        for work in works:
            if work is not None:
                work.wait()

    # ---- state -----------------------------------------------------------------------

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Collect the state of all ranks on rank `to`; all ranks have to call it.

        Afterwards `state_dict` can be called on that rank, until the next step.

        Parameters
        ----------
        to
            The number of the rank in the process group.

        Raises
        ------
        ArgumentError
            If the group has no rank `to`.
        """
        own = self.optim.state_dict()
        group = self._group
        size = 1 if group is None else group.size()
        if not 0 <= to < size:
            last = size - 1
            message = f"consolidate_state_dict: `to` is {to}; ranks are 0 to {last}."
            raise ArgumentError(message)
        if self._rank != to:
            _send(group, own["state"], to)
            return
        others = [r for r in range(size) if r != to]
        parts = [own["state"], *(_receive(group, r) for r in others)]
        states = {i: state for part in parts for i, state in part.items()}
        numbers = sorted(i for i in states if isinstance(i, int))
        shared = [key for key in states if not isinstance(key, int)]
        self._whole = {**own, "state": {k: states[k] for k in (*numbers, *shared)}}

    def state_dict(self) -> dict[str, Any]:
        """Return the state of all parameters, as `optimizer_class` returns it.

        It can be loaded with any number of ranks, and also without this class.

        Raises
        ------
        ArgumentError
            If `consolidate_state_dict` was not called for this rank since the last
            step.
        """
        if self._whole is None and len(set(self._owners)) == 1:
            return self.optim.state_dict()
        if self._whole is None:
            raise ArgumentError(
                f"{self._name}.state_dict: rank {self._rank} has only a part of the "
                f"state; call consolidate_state_dict(to={self._rank}) on all ranks "
                "first."
            )
        return self._whole

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Restore the state of this rank's parameters from the state of all parameters.

        Raises
        ------
        ArgumentError
            If the groups or the shapes do not match.  Then nothing is changed.
        """
        self.optim.load_state_dict(state_dict)
        self.param_groups = self.optim.param_groups
        self.state = self.optim.state
        self._whole = None
        for owner, param in self._owned():
            if owner != self._rank:
                self.state.pop(param, None)


def _group_of(where: str, process_group: Any) -> ProcessGroup | None:
    """Return the given ranks; None if this process is alone."""
    if process_group is None:
        return current_group()
    return group_of(where, process_group)


def _send(group: ProcessGroup | None, state: dict[int, Any], to: int) -> None:
    """Send the state of some parameters, as the bytes of a file."""
    file = BytesIO()
    save({str(i): values for i, values in state.items()}, file)
    data = frombuffer(bytearray(file.getvalue()), dtype=uint8)
    size = tensor([data.numel()], dtype=int64)
    distributed.send(size, group=group, group_dst=to)
    distributed.send(data, group=group, group_dst=to)


def _receive(group: ProcessGroup | None, source: int) -> dict[int, Any]:
    size = empty(1, dtype=int64)
    distributed.recv(size, group=group, group_src=source)
    data = empty(int(size.item()), dtype=uint8)
    distributed.recv(data, group=group, group_src=source)
    found = load(BytesIO(data.numpy().tobytes()))
    return {number_in(key): values for key, values in found.items()}
