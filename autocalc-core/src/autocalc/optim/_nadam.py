# SPDX-License-Identifier: MIT
"""NAdam: Adam with Nesterov momentum."""

from __future__ import annotations

from autocalc._tensor import Tensor
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


class NAdam(Averaging, ParameterOptimizer):
    """NAdam: Adam with Nesterov's momentum.

    Step t = 1, 2, ... updates a parameter p with the gradient g, where m and v are
    initially 0::

        mu(t) = beta1 * (1 - 0.96**(t * momentum_decay) / 2)
        M(t) = the product of mu(1), ..., mu(t)
        g += weight_decay * p
        m += (1 - beta1) * (g - m)
        v = beta2 * v + (1 - beta2) * g**2
        ahead = (1 - mu(t)) / (1 - M(t)) * g + mu(t + 1) / (1 - M(t + 1)) * m
        p -= lr * ahead / (sqrt(v / (1 - beta2**t)) + eps)

    Dozat: Incorporating Nesterov momentum into Adam (ICLR workshop 2016).

    Parameters
    ----------
    params
        The parameters: an iterable of tensors, or of dicts with the key ``"params"``
        and settings that differ from the defaults.
    lr, betas, eps, weight_decay, momentum_decay
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
    >>> w = ac.tensor([1.0], requires_grad=True)
    >>> nadam = ac.optim.NAdam([w], lr=0.5, betas=(0.5, 0.75), momentum_decay=0.0)
    >>> w.grad = ac.tensor([2.0])
    >>> nadam.step()
    >>> w  # 1 - 0.5 * (2 + 0.25 / (1 - 0.25**2) * 1) / 2
    tensor([0.4333], requires_grad=True)
    """

    _buffers = frozenset({"exp_avg", "exp_avg_sq"})
    _numbers = frozenset({"step", "mu_product"})

    def __init__(
        self,
        params: Params,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
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

    def _check_group(self, group: Group) -> None:
        super()._check_group(group)
        self._check_not_negative(group, "momentum_decay")

    def _begun(self, group: Group) -> dict[str, float]:
        return {**super()._begun(group), "mu_product": 1.0}

    def _numbers_of(self, group: Group, state: State, t: int) -> tuple[float, ...]:
        beta1, beta2 = group["betas"]

        def mu(t: int) -> float:
            momentum = 1 - 0.5 * 0.96 ** (t * group["momentum_decay"])
            return float(beta1 * momentum)

        cell = state["mu_product"]._array
        product = cell.item() * mu(t)
        cell[()] = product
        now = (1 - mu(t)) / (1 - product)
        ahead = mu(t + 1) / (1 - product * mu(t + 1))
        seen = 1 - beta2**t
        return *weights(group), shrinking(group), now, ahead, seen, -rate_of(group)

    def _update(
        self, param: Tensor, grad: Tensor, state: State, group: Group, *numbers: float
    ) -> None:
        *means, shrink, now, ahead, seen, step = numbers
        grad = decayed(param, grad, group, shrink)
        m, v = averages(state, grad, *means)
        deviation = (v / seen).sqrt() + group["eps"]
        param.addcdiv_(now * grad + ahead * m, deviation, value=step)
