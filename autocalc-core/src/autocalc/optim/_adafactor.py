# SPDX-License-Identifier: MIT
"""Adafactor: the squared gradients of a matrix, stored as a column times a row."""

from __future__ import annotations

import math
from typing import Any

from autocalc._tensor import Tensor
from autocalc._tensor.limits import finfo
from autocalc.optim._batch import State
from autocalc.optim._optimizer import Group, Params, is_number
from autocalc.optim._per_parameter import ParameterOptimizer, decayed, kept, shrinking
from autocalc.optim._rates import rate_of
from autocalc.optim._settings import settings_of


class Adafactor(ParameterOptimizer):
    """Adafactor: Adam without momentum, with factored second moments of matrices.

    Step t = 1, 2, ... updates a matrix p with the gradient g, where r and c are
    initially 0::

        size = max(eps[1], rms(p)) * min(lr, 1 / sqrt(t))
        p *= 1 - lr * weight_decay
        beta = 1 - t**beta2_decay
        r = beta * r + (1 - beta) * mean(g**2, columns)
        c = beta * c + (1 - beta) * mean(g**2, rows)
        v = r @ c / max(mean(r), eps[0])
        u = g / sqrt(max(v, eps[0]**2))
        p -= size * u / max(1, rms(u) / d)

    rms(x) is the root mean square sqrt(mean(x**2)).  For vectors and scalars, the
    second moment is not factored: v = beta * v + (1 - beta) * g**2.  A parameter of
    more than two dimensions is a batch of matrices.

    Shazeer, Stern: Adafactor, adaptive learning rates with sublinear memory cost (ICML
    2018).

    Parameters
    ----------
    params
        The parameters: an iterable of tensors, or of dicts with the key ``"params"``
        and settings that differ from the defaults.
    lr, beta2_decay, d, weight_decay
        The constants of the formula above.
    eps
        The two constants eps[0] and eps[1].  The first may be None, which means the
        machine epsilon of the dtype.
    foreach
        Accepted for compatibility with PyTorch.  There is only one implementation.
    maximize
        True to move along the gradient, which increases the objective.
    master_weights
        True to keep a float32 copy of each bfloat16 or float16 parameter in the state,
        and to update that copy.
    stochastic_rounding
        True to round updated bfloat16 and float16 parameters up or down at random, so
        that the mean of the rounding errors is 0.

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.tensor([[1.0, -1.0], [1.0, 1.0]], requires_grad=True)
    >>> adafactor = ac.optim.Adafactor([w], lr=0.5)
    >>> w.grad = ac.tensor([[3.0, 3.0], [-3.0, 0.0]])
    >>> adafactor.step()
    >>> {name: tuple(x.shape) for name, x in adafactor.state[w].items()}
    {'step': (), 'row_var': (2, 1), 'col_var': (1, 2)}
    """

    _buffers = frozenset({"col_var", "row_var", "variance"})

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        master_weights: bool = False,
        stochastic_rounding: bool = False,
    ) -> None:
        super().__init__(params, settings_of(locals()))

    def _check_group(self, group: Group) -> None:
        super()._check_group(group)
        decay, d = group["beta2_decay"], group["d"]
        holds = is_number(decay) and decay <= 0
        self._check(group, "beta2_decay", holds, "a number, 0 or less")
        self._check(group, "d", is_number(d) and d >= 1, "a number, 1 or more")
        holds = _are_eps(group["eps"])
        self._check(group, "eps", holds, "None or a number, and a number, 0 or more")

    def _state_shape(self, name: str, param: Tensor) -> tuple[int, ...]:
        rows, columns = param.shape[:-1], param.shape[-1:]
        if name == "row_var":
            return (*rows, 1)
        return (*rows[:-1], 1, *columns) if name == "col_var" else param.shape

    def _numbers_of(self, group: Group, state: State, t: int) -> tuple[float, ...]:
        del state
        size, new = min(rate_of(group), t**-0.5), t ** group["beta2_decay"]
        return shrinking(group), size, new

    def _update(
        self, param: Tensor, grad: Tensor, state: State, group: Group, *numbers: float
    ) -> None:
        shrink, size, new = numbers
        least, smallest = group["eps"]
        least = finfo(group.get("dtype", param.dtype)).eps if least is None else least
        step = _rms(param).clamp(min=smallest) * size
        decayed(param, grad, group, shrink)
        square = _square(state, grad, new, least)
        update = grad * square.clamp(min=least * least).rsqrt()
        step = step / (_rms(update) / group["d"]).clamp(min=1.0)
        param.sub_(update * step)


def _square(state: State, grad: Tensor, new: float, least: float) -> Tensor:
    """Update the running mean of squared gradients with weight `new`."""
    square = grad * grad
    if grad.ndim < 2:
        return kept(state, "variance", grad).lerp_(square, new)
    rows, columns = square.mean(-1, keepdim=True), square.mean(-2, keepdim=True)
    r = kept(state, "row_var", rows).lerp_(rows, new)
    c = kept(state, "col_var", columns).lerp_(columns, new)
    return r @ c / r.mean(-2, keepdim=True).clamp(min=least)


def _rms(x: Tensor) -> Tensor:
    """Return the root mean square of all elements, or 0 if there are none."""
    return x.norm() / math.sqrt(max(x.numel(), 1))


def _are_eps(eps: Any) -> bool:
    if not (isinstance(eps, (tuple, list)) and len(eps) == 2):
        return False
    given = [e for e in eps if e is not None]
    return eps[1] is not None and all(is_number(e) and e >= 0 for e in given)
