# SPDX-License-Identifier: MIT
"""Restores the earlier state of modules after an error."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autocalc._graph._grad_mode import no_grad
from autocalc._tensor import Tensor
from autocalc.nn._module.uninitialized import is_lazy, take_shape_away


class Restoring:
    """A context that restores the attributes and values of modules on an error."""

    def __init__(self, modules: Iterable[Any]) -> None:
        self._modules = [(m, _attributes(m)) for m in modules]
        tensors = {
            id(x): x
            for _, attributes in self._modules
            for x in attributes.values()
            if isinstance(x, Tensor) and x.is_leaf
        }
        self._tensors = [
            (x, x.requires_grad, x.detach(), x.detach().clone())
            for x in tensors.values()
            if not is_lazy(x)
        ]
        self._shapeless = [
            (x, type(x), x.dtype) for x in tensors.values() if is_lazy(x)
        ]

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if kind is None:
            return
        for module, attributes in self._modules:
            module.__dict__.clear()
            module.__dict__.update(attributes)
        with no_grad():
            for x, requires_grad, memory, values in self._tensors:
                memory.copy_(values)
                x.data = memory
                x.requires_grad_(requires_grad)
        for x, was, dtype in self._shapeless:
            take_shape_away(x, was, dtype)


def _attributes(module: Any) -> dict[str, Any]:
    names = {"_names": dict(module._names), "_unsaved": set(module._unsaved)}
    return {**module.__dict__, **names}
