# SPDX-License-Identifier: MIT
"""Rprop: steps by the sign of the gradient, each weight with a size of its own."""

from __future__ import annotations

from typing import Any

from autocalc._ops.creation.like import ones_like
from autocalc._tensor import Tensor
from autocalc.optim._batch import State
from autocalc.optim._optimizer import Group, Params, is_number
from autocalc.optim._per_parameter import ParameterOptimizer, kept
from autocalc.optim._rates import rate_of
from autocalc.optim._settings import settings_of


class Rprop(ParameterOptimizer):
    """Steps by the sign of the gradient, longer while the sign stays the same.

    ::

        factor = etas[1] if g * g_before > 0, etas[0] if it is < 0, else 1
        size = clamp(size * factor, *step_sizes)
        g = 0 where g * g_before < 0
        p -= size * sign(g)

    It is for gradients of a whole data set, whose signs mean something.

    Riedmiller, Braun: A direct adaptive method for faster backpropagation learning
    (1993).

    Parameters
    ----------
    params
        Tensors, or groups: dicts with ``"params"`` and settings of their own.
    lr
        The size of the first step.
    etas
        The factors of a size, below and above 1.
    step_sizes
        The smallest and the largest size.
    foreach, capturable
        Accepted for PyTorch's sake; there is one implementation.
    maximize
        Go up the gradient.
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
    >>> rprop = ac.optim.Rprop([w], lr=0.25, etas=(0.5, 2.0))
    >>> for _ in range(2):
    ...     rprop.zero_grad()
    ...     (w * w).sum().backward()
    ...     rprop.step()
    >>> w  # 0.25 and 0.5
    tensor([ 0.2500, -2.2500], requires_grad=True)
    """

    _buffers = frozenset({"prev", "step_size"})

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        master_weights: bool = False,
        stochastic_rounding: bool = False,
    ) -> None:
        super().__init__(params, settings_of(locals()))

    def _check_group(self, group: Group) -> None:
        self._check_rate(group)
        etas, sizes = group["etas"], group["step_sizes"]
        holds = _are_two(etas) and 0 < etas[0] < 1 < etas[1]
        self._check(group, "etas", holds, "two numbers, one from 0 to 1, one above 1")
        holds = _are_two(sizes) and 0 <= sizes[0] <= sizes[1]
        self._check(group, "step_sizes", holds, "two numbers, the smaller one first")

    def _numbers_of(self, group: Group, state: State, t: int) -> tuple[float, ...]:
        del state, t
        return (float(rate_of(group)),)

    def _update(
        self, param: Tensor, grad: Tensor, state: State, group: Group, *numbers: float
    ) -> None:
        before = kept(state, "prev", grad)
        size = kept(state, "step_size", grad, *numbers)
        less, more = group["etas"]
        same, turned = grad * before > 0, grad * before < 0
        factor = ones_like(size).masked_fill(same, more).masked_fill(turned, less)
        size.mul_(factor).clamp_(*group["step_sizes"])
        grad = grad.masked_fill(turned, 0.0)
        param.addcmul_(grad.sign(), size, value=-1)
        before.copy_(grad)


def _are_two(values: Any) -> bool:
    are_two = isinstance(values, (tuple, list)) and len(values) == 2
    return are_two and all(map(is_number, values))
