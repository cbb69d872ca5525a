# SPDX-License-Identifier: MIT
"""Decompositions of composite kernels that run as short programs.

A backward pass and a call that is recorded in a graph run these decompositions.  The
Python function around them runs in full.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from autocalc._dispatch.engine.eager import calls
from autocalc._dispatch.selection.provided import Compute
from autocalc._dispatch.selection.select import decomposed
from autocalc._kernels.spec import KernelSpec
from autocalc._ops._operator.traced import traced_call
from autocalc._tensor import make


@functools.cache
def composite(spec: KernelSpec) -> Compute | None:
    """Return a function that runs a composite as a short program, with calls in C."""
    if calls is None:
        return None
    count = len(spec.outputs)
    listed = any(operand.is_list for operand in spec.inputs)

    def definition(wanted: int, attributes: tuple[Any, ...], *tensors: Any) -> Any:
        operands = [_array_of(x) for x in tensors]
        found = decomposed(spec, operands, attributes, wanted)
        if count == 1:
            return make(found, None)
        kept = [one for i, one in enumerate(found) if wanted >> i & 1]
        return tuple([None if one is None else make(one, None) for one in kept])

    call: Any = traced_call(definition, writes=False, light=True)

    def compute(
        operands: Sequence[Any], attributes: tuple[Any, ...], wanted: int
    ) -> Any:
        if listed:
            tensors = [_tensor_of(x) for x in operands]
        else:
            tensors = [None if x is None else make(x, None) for x in operands]
        found = call(wanted, attributes, *tensors)
        if count == 1:
            return found._array
        kept = iter([None if x is None else x._array for x in found])
        return tuple([next(kept) if wanted >> i & 1 else None for i in range(count)])

    return compute


def _tensor_of(x: Any) -> Any:
    """Return a tensor around an array, or tensors around several."""
    if x.__class__ is list or x.__class__ is tuple:
        return [_tensor_of(one) for one in x]
    return None if x is None else make(x, None)


def _array_of(x: Any) -> Any:
    """Return the array of a tensor, or the arrays of several."""
    if x.__class__ is list:
        return [_array_of(one) for one in x]
    return None if x is None else x._array
