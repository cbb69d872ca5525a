# SPDX-License-Identifier: MIT
"""Stochastic weight averaging: averages of the weights of a model in training."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain, islice
from typing import Any

from autocalc._dispatch.selection.state import decided, host_numbers
from autocalc._graph._grad_mode import no_grad
from autocalc._ops._operator import halves
from autocalc._ops.creation.from_data import tensor as new_tensor
from autocalc._tensor import Tensor
from autocalc._tensor import checks as _checks
from autocalc._tensor.device import Device, present
from autocalc._tensor.dtypes import int64
from autocalc.errors import ArgumentError, DTypeError, ModuleError
from autocalc.nn import Module
from autocalc.nn._layers.norms.batch_norm import _BatchNorm
from autocalc.optim._optimizer import is_number
from autocalc.optim._schedulers._swa import SWALR

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

Average = Callable[[Tensor, Tensor, Any], Tensor]
MultiAverage = Callable[[list[Tensor], list[Tensor], Any], None]


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """Return a function that computes decay * average + (1 - decay) * current.

    Parameters
    ----------
    decay
        The weight of the old average, from 0 to 1.

    Raises
    ------
    ArgumentError
        If `decay` is not between 0 and 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> average = ac.optim.swa_utils.get_ema_avg_fn(decay=0.75)
    >>> average(ac.tensor([4.0]), ac.tensor([8.0]), 1)
    tensor([5.])
    """
    _check_decay("get_ema_avg_fn", decay)
    return partial(_decayed, decay)


def _decayed(
    decay: float, averaged: Tensor, current: Tensor, num_averaged: Any
) -> Tensor:
    del num_averaged
    return _mixed(averaged, current, decay)


@halves.rounded_once(promotes=True)
def _mixed(averaged: Tensor, current: Tensor, decay: float) -> Tensor:
    return averaged * decay + current * (1 - decay)


def get_swa_avg_fn() -> Average:
    """Return a function that computes the mean of all weights so far.

    Examples
    --------
    >>> import autocalc as ac
    >>> average = ac.optim.swa_utils.get_swa_avg_fn()
    >>> average(ac.tensor([4.0]), ac.tensor([8.0]), 3)  # (3 * 4 + 8) / 4
    tensor([5.])
    """
    return _mean


@halves.rounded_once(promotes=True)
def _mean(averaged: Tensor, current: Tensor, num_averaged: Any) -> Tensor:
    of = [num_averaged._array] if isinstance(num_averaged, Tensor) else []
    (count,) = host_numbers(lambda: (int(num_averaged) + 1,), of)
    return averaged + (current - averaged) / count


def get_ema_multi_avg_fn(decay: float = 0.999) -> MultiAverage:
    """Return a function that updates a list of exponential moving averages in place.

    For each tensor of the list, it computes the formula of `get_ema_avg_fn`.

    Parameters
    ----------
    decay
        The weight of the old average, from 0 to 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> update = ac.optim.swa_utils.get_ema_multi_avg_fn(decay=0.75)
    >>> averaged = [ac.tensor([4.0]), ac.tensor([1.0])]
    >>> update(averaged, [ac.tensor([8.0]), ac.tensor([1.0])], 1)
    >>> averaged
    [tensor([5.]), tensor([1.])]
    """
    _check_decay("get_ema_multi_avg_fn", decay)
    return partial(_update, get_ema_avg_fn(decay))


def get_swa_multi_avg_fn() -> MultiAverage:
    """Return a function that updates a list of means in place.

    Each tensor of the list becomes the mean of all its values so far.

    Examples
    --------
    >>> import autocalc as ac
    >>> update = ac.optim.swa_utils.get_swa_multi_avg_fn()
    >>> averaged = [ac.tensor([4.0]), ac.tensor([1.0])]
    >>> update(averaged, [ac.tensor([8.0]), ac.tensor([1.0])], 3)
    >>> averaged
    [tensor([5.]), tensor([1.])]
    """
    return partial(_update, get_swa_avg_fn())


def _update(
    average: Average, averaged: list[Tensor], current: list[Tensor], n: Any
) -> None:
    for mean, value in zip(averaged, current, strict=True):
        if mean.is_floating_point():
            mean.copy_(average(mean, value, n))
        else:  # a count, such as of batches
            mean.copy_(value)


def _check_decay(where: str, decay: Any) -> None:
    if not (is_number(decay) and 0 <= decay <= 1):
        message = f"{where}: `decay` is {decay!r}; it must be a number from 0 to 1."
        raise ArgumentError(message)


class AveragedModel(Module):
    """A copy of a model; it averages the model's parameters during training.

    The first call of `update_parameters` copies the parameters.  Each further call
    updates the average.  With `get_ema_avg_fn`, it is an exponential moving average.

    Izmailov et al.: Averaging weights leads to wider optima and better generalization
    (UAI 2018).

    Parameters
    ----------
    model
        The model to copy.  It is not changed.
    device
        Accepted for compatibility with PyTorch.  It has no effect.
    avg_fn
        A function ``avg_fn(averaged, current, num_averaged)`` that returns the new
        average of a parameter.  The default is the mean of all values.
    multi_avg_fn
        A function with the same arguments, but ``averaged`` and ``current`` are lists
        of tensors.  It updates the tensors in ``averaged`` in place.
    use_buffers
        True to average the buffers, too.  False to copy them.

    Attributes
    ----------
    module
        The copy of the model, which a call of this module runs.
    n_averaged
        The number of calls of `update_parameters` so far.

    Raises
    ------
    ArgumentError
        If `avg_fn` and `multi_avg_fn` are both given.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.optim.swa_utils import AveragedModel, get_ema_avg_fn
    >>> model = ac.nn.Linear(1, 1)
    >>> ema = AveragedModel(model, avg_fn=get_ema_avg_fn(0.5))
    >>> for value in (1.0, 2.0, 4.0):
    ...     _ = ac.nn.init.constant_(model.weight, value)
    ...     ema.update_parameters(model)
    >>> ema.module.weight.item()  # ((1 + 2) / 2 + 4) / 2
    2.75
    """

    n_averaged: Tensor
    module: Module

    def __init__(
        self,
        model: Any,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: MultiAverage | None = None,
        use_buffers: bool = False,
    ) -> None:
        _checks.check_flags("AveragedModel", use_buffers=use_buffers)
        super().__init__()
        self._place = None if device is None else present(device)
        _check_module("AveragedModel", model)
        if avg_fn is not None and multi_avg_fn is not None:
            message = "AveragedModel: give `avg_fn` or `multi_avg_fn`, not both."
            raise ArgumentError(message)
        self.module = copy.deepcopy(model)
        if self._place is not None:
            self.module.to(self._place)
        self.register_buffer("n_averaged", new_tensor(0, dtype=int64))
        self._update = multi_avg_fn or partial(_update, avg_fn or get_swa_avg_fn())
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return the output of the copy."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Update the averages with the current parameters of the model.

        Raises
        ------
        ModuleError
            If the parameters of the model and of the copy differ in number or shape.
        """
        ours, theirs = self._averaged(self.module), self._averaged(model)
        if self._place is not None:
            theirs = [t.to(self._place) for t in theirs]
        if [p.shape for p in ours] != [p.shape for p in theirs]:
            raise ModuleError(
                "AveragedModel.update_parameters: the shapes of the model's "
                "parameters differ from those of the averaged parameters; give the "
                "same model."
            )
        with no_grad():
            if decided(lambda: int(self.n_averaged._array) == 0):
                _copy(theirs, ours)
            else:
                self._update(ours, theirs, self.n_averaged)
            if not self.use_buffers:
                _copy(model.buffers(), self.module.buffers())
            self.n_averaged.add_(1)

    def _averaged(self, model: Module) -> list[Tensor]:
        buffers = model.buffers() if self.use_buffers else ()
        return [t.detach() for t in (*model.parameters(), *buffers)]


def _copy(sources: Iterable[Tensor], targets: Iterable[Tensor]) -> None:
    for source, target in zip(sources, targets, strict=True):
        target.copy_(source)


def update_bn(loader: Iterable[Any], model: Any, device: Any = None) -> None:
    """Recompute the running statistics of all batch norms of a model from the data.

    This is necessary for a model with averaged weights, because its activations differ
    from those during training.

    Parameters
    ----------
    loader
        An iterable of batches: tensors, or lists or tuples whose first element is the
        input.
    model
        The model.  It runs in training mode without gradients, and is then set back to
        its previous mode.
    device
        The device to which batches are moved.  None means that they are not moved.

    Raises
    ------
    DTypeError
        If `model` is not a module, if `loader` is not iterable, or if a batch is
        neither a tensor nor a list or tuple that begins with one.

    Examples
    --------
    >>> import autocalc as ac
    >>> norm = ac.nn.BatchNorm1d(1)
    >>> batches = [ac.tensor([[1.0], [3.0]]), ac.tensor([[5.0], [7.0]])]
    >>> ac.optim.swa_utils.update_bn(batches, norm)
    >>> norm.running_mean  # the mean of 2 and 6
    tensor([4.])
    """
    _check_module("update_bn", model)
    place = None if device is None else present(device)
    if not hasattr(loader, "__iter__"):
        raise DTypeError(
            f"update_bn: `loader` is a {type(loader).__name__}; it must yield batches, "
            "as a DataLoader or a list does."
        )
    norms = [m for m in model.modules() if isinstance(m, _BatchNorm)]
    if not norms:
        return
    batches = iter(loader)
    first = list(islice(batches, 1))
    if not first:
        raise ArgumentError(
            "update_bn: `loader` yields no batch, so there is nothing to compute "
            "statistics from. A generator yields its batches only once: make it "
            "again, or give a list."
        )
    _run_with_plain_means(chain(first, batches), model, norms, place)


def _run_with_plain_means(
    loader: Iterable[Any], model: Module, norms: list[_BatchNorm], place: Device | None
) -> None:
    """Run the model on all batches while its norms average over all of them."""
    momenta, training = [norm.momentum for norm in norms], model.training
    model.train()
    try:
        for norm in norms:
            norm.reset_running_stats()
            norm.momentum = None
        with no_grad():
            for batch in loader:
                first = _first(batch)
                model(first if place is None else first.to(place))
    finally:
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum
        model.train(training)


def _first(batch: Any) -> Tensor:
    first = batch[0] if isinstance(batch, (list, tuple)) and batch else batch
    if not isinstance(first, Tensor):
        raise DTypeError(
            f"update_bn: a batch of `loader` is {_checks.short(batch)}; it must be a "
            "tensor, or a list that begins with a tensor."
        )
    return first


def _check_module(where: str, model: Any) -> None:
    if not isinstance(model, Module):
        message = f"{where}: `model` is a {type(model).__name__}; it must be a Module."
        raise DTypeError(message)
