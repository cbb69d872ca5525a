# SPDX-License-Identifier: MIT
"""`Tensor`: an array, and an edge to the node that made it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from autocalc._absent import groups_by_name
from autocalc._dispatch.device.addresses import address, steps_of
from autocalc._dispatch.device.device import DeviceArray, without_tangent
from autocalc._dispatch.engine.eager import accelerate, accelerated, bind
from autocalc._dispatch.selection.layout import dense_order, fits_order
from autocalc._dispatch.selection.state import current, recordings, refuse_reading
from autocalc._dispatch.selection.upcast import FLOAT_KINDS, REAL_KINDS
from autocalc._graph._node import Leaf, Node, Version
from autocalc._tensor import dtypes
from autocalc._tensor.checks import FLAG, as_int, check_flag, check_type
from autocalc._tensor.device import Device, device_of, host_copy
from autocalc._tensor.dlpack import lend
from autocalc._tensor.dtypes import DType
from autocalc._tensor.hooks import (
    Accumulated,
    RemovableHandle,
    Retain,
    node_and_slot,
    retained,
)
from autocalc._tensor.memory_format import contiguous_format, order_asked
from autocalc._tensor.size import SIZES, Size
from autocalc.errors import (
    ArgumentError,
    AutocalcWarning,
    DimensionError,
    DTypeError,
    GradError,
)

if TYPE_CHECKING:
    import numpy as np
    from typing_extensions import Self

    from autocalc._tensor.interface import TensorInterface

    Methods = TensorInterface["Tensor"]
else:
    #: `_methods` attaches the methods that compute once the operators exist.
    Methods = object


#: The key under which a tensor without a leaf stores a gradient that was assigned.
_GIVEN, _OF_GRAD = "_given_grad", "expected to be a Tensor or None"


class Tensor(Methods):
    """An n-dimensional array of elements of one dtype, which supports gradients.

    Tensors are made by functions such as `ac.tensor`, `ac.zeros` and `ac.from_numpy`,
    and by operators.  A tensor that the user made with ``requires_grad=True`` is a
    *leaf*: `backward` adds its gradient to `grad`.  ``Tensor(data)`` copies data, and
    ``Tensor(2, 3)`` makes a tensor of these sizes whose elements are undefined.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.Tensor([1, 2]), ac.Tensor(2, 3).shape
    (tensor([1., 2.]), autocalc.Size([2, 3]))
    >>> w = ac.tensor([1.0, 2.0], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> w.grad
    tensor([2., 4.])
    """

    # `__dict__` holds the user's own attributes and is made when the first one is set.
    # `_array` is the device's array. `_edge` leads to the Node or Output that made it,
    # or is the Leaf of a tensor that requires a gradient. `_version` counts writes to
    # the storage and is made when the storage is first shared. `_view` relates a view
    # to its base, see `_ops/_operator/view_tracker.py`.
    __slots__ = ("__dict__", "__weakref__", "_array", "_edge", "_version", "_view")

    #: NumPy scalars and arrays leave ``number * tensor`` to the tensor.
    __array_priority__ = 1000

    _array: Any
    _edge: Any
    _version: Version | None
    _view: Any

    def __new__(cls, *data: Any, **words: Any) -> Self:
        """Make the object, and its contents if a subclass's `__new__` calls this."""
        made = object.__new__(cls)
        if cls.__new__ is not Tensor.__new__:
            Tensor.__init__(made, *data, **words)
        return made

    def __init_subclass__(cls, **words: Any) -> None:
        super().__init_subclass__(**words)
        if "__new__" in cls.__dict__ and "__init__" not in cls.__dict__:
            cls.__init__ = _made_by_new  # type: ignore[assignment]  # takes any arguments

    def __init__(self, *data: Any, dtype: DType | None = None) -> None:
        if not data and hasattr(self, "_array"):  # a subclass's `__new__` made it
            return
        if dtype is None and len(data) == 1 and isinstance(data[0], Tensor):
            same = data[0].as_subclass(Tensor)
            self._array, self._edge = same._array, same._edge
            self._version, self._view = same._version, same._view
            return
        self._array = self._array_of(data, dtype)
        self._edge = None
        self._version = None
        self._view = None

    def __dir__(self) -> list[str]:
        """Return the names of its attributes, without those that are refused."""
        return sorted({*super().__dir__()} - {*groups_by_name("autocalc.Tensor")})

    # ---- properties --------------------------------------------------------------

    @property
    @accelerate("shape_of", SIZES)
    def shape(self) -> Size:
        """The sizes of the dimensions."""
        return SIZES[self._array.shape]

    def size(self, dim: int | None = None) -> Any:
        """Return the shape, or the size of dimension `dim`."""
        if dim.__class__ is int:
            shape = self._array.shape
            if -len(shape) <= dim < len(shape):
                return shape[dim]
        return self.shape if dim is None else self.shape[self._checked_dim("size", dim)]

    def _checked_dim(self, where: str, dim: int) -> int:
        limit, dim = self.ndim, as_int(where, "dim", dim)
        if not -limit <= dim < limit:
            raise DimensionError(
                f"{where}: `dim`={dim} is out of range for {limit} dimensions of shape "
                f"{self.shape}."
            )
        return dim

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim  # type: ignore[no-any-return]  # of the array

    def dim(self) -> int:
        """Return the number of dimensions."""
        return self.ndim

    def numel(self) -> int:
        """Return the number of elements."""
        return int(self._array.size)

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return dtypes.of(self._array.dtype)

    @property
    def device(self) -> Device:
        """The device on which the elements are stored."""
        return device_of(self._array)

    @property
    def itemsize(self) -> int:
        """The number of bytes of one element."""
        return int(self._array.itemsize)

    def element_size(self) -> int:
        """Return the number of bytes of one element."""
        return self.itemsize

    @property
    def nbytes(self) -> int:
        """The number of bytes of all elements."""
        return int(self._array.nbytes)

    def stride(self, dim: int | None = None) -> Any:
        """Return the strides, in elements: of all dimensions, or of dimension `dim`."""
        steps = steps_of(self._array)
        return steps if dim is None else steps[self._checked_dim("stride", dim)]

    def is_contiguous(self, memory_format: Any = contiguous_format) -> bool:
        """Return whether the elements are stored in `memory_format`, without gaps."""
        a = self._array
        order = order_asked("is_contiguous", memory_format)
        return bool(a.flags.c_contiguous) if order is None else fits_order(a, order)

    def data_ptr(self) -> int:
        """Return the address of the first element in memory."""
        return address(self._array)

    def is_floating_point(self) -> bool:
        """Return whether the tensor has a floating-point dtype."""
        return self._array.dtype.kind in REAL_KINDS

    # ---- its place in the graph ----------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether operators on this tensor are recorded for the backward pass."""
        return self._edge is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set whether this leaf requires a gradient; return the tensor."""
        if requires_grad.__class__ is not FLAG:
            requires_grad = check_flag("requires_grad_", "requires_grad", requires_grad)
        if not self.is_leaf:
            if requires_grad:
                return self
            raise GradError(
                "requires_grad_: only a leaf can change whether it requires a "
                f"gradient, but this tensor was made by `{self._node().op.name}`. Use "
                "detach() to get a tensor without gradient history."
            )
        if not requires_grad:
            self._edge = None
        elif self._edge is None:
            self._edge = self._new_leaf()
            self._edge.grad = self.__dict__.pop(_GIVEN, None)
            if self._view.__class__ is tuple:
                self._view = None  # a leaf is not a view
        return self

    def _new_leaf(self) -> Leaf:
        if self._array.dtype.kind not in FLOAT_KINDS:
            raise DTypeError(
                "requires_grad: Only Tensors of floating point and complex dtype can "
                f"require gradients, not {self.dtype.name}. Convert it with .float()."
            )
        return Leaf(self._array.shape, self, dense_order(self._array))

    @property
    def is_leaf(self) -> bool:
        """Whether the tensor was made by the user and not by a recorded operator."""
        return self._edge is None or self._edge.__class__ is Leaf

    @property
    def grad(self) -> Tensor | None:
        """The gradient that `backward` has accumulated for this leaf, or None."""
        edge = self._edge
        if edge.__class__ is Leaf:
            return edge.grad  # type: ignore[no-any-return]  # a tensor or None
        if edge is None or _GIVEN in self.__dict__:
            return self.__dict__.get(_GIVEN)
        node, slot = node_and_slot(edge)
        kept = None if node.hooks is None else retained(node, slot)
        if kept is None:
            message = (
                f"grad: the gradient of a tensor that was made by `{node.op.name}` is "
                "not kept, so `grad` is None. Call retain_grad() before the backward "
                "pass, or read the `grad` of a leaf."
            )
            warnings.warn(message, AutocalcWarning, stacklevel=2)
        return None if kept is None else kept.grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        kept = None if self.is_leaf else retained(*node_and_slot(self._edge))
        if value is not None:
            check_type("grad", "value", value, Tensor, _OF_GRAD)
        if value is not None and value.shape != self.shape:
            raise ArgumentError(
                f"grad: the gradient has shape {value.shape}, but the tensor has shape "
                f"{self.shape}; they must be equal."
            )
        if value is not None and value.dtype is not self.dtype:
            raise DTypeError(
                f"grad: the gradient has dtype {value.dtype.name}, but the tensor has "
                f"dtype {self.dtype.name}; they must be equal."
            )
        if kept is not None or self._edge.__class__ is Leaf:
            (kept or self._edge).grad = value
        elif value is None:
            self.__dict__.pop(_GIVEN, None)
        else:
            self.__dict__[_GIVEN] = value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    @property
    def retains_grad(self) -> bool:
        """Whether `retain_grad` was called on this tensor, which is not a leaf."""
        return not self.is_leaf and retained(*node_and_slot(self._edge)) is not None

    def _node(self) -> Node:
        return node_and_slot(self._edge)[0]

    def _new_version(self) -> Version:
        """Make the version cell, when the storage is first shared or saved."""
        self._version = cell = Version()
        return cell

    def _cell(self) -> Version:
        return self._version or self._new_version()

    def _bump(self) -> None:
        """Count a write to the storage."""
        if self._version is not None:
            self._version.count += 1

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Call `hook` with the gradient of this tensor whenever it is computed.

        The hook may return another gradient, which is used instead.  The method
        `remove()` of the returned handle removes the hook.

        Examples
        --------
        >>> import autocalc as ac
        >>> x = ac.ones(2, requires_grad=True)
        >>> handle = x.register_hook(lambda grad: 10 * grad)
        >>> x.sum().backward()
        >>> x.grad
        tensor([10., 10.])
        """
        if self._edge is None:
            raise GradError("register_hook: this tensor does not require a gradient.")
        if self._edge.__class__ is Leaf:
            self._edge.hooks = self._edge.hooks or {}
            return RemovableHandle(self._edge.hooks, hook)
        node, slot = node_and_slot(self._edge)
        node.hooks = node.hooks or {}
        return RemovableHandle(node.hooks.setdefault(slot, {}), hook)

    def register_post_accumulate_grad_hook(self, hook: Any) -> RemovableHandle:
        """Call ``hook(leaf)`` each time `backward` has added to the leaf's `grad`.

        The hook may use the gradient and clear it; it must return None.  The method
        `remove()` of the returned handle removes the hook.
        """
        where = "register_post_accumulate_grad_hook"
        leaf = self._edge
        if leaf.__class__ is not Leaf:
            raise GradError(
                f"{where}: post accumulate grad hooks cannot be registered on non-leaf "
                "tensors, or without requires_grad=True; use register_hook for others."
            )
        if not callable(hook):
            message = f"{where}: `hook` is a {type(hook).__name__}; give a function."
            raise ArgumentError(message)
        leaf.accumulated = leaf.accumulated or {}
        return RemovableHandle(leaf.accumulated, Accumulated(self, hook))

    def retain_grad(self) -> None:
        """Store the gradient of this tensor in `grad`, although it is not a leaf.

        Examples
        --------
        >>> import autocalc as ac
        >>> x = ac.ones(2, requires_grad=True)
        >>> y = x * 3
        >>> y.retain_grad()
        >>> y.sum().backward()
        >>> y.grad
        tensor([1., 1.])
        """
        if self._edge is None:
            raise GradError("retain_grad: this tensor does not require a gradient.")
        if not self.is_leaf and retained(*node_and_slot(self._edge)) is None:
            self.register_hook(Retain())

    def detach(self) -> Tensor:
        """Return a tensor that shares the memory and has no gradient history."""
        a = self._array
        result = make(without_tangent(a) if a.__class__ is DeviceArray else a, None)
        result._version = self._cell()
        return result

    @property
    def data(self) -> Tensor:
        """A tensor that shares the memory and has no gradient history.

        Assigning a tensor makes this tensor use the memory of the other one.  A write
        through `data` does not count as a change: if an operator has saved the tensor,
        its gradient uses the new values.  A write through `detach` counts as a change.
        """
        self._cell().exported = True
        return make(self._array, None)

    @data.setter
    def data(self, value: Tensor) -> None:
        check_type("data", "value", value, Tensor, "a tensor")
        if not self.is_leaf:
            self._check_same_kind(value)
        elif self._edge is not None and not value.dtype.is_differentiable:
            raise DTypeError(
                "data: the new values of a tensor that requires a gradient must be "
                f"floating point or complex dtype, not {value.dtype.name}."
            )
        if value._array is self._array:  # as after ``x.data -= 1``
            return
        self._array = value._array
        self._version = value._cell()
        self._view = None
        if self._edge.__class__ is Leaf:
            self._edge.shape = value.shape

    def _check_same_kind(self, value: Tensor) -> None:
        """Raise unless `value` can replace the result of an operator."""
        if value.shape != self.shape or value.dtype is not self.dtype:
            raise GradError(
                f"data: `{self._node().op.name}` made this tensor of shape "
                f"{self.shape} and {self.dtype.name}, so it cannot take over values of "
                f"shape {value.shape} and {value.dtype.name}; use the new tensor."
            )

    # ---- to and from other libraries ----------------------------------------------

    def numpy(self, *, force: bool = False) -> np.ndarray[Any, Any]:
        """Return a NumPy array that shares the memory; `force` detaches the tensor.

        Raises
        ------
        GradError
            If the tensor requires a gradient and gradients are recorded, because the
            graph would not see writes into the array.

        Examples
        --------
        >>> import autocalc as ac
        >>> x = ac.zeros(2)
        >>> x.numpy()[0] = 5.0
        >>> x
        tensor([5., 0.])
        """
        if self._edge is not None and not force and current().grad:
            raise GradError(
                "Can't call numpy() on Tensor that requires grad. Use "
                "tensor.detach().numpy() instead."
            )
        if recordings:
            refuse_reading("numpy")
        if self._array.__class__ is DeviceArray:
            return host_copy(self._array, force)  # type: ignore[no-any-return]  # NumPy's
        self._cell().exported = True
        return self._array  # type: ignore[no-any-return]  # NumPy's on CPUs

    def __dlpack__(self, **options: Any) -> Any:
        stream = options.get("stream")
        if stream is not None and not isinstance(stream, int):
            raise DTypeError(
                f"__dlpack__: `stream` is a {type(stream).__name__}; it must be None "
                f"on a CPU."
            )
        return lend(self.numpy(), **options)

    def __dlpack_device__(self) -> Any:
        return self.numpy().__dlpack_device__()

    def item(self) -> Any:
        """Return the only element as a Python number."""
        if self._array.size != 1:
            raise ArgumentError(
                "item: needs a tensor of one element, but this one has shape "
                f"{self.shape}; index it or use tolist()."
            )
        if recordings:
            refuse_reading("item")
        return self._array.item()

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers."""
        if recordings:
            refuse_reading("tolist")
        return self._array.tolist()

    # ---- Python's protocols -------------------------------------------------------

    def __len__(self) -> int:
        if not self._array.ndim:
            raise DTypeError("len: a 0-d tensor has no length.")
        return len(self._array)

    def __iter__(self) -> Iterator[Tensor]:
        if not self._array.ndim:
            raise DTypeError(
                "iter: a 0-d tensor has no elements to iterate over; use item()."
            )
        return (self[i] for i in range(len(self)))

    def __contains__(self, element: Any) -> bool:
        return bool((self == element).any())

    def __bool__(self) -> bool:
        if self._array.size != 1:
            raise ArgumentError(
                f"bool: a tensor of shape {self.shape} is neither true nor false as a "
                "whole, but `if`, `and` and `not` need one truth value. Use x.any() "
                "or x.all(), or combine tensors with &, | and ~."
            )
        return bool(self.item())

    def __int__(self) -> int:
        self._check_number("int", "x.long()")
        return int(self.item())

    def __float__(self) -> float:
        self._check_number("float", "x.float()")
        return float(self.item())

    def _check_number(self, where: str, instead: str) -> None:
        if self._array.size != 1:
            raise ArgumentError(
                f"{where}: needs a tensor of one element, but this one has shape "
                f"{self.shape}. Use {instead} to convert a tensor, or x.tolist() for "
                "numbers."
            )

    def __index__(self) -> int:
        if self._array.dtype.kind not in "iub":
            message = f"a tensor of {self.dtype.name} cannot be an index; use .long()."
            raise DTypeError(message)
        return int(self.item())

    #: The hash is the identity, for sets of tensors; `==` compares elements.
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        from autocalc._tensor.printing import describe

        return describe(self)

    def _repr_html_(self) -> str:
        from autocalc._tensor.notebook import as_html

        return as_html(self)

    def __format__(self, spec: str) -> str:
        if not self._array.ndim and (spec or type(self) is Tensor):
            return format(self.item(), spec)
        if not spec:
            return str(self)
        raise DTypeError(
            f"format: {spec!r} can format only a 0-d tensor, but this one has shape "
            f"{self.shape}; index it, or format x.item() or each number of x.tolist()."
        )

    def __copy__(self) -> Tensor:
        from autocalc._tensor.copying import shallow_copy

        copy: Tensor = shallow_copy(self)
        return copy

    def __deepcopy__(self, memo: dict[Any, Any]) -> Tensor:
        if not self.is_leaf:
            raise GradError(
                f"deepcopy: a tensor of shape {self.shape} was made by "
                f"`{self._node().op.name}`, and only leaves can be copied; use "
                "detach() or clone(). A module contains such a tensor after "
                "`weight_norm` or `spectral_norm` of nn.utils: use the functions of "
                "nn.utils.parametrizations, whose modules can be copied."
            )
        from autocalc._tensor.copying import deep_copy

        copy: Tensor = deep_copy(self, memo)
        return copy

    def __reduce_ex__(self, protocol: Any) -> Any:
        from autocalc._tensor.copying import reduce

        return reduce(self)


def _made_by_new(tensor: Any, *args: Any, **words: Any) -> None:
    """Keep the contents that a subclass's `__new__` made, as PyTorch does."""
    if not hasattr(tensor, "_array"):
        Tensor.__init__(tensor, *args, **words)


_new = object.__new__


def make(array: Any, edge: Any) -> Tensor:
    """Make a tensor around an array, as operators do."""
    tensor = _new(Tensor)
    tensor._array = array
    tensor._edge = edge
    tensor._version = None
    tensor._view = None
    return tensor


bind(Tensor=Tensor)
make = accelerated("make", make)
