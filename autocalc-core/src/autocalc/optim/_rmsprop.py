# SPDX-License-Identifier: MIT
"""RMSprop: steps of the gradient over the root of its mean square."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc.optim import _recorded
from autocalc.optim._counting import CountingOptimizer
from autocalc.optim._optimizer import Group, Params, has_momentum, is_number
from autocalc.optim._settings import settings_of


class RMSprop(CountingOptimizer):
    """Steps of the gradient over the root of its mean square.

    ::

        g += weight_decay * p
        v = alpha * v + (1 - alpha) * g**2
        b = momentum * b + g / (sqrt(v) + eps)
        p -= lr * b

    With `centered` the root is of v - m**2, m the mean of g kept likewise: of the
    variance.  It is taken of 0 where rounding makes that difference negative.

    Tieleman, Hinton: Lecture 6.5, rmsprop (Coursera, 2012).  Centered: Graves,
    Generating sequences with recurrent neural networks (2013).

    Parameters
    ----------
    params
        Tensors, or groups: dicts with ``"params"`` and settings of their own.
    lr, alpha, eps, weight_decay, momentum
        The constants of the formula above.
    centered
        Whether the mean is taken out of the mean square.
    maximize
        Go up the gradient.
    capturable, foreach
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
