# SPDX-License-Identifier: MIT
"""ASGD: descent whose steps get shorter, and the mean of where it has been."""

from __future__ import annotations

from autocalc._tensor import Tensor
from autocalc.optim._optimizer import Group, Params, is_number
from autocalc.optim._per_parameter import (
    ParameterOptimizer,
    State,
    decayed,
    kept,
)
from autocalc.optim._rates import rate_of
from autocalc.optim._settings import settings_of


class ASGD(ParameterOptimizer):
    """Descent whose steps get shorter, which keeps the mean of the weights.

    ::

        g += weight_decay * p
        p *= 1 - lambd * eta
        p -= eta * g
        ax += mu * (p - ax)
        eta = lr / (1 + lambd * lr * t)**alpha
        mu = 1 / max(1, t - t0)

    eta begins as lr, mu as 1.  ``state[p]["ax"]`` is the mean of the weights from step
    t0 + 2 on, before that the weights.

    Polyak, Juditsky: Acceleration of stochastic approximation by averaging (1992).

    Parameters
    ----------
    params
        Tensors, or groups: dicts with ``"params"`` and settings of their own.
    lr, lambd, alpha, t0, weight_decay
        As in the formula.
    foreach, capturable
        Accepted so that programs carry over; there is one implementation.
    maximize
        Go up the gradient.
    differentiable
        Must be False: a step is not recorded.

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
    ) -> None:
        super().__init__(params, settings_of(locals()))

    def _check_group(self, group: Group) -> None:
        super()._check_group(group)
        self._check_not_negative(group, "lambd")
        for name in ("alpha", "t0"):
            self._check(group, name, is_number(group[name]), "a number")

    def _update(
        self, param: Tensor, grad: Tensor, state: State, group: Group, t: int
    ) -> None:
        lr, lambd = rate_of(group), group["lambd"]
        eta, mu = state.get("eta", float(lr)), state.get("mu", 1.0)
        grad = decayed(param, grad, group)
        param.mul_(1 - lambd * eta).sub_(grad, alpha=eta)
        mean = kept(state, "ax", param)
        mean.copy_(param) if mu == 1 else mean.add_(mu * (param - mean))
        state["eta"] = lr / (1 + lambd * lr * t) ** group["alpha"]
        state["mu"] = 1 / max(1, t - group["t0"])
