# SPDX-License-Identifier: MIT
"""ASGD: descent with shrinking steps, and the average of the visited points."""

from __future__ import annotations

from autocalc._tensor import Tensor
from autocalc.optim._batch import State
from autocalc.optim._optimizer import Group, Params, is_number
from autocalc.optim._per_parameter import ParameterOptimizer, decayed, kept
from autocalc.optim._rates import rate_of
from autocalc.optim._settings import settings_of


class ASGD(ParameterOptimizer):
    """Averaged stochastic gradient descent: decreasing steps and averaged weights.

    Step t = 0, 1, ... updates a parameter p with the gradient g::

        g += weight_decay * p
        p *= 1 - lambd * eta
        p -= eta * g
        ax += mu * (p - ax)
        eta = lr / (1 + lambd * lr * t)**alpha
        mu = 1 / max(1, t - t0)

    Initially, eta is lr and mu is 1.  ``state[p]["ax"]`` is the mean of the weights
    from step t0 + 2 on.  Before that step, it is equal to the weights.

    Polyak, Juditsky: Acceleration of stochastic approximation by averaging (1992).

    Parameters
    ----------
    params
        The parameters: an iterable of tensors, or of dicts with the key ``"params"``
        and settings that differ from the defaults.
    lr, lambd, alpha, t0, weight_decay
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
    >>> w = ac.tensor([4.0], requires_grad=True)
    >>> asgd = ac.optim.ASGD([w], lr=0.25, lambd=0.0, t0=0)
    >>> for _ in range(2):
    ...     asgd.zero_grad()
    ...     (w * w).sum().backward()
    ...     asgd.step()
    >>> w, asgd.state[w]["ax"]
    (tensor([1.], requires_grad=True), tensor([1.]))
    """

    _buffers = frozenset({"ax"})
    _numbers = frozenset({"step", "eta", "mu"})

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
        *,
        master_weights: bool = False,
        stochastic_rounding: bool = False,
    ) -> None:
        super().__init__(params, settings_of(locals()))

    def _check_group(self, group: Group) -> None:
        super()._check_group(group)
        self._check_not_negative(group, "lambd")
        for name in ("alpha", "t0"):
            self._check(group, name, is_number(group[name]), "a number")

    def _begun(self, group: Group) -> dict[str, float]:
        return {**super()._begun(group), "eta": float(rate_of(group)), "mu": 1.0}

    def _numbers_of(self, group: Group, state: State, t: int) -> tuple[float, ...]:
        lr, lambd = rate_of(group), group["lambd"]
        eta, mu = state["eta"]._array.item(), state["mu"]._array.item()
        state["eta"]._array[()] = lr / (1 + lambd * lr * t) ** group["alpha"]
        state["mu"]._array[()] = 1 / max(1, t - group["t0"])
        return 1 - lambd * eta, -eta, 1 - mu, mu

    def _update(
        self, param: Tensor, grad: Tensor, state: State, group: Group, *numbers: float
    ) -> None:
        shrink, step, old, new = numbers
        grad = decayed(param, grad, group)
        param.mul_(shrink).add_(grad, alpha=step)
        kept(state, "ax", param).mul_(old).add_(param, alpha=new)
