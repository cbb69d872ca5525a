# SPDX-License-Identifier: MIT
"""The namespace `k` of decompositions over a dict of kernels, without a dispatcher.

With it, a test can define which implementations a decomposition may use, and count the
calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from autocalc._dispatch.selection.arrays import constant
from autocalc._kernels.adapter import call_of, store
from autocalc._kernels.kernel_set import Function
from autocalc._kernels.spec import Array, DType, KernelSpec, Meta, Shape
from autocalc._kernels.table import TABLE


class Namespace:
    """Kernels by name from `kernels`, and view helpers; `calls` counts each kernel.

    A composite that is not in `kernels` runs as its decomposition.
    """

    def __init__(self, kernels: Mapping[str, Function]) -> None:
        self._kernels = kernels
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in TABLE:
            raise AttributeError(name)
        return partial(self._call, TABLE[name])

    def _call(
        self,
        spec: KernelSpec,
        *args: Any,
        want: int = 0,
        shape: Shape | None = None,
        dtype: DType | None = None,
    ) -> Any:
        n = len(spec.inputs)
        inputs, attributes = args[:n], args[n:]
        missing = len(spec.attributes) - len(attributes) - bool(spec.accumulates)
        if missing:
            attributes += spec.defaults[-missing:]
        keywords = {"shape": shape, "dtype": dtype} if spec.free else {}
        metas = spec.rule(*map(meta_of, inputs), *attributes, **keywords)
        metas = (metas,) if isinstance(metas, Meta) else metas
        outs = [
            np.empty(*meta) if want >> i & 1 or not operand.optional else None
            for i, (operand, meta) in enumerate(zip(spec.outputs, metas, strict=True))
        ]
        extra = (0,) if spec.accumulates else ()
        if spec.name in self._kernels or spec.decomposition is None:
            self.calls[spec.name] += 1
            kernel = self._kernels[spec.name]
        else:
            kernel = decomposed(spec, self)
        kernel(*outs, *inputs, *attributes, *extra)
        return outs[0] if len(outs) == 1 else tuple(outs)

    # ---- views and constants: no kernels ---------------------------------------------

    def shape(self, a: Array) -> Shape:
        return tuple(a.shape)

    def dtype(self, a: Array) -> DType:
        return a.dtype  # type: ignore[no-any-return]  # arrays are untyped here

    def reshape(self, a: Array, shape: Shape) -> Array:
        return a.reshape(shape)

    def permute(self, a: Array, axes: tuple[int, ...]) -> Array:
        return a.transpose(axes)

    def expand(self, a: Array, shape: Shape) -> Array:
        return np.broadcast_to(a, shape)

    def slice(self, a: Array, index: Any) -> Array:
        return a[index]

    def constant(self, value: float, like: Array) -> Array:
        return constant(value, like.dtype)

    def arange(self, n: int, like: Array) -> Array:  # noqa: ARG002  as `arrays` has it
        return np.arange(n)

    def full(self, shape: Shape, value: float, dtype: DType) -> Array:
        return np.full(shape, value, dtype)

    def zeros(self, shape: Shape, dtype: DType) -> Array:
        return np.zeros(shape, dtype)

    def cast(self, a: Array, dtype: DType) -> Array:
        self.calls["copy"] += 1
        out = np.empty(a.shape, dtype)
        self._kernels["copy"](out, a)
        return out

    def contiguous(self, a: Array) -> Array:
        return a if a.flags.c_contiguous else self.cast(a, a.dtype)

    def cat(self, parts: Sequence[Array], axis: int) -> Array:
        self.calls["copy"] += len(parts)
        return np.concatenate(parts, axis)

    def add_into_slice(self, total: Array, index: Any, part: Array) -> Array:
        self.calls["add"] += 1
        self._kernels["add"](total[index], total[index], part)
        return total

    def sum_to(self, a: Array, shape: Shape) -> Array:
        """Sum over the elements that a broadcast from `shape` repeated."""
        extra = len(a.shape) - len(shape)
        axes = tuple(
            d
            for d, n in enumerate(a.shape)
            if d < extra or (shape[d - extra] == 1 and n != 1)
        )
        return self.sum(a, axes, False).reshape(shape) if axes else a


def decomposed(spec: KernelSpec, k: Namespace) -> Function:
    """Return a kernel that runs a composite's decomposition over `k`."""
    run, n = call_of(spec), len(spec.outputs)
    assert spec.decomposition is not None  # a composite

    def kernel(*operands: Any) -> None:
        outs = operands[:n]
        results = run(k, spec.decomposition, outs, operands[n:])
        for out, result in zip(outs, results, strict=True):
            store(out, result)

    return kernel


def meta_of(operand: Any) -> Any:
    """Return the shape and dtype of an operand; convert lists and keep None."""
    if operand is None:
        return None
    if isinstance(operand, (list, tuple)):
        return tuple(map(meta_of, operand))
    return Meta(tuple(operand.shape), operand.dtype)
