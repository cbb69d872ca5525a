# SPDX-License-Identifier: MIT
"""Optimizers whose update is written in operators of tensors, parameter by parameter.

Those that are used most have a kernel for a whole group; these are rarer, and read like
their formulas.
"""

from __future__ import annotations

from typing import Any

from autocalc._graph._grad_mode import no_grad
from autocalc._ops.creation.like import full_like
from autocalc._tensor import Tensor
from autocalc.optim._counting import CountingOptimizer
from autocalc.optim._optimizer import Group
from autocalc.optim._rates import rate_of

State = dict[str, Any]


class ParameterOptimizer(CountingOptimizer):
    """An optimizer that says how one parameter follows its gradient."""

    def _step_group(self, i: int, group: Group) -> None:
        del i
        with no_grad():
            for batch, count in self._counted_batches(group):
                t = int(count)
                for param, state in zip(batch.tensors, batch.states, strict=True):
                    grad = param.grad
                    assert grad is not None  # as the batch has it
                    grad = -grad if group["maximize"] else grad
                    updated(self._update, param, grad, state, group, t)

    def _update(
        self, param: Tensor, grad: Tensor, state: State, group: Group, t: int
    ) -> None:
        """Change `param` and `state`; `t` counts the steps from 1."""
        raise NotImplementedError


def updated(
    update: Any, param: Tensor, grad: Tensor, state: State, group: Group, *rest: Any
) -> None:
    """Run ``update(param, grad, state, group, ...)`` on a parameter and its state.

    Of half precision it is computed in float32, and each of them is rounded once.
    """
    dtype = param.dtype
    if not dtype.is_half:
        update(param, grad, state, group, *rest)
        return
    moved, wide = param.float(), {name: _wide(x) for name, x in state.items()}
    update(moved, grad.float(), wide, {**group, "dtype": dtype}, *rest)
    param.copy_(moved)
    for name, x in wide.items():
        if not isinstance(x, Tensor) or x is state.get(name):
            state[name] = x
        elif name in state:
            state[name].copy_(x)
        else:
            state[name] = x.to(dtype)


def _wide(x: Any) -> Any:
    """Return a tensor of the state, in float32 if it is of half precision."""
    return x.float() if isinstance(x, Tensor) and x.dtype.is_half else x


def kept(state: State, name: str, like: Tensor, value: float = 0.0) -> Tensor:
    """Return the state's tensor `name`, at first `value` everywhere."""
    if name not in state:
        state[name] = full_like(like.detach(), value)
    tensor: Tensor = state[name]
    return tensor


def decayed(param: Tensor, grad: Tensor, group: Group) -> Tensor:
    """Return the gradient with weight decay, or shrink the weights if it is decoupled.

    The gradient is that of the loss + weight_decay / 2 * sum(p**2).
    """
    weight_decay = group["weight_decay"]
    if not weight_decay:
        return grad
    if group.get("decoupled_weight_decay", False):
        param.mul_(1 - rate_of(group) * weight_decay)
        return grad
    return grad.add(param.detach(), alpha=weight_decay)


def averages(state: State, grad: Tensor, group: Group) -> tuple[Tensor, Tensor]:
    """Return the running means of the gradient and of its square, this one included."""
    beta1, beta2 = group["betas"]
    mean, square = kept(state, "exp_avg", grad), kept(state, "exp_avg_sq", grad)
    mean.lerp_(grad, 1 - beta1)
    square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    return mean, square
