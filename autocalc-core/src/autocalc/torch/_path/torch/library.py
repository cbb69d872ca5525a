# SPDX-License-Identifier: MIT
"""`torch.library`: operators that programs define, which run as plain functions.

Arguments that PyTorch needs for graphs, such as functions for the shapes of results,
are accepted and ignored. `torch.ops.<namespace>.<name>` finds the operators.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autocalc.autograd import Function
from autocalc.torch import _mentioned

#: Maps "namespace::name" to the operator.
DEFINED: dict[str, CustomOp] = {}


class CustomOp:
    """An operator that a program defines: a function, optionally with a gradient."""

    def __init__(self, name: str, function: Callable[..., Any] | None) -> None:
        self.name = name
        self._function = function
        self._gradient: type[Function] | None = None
        DEFINED[name] = self

    @property
    def default(self) -> CustomOp:
        """The operator itself, because there is only one overload."""
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function."""
        if self._function is None:
            message = f"torch.library: operator {self.name} has no implementation yet."
            raise NotImplementedError(message)
        if self._gradient is None or kwargs:
            return self._function(*args, **kwargs)
        return self._gradient.apply(*args)

    def implement(self, function: Callable[..., Any]) -> None:
        """Set the function that the operator runs."""
        self._function = function

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Any = None
    ) -> None:
        """Set the gradient of the operator, as in an `autograd.Function`."""
        function = self

        def forward(*args: Any) -> Any:
            return function._function(*args)  # type: ignore[misc]  # checked by call

        def nothing(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        parts = {
            "forward": staticmethod(forward),
            "backward": staticmethod(backward),
            "setup_context": staticmethod(setup_context or nothing),
        }
        self._gradient = type(self.name, (Function,), parts)

    register_fake = register_kernel = staticmethod(_mentioned.returns_its_function)
    register_vmap = register_effect = staticmethod(_mentioned.returns_its_function)


def custom_op(name: str, fn: Any = None, /, *, mutates_args: Any = (), **_: Any) -> Any:
    """Define an operator: as a decorator, or from the function `fn`."""
    if fn is not None:
        return CustomOp(name, fn)
    return lambda function: CustomOp(name, function)


triton_op = custom_op


def register_autograd(
    op: Any, backward: Any, /, *, setup_context: Any = None, **_: Any
) -> None:
    """Set the gradient of an operator."""
    _op(op).register_autograd(backward, setup_context=setup_context)


def register_fake(op: Any, func: Any = None, /, **_: Any) -> Any:
    """Return the shape function unchanged; AutoCalc does not need it."""
    return func if func is not None else _mentioned.returns_its_function


register_kernel = register_vmap = impl_abstract = register_torch_dispatch = (
    register_fake
)


#: The dispatch keys of functions that run on the CPU.
_HERE = {"cpu", "default", "compositeimplicitautograd", "compositeexplicitautograd"}


def define(qualname: str, schema: str, **_: Any) -> None:
    """Declare an operator; `impl` sets its function."""
    CustomOp(qualname, None)


def impl(qualname: str, types: Any, func: Any = None, **_: Any) -> Any:
    """Set the function of an operator, if `types` includes the CPU or all devices."""
    kinds = {
        str(kind).lower() for kind in ([types] if isinstance(types, str) else types)
    }

    def keep(function: Any) -> Any:
        if kinds & _HERE:
            _op(qualname).implement(function)
        return function

    return keep if func is None else keep(func)


def _op(op: Any) -> CustomOp:
    return op if isinstance(op, CustomOp) else DEFINED[op]


class Library:
    """The operators of one namespace, defined by their schemas."""

    def __init__(self, ns: str, kind: str = "", dispatch_key: str = "") -> None:
        self.ns = ns
        self._key = dispatch_key or "default"

    def define(self, schema: str, *_: Any, **__: Any) -> str:
        """Declare an operator; `impl` sets its function."""
        name = schema.partition("(")[0].strip()
        define(f"{self.ns}::{name}", schema)
        return name

    def impl(self, op_name: Any, fn: Any, dispatch_key: str = "", **_: Any) -> None:
        """Set the function of an operator, if it is for the CPU or for all devices."""
        name = str(op_name)
        name = name if "::" in name else f"{self.ns}::{name}"
        if name in DEFINED:
            impl(name, dispatch_key or self._key, fn)


__getattr__ = _mentioned.names_of(__name__)
