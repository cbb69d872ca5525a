# SPDX-License-Identifier: MIT
"""`Optimizer`: parameters in groups, each with its settings; the state of each.

A step is one kernel call for all parameters of a group (of one dtype and one age), so
that its cost depends on the arithmetic and not on the number of parameters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from numbers import Real
from typing import Any, TypeAlias

from autocalc._dispatch.device.device import host_dtype
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import on_host
from autocalc._dispatch.selection.upcast import computed_in
from autocalc._graph._grad_mode import enable_grad
from autocalc._tensor import Tensor, make
from autocalc._tensor.checks import all_of, check_switches, check_type, sequence
from autocalc.errors import ArgumentError, DTypeError
from autocalc.optim import _state
from autocalc.optim._rates import is_rate, rate_of

Group: TypeAlias = dict[str, Any]
Params: TypeAlias = Iterable[Tensor] | Iterable[Group]


def is_number(value: Any) -> bool:
    """Return whether `value` is a real number, Python's or NumPy's."""
    return isinstance(value, Real)


def check_betas(betas: Any) -> tuple[bool, str]:
    """Return whether `betas` are two averages' weights, and what they must be."""
    are_two = isinstance(betas, (tuple, list)) and len(betas) == 2
    fit = are_two and all(is_number(b) and 0 <= b < 1 for b in betas)
    return fit, "two numbers from 0 to below 1"


def refuse(where: str, **given: bool) -> None:
    """Raise if one of PyTorch's options that are not available is asked for."""
    for name, value in given.items():
        if value is not False and value is not None:
            message = f"{where}: `{name}` is not available; leave it out."
            raise ArgumentError(message)


class Batch:
    """Parameters that one kernel call updates."""

    __slots__ = ("dtype", "grads", "params", "states", "tensors")

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        self.tensors: list[Tensor] = []
        self.states: list[dict[str, Any]] = []
        self.params: list[Any] = []
        self.grads: list[Any] = []

    def kept(self, name: str) -> list[Any]:
        """Return the arrays that the states hold under `name`, zeros at first."""
        result = []
        for state, array in zip(self.states, self.params, strict=True):
            tensor = state.get(name)
            if tensor is None:
                zeros = arrays.zeros(array.shape, array.dtype)
                tensor = state[name] = make(zeros, None)
            result.append(tensor._array)
        return result

    def bump(self) -> None:
        """Count a write to each parameter, so that changed saved arrays are caught."""
        for tensor in self.tensors:
            cell = tensor._version
            if cell is not None:
                cell.count += 1


class Optimizer:
    """The base of all optimizers.

    Parameters
    ----------
    params
        Tensors, or groups: dicts with ``"params"`` and settings of their own.
    defaults
        The settings that a group has when it does not say otherwise.

    Attributes
    ----------
    param_groups
        The groups; a setting that is changed, as ``group["lr"]``, holds from then on.
    state
        What is kept for each parameter.

    Examples
    --------
    >>> import autocalc as ac
    >>> class SignDescent(ac.optim.Optimizer):
    ...     def __init__(self, params, lr):
    ...         super().__init__(params, {"lr": lr})
    ...
    ...     def step(self):
    ...         for group in self.param_groups:
    ...             for p in group["params"]:
    ...                 p.data -= group["lr"] * p.grad.sign()
    >>> w = ac.tensor([1.0, -2.0], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> SignDescent([w], lr=0.5).step()
    >>> w.detach()
    tensor([ 0.5000, -1.5000])
    """

    #: What the states hold as tensors of the parameter's dtype, of `_state_shape`.
    _buffers: frozenset[str] = frozenset()
    #: What the states hold as numbers: one for each parameter.
    _numbers: frozenset[str] = frozenset()

    param_groups: list[Group]
    state: defaultdict[Tensor, dict[str, Any]]

    def __init__(self, params: Params, defaults: Any) -> None:
        check_type(self._name, "defaults", defaults, Mapping, "a dict")
        self.defaults = defaults
        self.param_groups = []
        self.state = defaultdict(dict)
        self._cells: dict[Any, Any] = {}
        if isinstance(params, (Tensor, Mapping)):
            message = (
                f"{self._name}: `params` is one {type(params).__name__}; give a list "
                f"of tensors or of groups, such as model.parameters()."
            )
            raise DTypeError(message)
        given = sequence(self._name, "params", params)
        if not given:
            message = f"{self._name}: `params` is empty; there is nothing to optimize."
            raise ArgumentError(message)
        groups = given if isinstance(given[0], Mapping) else [{"params": given}]
        for group in groups:
            self.add_param_group(group)

    @property
    def _name(self) -> str:
        return type(self).__name__

    def add_param_group(self, param_group: Any) -> None:
        """Add parameters with settings of their own.

        Parameters
        ----------
        param_group
            ``"params"`` and the settings that differ from the defaults.

        Raises
        ------
        ArgumentError
            If a setting is unknown or impossible, or a parameter has a history or is
            there already.

        Examples
        --------
        >>> import autocalc as ac
        >>> body, head = ac.nn.Linear(2, 2), ac.nn.Linear(2, 2)
        >>> sgd = ac.optim.SGD(body.parameters(), lr=0.1)
        >>> sgd.add_param_group({"params": head.parameters(), "lr": 1.0})
        >>> [group["lr"] for group in sgd.param_groups]
        [0.1, 1.0]
        """
        if not isinstance(param_group, Mapping) or "params" not in param_group:
            message = (
                f"{self._name}: a group is {param_group!r}; it must be a dict with "
                f"'params'."
            )
            raise DTypeError(message)
        params = param_group["params"]
        alone = isinstance(params, Tensor)
        params = [params] if alone else all_of(self._name, "params", params)
        known = {id(p) for group in self.param_groups for p in group["params"]}
        for i, param in enumerate(params):
            self._check_param(i, param, known)
            known.add(id(param))
        group = {**self.defaults, **param_group, "params": params}
        self._check_group(group)
        self.param_groups.append(group)

    def _check_param(self, i: int, param: Any, known: set[int]) -> None:
        if not isinstance(param, Tensor):
            message = (
                f"{self._name}: `params[{i}]` is a {type(param).__name__}; it must be "
                f"a Tensor."
            )
            raise DTypeError(message)
        if not param.is_leaf:
            message = (
                f"{self._name}: `params[{i}]` of shape {param.shape} was made by "
                f"`{param._node().op.name}`; only leaves can be optimized."
            )
            raise ArgumentError(message)
        if id(param) in known:
            message = (
                f"{self._name}: `params[{i}]` of shape {param.shape} is given twice; "
                f"each parameter belongs to one group, once."
            )
            raise ArgumentError(message)

    def _check_group(self, group: Group) -> None:
        """Raise if a setting of the group is impossible; optimizers add their own."""
        if "lr" in group:  # a user's optimizer may have neither
            self._check_rate(group)
        if "weight_decay" in group:
            self._check_not_negative(group, "weight_decay")

    def _check_rate(self, group: Group) -> None:
        lr = group["lr"]
        if isinstance(lr, Tensor):
            self._check(group, "lr", is_rate(lr), "a tensor of one number, 0 or more")
        else:
            self._check_not_negative(group, "lr")

    def _check_not_negative(self, group: Group, *names: str) -> None:
        for name in names:
            value = group[name]
            holds = is_number(value) and value >= 0
            self._check(group, name, holds, "a number, 0 or more")

    def _check(self, group: Group, name: str, holds: bool, needed: str) -> None:
        if not holds:
            message = f"{self._name}: `{name}` is {group[name]!r}; it must be {needed}."
            raise ArgumentError(message)

    # ---- steps -----------------------------------------------------------------------

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or set them to zero."""
        check_switches("zero_grad", set_to_none=set_to_none)
        for group in self.param_groups:
            for param in group["params"]:
                edge = param._edge
                if edge is None or edge.grad is None:
                    continue
                if set_to_none:
                    edge.grad = None
                else:
                    edge.grad.detach_()
                    edge.grad.zero_()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient.

        Parameters
        ----------
        closure
            Computes the loss and its gradients again; called first, with gradients
            recorded.

        Returns
        -------
        The closure's result, or None.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for i, group in enumerate(self.param_groups):
            self._step_group(i, group)
        return loss

    def _step_group(self, i: int, group: Group) -> None:
        """Update the parameters of group number `i`."""
        raise NotImplementedError

    def _step_key(self, state: dict[str, Any]) -> Any:
        """Return the key that the parameters of one call have in common."""
        raise NotImplementedError

    def _batches(self, group: Group) -> Collection[Batch]:
        """Sort the parameters with a gradient into batches of one dtype and age."""
        batches: dict[Any, Batch] = {}
        for param in group["params"]:
            edge = param._edge
            if edge is None or edge.grad is None:
                continue
            state = self.state[param]
            array = param._array
            key = (array.dtype, self._step_key(state))
            batch = batches.get(key)
            if batch is None:
                batch = batches[key] = Batch(array.dtype)
            batch.tensors.append(param)
            batch.states.append(state)
            batch.params.append(array)
            batch.grads.append(edge.grad._array)
        return batches.values()

    def _rate(self, i: int, group: Group, dtype: Any) -> Any:
        """Return the group's learning rate as a 0-d array, which lives on.

        A recorded program reads the same cell again, so a changed rate only has to be
        written into it.
        """
        cell = self._cells.get((i, dtype))
        if cell is None:
            kind = computed_in(host_dtype(dtype))  # a rate is never rounded to halves
            cell = self._cells[i, dtype] = [arrays.full((), 0, kind), None]

        def refresh() -> None:
            lr = rate_of(group)
            if cell[1] != lr:
                cell[0][()] = cell[1] = lr

        on_host(refresh, (cell[0],), reads=((group, "lr"),))
        return cell[0]

    # ---- state -----------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return the state by parameter number and the groups' settings.

        The layout is PyTorch's.  Tensors share the optimizer's memory.
        """
        return _state.collect(self)

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from a `state_dict` of an optimizer of the same groups.

        AutoCalc's optimizers convert their state to the parameters' dtypes; what an
        optimizer of one's own keeps has the dtype and the shape that were saved.

        Raises
        ------
        ArgumentError
            If the groups or the shapes do not fit; nothing is changed then.

        Examples
        --------
        >>> import autocalc as ac
        >>> w = ac.ones(2, requires_grad=True)
        >>> old, new = (ac.optim.SGD([w], lr=lr, momentum=0.9) for lr in (0.1, 0.2))
        >>> new.load_state_dict(old.state_dict())
        >>> new.param_groups[0]["lr"]
        0.1
        """
        _state.load(self, state_dict)

    def __getstate__(self) -> dict[str, Any]:
        """Return the content of copies and pickles: parameters, settings and state."""
        return {**self.__dict__, "_cells": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over what `__getstate__` gave."""
        self.__dict__.update(state)
        self.__dict__.setdefault("_cells", {})

    def _state_shape(self, name: str, param: Tensor) -> tuple[int, ...]:
        """Return the shape of what the state of `param` holds under `name`."""
        del name
        return param.shape

    def _loaded(self, state: dict[Tensor, dict[str, Any]]) -> None:
        """Bring a state that was loaded into the optimizer's own form."""

    def __repr__(self) -> str:
        lines = []
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            lines += [
                f"    {key}: {group[key]}" for key in sorted(group) if key != "params"
            ]
        return "\n".join([f"{self._name} (", *lines, ")"])
