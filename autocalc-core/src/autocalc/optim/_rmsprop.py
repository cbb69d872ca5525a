# SPDX-License-Identifier: MIT
"""RMSprop: steps along the gradient divided by its root mean square."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc.optim import _recorded
from autocalc.optim._counting import CountingOptimizer
from autocalc.optim._optimizer import Group, Params, has_momentum, is_number
from autocalc.optim._settings import settings_of


class RMSprop(CountingOptimizer):
    """RMSprop: gradient steps divided by the root mean square of recent gradients.

    A step updates a parameter p with the gradient g, where v and b are initially 0::

        g += weight_decay * p
        v = alpha * v + (1 - alpha) * g**2
        b = momentum * b + g / (sqrt(v) + eps)
        p -= lr * b

    With `centered`, v is replaced by v - m**2, where m is the running mean of g.  This
    is the variance of the gradient.  A difference that is negative because of rounding
    counts as 0.

    Tieleman, Hinton: Lecture 6.5, rmsprop (Coursera, 2012).  For `centered`: Graves:
    Generating sequences with recurrent neural networks (2013).

    Parameters
    ----------
    params
        The parameters: an iterable of tensors, or of dicts with the key ``"params"``
        and settings that differ from the defaults.
    lr, alpha, eps, weight_decay, momentum
        The constants of the formula above.
    centered
        True to divide by the root of the variance instead of the mean square.
    maximize
        True to move along the gradient, which increases the objective.
    capturable, foreach
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
    >>> w = ac.tensor([1.0, -3.0], requires_grad=True)
    >>> rmsprop = ac.optim.RMSprop([w], lr=0.5, alpha=0.75, eps=0.0)
    >>> (w * w).sum().backward()
    >>> rmsprop.step()
    >>> w
    tensor([ 0., -2.], requires_grad=True)
    """

    _buffers = frozenset({"grad_avg", "momentum_buffer", "square_avg"})

    _update = _recorded.rmsprop

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        *,
        master_weights: bool = False,
        stochastic_rounding: bool = False,
    ) -> None:
        super().__init__(params, settings_of(locals()))

    def _check_group(self, group: Group) -> None:
        super()._check_group(group)
        self._check_not_negative(group, "eps", "momentum")
        alpha = group["alpha"]
        holds = is_number(alpha) and 0 <= alpha <= 1
        self._check(group, "alpha", holds, "a number from 0 to 1")

    def _settings(self, group: Group) -> tuple[Any, ...]:
        return (
            group["alpha"],
            group["eps"],
            group["weight_decay"],
            group["momentum"],
            bool(group["centered"]),
            group["maximize"],
        )

    def _step_group(self, i: int, group: Group) -> None:
        momentum, centered = has_momentum(group), bool(group["centered"])
        settings = self._settings(group)
        for batch, _ in self._counted_batches(group):
            arrays.rmsprop(
                batch.params,
                batch.kept("square_avg"),
                batch.kept("momentum_buffer") if momentum else [],
                batch.kept("grad_avg") if centered else [],
                batch.grads,
                self._rate(i, group, batch.dtype),
                *settings,
            )
            self._updated(batch, group)
