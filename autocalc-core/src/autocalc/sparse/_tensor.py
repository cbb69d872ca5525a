# SPDX-License-Identifier: MIT
"""`SparseTensor`: what all layouts share; a tensor without a dense array."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

from autocalc._ops._operator.kinds import KINDS, no_array, refusal, wrong_layout
from autocalc._tensor import Tensor, make
from autocalc._tensor.checks import as_int
from autocalc._tensor.size import SIZES, Size
from autocalc.errors import ArgumentError, DimensionError, DTypeError, GradError

#: The functions of `autocalc` that take sparse tensors, by name.
FUNCTIONS: dict[str, Callable[..., Any]] = {}


def function(*names: str) -> Callable[[Any], Any]:
    """Register a function under the names of public functions."""

    def declare(made: Any) -> Any:
        FUNCTIONS.update(dict.fromkeys(names, made))
        return made

    return declare


#: What stays when a tensor takes over the data of another.
_KEPT = {"_vals", "_is_own"}


class SparseTensor(Tensor):
    """The base class of sparse tensors: dense tensors of indices and of values.

    Gradients flow through the tensor of values.  A leaf owns its values, which are a
    leaf of the graph.
    """

    _kind: ClassVar[str] = "sparse"
    _remedy: ClassVar[str] = "to_dense()"
    is_sparse = False
    is_sparse_csr = False

    _vals: Tensor
    _shape: Size
    _is_own: bool

    _array = property(no_array)

    def _fill(self, values: Tensor, shape: Any, *, own: bool = False) -> None:
        self._vals = values
        self._shape = SIZES[tuple(shape)]
        self._is_own = own

    # ---- what it is ------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """The sizes of the dimensions."""
        return self._shape

    def size(self, dim: int | None = None) -> Any:
        """Return the shape, or the size of dimension `dim`."""
        return (
            self._shape if dim is None else self._shape[self._checked_dim("size", dim)]
        )

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._shape)

    def numel(self) -> int:
        """Return the number of elements, zeros included."""
        return math.prod(self._shape)

    @property
    def dtype(self) -> Any:
        """The type of the values."""
        return self._vals.dtype

    @property
    def device(self) -> Any:
        """The device on which the values are stored."""
        return self._vals.device

    @property
    def itemsize(self) -> int:
        """The number of bytes of one value."""
        return self._vals.itemsize

    @property
    def nbytes(self) -> NoReturn:
        """Raise: the bytes are those of the indices and of the values."""
        raise ArgumentError("nbytes: a sparse tensor has none; ask values().nbytes.")

    def is_floating_point(self) -> bool:
        """Return whether the values have a floating-point dtype."""
        return self._vals.is_floating_point()

    def __len__(self) -> int:
        if not self._shape:
            raise DTypeError("len: a 0-d tensor has no length.")
        return self._shape[0]

    def _nnz(self) -> int:
        return int(self._vals.shape[0])

    def values(self) -> Tensor:
        """Return the values."""
        return self._vals

    def _values(self) -> Tensor:
        return self._vals

    def dense_dim(self) -> int:
        """Return the number of dense dimensions, which each value has."""
        return self._vals.ndim - 1

    def sparse_dim(self) -> int:
        """Return the number of sparse dimensions."""
        return self.ndim - self.dense_dim()

    # ---- gradients -------------------------------------------------------------------

    @property
    def _edge(self) -> Any:
        return self._vals._edge

    @property
    def _version(self) -> Any:  # type: ignore[override]  # that of the values
        return self._vals._version

    def _cell(self) -> Any:
        return self._vals._cell()

    @property
    def requires_grad(self) -> bool:
        """Whether the values require a gradient."""
        return self._vals.requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    @property
    def is_leaf(self) -> bool:
        """Whether the tensor was made by the user and not by a recorded operator."""
        return self._is_own or not self.requires_grad

    def requires_grad_(self, requires_grad: bool = True) -> SparseTensor:
        """Set whether a leaf requires a gradient."""
        if not self._is_own:
            if self._vals._edge is not None:
                if requires_grad:
                    return self
                raise GradError(
                    "requires_grad_: only a leaf can change whether it requires a "
                    "gradient, but this sparse tensor was computed. Use detach()."
                )
            self._vals, self._is_own = self._vals.detach(), True
        self._vals.requires_grad_(requires_grad)
        return self

    @property
    def grad(self) -> Any:
        """The gradient of a leaf: a sparse tensor with the same indices, or None."""
        found = self._vals.grad if self._is_own else None
        return None if found is None else self._as_gradient(found)

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is not None:
            raise ArgumentError(
                "grad: the gradient of a sparse tensor can only be set to None."
            )
        self._vals.grad = None

    def _as_gradient(self, values: Tensor) -> SparseTensor:
        """Return the gradient of this tensor, given that of its values."""
        made: SparseTensor = self._with(values)
        return made

    def register_hook(self, hook: Any) -> Any:
        """Call `hook` with the gradient of this tensor whenever it is computed."""
        if self._edge is None:
            raise GradError("register_hook: this tensor does not require a gradient.")

        def of_values(values: Tensor) -> Any:
            found = hook(self._as_gradient(values))
            return None if found is None else found.values()

        return self._vals.register_hook(of_values)

    def plus_array(self, other: Any) -> Any:
        """Return the sum of this gradient and another one, or an array."""
        if isinstance(other, SparseTensor):
            return self + other
        return (make(other, None) + self)._array

    def detach_(self) -> Any:
        """Separate the tensor from its gradient history; return it."""
        self._vals, self._is_own = self._vals.detach(), False
        return self

    def backward(self, gradient: Any = None, *args: Any, **words: Any) -> None:
        """Run the backward pass from this tensor, given its gradient."""
        if gradient is None:
            raise GradError(
                f"backward: the sparse tensor has shape {tuple(self.shape)}; pass "
                "`gradient`, a tensor of that shape, or reduce it with .sum() first."
            )
        self.to_dense().backward(gradient.to_dense(), *args, **words)

    def detach(self) -> Any:
        """Return a tensor on the same memory, without gradient history."""
        return self._with(self._vals.detach())

    @property
    def data(self) -> Any:
        """A tensor on the same memory, without gradient history."""
        return self._with(self._vals.data)

    @data.setter
    def data(self, value: Any) -> None:
        if type(value) is not type(self) or value.shape != self.shape:
            raise DTypeError(
                f"data: a sparse tensor of layout {self.layout!r} and shape "
                f"{tuple(self.shape)} can only take over one like it."
            )
        self._vals.data = value._vals
        parts = {k: v for k, v in value.__dict__.items() if k not in _KEPT}
        self.__dict__.update(parts)

    # ---- copies ----------------------------------------------------------------------

    def _with(self, values: Tensor) -> Any:
        """Return a tensor with the same indices and other values."""
        raise NotImplementedError

    def _state(self) -> tuple[Any, ...]:
        """Return the arguments with which `_rebuilt` makes the tensor."""
        raise NotImplementedError

    def clone(self, *, memory_format: Any = None) -> Any:
        """Return a copy, through which gradients flow."""
        del memory_format
        return self._with(self._vals.clone())

    def __copy__(self) -> Any:
        return self._with(self._vals)

    def __deepcopy__(self, memo: dict[Any, Any]) -> Any:
        from copy import deepcopy

        copy = self._with(deepcopy(self._vals, memo))
        copy._is_own = self._is_own
        memo[id(self)] = copy
        return copy

    def __reduce_ex__(self, protocol: Any) -> Any:
        del protocol
        return _rebuilt, (type(self), self._is_own, *self._state())

    def _take(self, where: str, result: Any) -> Any:
        """Take over the indices and values of a result; return the tensor."""
        if type(result) is not type(self) or result.shape != self.shape:
            raise ArgumentError(
                f"{where}: the result has shape {tuple(result.shape)} and is written "
                f"to a sparse tensor of layout {self.layout!r} and shape "
                f"{tuple(self.shape)}; it must be one, too."
            )
        if self.is_leaf and self.requires_grad:
            raise ArgumentError(
                f"{where}: a leaf Variable that requires grad is being used in an "
                "in-place operation; use a function that returns a new tensor."
            )
        dtype = self.dtype
        if result.dtype.category > dtype.category:
            raise ArgumentError(
                f"{where}: result type {result.dtype.name} can't be cast to the "
                f"desired output type {dtype.name}."
            )
        self.__dict__.update(result.__dict__)
        self._vals, self._is_own = self._vals.to(dtype), False
        return self

    def copy_(self, src: Any, non_blocking: bool = False) -> Any:
        """Take over the entries of another sparse tensor of the same shape."""
        del non_blocking
        return self._take("copy_", src.clone())

    def contiguous(self, memory_format: Any = None) -> Any:
        """Return the tensor itself."""
        del memory_format
        return self

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Raise: a sparse tensor has no order of its elements in memory."""
        del memory_format
        raise ArgumentError("is_contiguous: a sparse tensor has no memory format.")

    def data_ptr(self) -> int:
        """Raise: a sparse tensor has no storage of its own."""
        raise ArgumentError("data_ptr: Cannot access data pointer of a sparse tensor.")

    def stride(self, dim: int | None = None) -> Any:
        """Raise: a sparse tensor has no strides."""
        del dim
        raise ArgumentError("stride: sparse tensors do not have strides.")

    def numpy(self, *, force: bool = False) -> Any:
        """Raise: NumPy has no sparse arrays."""
        raise DTypeError(
            f"numpy: can't convert Sparse layout tensor to numpy (force={force}). Use "
            "to_dense().numpy()."
        )

    def to(self, *args: Any, **words: Any) -> Any:
        """Return the tensor with another dtype or on another device."""
        values = self._vals.to(*args, **words)
        return self if values is self._vals else self._with(values)

    def item(self) -> Any:
        """Return the only element as a Python number."""
        return self.to_dense().item()

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers."""
        return self.to_dense().tolist()

    def __repr__(self) -> str:
        from autocalc.sparse._printing import describe

        return describe(self)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(repr(self))}</pre>"

    def __format__(self, spec: str) -> str:
        if spec:
            raise DTypeError(f"format: {spec!r} cannot format a sparse tensor.")
        return repr(self)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        return bool(self.to_dense())

    def _positive_dim(self, where: str, dim: Any) -> int:
        limit = max(self.ndim, 1)
        axis = as_int(where, "dim", dim)
        if not -limit <= axis < limit:
            raise DimensionError(
                f"{where}: Dimension out of range: `dim`={axis} for {self.ndim} "
                "dimensions."
            )
        return axis % limit

    def _coo(self) -> Any:
        """Return the same entries as coordinates."""
        raise NotImplementedError


def _rebuilt(cls: Any, own: bool, *state: Any) -> Any:
    made = cls(*state)
    made._is_own = own
    return made


def register(cls: type) -> type:
    """Let functions of `autocalc` find those of a class of sparse tensors."""
    KINDS[cls] = FUNCTIONS
    return cls


def without_part(part: str) -> Any:
    """Return a method that raises, because the layout does not have this part."""

    def refuse(self: Any) -> Any:
        raise wrong_layout(part, self)

    return refuse


def unsupported(where: str, x: Any) -> DTypeError:
    """Make the error for a sparse tensor that a function does not take."""
    return refusal(where, x)
