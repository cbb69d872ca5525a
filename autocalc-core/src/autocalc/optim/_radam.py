# SPDX-License-Identifier: MIT
"""RAdam: Adam that begins with momentum only."""

from __future__ import annotations

from autocalc._ops._operator.coerce import as_operand
from autocalc._tensor import Tensor
from autocalc._tensor.dtypes import bool_
from autocalc.optim._batch import State
from autocalc.optim._optimizer import Averaging, Group, Params
from autocalc.optim._per_parameter import (
    ParameterOptimizer,
    averages,
    decayed,
    shrinking,
    weights,
)
from autocalc.optim._rates import rate_of
from autocalc.optim._settings import settings_of


class RAdam(Averaging, ParameterOptimizer):
    """RAdam: Adam without the division by sqrt(v) until enough gradients were seen.

    Step t = 1, 2, ... updates a parameter p with the gradient g, where m and v are
    initially 0::

        g += weight_decay * p
        m += (1 - beta1) * (g - m)
        v = beta2 * v + (1 - beta2) * g**2
        long = 2 / (1 - beta2) - 1
        seen = long - 2 * t * beta2**t / (1 - beta2**t)
        r = sqrt((seen - 4) * (seen - 2) * long / ((long - 4) * (long - 2) * seen))
        adapted = r * sqrt(1 - beta2**t) / (sqrt(v) + eps) if seen > 5 else 1
        p -= lr * m / (1 - beta1**t) * adapted

    Liu et al.: On the variance of the adaptive learning rate and beyond (ICLR 2020).

    Parameters
    ----------
    params
        The parameters: an iterable of tensors, or of dicts with the key ``"params"``
        and settings that differ from the defaults.
    lr, betas, eps, weight_decay
        The constants of the formula above.
    decoupled_weight_decay
        True to multiply the weights by 1 - lr * weight_decay instead, as `AdamW` does.
    foreach, capturable
        Accepted for compatibility with PyTorch.  There is only one implementation.
    maximize
        True to move along the gradient, which increases the objective.
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
    >>> radam = ac.optim.RAdam([w], lr=0.25)
    >>> (w * w).sum().backward()
    >>> radam.step()  # the first steps are those of momentum
    >>> w
    tensor([ 0.5000, -1.5000], requires_grad=True)
    """

    _buffers = frozenset({"exp_avg", "exp_avg_sq"})

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        master_weights: bool = False,
        stochastic_rounding: bool = False,
    ) -> None:
        super().__init__(params, settings_of(locals()))

    def _numbers_of(self, group: Group, state: State, t: int) -> tuple[float, ...]:
        del state
        beta1, beta2 = group["betas"]
        rate = rate_of(group) / (1 - beta1**t)
        rectified = _rectification(beta2, t)
        is_early = rectified is None
        if rectified is not None:
            rate *= rectified * (1 - beta2**t) ** 0.5
        return *weights(group), shrinking(group), -rate, float(is_early)

    def _update(
        self, param: Tensor, grad: Tensor, state: State, group: Group, *numbers: float
    ) -> None:
        *means, shrink, step, is_early = numbers
        grad = decayed(param, grad, group, shrink)
        m, v = averages(state, grad, *means)
        deviation = v.sqrt().add(group["eps"])
        early = as_operand(is_early, bool_)
        param.addcdiv_(m, deviation.masked_fill(early, 1.0), value=step)


def _rectification(beta2: float, t: int) -> float | None:
    """Return the factor of a step, or None while there were too few steps."""
    long = 2 / (1 - beta2) - 1
    seen = long - 2 * t * beta2**t / (1 - beta2**t)
    if seen <= 5:
        return None
    ratio = (seen - 4) * (seen - 2) * long / ((long - 4) * (long - 2) * seen)
    return float(ratio**0.5)
