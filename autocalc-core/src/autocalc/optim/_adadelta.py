# SPDX-License-Identifier: MIT
"""Adadelta: steps scaled by the size of earlier steps and of the gradients."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc.optim import _recorded
from autocalc.optim._counting import CountingOptimizer
from autocalc.optim._optimizer import Group, Params, is_number
from autocalc.optim._settings import settings_of


class Adadelta(CountingOptimizer):
    """Adadelta: gradient steps scaled by running means of squared steps and gradients.

    A step updates a parameter p with the gradient g, where u and v are initially 0::

        g += weight_decay * p
        v = rho * v + (1 - rho) * g**2
        change = sqrt(u + eps) / sqrt(v + eps) * g
        u = rho * u + (1 - rho) * change**2
        p -= lr * change

    Zeiler: ADADELTA, an adaptive learning rate method (2012).

    Parameters
    ----------
    params
        The parameters: an iterable of tensors, or of dicts with the key ``"params"``
        and settings that differ from the defaults.
    lr, rho, eps, weight_decay
        The constants of the formula above.
    foreach, capturable
        Accepted for compatibility with PyTorch.  It has no effect, because one kernel
        call always updates all parameters.
    differentiable
        True to record each step in the autograd graph, so that gradients flow through
        the updates.  Then the parameters are no longer leaves, and a step is slower.
    maximize
        True to move along the gradient, which increases the objective.
    master_weights
        True to keep a float32 copy of each bfloat16 or float16 parameter in the state,
        and to update that copy.
    stochastic_rounding
        True to round updated bfloat16 and float16 parameters up or down at random, so
        that the mean of the rounding errors is 0.

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.tensor([1.0], requires_grad=True)
    >>> adadelta = ac.optim.Adadelta([w], eps=1e-4)
    >>> w.grad = ac.tensor([1000.0])
    >>> adadelta.step()
    >>> round(1 - w.item(), 4)  # sqrt(1e-4) / sqrt(0.1)
    0.0316
    """

    _buffers = frozenset({"acc_delta", "square_avg"})

    _update = _recorded.adadelta

    def __init__(
        self,
        params: Params,
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
        master_weights: bool = False,
        stochastic_rounding: bool = False,
    ) -> None:
        super().__init__(params, settings_of(locals()))

    def _check_group(self, group: Group) -> None:
        super()._check_group(group)
        self._check_not_negative(group, "eps")
        rho = group["rho"]
        holds = is_number(rho) and 0 <= rho <= 1
        self._check(group, "rho", holds, "a number from 0 to 1")

    def _settings(self, group: Group) -> tuple[Any, ...]:
        return (group["rho"], group["eps"], group["weight_decay"], group["maximize"])

    def _step_group(self, i: int, group: Group) -> None:
        settings = self._settings(group)
        for batch, _ in self._counted_batches(group):
            squares, changes = batch.kept("square_avg"), batch.kept("acc_delta")
            lr = self._rate(i, group, batch.dtype)
            arrays.adadelta(batch.params, squares, changes, batch.grads, lr, *settings)
            self._updated(batch, group)
