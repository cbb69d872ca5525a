# SPDX-License-Identifier: MIT
"""Parameters and buffers whose shape is not known yet."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

from autocalc._graph._node import Leaf
from autocalc._ops._operator.arguments import integers, min_of
from autocalc._ops.creation.constants import empty
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import check_flag
from autocalc._tensor.device import Device, device_of
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError, DTypeError, ShapeError
from autocalc.nn._module.parameter import Parameter

if TYPE_CHECKING:
    from typing_extensions import Self

#: The slot in which `Tensor` keeps its array.  Before there is one, the slot holds an
#: empty array for the dtype, and reading `_array` is an error.
_ARRAY: Any = Tensor.__dict__["_array"]


class _Uninitialized(Tensor):
    """The common part: a dtype, and an error for everything else."""

    __slots__ = ()

    _becomes: ClassVar[type[Tensor]]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Make the object, without the values that a `Parameter` has."""
        del args, kwargs
        return object.__new__(cls)

    def __init__(
        self, requires_grad: bool, device: str | Device | None, dtype: DType | None
    ) -> None:
        name = type(self).__name__
        check_flag(name, "requires_grad", requires_grad)
        kind = dtypes.as_dtype(dtypes.get_default_dtype() if dtype is None else dtype)
        if requires_grad and not kind.is_differentiable:
            message = (
                f"{name}: a tensor of {kind.name} cannot have a gradient; use a "
                "floating-point dtype."
            )
            raise DTypeError(message)
        _ARRAY.__set__(self, empty(0, dtype=kind, device=device)._array)
        self._version = None
        self._view = None
        self._edge = self._new_leaf() if requires_grad else None

    @property
    def _array(self) -> Any:
        raise ArgumentError(
            f"{type(self).__name__}: an uninitialized parameter or buffer has neither "
            f"shape nor values yet. Call its module once on an example, or load a "
            f"state into it."
        )

    def _new_leaf(self) -> Leaf:
        return Leaf((0,), self)

    @property
    def dtype(self) -> DType:
        """The dtype that the values will have."""
        return dtypes.of(_ARRAY.__get__(self).dtype)

    @property
    def device(self) -> Device:
        """The device on which the values will be."""
        return device_of(_ARRAY.__get__(self))

    def is_floating_point(self) -> bool:
        """Return whether the values will be floating-point numbers."""
        return self.dtype.is_floating_point

    def detach(self) -> Tensor:
        """Return the tensor itself; it has no autograd history yet."""
        return self

    @property
    def data(self) -> Tensor:
        """The tensor itself.  An assignment sets the dtype to that of the value."""
        return self

    @data.setter
    def data(self, value: Tensor) -> None:
        _ARRAY.__set__(self, empty(0, dtype=value.dtype, device=value.device)._array)

    def to(self, *args: Any, **kwargs: Any) -> Tensor:
        """Return an uninitialised tensor of another dtype or on another device."""
        there = empty(0, dtype=self.dtype, device=self.device).to(*args, **kwargs)
        return self._copy(there.device, there.dtype)

    def _copy(self, device: Device, dtype: DType) -> Tensor:
        made = type(self).__new__(type(self))
        _Uninitialized.__init__(made, self.requires_grad, device, dtype)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        made: Tensor = memo.setdefault(id(self), self._copy(self.device, self.dtype))
        return made

    def __reduce_ex__(self, protocol: Any) -> Any:
        del protocol
        return type(self), (self.requires_grad, str(self.device), self.dtype)

    def materialize(
        self,
        shape: Sequence[int],
        device: str | Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        """Become a tensor of the given shape with undefined values.

        Raises
        ------
        ShapeError
            If a size is negative.
        """
        sizes = integers("materialize", "shape", shape)
        if min_of(sizes) < 0:
            message = f"materialize: `shape` is {sizes}; no size may be negative."
            raise ShapeError(message)
        made = empty(
            sizes,
            dtype=self.dtype if dtype is None else dtype,
            device=self.device if device is None else device,
        )
        self.__class__ = self._becomes  # type: ignore[assignment]  # of the same slots
        _ARRAY.__set__(self, made._array)
        if self._edge is not None:
            self._edge.shape = sizes

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


class UninitializedParameter(_Uninitialized, Parameter):
    """A parameter of a lazy module; its shape is not known yet.

    Only its dtype can be changed.  Every other operation is an error until
    `materialize`, which turns it into a `Parameter`.

    Parameters
    ----------
    requires_grad
        True if `backward` computes a gradient of the parameter.
    dtype
        The floating-point dtype of the values.  None means the default dtype.

    Raises
    ------
    ArgumentError
        If an operator uses the parameter before `materialize`.

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.nn.UninitializedParameter()
    >>> w.materialize((2, 3))
    >>> type(w).__name__, w.shape
    ('Parameter', autocalc.Size([2, 3]))
    """

    __slots__ = ()

    _becomes = Parameter

    def __init__(
        self,
        requires_grad: bool = True,
        device: str | Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        _Uninitialized.__init__(self, requires_grad, device, dtype)


class UninitializedBuffer(_Uninitialized):
    """A buffer of a lazy module; its shape is not known yet.

    See `UninitializedParameter`.  It becomes a buffer when it is assigned to a `Module`
    attribute.

    Parameters
    ----------
    requires_grad
        True if `backward` computes a gradient of the buffer.
    dtype
        The dtype of the values.  None means the default dtype.
    persistent
        True to include the buffer in the `state_dict` of the module.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.UninitializedBuffer()
    <UninitializedBuffer>
    """

    persistent: bool

    _becomes = Tensor

    def __init__(
        self,
        requires_grad: bool = False,
        device: str | Device | None = None,
        dtype: DType | None = None,
        persistent: bool = True,
    ) -> None:
        self.persistent = check_flag("UninitializedBuffer", "persistent", persistent)
        _Uninitialized.__init__(self, requires_grad, device, dtype)

    def _copy(self, device: Device, dtype: DType) -> Tensor:
        made = super()._copy(device, dtype)
        made.persistent = self.persistent  # type: ignore[attr-defined]  # a buffer
        return made

    def __reduce_ex__(self, protocol: Any) -> Any:
        make, given = super().__reduce_ex__(protocol)
        return make, (*given, self.persistent)


def take_shape_away(tensor: Tensor, kind: type[Tensor], dtype: DType) -> None:
    """Make a tensor uninitialised again, as it was before `materialize`."""
    tensor.__class__ = kind
    _ARRAY.__set__(tensor, empty(0, dtype=dtype)._array)
    if isinstance(tensor._edge, Leaf):
        tensor._edge.shape = (0,)


def is_lazy(param: Any) -> bool:
    """Return whether the shape of a parameter or buffer is not known yet.

    Parameters
    ----------
    param
        The parameter or buffer to test.

    Examples
    --------
    >>> import autocalc as ac
    >>> [ac.nn.parameter.is_lazy(p) for p in ac.nn.LazyLinear(2).parameters()]
    [True, True]
    """
    return isinstance(param, _Uninitialized)
