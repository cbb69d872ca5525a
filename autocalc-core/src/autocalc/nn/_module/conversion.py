# SPDX-License-Identifier: MIT
"""Conversions of a module's tensors: `Module.to`, `Module.to_empty` and similar.

A parameter keeps its object, so that optimizers still know it.  There is one exception,
as in PyTorch: a tensor that moves from the device "meta" to another, or the other way,
becomes a new parameter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autocalc._dispatch.device.no_memory import META
from autocalc._graph._grad_mode import no_grad
from autocalc._tensor import Tensor
from autocalc.nn._module.parameter import Parameter
from autocalc.nn._module.uninitialized import is_lazy

#: Whether every conversion makes new tensors, and whether none does.
SETTINGS = {"overwrite": False, "swap": False}


class Conversion:
    """The conversion of all tensors of a module; shared ones are converted once."""

    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        self._function = function
        self._made: dict[int, tuple[Tensor, Tensor]] = {}

    def __call__(self, x: Tensor) -> Tensor:
        """Return a converted tensor."""
        return self._function(x)

    def own_tensors(self, module: Any) -> None:
        """Convert the parameters and the buffers of one module."""
        for registry in (module._parameters, module._buffers):
            for name, tensor in registry.items():
                result = None if tensor is None else self._converted(tensor)
                if result is not tensor:
                    registry[name] = result

    def _converted(self, tensor: Tensor) -> Tensor:
        """Return a converted tensor: the same object, or a new one."""
        found = self._made.get(id(tensor))
        if found is None:
            result = self._convert(tensor)
            # Both stay alive here, so that no other object gets their numbers.
            found = self._made[id(tensor)] = self._made[id(result)] = tensor, result
        return found[1]

    def _convert(self, tensor: Tensor) -> Tensor:
        values = self._function(tensor.data)
        if is_lazy(tensor) or not _is_new(tensor, values):
            tensor.data = values
            if tensor.grad is not None:
                tensor.grad.data = self._function(tensor.grad.data)
            return tensor
        if not isinstance(tensor, Parameter):
            return values
        made = Parameter(values, tensor.requires_grad)
        if tensor.grad is not None:
            made.grad = self._function(tensor.grad.data)
        return made


def _is_new(old: Tensor, values: Tensor) -> bool:
    """Return whether a conversion makes a new tensor object."""
    if SETTINGS["swap"]:
        return False
    crosses = (old.device.type == META) != (values.device.type == META)
    return crosses or SETTINGS["overwrite"]


def apply(module: Any, function: Callable[[Tensor], Tensor], recurse: bool) -> None:
    """Convert the tensors of a module, and with `recurse` those of its children."""
    conversion = function if isinstance(function, Conversion) else Conversion(function)
    if recurse:
        for child in module.children():
            child._apply(conversion)
    with no_grad():
        conversion.own_tensors(module)
