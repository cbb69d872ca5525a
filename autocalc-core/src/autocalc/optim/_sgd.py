# SPDX-License-Identifier: MIT
"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.selection.arrays import arrays, constant
from autocalc._graph._grad_mode import no_grad
from autocalc._tensor import Tensor
from autocalc._tensor.dtypes import int64
from autocalc.errors import ArgumentError
from autocalc.optim import _recorded
from autocalc.optim._optimizer import Group, Optimizer, Params, has_momentum, is_number
from autocalc.optim._rates import rate_of
from autocalc.optim._rows import rows_of
from autocalc.optim._settings import settings_of

#: An argument of the kernel: whether the buffers hold anything yet.
FIRST, LATER = (constant(step, int64.numpy) for step in (1, 2))


class SGD(Optimizer):
    """Stochastic gradient descent, with optional momentum.

    A gradient may be sparse, as those of ``Embedding(sparse=True)``.  Without momentum
    and weight decay, a step then changes only the rows that have a gradient.

    A step updates a parameter p with the gradient g, where b = g in the first step::

        g += weight_decay * p
        b = momentum * b + (1 - dampening) * g
        p -= lr * b                              without nesterov
        p -= lr * (g + momentum * b)             with nesterov

    Parameters
    ----------
    params
        The parameters: an iterable of tensors, or of dicts with the key ``"params"``
        and settings that differ from the defaults.
    lr
        The learning rate: a number, or a tensor with one element; 0 or more.
    momentum, dampening, weight_decay, nesterov
        The constants of the formula above.
    maximize
        True to move along the gradient, which increases the objective.
    foreach, fused
        Accepted for compatibility with PyTorch.  It has no effect, because one kernel
        call always updates all parameters.
    differentiable
        True to record each step in the autograd graph, so that gradients flow through
        the updates.  Then the parameters are no longer leaves, and a step is slower.
    master_weights
        True to keep a float32 copy of each bfloat16 or float16 parameter in the state,
        and to update that copy.
    stochastic_rounding
        True to round updated bfloat16 and float16 parameters up or down at random, so
        that the mean of the rounding errors is 0.

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
                f"SGD: `nesterov` is set with `momentum`={group['momentum']} and "
                f"`dampening`={group['dampening']}; Nesterov momentum needs a "
                "`momentum` above 0 and a `dampening` of 0."
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

    def _step_rows(self, group: Group, param: Tensor, grad: Any) -> Any:
        """Update the rows that have a gradient; with momentum, all rows change."""
        if has_momentum(group):
            return grad.to_dense()._array
        rows = rows_of("SGD", group, grad, coalesce=False)
        with no_grad():
            rows.add_to(param, rows.values * -rate_of(group))
        return None

    def _step_key(self, state: dict[str, Any]) -> bool:
        return "momentum_buffer" in state
