# SPDX-License-Identifier: MIT
"""Rprop: steps by the sign of the gradient, with a step size for each weight."""

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
    """Rprop: steps with the sign of the gradient, longer while the sign stays the same.

    A step updates a parameter p with the gradient g, where g_before is the gradient in
    the previous step::

        factor = etas[1] if g * g_before > 0, etas[0] if it is < 0, else 1
        size = clamp(size * factor, *step_sizes)
        g = 0 where g * g_before < 0
        p -= size * sign(g)

    The method needs the gradient of the whole data set.  In the gradients of small
    batches, the signs are too noisy.

    Riedmiller, Braun: A direct adaptive method for faster backpropagation learning
    (1993).

    Parameters
    ----------
    params
        The parameters: an iterable of tensors, or of dicts with the key ``"params"``
        and settings that differ from the defaults.
    lr
        The initial value of `size`.
    etas
        The factors of `size`: one below 1 for a change of the sign, one above 1 for the
        same sign.
    step_sizes
        The limits (smallest, largest) of `size`.
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
