# SPDX-License-Identifier: MIT
"""Optimizers whose update uses tensor operators, one parameter at a time.

The most common optimizers have a kernel for a whole group.  These are rarer, and their
code reads like their formulas.
"""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.selection.state import host_numbers
from autocalc._graph._grad_mode import no_grad
from autocalc._ops.creation.like import full_like
from autocalc._tensor import Tensor
from autocalc.optim._batch import State
from autocalc.optim._counting import CountingOptimizer
from autocalc.optim._optimizer import Group
from autocalc.optim._rates import rate_of


class ParameterOptimizer(CountingOptimizer):
    """An optimizer that defines the update of a single parameter."""

    def _step_group(self, i: int, group: Group) -> None:
        del i
        with no_grad():
            for batch, count in self._counted_batches(group):
                numbers = self._of_step(group, batch.states[0], count)
                for param, grad, state in batch.each():
                    slope = -grad if group["maximize"] else grad
                    updated(self._update, param, slope, state, group, *numbers)

    def _of_step(self, group: Group, state: State, count: Any) -> tuple[float, ...]:
        """Return the numbers of this step, which a replay computes again."""

        def compute() -> tuple[float, ...]:
            return self._numbers_of(group, state, int(count))

        return host_numbers(compute, (count,), reads=changing(group))

    def _update(
        self, param: Tensor, grad: Tensor, state: State, group: Group, *numbers: float
    ) -> None:
        """Update `param` and `state`, with the numbers of the step."""
        raise NotImplementedError


def changing(group: Group) -> list[tuple[Group, str]]:
    """Return the settings that may differ from step to step: rates and momenta."""
    return [(group, key) for key in ("lr", "betas", "momentum") if key in group]


def updated(
    update: Any, param: Tensor, grad: Tensor, state: State, group: Group, *rest: Any
) -> None:
    """Run ``update(param, grad, state, group, ...)`` on a parameter and its state.

    For half precision the update is computed in float32, and each of them is rounded
    once.
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
    """Return a tensor of the state; in float32 if it has half precision."""
    return x.float() if isinstance(x, Tensor) and x.dtype.is_half else x


def kept(state: State, name: str, like: Tensor, value: float = 0.0) -> Tensor:
    """Return the state tensor `name`, initially filled with `value`."""
    if name not in state:
        state[name] = full_like(like.detach(), value)
    tensor: Tensor = state[name]
    return tensor


def decayed(
    param: Tensor, grad: Tensor, group: Group, shrinking: float | None = None
) -> Tensor:
    """Return the gradient with weight decay, or shrink the weights by a factor.

    The gradient is that of the loss + weight_decay / 2 * sum(p**2).
    """
    weight_decay = group["weight_decay"]
    if not weight_decay:
        return grad
    if shrinking is not None and group.get("decoupled_weight_decay", True):
        param.mul_(shrinking)
        return grad
    return grad.add(param, alpha=weight_decay)


def shrinking(group: Group) -> float:
    """Return the factor of the weights if they decay apart from the gradient."""
    return float(1 - rate_of(group) * group["weight_decay"])


def weights(group: Group) -> tuple[float, float, float]:
    """Return three weights of means: new gradient, old squares and new squares."""
    beta1, beta2 = group["betas"]
    return 1 - beta1, beta2, 1 - beta2


def averages(
    state: State, grad: Tensor, new: float, old_square: float, new_square: float
) -> tuple[Tensor, Tensor]:
    """Return the updated running means of the gradient and of its square."""
    mean, square = kept(state, "exp_avg", grad), kept(state, "exp_avg_sq", grad)
    mean.lerp_(grad, new)
    square.mul_(old_square).addcmul_(grad, grad, value=new_square)
    return mean, square
