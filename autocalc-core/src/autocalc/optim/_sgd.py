# SPDX-License-Identifier: MIT
"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.selection.arrays import arrays, constant
from autocalc._tensor.dtypes import int64
from autocalc.errors import ArgumentError
from autocalc.optim import _recorded
from autocalc.optim._optimizer import Group, Optimizer, Params, has_momentum, is_number
from autocalc.optim._settings import settings_of

#: What the kernel wants to know of the step: whether the buffers hold anything yet.
FIRST, LATER = (constant(step, int64.numpy) for step in (1, 2))


class SGD(Optimizer):
    """Stochastic gradient descent, optionally with momentum.

    g += weight_decay * p;  b = momentum * b + (1 - dampening) * g  (b = g at first);
    p -= lr * b, or with `nesterov` p -= lr * (g + momentum * b).

    Parameters
    ----------
    params
        Tensors, or groups: dicts with ``"params"`` and settings of their own.
    lr
        The learning rate, 0 or more.
    momentum, dampening, weight_decay, nesterov
        The constants of the formula above.
    maximize
        Go up the gradient.
    foreach, fused
        Accepted for PyTorch's sake; a step is always one kernel call.
    differentiable
        Whether steps are recorded: parameter by parameter, in operators, so that
        gradients pass through them. The parameters are no leaves then.
    master_weights
        Update parameters of bfloat16 and float16 in float32, which the state keeps.
    stochastic_rounding
        True to round such parameters up or down at random, so that they are right on
        average.

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.tensor([1.0, 2.0], requires_grad=True)
    >>> sgd = ac.optim.SGD([w], lr=0.5)
    >>> (w * w).sum().backward()
    >>> sgd.step()
    >>> w
    tensor([0., 0.], requires_grad=True)
    """

    _buffers = frozenset({"momentum_buffer"})

    _update = _recorded.sgd

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
        master_weights: bool = False,
        stochastic_rounding: bool = False,
    ) -> None:
        super().__init__(params, settings_of(locals()))

    def _check_group(self, group: Group) -> None:
        super()._check_group(group)
        self._check_not_negative(group, "momentum")
        dampening = group["dampening"]
        self._check(group, "dampening", is_number(dampening), "a number")
        if group["nesterov"] and (group["momentum"] <= 0 or group["dampening"] != 0):
            raise ArgumentError(
                f"SGD: `nesterov` with `momentum`={group['momentum']} and "
                f"`dampening`={group['dampening']}; it needs a momentum above 0 and no "
                f"dampening."
            )

    def _settings(self, group: Group) -> tuple[Any, ...]:
        return (
            group["momentum"],
            group["dampening"],
            group["weight_decay"],
            group["nesterov"],
            group["maximize"],
        )

    def _step_group(self, i: int, group: Group) -> None:
        momentum, settings = has_momentum(group), self._settings(group)
        for batch in self._batches(group):
            step = LATER if self._step_key(batch.states[0]) else FIRST
            buffers = batch.kept("momentum_buffer") if momentum else []
            lr = self._rate(i, group, batch.dtype)
            arrays.sgd(batch.params, buffers, batch.grads, lr, step, *settings)
            self._updated(batch, group)

    def _step_key(self, state: dict[str, Any]) -> bool:
        return "momentum_buffer" in state
