# SPDX-License-Identifier: MIT
"""`tensors`: the namespace in which a backward rule records a graph.

It has the functions of `arrays`, but for tensors.  A kernel that has an operator runs
as that operator; any other kernel is recorded as its decomposition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autocalc._dispatch.selection.arrays import arrays, constant
from autocalc._kernels.spec import DType, KernelSpec, Shape
from autocalc._kernels.table import TABLE
from autocalc._ops._operator.cast import astype, move
from autocalc._ops._operator.factories import OPERATORS
from autocalc._ops.arranging import joining
from autocalc._ops.elementwise import arithmetic
from autocalc._ops.views import broadcasting, complex_views, levels, slicing, view
from autocalc._tensor import Tensor, dtypes, make


class Tensors:
    """The counterpart of `arrays` that records."""

    records = True

    def __getattr__(self, name: str) -> Callable[..., Any]:
        try:
            spec = TABLE[name]
        except KeyError:
            message = f"there is no kernel {name!r} in the kernel table"
            raise AttributeError(message) from None
        call = _as_operator(spec) if name in OPERATORS else self._decomposed(spec)
        setattr(self, name, call)
        return call

    def _decomposed(self, spec: KernelSpec) -> Callable[..., Any]:
        optional = any(output.optional for output in spec.outputs)
        mandatory = sum(1 << i for i, o in enumerate(spec.outputs) if not o.optional)

        def call(*args: Any, want: int = 0, **free: Any) -> Any:
            if optional:
                free["want"] = want | mandatory
            assert spec.decomposition is not None
            return spec.decomposition(self, *args, **free)

        return call

    @staticmethod
    def shape(a: Tensor) -> Shape:
        """Return the shape of `a`."""
        return a.shape

    @staticmethod
    def dtype(a: Tensor) -> DType:
        """Return the NumPy dtype of `a`."""
        return a._array.dtype  # type: ignore[no-any-return]  # a NumPy dtype

    @staticmethod
    def is_view(a: Tensor) -> bool:
        """Return True: no tensor here owns its memory, so each sum is a new tensor."""
        return True

    def zeros(self, shape: Shape, dtype: DType) -> Tensor:
        """Return a new tensor of zeros."""
        return make(arrays.zeros(shape, dtype), None)

    def full(self, shape: Shape, value: Any, dtype: DType) -> Tensor:
        """Return a new tensor filled with the number `value`."""
        return make(arrays.full(shape, value, dtype), None)

    @staticmethod
    def constant(value: Any, like: Tensor) -> Tensor:
        """Return the number `value` as a 0-d tensor of `like`'s dtype."""
        return make(constant(value, like._array.dtype), None)

    @staticmethod
    def arange(n: int, like: Tensor) -> Tensor:
        """Return the integers 0 to n - 1, on the device of `like`."""
        return make(arrays.arange(n, like._array), None)

    @staticmethod
    def random_bits(seed: Tensor, offset: Tensor, *bits: int, **free: Any) -> Tensor:
        """Return words of a random stream, which have no derivative."""
        words = arrays.random_bits(seed._array, offset._array, *bits, **free)
        return make(words, None)

    def cast(self, a: Tensor, dtype: DType) -> Tensor:
        """Return `a` with another dtype."""
        return astype(a, dtypes.of(dtype))

    def move(self, a: Tensor, dtype: Any) -> Tensor:
        """Return a copy of `a` on the device of `dtype`."""
        return move(a, dtype)

    @staticmethod
    def contiguous(a: Tensor) -> Tensor:
        """Return `a` itself if it is C-contiguous, else a copy that is."""
        return a if a.is_contiguous() else view.clone_op(a)

    def plus(self, a: Tensor, b: Tensor) -> Tensor:
        """Return the sum of two terms of a cotangent; see `arrays.alike`."""
        if a._array.dtype is not b._array.dtype:
            given = a._array
            a = levels.summed(self, a, b._array)
            b = levels.summed(self, b, given)
        return arithmetic.add_op(a, b)

    def without_level(self, a: Tensor, level: Any) -> Tensor:
        """Return a cotangent of what all examples of a level share."""
        return levels.without_level(self, a, level)

    def add_into(self, total: Tensor, value: Tensor) -> Tensor:
        """Return the sum; a recorded pass writes nothing in place."""
        return self.plus(total, value)

    def add_into_slice(self, total: Tensor, index: Any, part: Tensor) -> Tensor:
        """Return `total` with `part` added at ``[index]``."""
        return self.plus(total, slicing.placed(part, total.shape, index))

    @staticmethod
    def hidden(a: Tensor, level: Any, dim: int) -> Tensor:
        """Return `a` without a dimension that a level hides."""
        return levels.hide(a, level, dim)

    @staticmethod
    def shown(a: Tensor, level: Any, dim: int) -> Tensor:
        """Return `a` with the dimension that a level hides."""
        return levels.show(a, level, dim)

    @staticmethod
    def reshape(a: Tensor, shape: Shape) -> Tensor:
        """Return `a` in another shape."""
        return view.reshape_op(a, shape)

    @staticmethod
    def permute(a: Tensor, axes: Sequence[int]) -> Tensor:
        """Return `a` with its dimensions in another order."""
        return view.permute_op(a, tuple(axes))

    @staticmethod
    def expand(a: Tensor, shape: Shape) -> Tensor:
        """Return `a` repeated to `shape`."""
        return broadcasting.expand_op(a, shape)

    @staticmethod
    def slice(a: Tensor, index: Any) -> Tensor:
        """Return the view ``a[index]``."""
        return slicing.slice_op(a, index)

    @staticmethod
    def stack(parts: Sequence[Tensor], axis: int) -> Tensor:
        """Join `parts` along a new axis."""
        return joining.stack(tuple(parts), axis)

    @staticmethod
    def real_part(a: Tensor) -> Tensor:
        """Return the real parts of complex numbers."""
        return complex_views.real_view(a)

    @staticmethod
    def imaginary_part(a: Tensor) -> Tensor:
        """Return the imaginary parts of complex numbers."""
        return complex_views.imaginary_view(a)

    @staticmethod
    def as_pairs(a: Tensor) -> Tensor:
        """Return complex numbers [...] as real numbers [..., 2]."""
        return complex_views.pairs_view(a)

    @staticmethod
    def as_complex(a: Tensor) -> Tensor:
        """Return real numbers [..., 2] as complex numbers [...]."""
        return complex_views.complex_view(a)

    @staticmethod
    def cat(parts: Sequence[Tensor], axis: int) -> Tensor:
        """Join `parts` along `axis`."""
        return joining.cat_op(tuple(parts), axis)

    def sum_to(self, a: Tensor, shape: Shape) -> Tensor:
        """Sum `a` over the dimensions in which `shape` was broadcast to it."""
        given = a.shape
        if given == shape:
            return a
        lead = len(given) - len(shape)
        ones = tuple(
            lead + i
            for i, size in enumerate(shape)
            if size == 1 and given[lead + i] != 1
        )
        return self.reshape(self.sum(a, (*range(lead), *ones), True), shape)


def _as_operator(spec: KernelSpec) -> Callable[..., Any]:
    """Call an operator the way `arrays` calls the kernel of the same name."""
    operator = OPERATORS[spec.name]
    if len(spec.outputs) == 1:
        return operator
    kept = operator.op.kept

    def call(*args: Any, want: int = 0) -> tuple[Any, ...]:
        results: Any = operator(*args)
        results = results if isinstance(results, tuple) else (results,)
        outs: list[Any] = [None] * len(spec.outputs)
        for i, result in zip(kept, results, strict=True):
            outs[i] = result
        return tuple(outs)

    return call


tensors: Any = Tensors()
