# SPDX-License-Identifier: MIT
"""`NestedTensor`: rows of sequences of different lengths, and their offsets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, ClassVar

from autocalc._ops._operator.kinds import KINDS, no_array
from autocalc._ops.arranging.rearranging import repeat_interleave
from autocalc._ops.creation.constants import full
from autocalc._ops.creation.ranges import arange
from autocalc._tensor import Tensor
from autocalc._tensor.checks import as_int, integers
from autocalc._tensor.layouts import jagged
from autocalc._tensor.size import Size
from autocalc.errors import (
    ArgumentError,
    DimensionError,
    DTypeError,
    GradError,
    ShapeError,
)

#: The functions of `autocalc` that take nested tensors, by name.
FUNCTIONS: dict[str, Callable[..., Any]] = {}


class Ragged:
    """The size of the ragged dimension: it differs from sequence to sequence."""

    __slots__ = ("offsets",)

    def __init__(self, offsets: Tensor) -> None:
        self.offsets = offsets

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ragged) and other.offsets is self.offsets

    def __hash__(self) -> int:
        return id(self.offsets)

    def __repr__(self) -> str:
        return "j1"


class NestedTensor(Tensor):
    """A batch of sequences: their rows ``[rows, ...]`` and the offsets of sequences.

    The shape is ``[B, j1, ...]``, where j1 differs from sequence to sequence.  With
    `_turned`, it is ``[B, H, j1, ...]``, as attention needs it; the rows stay
    ``[rows, H, ...]``.
    """

    _kind: ClassVar[str] = "nested"
    _remedy: ClassVar[str] = "to_padded_tensor(0.0)"
    layout = jagged
    is_nested = True

    def __init__(self, rows: Tensor, offsets: Tensor, turned: bool = False) -> None:
        self._vals = rows
        self._offs = offsets
        self._turned = turned

    _array = property(no_array)

    def _with(self, rows: Tensor) -> NestedTensor:
        return NestedTensor(rows, self._offs, self._turned)

    _as_gradient = _with

    # ---- what it is ------------------------------------------------------------------

    @property
    def shape(self) -> Any:
        """The sizes of the dimensions; the ragged one is an object that prints j1."""
        rest: list[Any] = list(self._vals.shape[1:])
        rest.insert(1 if self._turned else 0, Ragged(self._offs))
        return tuple.__new__(Size, (self._offs.shape[0] - 1, *rest))

    def size(self, dim: int | None = None) -> Any:
        """Return the shape, or the size of dimension `dim`."""
        return self.shape if dim is None else self.shape[self._dim("size", dim)]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._vals.ndim + 1

    def _dim(self, where: str, dim: Any) -> int:
        axis = as_int(where, "dim", dim)
        if not -self.ndim <= axis < self.ndim:
            raise DimensionError(
                f"{where}: `dim`={axis} is out of range for {self.ndim} dimensions."
            )
        return axis % self.ndim

    @property
    def _ragged(self) -> int:
        return 2 if self._turned else 1

    def numel(self) -> int:
        """Return the number of elements."""
        return self._vals.numel()

    @property
    def dtype(self) -> Any:
        """The type of the elements."""
        return self._vals.dtype

    @property
    def device(self) -> Any:
        """The device on which the elements are stored."""
        return self._vals.device

    def is_floating_point(self) -> bool:
        """Return whether the elements have a floating-point dtype."""
        return self._vals.is_floating_point()

    def __len__(self) -> int:
        return self._offs.shape[0] - 1

    def values(self) -> Tensor:
        """Return the rows of all sequences, ``[rows, ...]``."""
        return self._vals

    def offsets(self) -> Tensor:
        """Return where each sequence begins, and the number of rows."""
        return self._offs

    def lengths(self) -> Tensor:
        """Return the number of rows of each sequence."""
        return self._offs[1:] - self._offs[:-1]

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
        """Whether the rows require a gradient."""
        return self._vals.requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    @property
    def is_leaf(self) -> bool:
        """Whether the rows were made by the user and not by an operator."""
        return self._vals.is_leaf

    def requires_grad_(self, requires_grad: bool = True) -> NestedTensor:
        """Set whether the rows require a gradient."""
        self._vals.requires_grad_(requires_grad)
        return self

    @property
    def grad(self) -> Any:
        """The gradient: a nested tensor with the same offsets, or None."""
        found = self._vals.grad
        return None if found is None else self._with(found)

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is not None:
            raise ArgumentError("grad: that of a nested tensor can only become None.")
        self._vals.grad = None

    def backward(self, gradient: Any = None, *args: Any, **words: Any) -> None:
        """Run the backward pass from this tensor, given its gradient."""
        if not isinstance(gradient, NestedTensor):
            raise GradError(
                "backward: a nested tensor needs `gradient`, a nested tensor with the "
                "same offsets; or reduce it first, for example with values().sum()."
            )
        self._vals.backward(gradient._vals, *args, **words)

    def detach(self) -> Any:
        """Return a tensor on the same memory, without gradient history."""
        return self._with(self._vals.detach())

    def clone(self, *, memory_format: Any = None) -> Any:
        """Return a copy, through which gradients flow."""
        del memory_format
        return self._with(self._vals.clone())

    def to(self, *args: Any, **words: Any) -> Any:
        """Return the tensor with another dtype or on another device."""
        return self._with(self._vals.to(*args, **words))

    def contiguous(self, memory_format: Any = None) -> Any:
        """Return the tensor itself."""
        del memory_format
        return self

    def __copy__(self) -> Any:
        return self._with(self._vals)

    def __deepcopy__(self, memo: dict[Any, Any]) -> Any:
        from copy import deepcopy

        return self._with(deepcopy(self._vals, memo))

    def __reduce_ex__(self, protocol: Any) -> Any:
        del protocol
        return NestedTensor, (self._vals, self._offs, self._turned)

    def __repr__(self) -> str:
        text = f"NestedTensor(size={tuple(self.shape)}, offsets={self._offs!r}"
        text += ", requires_grad=True" if self.requires_grad and self.is_leaf else ""
        return f"{text}, contiguous=True)"

    def __format__(self, spec: str) -> str:
        if spec:
            raise DTypeError(f"format: {spec!r} cannot format a nested tensor.")
        return repr(self)

    def __bool__(self) -> bool:
        raise ArgumentError("bool: a nested tensor is neither true nor false.")

    def tolist(self) -> Any:
        """Return the elements as a list of nested lists, one for each sequence."""
        return [x.tolist() for x in self.unbind()]

    # ---- sequences -------------------------------------------------------------------

    def unbind(self, dim: int = 0) -> tuple[Tensor, ...]:  # type: ignore[override]  # no `axis`
        """Return the sequences, as views of the rows."""
        if self._dim("unbind", dim) != 0:
            raise ArgumentError(
                f"unbind: only supported for dim=0 on jagged layout, not dim={dim}."
            )
        ends = self._offs.tolist()
        pairs = pairwise(ends)
        parts = [self._vals[i:j] for i, j in pairs]
        return tuple(x.transpose(0, 1) if self._turned else x for x in parts)

    def __iter__(self) -> Any:
        return iter(self.unbind())

    def __getitem__(self, index: Any) -> Tensor:
        if not isinstance(index, int):
            raise DTypeError(
                f"getitem: a nested tensor can be indexed with an integer, the number "
                f"of a sequence, and not with {index!r}; use unbind()."
            )
        n = len(self)
        if not -n <= index < n:
            raise DimensionError(f"getitem: index {index} of {n} sequences.")
        i, j = self._offs[index % n : index % n + 2].tolist()
        rows = self._vals[i:j]
        return rows.transpose(0, 1) if self._turned else rows

    def to_padded_tensor(
        self, padding: float, output_size: Sequence[int] | None = None
    ) -> Tensor:
        """Return a dense tensor in which short sequences end with `padding`."""
        return to_padded_tensor(self, padding, output_size)

    def _which(self) -> Tensor:
        """Return the number of the sequence of each row."""
        return repeat_interleave(self.lengths(), output_size=self._vals.shape[0])

    def transpose(self, dim0: int, dim1: int) -> Any:
        """Return the tensor with two dimensions exchanged."""
        i, j = sorted((self._dim("transpose", dim0), self._dim("transpose", dim1)))
        if i == j:
            return self
        if (i, j) == (1, 2) and self._vals.ndim > 1:
            return NestedTensor(self._vals, self._offs, not self._turned)
        if i > 2 or (i == 2 and not self._turned):
            return self._with(self._vals.transpose(i - 1, j - 1))
        raise ArgumentError(
            f"transpose: dimensions {dim0} and {dim1} of a nested tensor of shape "
            f"{tuple(self.shape)} cannot be exchanged: the ragged dimension can only "
            "change places with the next one."
        )

    def view(self, *shape: Any) -> Any:  # type: ignore[override]  # no dtype
        """Return the tensor with other sizes after the ragged dimension."""
        sizes = (
            shape[0]
            if len(shape) == 1 and isinstance(shape[0], (tuple, list))
            else shape
        )
        kept = 2 if not self._turned else 3
        ragged = sizes[1] if len(sizes) > 1 else None
        is_ragged = ragged == -1 or ragged == Ragged(self._offs)
        if (
            self._turned
            or len(sizes) < kept
            or sizes[0] not in (-1, len(self))
            or not is_ragged
        ):
            raise ShapeError(
                f"view: a nested tensor of shape {tuple(self.shape)} cannot have the "
                f"sizes {tuple(sizes)}; the batch and the ragged dimension must stay."
            )
        rest = integers("view", "shape", list(sizes[2:]))
        return self._with(self._vals.reshape((self._vals.shape[0], *rest)))

    reshape = view  # type: ignore[assignment]  # no keywords

    def unflatten(self, dim: int, sizes: Any) -> Any:  # type: ignore[override]  # no `axis`
        """Return the tensor with one dimension, not the ragged one, as several."""
        axis = self._dim("unflatten", dim)
        if self._turned or axis < 2:
            raise ArgumentError(
                f"unflatten: `dim`={dim} of a nested tensor must be after the ragged "
                "dimension."
            )
        return self._with(self._vals.unflatten(axis - 1, sizes))

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Any:
        """Return the tensor with several dimensions after the ragged one as one."""
        i, j = self._dim("flatten", start_dim), self._dim("flatten", end_dim)
        if self._turned or i < 2:
            raise ArgumentError(
                f"flatten: dimensions {start_dim} to {end_dim} of a nested tensor must "
                "be after the ragged dimension."
            )
        return self._with(self._vals.flatten(i - 1, j - 1))


KINDS[NestedTensor] = FUNCTIONS


def to_padded_tensor(
    input: Tensor, padding: float, output_size: Sequence[int] | None = None
) -> Tensor:
    """Return a dense tensor in which short sequences end with `padding`.

    Parameters
    ----------
    input
        A nested tensor of shape ``[B, j1, ...]``.
    padding
        The value of the elements after the end of a sequence.
    output_size
        The shape of the result; by default the longest sequence decides.

    Returns
    -------
    Tensor
        A dense tensor of shape ``[B, longest, ...]``.

    Raises
    ------
    DTypeError
        If `input` is dense.
    ShapeError
        If `output_size` is too small.

    Examples
    --------
    >>> import autocalc as ac
    >>> batch = ac.nested.nested_tensor([ac.tensor([1.0]), ac.tensor([2.0, 3.0])])
    >>> ac.nested.to_padded_tensor(batch, 0.0)
    tensor([[1., 0.],
            [2., 3.]])
    """
    if not isinstance(input, NestedTensor):
        raise DTypeError("to_padded_tensor: `input` is dense; give a nested tensor.")
    x = input
    lengths, rest = x.lengths(), tuple(x._vals.shape[1:])
    longest = int(lengths.max()) if len(x) else 0
    if output_size is not None:
        sizes = integers("to_padded_tensor", "output_size", output_size)
        needed = (len(x), longest, *rest)
        if (
            len(sizes) != len(needed)
            or sizes[0] != needed[0]
            or sizes[1] < longest
            or sizes[2:] != rest
        ):
            raise ShapeError(
                f"to_padded_tensor: `output_size` is {sizes}; it must be {needed}, or "
                "longer in the ragged dimension."
            )
        longest = sizes[1]
    which = x._which()
    place = arange(x._vals.shape[0]) - x._offs.index_select(0, which)
    flat = full((len(x) * longest, *rest), padding, dtype=x.dtype)
    flat = flat.index_copy(0, which * longest + place, x._vals)
    dense = flat.reshape((len(x), longest, *rest))
    return dense.transpose(1, 2) if x._turned else dense
