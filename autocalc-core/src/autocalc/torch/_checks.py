# SPDX-License-Identifier: MIT
"""Functions only of `torch`: private checks of PyTorch, ``torch._check(n > 0)``."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from autocalc import Tensor, accelerator, tensor
from autocalc._tensor.device import Device
from autocalc._tensor.generator import Generator, chosen, drawing_from
from autocalc.distributions._draws import log_standard_gamma
from autocalc.errors import DTypeError

Text = Callable[[], object] | None


def _check_with(error: type[Exception], cond: Any, message: Text = None) -> None:
    """Raise `error`, with the text that `message` returns, unless `cond` is True."""
    if not isinstance(cond, bool):
        raise DTypeError(
            f"torch._check: `cond` is a {type(cond).__name__}; it must be True or "
            f"False. torch._check_tensor_all takes tensors."
        )
    if message is not None and not callable(message):
        raise DTypeError(
            f"torch._check: `message` is a {type(message).__name__}; it must be a "
            f"function without arguments."
        )
    if not cond:
        text = "a condition does not hold" if message is None else str(message())
        raise error(text)


def _check(cond: Any, message: Text = None) -> None:
    """Raise a RuntimeError unless `cond` is True."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond: Any, message: Text = None) -> None:
    """Raise an IndexError unless `cond` is True."""
    _check_with(IndexError, cond, message)


def _check_value(cond: Any, message: Text = None) -> None:
    """Raise a ValueError unless `cond` is True."""
    _check_with(ValueError, cond, message)


def _check_type(cond: Any, message: Text = None) -> None:
    """Raise a TypeError unless `cond` is True."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: Any, message: Text = None) -> None:
    """Raise a NotImplementedError unless `cond` is True."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i: Any, message: Text = None, *, max: int | None = None) -> None:
    """Raise a RuntimeError unless `i` is from 0 to `max`."""
    _check_with(RuntimeError, bool(i >= 0 and (max is None or i <= max)), message)


def _check_tensor_all(cond: Any, message: Text = None) -> None:
    """Raise a RuntimeError unless all elements are True."""
    _check_tensor_all_with(RuntimeError, cond, message)


def _check_tensor_all_with(
    error: type[Exception], cond: Any, message: Text = None
) -> None:
    """Raise `error` unless all elements are True."""
    if not isinstance(cond, Tensor):
        raise DTypeError(
            f"torch._check_tensor_all: cond must be a tensor, not "
            f"{type(cond).__name__}."
        )
    _check_with(error, bool(cond.all()), message)


def _assert_async(input: Tensor, assert_msg: str | None = None) -> None:
    """Raise an error at once unless the only element is not zero."""
    if not bool(input):
        raise RuntimeError(assert_msg or "torch._assert_async: the element is zero.")


def _shape_as_tensor(input: Tensor) -> Tensor:
    """Return the sizes as a tensor of int64."""
    return tensor(list(input.shape))


def _softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any
) -> Tensor:
    """Return the gradient of softmax with respect to its input."""
    product = grad_output * output
    made: Tensor = product - output * product.sum(dim, keepdim=True)
    return made.to(input_dtype)


def _standard_gamma(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Return draws from Gamma(input, 1)."""
    if generator is None:
        drawn: Tensor = log_standard_gamma(input).exp()
        return drawn
    source = chosen("torch._standard_gamma", generator)
    with drawing_from(lambda: source):
        return _standard_gamma(input)


def _sample_dirichlet(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Return shares that follow a Dirichlet distribution, in the last dimension."""
    drawn = _standard_gamma(input, generator)
    return drawn / drawn.sum(-1, keepdim=True)


def get_device_module(device: Any = None) -> Any:
    """Return the module of a device type: `torch.cpu`, or that of an accelerator."""
    meant = device or accelerator.current_accelerator() or "cpu"
    return import_module(f"torch.{Device(meant).type}")


#: The names that the module `torch` gets from this file.
NAMES = {
    one.__name__: one
    for one in (
        *(_check, _check_index, _check_value, _check_type, _check_not_implemented),
        *(_check_is_size, _check_tensor_all, _check_tensor_all_with, _check_with),
        *(_assert_async, _shape_as_tensor, _softmax_backward_data, get_device_module),
        *(_standard_gamma, _sample_dirichlet),
    )
}
