# SPDX-License-Identifier: MIT
"""The methods of `Tensor`, declared next to their operators.

::

    @method("clamp_min", inplace="clamp_min_")
    def clamp_min(input: Tensor, min: Operand) -> Tensor: ...

A method is the function itself; the tensor is its first argument.  So a method call
costs no additional frame.  `autocalc._methods` attaches all methods once every operator
exists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from autocalc._tensor import Tensor

#: Maps the name of a method to a function of the tensor and the arguments.
METHODS: dict[str, Callable[..., Any]] = {}

#: Maps the name of an in-place method to the function whose result it writes.
IN_PLACE: dict[str, Callable[..., Any]] = {}

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


def method(
    methods: str = "", *, inplace: str = "", reflected: str = ""
) -> Callable[[FunctionT], FunctionT]:
    """Make a function the method of these names; return the function itself.

    Parameters
    ----------
    methods
        Names of methods of `Tensor` that are the function.
    inplace
        Names of methods that write the function's result into the tensor.
    reflected
        Names of Python operators that call it with both operands exchanged.

    Raises
    ------
    ValueError
        If a name is already taken.
    """

    def declare(function: FunctionT) -> FunctionT:
        _register(METHODS, methods, function)
        _register(IN_PLACE, inplace, function)
        _register(METHODS, reflected, _exchanged(function) if reflected else function)
        return function

    return declare


def _register(table: dict[str, Any], names: str, function: Callable[..., Any]) -> None:
    for name in names.split():
        if name in METHODS or name in IN_PLACE:
            message = f"Tensor.{name} is declared twice; give one of them another name."
            raise ValueError(message)
        table[name] = function


def is_foreign(other: Any) -> bool:
    """Return whether an operator leaves `other` to Python, which asks its class.

    Classes of Python, NumPy and PyTorch do not know our tensors.  Their own results or
    errors would help users less than the error raised here.
    """
    return library(type(other)) not in {"builtins", "numpy", "torch", "autocalc"}


def python_operator(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function of two operands leave foreign operands to Python.

    If the function succeeds, nothing else is checked.
    """

    def call(self: Any, other: Any) -> Tensor:
        try:
            result: Tensor = function(self, other)
        except TypeError:
            if is_foreign(other):
                return NotImplemented  # type: ignore[no-any-return]
            raise
        return result

    call.__name__ = call.__qualname__ = function.__name__
    call.__doc__ = function.__doc__
    return call


def library(kind: type) -> str:
    """Return the name of the package that defines a class."""
    return kind.__module__.partition(".")[0]


def _exchanged(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: Any, other: Any) -> Tensor:
        return function(other, self)  # type: ignore[no-any-return]  # an operator

    return python_operator(call)
