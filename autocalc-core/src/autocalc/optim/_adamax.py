# SPDX-License-Identifier: MIT
"""Adamax: Adam with the largest gradient in place of the deviation."""

from __future__ import annotations

from autocalc._ops.elementwise.clamping import maximum
from autocalc._tensor import Tensor
from autocalc.optim._batch import State
from autocalc.optim._optimizer import Averaging, Group, Params
from autocalc.optim._per_parameter import ParameterOptimizer, decayed, kept
from autocalc.optim._rates import rate_of
from autocalc.optim._settings import settings_of


class Adamax(Averaging, ParameterOptimizer):
    """Adamax: Adam with the largest absolute gradient instead of the mean square.

    Step t = 1, 2, ... updates a parameter p with the gradient g, where m and u are
    initially 0::

        g += weight_decay * p
        m += (1 - beta1) * (g - m)
        u = max(beta2 * u, abs(g) + eps)
        p -= lr / (1 - beta1**t) * m / u

    Kingma, Ba: Adam, a method for stochastic optimization (ICLR 2015), section 7.

    Parameters
    ----------
    params
        The parameters: an iterable of tensors, or of dicts with the key ``"params"``
        and settings that differ from the defaults.
    lr, betas, eps, weight_decay
        The constants of the formula above.
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
    >>> adamax = ac.optim.Adamax([w], lr=0.5)
    >>> (w * w).sum().backward()
    >>> adamax.step()
    >>> w
    tensor([ 0.5000, -2.5000], requires_grad=True)
    """

    _buffers = frozenset({"exp_avg", "exp_inf"})

    def __init__(
        self,
        params: Params,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
        master_weights: bool = False,
        stochastic_rounding: bool = False,
    ) -> None:
        super().__init__(params, settings_of(locals()))

    def _numbers_of(self, group: Group, state: State, t: int) -> tuple[float, ...]:
        del state
        beta1, beta2 = group["betas"]
        return 1 - beta1, beta2, -rate_of(group) / (1 - beta1**t)

    def _update(
        self, param: Tensor, grad: Tensor, state: State, group: Group, *numbers: float
    ) -> None:
        new, old, step = numbers
        grad = decayed(param, grad, group)
        m = kept(state, "exp_avg", grad).lerp_(grad, new)
        u = kept(state, "exp_inf", grad)
        u.copy_(maximum(old * u, grad.abs() + group["eps"]))
        param.addcdiv_(m, u, value=step)
