# SPDX-License-Identifier: MIT
"""Recorded steps: `differentiable=True`, for gradients through the steps."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.selection.state import refuse_reading
from autocalc._graph._grad_mode import enable_grad
from autocalc._ops.elementwise.clamping import maximum
from autocalc._tensor import Tensor
from autocalc.optim._batch import State
from autocalc.optim._optimizer import Group
from autocalc.optim._per_parameter import averages, decayed, kept, updated


class RecordedSteps:
    """Replaces the `_step_group` of an optimizer: updates one parameter at a time.

    Numbers such as a step count are constants in the graph.  A learning rate that is a
    tensor is not constant.
    """

    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer

    def __call__(self, i: int, group: Group) -> None:
        """Update the parameters of a group that have a gradient."""
        del i
        optimizer = self._optimizer
        where = f"{type(optimizer).__name__}.step"
        refuse_reading(f"{where} with differentiable=True", "Run it eagerly.")
        with enable_grad():
            for param in group["params"]:
                grad = param.grad
                if grad is not None:
                    grad = -grad if group["maximize"] else grad
                    state = optimizer.state[param]
                    # Never write the tensors that earlier steps saved for their
                    # gradients.
                    held = optimizer._buffers & state.keys()
                    state.update({name: state[name].clone() for name in held})
                    numbers = optimizer._numbers_alone(group, state)
                    updated(optimizer._update, param, grad, state, group, *numbers)


def sgd(_: Any, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
    """Follow the gradient or its running sum."""
    grad, momentum = decayed(param, grad, group), group["momentum"]
    if momentum:
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = total = grad.clone()
        else:
            total = state["momentum_buffer"].mul_(momentum)
            total.add_(grad, alpha=1 - group["dampening"])
        grad = grad + momentum * total if group["nesterov"] else total
    param.sub_(group["lr"] * grad)


def adam(
    self: Any, param: Tensor, grad: Tensor, state: State, group: Group, t: int
) -> None:
    """Follow the mean gradient, divided by the root of its mean square."""
    lr, (beta1, beta2) = group["lr"], group["betas"]
    if self._decoupled:
        param.mul_(1 - lr * group["weight_decay"])
    else:
        grad = decayed(param, grad, group)
    m, v = averages(state, grad, 1 - beta1, beta2, 1 - beta2)
    if group["amsgrad"]:
        largest = kept(state, "max_exp_avg_sq", v)
        v = largest.copy_(maximum(largest.clone(), v))
    deviation = (v / (1 - beta2**t)).sqrt() + group["eps"]
    param.sub_(lr / (1 - beta1**t) * (m / deviation))


def adagrad(
    _: Any, param: Tensor, grad: Tensor, state: State, group: Group, t: int
) -> None:
    """Divide the gradient by the root of the sum of all squares."""
    grad = decayed(param, grad, group)
    squares = kept(state, "sum", grad, group["initial_accumulator_value"])
    squares.addcmul_(grad, grad)
    rate = group["lr"] / (1 + (t - 1) * group["lr_decay"])
    param.sub_(rate * (grad / (squares.sqrt() + group["eps"])))


def adadelta(
    _: Any, param: Tensor, grad: Tensor, state: State, group: Group, t: int
) -> None:
    """Scale the gradient by the root mean square of earlier changes."""
    del t
    grad, rho, eps = decayed(param, grad, group), group["rho"], group["eps"]
    squares = kept(state, "square_avg", grad).mul_(rho)
    squares.addcmul_(grad, grad, value=1 - rho)
    changes = kept(state, "acc_delta", grad)
    change = (changes + eps).sqrt() / (squares + eps).sqrt() * grad
    changes.mul_(rho).addcmul_(change, change, value=1 - rho)
    param.sub_(group["lr"] * change)


def rmsprop(
    _: Any, param: Tensor, grad: Tensor, state: State, group: Group, t: int
) -> None:
    """Divide the gradient by its root mean square, or by its deviation."""
    del t
    grad, alpha = decayed(param, grad, group), group["alpha"]
    squares = kept(state, "square_avg", grad).mul_(alpha)
    variance = squares.addcmul_(grad, grad, value=1 - alpha)
    if group["centered"]:
        mean = kept(state, "grad_avg", grad).lerp_(grad, 1 - alpha)
        variance = squares - mean * mean
    change = grad / (variance.sqrt() + group["eps"])
    if group["momentum"]:
        change = kept(state, "momentum_buffer", grad).mul_(group["momentum"]) + change
        state["momentum_buffer"] = change
    param.sub_(group["lr"] * change)
