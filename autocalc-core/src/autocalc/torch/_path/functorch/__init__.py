# SPDX-License-Identifier: MIT
"""`functorch`: PyTorch's former package for the functions of `torch.func`."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from autocalc import Tensor, func, nn
from autocalc.func import functional_call as functional_call
from autocalc.func import stack_module_state
from autocalc.torch import _mentioned


def _former(name: str, now: str) -> Any:
    """Return a function of `autocalc.func` that warns of its old name."""
    function = getattr(func, name)

    @functools.wraps(function)
    def run(*args: Any, **words: Any) -> Any:
        warnings.warn(
            f"functorch.{name} is the old name of a transform. Please use `{now}`.",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **words)

    return run


vmap = _former("vmap", "torch.vmap")
grad = _former("grad", "torch.func.grad")
grad_and_value = _former("grad_and_value", "torch.func.grad_and_value")
vjp = _former("vjp", "torch.func.vjp")
jvp = _former("jvp", "torch.func.jvp")
jacrev = _former("jacrev", "torch.func.jacrev")
jacfwd = _former("jacfwd", "torch.func.jacfwd")
hessian = _former("hessian", "torch.func.hessian")
functionalize = _former("functionalize", "torch.func.functionalize")


def make_functional_with_buffers(
    model: nn.Module, disable_autograd_tracking: bool = False
) -> tuple[Callable[..., Any], tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Return a module as a function of its parameters and buffers, and these."""
    names = [name for name, _ in model.named_parameters()]
    more = [name for name, _ in model.named_buffers()]
    parameters = _apart(model.parameters(), disable_autograd_tracking)
    buffers = _apart(model.buffers(), disable_autograd_tracking)

    def call(parameters: Any, buffers: Any, *args: Any, **words: Any) -> Any:
        given = dict(zip([*names, *more], [*parameters, *buffers], strict=True))
        return functional_call(model, given, args, words)

    return call, parameters, buffers


def make_functional(
    model: nn.Module, disable_autograd_tracking: bool = False
) -> tuple[Callable[..., Any], tuple[Tensor, ...]]:
    """Return a module without buffers as a function of its parameters, and these."""
    if list(model.buffers()):
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use "
            "make_functional_with_buffers(model) instead."
        )
    call, parameters, _ = make_functional_with_buffers(model, disable_autograd_tracking)
    return lambda given, *args, **words: call(given, (), *args, **words), parameters


def _apart(tensors: Any, without_gradients: bool) -> tuple[Tensor, ...]:
    return tuple(
        x.detach().clone().requires_grad_(x.requires_grad and not without_gradients)
        for x in tensors
    )


def combine_state_for_ensemble(
    models: Sequence[nn.Module],
) -> tuple[Callable[..., Any], tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Return one function for several modules, and their stacked tensors."""
    parameters, buffers = stack_module_state(models)
    call, _, _ = make_functional_with_buffers(models[0])
    return call, tuple(parameters.values()), tuple(buffers.values())


__getattr__ = _mentioned.names_of(__name__)
