# SPDX-License-Identifier: MIT
"""`Optimizer`: groups of parameters with settings, and the state of each parameter.

One kernel call updates all parameters of a group that have the same dtype and step
count.  So the cost of a step depends on the arithmetic and not on the number of
parameters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from numbers import Real
from typing import Any, TypeAlias

from autocalc._dispatch.device.device import host_dtype
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import decided, on_host, recordings, rereads
from autocalc._dispatch.selection.upcast import HALVES, computed_in
from autocalc._graph._grad_mode import enable_grad
from autocalc._graph._node import Leaf
from autocalc._tensor import Tensor
from autocalc._tensor.checks import all_of, check_switches, check_type, sequence
from autocalc.errors import ArgumentError, DTypeError, MissingKeyError
from autocalc.optim import _hooks, _state
from autocalc.optim._batch import Batch, PairBatch
from autocalc.optim._hooks import Hooked
from autocalc.optim._rates import is_rate, rate_of
from autocalc.optim._wide import SETTINGS, WideBatch, is_asked

Group: TypeAlias = dict[str, Any]
Params: TypeAlias = Iterable[Tensor] | Iterable[tuple[str, Tensor]] | Iterable[Group]


def is_number(value: Any) -> bool:
    """Return whether `value` is a real number of Python or NumPy."""
    return isinstance(value, Real)


def check_betas(betas: Any) -> tuple[bool, str]:
    """Return whether `betas` are two valid weights of averages, and the requirement."""
    are_two = isinstance(betas, (tuple, list)) and len(betas) == 2
    fit = are_two and all(is_number(b) and 0 <= b < 1 for b in betas)
    return fit, "two numbers from 0 to below 1"


def refuse(where: str, **given: bool) -> None:
    """Raise if an option of PyTorch that is not available is requested."""
    for name, value in given.items():
        if value is not False and value is not None:
            raise ArgumentError(f"{where}: `{name}` is not supported; do not give it.")


def has_momentum(group: Group) -> bool:
    """Return whether the step of a group keeps a momentum."""
    if recordings:
        return decided(lambda: bool(group["momentum"]))
    return bool(group["momentum"])


class Optimizer(Hooked):
    """The base class of all optimizers.

    Parameters
    ----------
    params
        The parameters: an iterable of tensors, or of dicts with the key ``"params"``
        and settings that differ from the defaults.  It can also be an iterable of
        (name, tensor) pairs, as `Module.named_parameters` returns it.  Then the groups
        and the `state_dict` hold the names under ``"param_names"``.
    defaults
        The default settings of a group.

    Attributes
    ----------
    param_groups
        The groups of parameters, as a list of dicts.  A change of a setting, such as
        ``group["lr"] = 0.1``, takes effect in the next step.
    state
        A dict of the state of each parameter.

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

    #: The names of state tensors that have the dtype of the parameter and the shape
    #: `_state_shape`.
    _buffers: frozenset[str] = frozenset()
    #: The names of state numbers: one for each parameter.
    _numbers: frozenset[str] = frozenset()
    param_groups: list[Group]
    state: defaultdict[Tensor, dict[str, Any]]

    def __init__(self, params: Params, defaults: Any) -> None:
        check_type(self._name, "defaults", defaults, Mapping, "a dict")
        _hooks.note(self)
        self.defaults = defaults
        self.param_groups = []
        self.state = defaultdict(dict)
        self._cells: dict[Any, Any] = {}
        if isinstance(params, (Tensor, Mapping)):
            raise DTypeError(
                f"{self._name}: the params argument given to the optimizer should be "
                f"an iterable of Tensors or dicts, such as model.parameters(); it is "
                f"one {type(params).__name__}."
            )
        if callable(getattr(params, "parameters", None)):
            raise DTypeError(
                f"{self._name}: `params` is a module, {type(params).__name__}; give "
                f"its parameters, model.parameters()."
            )
        given = sequence(self._name, "params", params)
        if not given:
            raise ArgumentError(
                f"{self._name}: `params` is empty; there is nothing to optimize. Give "
                "model.parameters(); an iterator is empty after it has been read "
                "once, so make a list if you use it twice."
            )
        groups = given if isinstance(given[0], Mapping) else [{"params": given}]
        for group in groups:
            self.add_param_group(group)

    @property
    def _name(self) -> str:
        return type(self).__name__

    def add_param_group(self, param_group: Any) -> None:
        """Add a group of parameters with settings of its own.

        Parameters
        ----------
        param_group
            A dict with the key ``"params"`` and settings that differ from the defaults.

        Raises
        ------
        ArgumentError
            If a setting is unknown or out of range, if a parameter is not a leaf, or if
            a parameter is in a group already.

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
            raise MissingKeyError(
                f"{self._name}: a parameter group is {param_group!r}; it must be a "
                "dict with the key 'params'."
            )
        params = param_group["params"]
        alone = isinstance(params, Tensor)
        params = [params] if alone else all_of(self._name, "params", params)
        params, names = _state.named(self._name, params, self.param_groups)
        known = {id(p) for group in self.param_groups for p in group["params"]}
        for i, param in enumerate(params):
            self._check_param(i, param, known)
            known.add(id(param))
        group = {**self.defaults, **param_group, "params": params, **names}
        self._check_group(group)
        self.param_groups.append(group)

    def _check_param(self, i: int, param: Any, known: set[int]) -> None:
        if not isinstance(param, Tensor):
            raise DTypeError(
                f"{self._name}: `params[{i}]` is a {type(param).__name__}; it must be "
                f"a Tensor."
            )
        through = self.defaults.get("differentiable") or param.retains_grad
        if not (param.is_leaf or through):
            raise ArgumentError(
                f"{self._name}: `params[{i}]` of shape {param.shape} was made by "
                f"`{param._node().op.name}`, but only leaves can be optimized. Make a "
                "leaf with x.detach().requires_grad_()."
            )
        if id(param) in known:
            raise ArgumentError(
                f"{self._name}: `params[{i}]` of shape {param.shape} is given twice; "
                "each parameter must occur once, in one group."
            )

    def _check_group(self, group: Group) -> None:
        """Raise if a setting of the group is invalid; optimizers add own checks."""
        if "lr" in group:  # a user's optimizer may have neither
            self._check_rate(group)
        if "weight_decay" in group:
            self._check_not_negative(group, "weight_decay")
        given = {name: group[name] for name in SETTINGS if name in group}
        check_switches(self._name, **given)

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
        """Set the gradients of all parameters to None, or to 0 if not `set_to_none`."""
        check_switches("zero_grad", set_to_none=set_to_none)
        for group in self.param_groups:
            for param in group["params"]:
                edge = param._edge
                if edge.__class__ is not Leaf:
                    edge = param
                grad = edge.grad
                if grad is None:
                    continue
                if set_to_none:
                    edge.grad = None
                else:
                    grad.detach_()
                    grad.zero_()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient.

        Parameters
        ----------
        closure
            A function that computes the loss and the gradients again, and returns the
            loss.  It is called before the update, with gradients enabled.

        Returns
        -------
        The result of the closure, or None.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for i, group in enumerate(self.param_groups):
            self._step_group(i, group)
        self._has_stepped = True
        return loss

    def _step_group(self, i: int, group: Group) -> None:
        """Update the parameters of group number `i`."""
        raise NotImplementedError

    def _numbers_alone(self, group: Group, state: dict[str, Any]) -> tuple[Any, ...]:
        """Return the numbers that a recorded step of one parameter takes."""
        del group, state
        return ()

    def _step_key(self, state: dict[str, Any]) -> Any:
        """Return the key that the parameters of one kernel call share."""
        raise NotImplementedError

    def _batches(self, group: Group) -> Collection[Batch]:
        """Sort the parameters with a gradient into batches by dtype and step count."""
        batches: dict[Any, Batch] = {}
        for param in group["params"]:
            edge = param._edge
            grad = param.grad if edge.__class__ is not Leaf else edge.grad
            if grad is None:
                continue
            try:
                given = grad._array
            except DTypeError:  # it is sparse
                given = self._step_rows(group, param, grad)
                if given is None:
                    continue
            state = self.state[param]
            array = param._array
            key = (array.dtype, self._step_key(state))
            batch = batches.get(key)
            if batch is None:
                kind = PairBatch if array.dtype.kind == "c" else Batch
                batch = batches[key] = kind(array.dtype)
            batch.tensors.append(param)
            batch.states.append(state)
            batch.params.append(array)
            batch.grads.append(given)
        for batch in batches.values():
            batch.in_pairs()
        if "master_weights" in group or "stochastic_rounding" in group:
            return [self._widened(batch, group) for batch in batches.values()]
        return batches.values()

    def _step_rows(self, group: Group, param: Tensor, grad: Any) -> Any:
        """Update a parameter by its sparse gradient; or return a dense one."""
        del group, param, grad
        raise ArgumentError(
            f"{self._name}: does not support sparse gradients, please consider "
            "SparseAdam instead, or SGD or Adagrad, or make the embedding with "
            "sparse=False."
        )

    def _widened(self, batch: Batch, group: Group) -> Batch:
        """Return a batch of halves with the float32 values that are updated instead."""
        if host_dtype(batch.dtype) not in HALVES or not is_asked(group):
            return batch
        return WideBatch(batch, group, self._buffers, self._cells)

    def _rate(self, i: int, group: Group, dtype: Any) -> Any:
        """Return the learning rate of the group as a 0-d array, which stays the same.

        A recorded program reads the same cell again, so a changed rate is only written
        into it.
        """
        cell = self._cells.get((i, dtype))
        if cell is None:
            kind = computed_in(host_dtype(dtype))  # rates are never rounded to halves
            cell = self._cells[i, dtype] = [arrays.full((), 0, kind), None]

        def refresh() -> None:
            lr = rate_of(group)
            if cell[1] != lr:
                cell[0][()] = cell[1] = lr

        on_host(refresh, (cell[0],), reads=((group, "lr"),))
        return cell[0]

    def _settings(self, group: Group) -> tuple[Any, ...]:
        """Return the settings that the kernel of a step takes, in its order."""
        raise NotImplementedError

    def _updated(self, batch: Batch, group: Group) -> None:
        """Count the writes of a kernel that used the settings of a group."""
        if recordings:
            rereads(lambda: self._settings(group), group)
        batch.written()

    # ---- state -----------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return the state of all parameters and the settings of all groups.

        The layout of the dict is that of PyTorch.  Its tensors share the memory of the
        optimizer.
        """
        return _hooks.collected(self, _state.collect)

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Restore the state from a `state_dict` of an optimizer with the same groups.

        The optimizers of AutoCalc convert the state to the dtypes of the parameters.
        The state of a custom optimizer keeps the dtypes and shapes that were saved.

        Raises
        ------
        ArgumentError
            If the groups or the shapes do not match.  Then nothing is changed.

        Examples
        --------
        >>> import autocalc as ac
        >>> w = ac.ones(2, requires_grad=True)
        >>> old, new = (ac.optim.SGD([w], lr=lr, momentum=0.9) for lr in (0.1, 0.2))
        >>> new.load_state_dict(old.state_dict())
        >>> new.param_groups[0]["lr"]
        0.1
        """
        _hooks.loaded(self, _state.load, state_dict)

    def __getstate__(self) -> dict[str, Any]:
        """Return what copies and pickles contain: parameters, settings and state."""
        content = {**self.__dict__, "_cells": {}}
        for own in ("step", "_hooks"):  # hooks stay with the original
            content.pop(own, None)
        return content

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the result of `__getstate__`."""
        self.__dict__.update(state)
        self.__dict__.setdefault("_cells", {})

    def _state_shape(self, name: str, param: Tensor) -> tuple[int, ...]:
        """Return the shape of the state tensor of `param` under `name`."""
        del name
        return param.shape

    def _loaded(self, state: dict[Tensor, dict[str, Any]]) -> None:
        """Convert a loaded state to the optimizer's own form."""

    def __repr__(self) -> str:
        lines = []
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            lines += [
                f"    {key}: {group[key]}" for key in sorted(group) if key != "params"
            ]
        return "\n".join([f"{self._name} (", *lines, ")"])


class Averaging(Optimizer):
    """An optimizer as Adam: two averages with weights `betas`, and a small `eps`."""

    def _check_group(self, group: Group) -> None:
        super()._check_group(group)
        self._check_not_negative(group, "eps")
        self._check(group, "betas", *check_betas(group["betas"]))
