# SPDX-License-Identifier: MIT
"""`Parameter`: a tensor that belongs to a module and that optimizers update."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

from autocalc._graph._node import Version
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops.creation.constants import empty
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flag
from autocalc._tensor.copying import own_copy

if TYPE_CHECKING:
    from typing_extensions import Self


class Parameter(Tensor):
    """A tensor that becomes a parameter when it is assigned to a `Module`'s attribute.

    Optimizers update parameters.  Operators on a parameter return plain tensors.

    Parameters
    ----------
    data
        A tensor with the values.  The parameter shares its memory, but not its autograd
        history.  None makes an empty tensor.
    requires_grad
        True if `backward` computes a gradient of the parameter.

    Raises
    ------
    DTypeError
        If `data` is not a tensor, or if its dtype is not floating-point or complex.

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.nn.Parameter(ac.ones(2))
    >>> type(w * 2).__name__, w.requires_grad
    ('Tensor', True)
    """

    __slots__ = ()

    _array: Any
    _edge: Any
    _version: Version | None
    _view: Any

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Make the object; also fill it if the `__new__` of a subclass called this."""
        made = object.__new__(cls)
        if cls.__new__ is not Parameter.__new__:
            Parameter.__init__(made, *args, **kwargs)
        return made

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        if data is None and hasattr(self, "_array"):  # a subclass's `__new__` made it
            return
        data = empty(0) if data is None else data
        check_tensor("Parameter", data)
        check_flag("Parameter", "requires_grad", requires_grad)
        self._array = data._array
        self._version = data._cell()
        self._view = None
        self._edge = None
        if requires_grad:
            self.requires_grad_()

    def __deepcopy__(self, memo: dict[Any, Any]) -> Tensor:
        """Return a parameter on its own memory, without gradient and attributes."""
        copy: Tensor = own_copy(self, memo, whole=type(self) is not Parameter)
        return copy

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"


# `inspect` reads the signature from here, because it looks at `__new__` first.
Parameter.__new__.__signature__ = signature(Parameter.__init__)  # type: ignore[attr-defined]  # a function's
