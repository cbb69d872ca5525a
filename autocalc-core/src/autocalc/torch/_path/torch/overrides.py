# SPDX-License-Identifier: MIT
"""`torch.overrides`: which values override calls, and how a function permits it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from autocalc import Tensor
from autocalc.torch import _gates, _mentioned
from autocalc.torch._modes import BaseTorchFunctionMode as BaseTorchFunctionMode
from autocalc.torch._modes import TorchFunctionMode as TorchFunctionMode
from autocalc.torch._overrides import asks, overloaded, state, take_over


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Return whether a mode, or a class of these values, takes over calls."""
    if not state.everything:
        return False
    return bool(state.modes) or any(map(asks, relevant_args))


def has_torch_function_variadic(*args: Any) -> bool:
    """Return whether a mode, or a class of these values, takes over calls."""
    return has_torch_function(args)


has_torch_function_unary = has_torch_function_variadic


def handle_torch_function(
    public_api: Callable[..., Any],
    relevant_args: Iterable[Any],
    *args: Any,
    **kwargs: Any,
) -> Any:
    """Return the result of the value that overrides this call."""
    return take_over(public_api, list(overloaded(relevant_args)), args, kwargs)


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[..., Any]:
    """Return a decorator for functions that the values of `dispatcher` take over."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            values = list(dispatcher(*args, **kwargs))
            if has_torch_function(values):
                return handle_torch_function(call, values, *args, **kwargs)
            return function(*args, **kwargs)

        return call

    return decorate


def is_tensor_like(inp: Any) -> bool:
    """Return whether a value is a tensor, or its class takes over calls."""
    return isinstance(inp, Tensor) or hasattr(inp, "__torch_function__")


def get_ignored_functions() -> set[Any]:
    """Return the functions that nothing takes over."""
    return _gates.ignored()


def get_default_nowrap_functions() -> set[Any]:
    """Return the functions whose results keep their class."""
    tensor: Any = Tensor
    return {tensor.grad.__get__}


__getattr__ = _mentioned.names_of(__name__)
