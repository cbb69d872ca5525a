# SPDX-License-Identifier: MIT
"""References and decompositions in the calling convention of kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autocalc._kernels import xp as numpy_xp
from autocalc._kernels.kernel_set import Function
from autocalc._kernels.rules import FLOATS
from autocalc._kernels.spec import Array, KernelSpec


def adapt(spec: KernelSpec) -> Function:
    """Turn a reference into a kernel: ``fn(*outputs, *inputs, *attributes)``."""
    single = len(spec.outputs) == 1 and not spec.outputs[0].is_list
    plain = single and not (spec.accumulates or spec.writes or spec.free)
    return _adapt_plain(spec) if plain else _adapt_general(spec)


def _adapt_plain(spec: KernelSpec) -> Function:
    """Adapt a reference that returns one array."""
    reference = spec.reference
    if spec.elementwise and not set(spec.dtypes) & set(FLOATS):
        # Bits have nothing to warn of, and to say so takes longer than 16 of them.
        return lambda out, *arguments: np.copyto(
            out, reference(numpy_xp, *arguments), casting="unsafe"
        )

    def kernel(out: Array, *arguments: Any) -> None:
        with np.errstate(all="ignore"):
            np.copyto(out, reference(numpy_xp, *arguments), casting="unsafe")

    return kernel


def _adapt_general(spec: KernelSpec) -> Function:
    n = len(spec.outputs)
    reference = spec.reference
    run = call_of(spec)

    def kernel(*operands: Any) -> None:
        outs = operands[:n]
        with np.errstate(all="ignore"):
            results = run(numpy_xp, reference, outs, operands[n:])
            for out, result in zip(outs, results, strict=True):
                store(out, result)

    return kernel


def call_of(spec: KernelSpec) -> Callable[..., tuple[Any, ...]]:
    """Make ``call(xp, function, outs, arguments)`` for a reference or decomposition.

    It arranges the operands of a kernel call as the function takes them: in-out
    operands first, `want` where outputs are optional, what is added into by name,
    shape and dtype where the spec is free.  The answer has one entry per output.
    """
    writes = [i for i, o in enumerate(spec.outputs) if o.name in spec.writes]
    has_optional = any(output.optional for output in spec.outputs)
    single = len(spec.outputs) == 1

    def call(
        namespace: Any,
        function: Callable[..., Any],
        outs: tuple[Any, ...],
        arguments: Sequence[Any],
    ) -> tuple[Any, ...]:
        keywords: dict[str, Any] = {}
        if has_optional:
            keywords["want"] = sum(1 << i for i, o in enumerate(outs) if o is not None)
        if spec.accumulates:
            *arguments, mask = arguments
            keywords |= {
                output.name: outs[i]
                for i, output in enumerate(spec.outputs)
                if mask >> i & 1
            }
        if spec.free:
            keywords |= {"shape": outs[0].shape, "dtype": outs[0].dtype}
        written = [outs[i] for i in writes]
        result = function(namespace, *written, *arguments, **keywords)
        return (result,) if single else tuple(result)

    return call


def store(out: Any, result: Any) -> None:
    """Copy a result into the caller's array or list of arrays."""
    if out is None:
        return
    if isinstance(out, (list, tuple)):
        for one_out, one in zip(out, result, strict=True):
            np.copyto(one_out, one, casting="unsafe")
    else:
        np.copyto(out, result, casting="unsafe")
