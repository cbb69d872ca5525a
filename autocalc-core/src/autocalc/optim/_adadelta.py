# SPDX-License-Identifier: MIT
"""Adadelta: steps of the size of the steps before, over the gradient's own size."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc.optim import _recorded
from autocalc.optim._counting import CountingOptimizer
from autocalc.optim._optimizer import Group, Params, is_number
from autocalc.optim._settings import settings_of


class Adadelta(CountingOptimizer):
    """Steps as large as the steps before, divided by the gradient's own size.

    ::

        g += weight_decay * p
        v = rho * v + (1 - rho) * g**2
        change = sqrt(u + eps) / sqrt(v + eps) * g
        u = rho * u + (1 - rho) * change**2
        p -= lr * change

    Zeiler: ADADELTA, an adaptive learning rate method (2012).

    Parameters
    ----------
    params
        Tensors, or groups: dicts with ``"params"`` and settings of their own.
    lr, rho, eps, weight_decay
        The constants of the formula above.
    foreach, capturable
        Accepted for PyTorch's sake; a step is always one kernel call.
    differentiable
        Whether steps are recorded: parameter by parameter, in operators, so that
        gradients pass through them. The parameters are no leaves then.
    maximize
        Go up the gradient.
    master_weights
        Update parameters of bfloat16 and float16 in float32, which the state keeps.
    stochastic_rounding
        True to round such parameters up or down at random, so that they are right on
        average.

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
