# SPDX-License-Identifier: MIT
"""`Buffer`: the tensor that a module registers as a buffer when it is assigned."""

from __future__ import annotations

from typing import Any

from autocalc._graph._node import Version
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops.creation.constants import empty
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flag


class Buffer(Tensor):
    """A tensor that becomes a buffer when it is assigned to an attribute of a `Module`.

    ``module.name = Buffer(x)`` is the same as ``module.register_buffer("name", x)``.
    Operators on a buffer return plain tensors.

    Parameters
    ----------
    data
        A tensor with the values.  The buffer shares its memory, but not its autograd
        history.  None makes an empty tensor.
    persistent
        True to include the buffer in the `state_dict` of the module.

    Raises
    ------
    DTypeError
        If `data` is not a tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> m = ac.nn.Module()
    >>> m.mean = ac.nn.Buffer(ac.zeros(3))
    >>> m.mask = ac.nn.Buffer(ac.ones(3), persistent=False)
    >>> [name for name, _ in m.named_buffers()], list(m.state_dict())
    (['mean', 'mask'], ['mean'])
    """

    __slots__ = ("persistent",)

    persistent: bool
    _array: Any
    _edge: Any
    _version: Version | None
    _view: Any

    def __init__(self, data: Tensor | None = None, *, persistent: bool = True) -> None:
        data = empty(0) if data is None else data
        check_tensor("Buffer", data)
        self.persistent = check_flag("Buffer", "persistent", persistent)
        self._array = data._array
        self._version = data._cell()
        self._view = None
        self._edge = None
        if data.requires_grad:
            self.requires_grad_()
