# SPDX-License-Identifier: MIT
"""`Parameter`: the tensor that a module counts as its own and an optimizer updates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops.creation.constants import empty
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flag

if TYPE_CHECKING:
    from autocalc._graph._node import Version


class Parameter(Tensor):
    """A tensor that a `Module` lists among its parameters once it is an attribute.

    Operators on it give plain tensors.

    Parameters
    ----------
    data
        The values; memory is shared, history is not.  Empty by default.
    requires_grad
        Whether `backward` gives it a gradient.

    Raises
    ------
    DTypeError
        If `data` is no tensor, or of a dtype that has no gradient.

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

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        data = empty(0) if data is None else data
        check_tensor("Parameter", data)
        check_flag("Parameter", "requires_grad", requires_grad)
        self._array = data._array
        self._version = data._cell()
        self._view = None
        self._edge = None
        if requires_grad:
            self.requires_grad_()

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"
