# SPDX-License-Identifier: MIT
"""The call of a kernel whose operands are batched arrays.

A *batching rule* computes what a kernel computes for each example, by calls of kernels
for all examples.  Its call has the examples in the first dimension.  If a kernel has no
rule, or its rule declines a call, its decomposition runs on the batched arrays.  The
last resort is a loop over the examples.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from autocalc._batching.short_paths import short_path
from autocalc._dispatch.device.batches import (
    Batched,
    Levels,
    memory,
    shared_by_examples,
)
from autocalc._dispatch.device.device import DeviceArray, DeviceDType, repeated
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.provided import provide
from autocalc._kernels.adapter import call_of
from autocalc._kernels.spec import KernelSpec
from autocalc.errors import VmapError, VmapWarning

#: What a rule returns to leave a call to the decomposition or to the loop.
DECLINED = None

#: The names of kernels that ran in a loop over the examples.
_LOOPED: dict[str, None] = {}


class Call:
    """One call, with the examples in the first dimension of each batched operand.

    Attributes
    ----------
    spec, attributes
        The kernel, and the attributes of its call for one example.
    size
        The number of examples, over all levels.
    inputs
        For each input: an array, a list of arrays, or None.
    batched
        For each input: whether its first dimension counts the examples.
    shapes, dtypes
        For each output: the shape and NumPy's dtype of one example, or None if it is
        not wanted.
    want
        The wanted outputs, as a bit mask.
    """

    __slots__ = ("attributes", "batched", "dtypes", "free", "inputs", "shapes",
                 "size", "spec", "want")  # fmt: skip

    def __init__(
        self,
        spec: KernelSpec,
        size: int,
        outs: Sequence[Any],
        inputs: Sequence[tuple[Any, bool]],
        attributes: tuple[Any, ...],
    ) -> None:
        self.spec, self.size, self.attributes = spec, size, attributes
        self.inputs = [x for x, _ in inputs]
        self.batched = [batched for _, batched in inputs]
        self.shapes: list[Any] = [None if out is None else out.shape for out in outs]
        self.dtypes: list[Any] = [None if out is None else _numpy(out) for out in outs]
        self.want = sum(1 << i for i, out in enumerate(outs) if out is not None)
        self.free = (outs[0].shape, _numpy(outs[0])) if spec.free else None

    def run(self, *args: Any, shape: Any = None) -> tuple[Any, ...]:
        """Run the kernel once; return all outputs, with None for unwanted ones."""
        kernel, wants = _called_as(self.spec)
        words: dict[str, Any] = {"want": self.want} if wants else {}
        if self.free is not None:
            words |= {"shape": shape, "dtype": self.free[1]}
            if self.spec.name == "fill":
                return (arrays.copy(args[0], into=arrays.empty(shape, self.free[1])),)
        found = kernel(*args, **words)
        return tuple(found) if isinstance(found, (tuple, list)) else (found,)

    def only(self, *places: int) -> bool:
        """Return whether no other inputs than those at `places` are batched."""
        return not any(b for i, b in enumerate(self.batched) if i not in places)

    def full(self, i: int) -> Any:
        """Return input `i` with the examples in front, repeated if it is not batched.

        An absent input stays None.
        """
        x = self.inputs[i]
        if x is None or self.batched[i]:
            return x
        return arrays.expand(x, (self.size, *x.shape))

    def ndim(self, i: int) -> int:
        """Return the number of dimensions that input `i` has for one example."""
        ndim: int = self.inputs[i].ndim
        return ndim - self.batched[i]


@lru_cache(None)
def _called_as(spec: KernelSpec) -> tuple[Any, bool]:
    """Return the function that calls a kernel, and whether it takes `want`."""
    return getattr(arrays, spec.name), any(x.optional for x in spec.outputs)


Rule = Callable[[Call], Any]

#: The rules by the names of kernels.
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register the batching rule of some kernels."""

    def decorate(function: Rule) -> Rule:
        for name in names:
            RULES[name] = function
        return function

    return decorate


@lru_cache(None)
def batched_kernel(spec: KernelSpec) -> Callable[..., None]:
    """Return the kernel of a spec for batched arrays, in the form of all kernels."""
    n, m = len(spec.outputs), len(spec.inputs)
    found = RULES.get(spec.name)
    if found is None and spec.elementwise:
        found = RULES["elementwise"]
    short = short_path(spec)

    def kernel(*operands: Any) -> None:
        if short is not None and short(*operands):
            return
        outs, rest = operands[:n], operands[n:]
        if spec.writes:
            _written(spec, outs, rest)
            return
        inputs, attributes = rest[:m], rest[m:]
        mask = 0
        if spec.accumulates:
            attributes, mask = attributes[:-1], attributes[-1]
        levels = _levels_of(outs, inputs)
        _check_outputs(spec, outs, levels)
        pairs = [_lined_up(x, levels) for x in inputs]
        size = levels[0].size if len(levels) == 1 else _size(levels)
        call = Call(spec, size, outs, pairs, attributes)
        results = _results(found, call)
        if results is DECLINED:
            results = _decomposed(spec, outs, rest) or _looped(call)
        for i, out in enumerate(outs):
            if out is not None:
                _put(out, results[i], mask >> i & 1, _is_fresh(results[i], call))

    return kernel


def _results(found: Rule | None, call: Call) -> Any:
    """Return the results of a rule; if no operand is batched, those of one call."""
    if not call.size:
        pairs = zip(call.shapes, call.dtypes, strict=True)
        return [None if s is None else arrays.empty((0, *s), d) for s, d in pairs]
    if any(call.batched):
        return DECLINED if found is None else found(call)
    shape = call.free and call.free[0]
    results = call.run(*call.inputs, *call.attributes, shape=shape)
    return [
        None if x is None else arrays.expand(x, (call.size, *x.shape)) for x in results
    ]


def _levels_of(outs: Sequence[Any], inputs: Sequence[Any]) -> Levels:
    """Return the levels of all operands, by their numbers."""
    found: Levels = ()
    stack = [*outs, *inputs]
    while stack:
        x = stack.pop()
        if x.__class__ is DeviceArray:
            levels = x.raw.levels
            if levels != found:
                found = _united(found, levels) if found else levels
        elif x.__class__ in (list, tuple):
            stack += x
    return found


def _size(levels: Levels) -> int:
    return math.prod([level.size for level in levels])


def _united(a: Levels, b: Levels) -> Levels:
    return tuple(sorted({*a, *b}, key=lambda level: level.number))


def _numpy(out: Any) -> Any:
    return out.dtype.numpy if out.__class__ is DeviceArray else out.dtype


def _check_outputs(spec: KernelSpec, outs: Sequence[Any], levels: Levels) -> None:
    """Raise if a result of all examples would go into memory that has no room."""
    for out in outs:
        one = out[0] if isinstance(out, (list, tuple)) and out else out
        if one is None or (one.__class__ is DeviceArray and one.raw.levels == levels):
            continue
        raise shared_by_examples(spec.name, one.shape)


def _lined_up(x: Any, levels: Levels) -> tuple[Any, bool]:
    """Return an operand with all levels as its first dimension, and whether it is so.

    If all examples are the same memory, the operand counts as shared by them.
    """
    if x.__class__ in (list, tuple):
        pairs = [_lined_up(one, levels) for one in x]
        if not any(batched for _, batched in pairs):
            return [one for one, _ in pairs], False
        size = _size(levels)
        return [one if batched else arrays.expand(one, (size, *one.shape))
                for one, batched in pairs], True  # fmt: skip
    if x.__class__ is not DeviceArray:
        return x, False
    raw: Batched = x.raw
    data = raw.data
    if not data.strides[0] and raw.is_same and data.size:
        first = (*(0,) * len(raw.levels), ...)
        return data[first], False
    if len(levels) == 1:
        return data, True
    if raw.levels == levels and data.flags.c_contiguous:
        return data.reshape(-1, *raw.shape) if data.size else _flat(x, levels), True
    at = tuple([slice(None) if one in raw.levels else None for one in levels])
    sizes = tuple([level.size for level in levels])
    data = arrays.expand(arrays.slice(data, (*at, Ellipsis)), (*sizes, *raw.shape))
    return arrays.reshape(data, (math.prod(sizes), *raw.shape)), True


def _is_fresh(result: Any, call: Call) -> bool:
    """Return whether the memory of a result is that of no operand."""
    if isinstance(result, (list, tuple)) or not result.flags.writeable:
        return False
    for x in call.inputs:
        if x is not None and x.__class__ is not list and arrays.may_overlap(result, x):
            return False
    return True


def _put(out: Any, result: Any, add: int, fresh: bool) -> None:
    """Store the result of an output, or add it to what is there."""
    if isinstance(out, (list, tuple)):
        for one, value in zip(out, result, strict=True):
            _put(one, value, add, fresh)
        return
    raw: Batched = out.raw
    missing = len(out.shape) + 1 - result.ndim
    if missing > 0:  # a copy broadcasts to its output
        ones = (1,) * missing
        result = arrays.reshape(result, (result.shape[0], *ones, *result.shape[1:]))
        result = arrays.expand(result, (result.shape[0], *out.shape))
    if len(raw.levels) > 1:
        result = arrays.reshape(result, (*raw.sizes, *raw.shape))
    if add:
        arrays.add(raw.data, result, into=raw.data)
    elif not (fresh and raw.give(result)):
        arrays.copy(result, into=raw.data)


def _decomposed(spec: KernelSpec, outs: Sequence[Any], rest: tuple[Any, ...]) -> Any:
    """Return the results of the decomposition for batched operands, if there is one."""
    if spec.decomposition is None:
        return DECLINED
    if spec.accumulates:
        rest = (*rest[:-1], 0)
    n = len(spec.inputs)
    place = next(out for out in outs if out is not None).dtype
    # A decomposition makes arrays like its first operand, and writes into them.
    rest = (*[_at(place, x) for x in rest[:n]], *rest[n:])
    results = call_of(spec)(arrays, spec.decomposition, tuple(outs), rest)
    return [_batched_as(out, x) for out, x in zip(outs, results, strict=True)]


def _at(place: DeviceDType, x: Any) -> Any:
    """Return an operand with the levels of a place."""
    if x.__class__ in (list, tuple):
        return [_at(place, one) for one in x]
    if x is None:
        return None
    kind = place.of(_numpy(x))
    return x if x.dtype is kind else repeated(x, kind)


def _batched_as(out: Any, result: Any) -> Any:
    """Return the result of a decomposition with the examples in front."""
    if out is None or result is None:
        return None
    levels = out.raw.levels
    found, batched = _lined_up(result, levels)
    if batched:
        return found
    return arrays.expand(found, (math.prod(out.raw.sizes), *found.shape))


def _looped(call: Call) -> Any:
    """Return the results of one call for each example, joined."""
    name = call.spec.name
    if name not in _LOOPED:
        _LOOPED[name] = None
        warnings.warn(
            f"vmap: {name} has no batching rule and runs once for each example. "
            f"ac.func.loops() lists these kernels.",
            VmapWarning,
            stacklevel=2,
        )
    found = []
    for b in range(call.size):
        pairs = zip(call.inputs, call.batched, strict=True)
        one = [_example(x, batched, b) for x, batched in pairs]
        shape = call.free and call.free[0]
        found.append(call.run(*one, *call.attributes, shape=shape))
    return [
        None if columns[0] is None else arrays.stack(columns, 0)
        for columns in zip(*found, strict=True)
    ]


def _example(x: Any, batched: bool, b: int) -> Any:
    if not batched:
        return x
    if isinstance(x, list):
        return [arrays.slice(one, (b, Ellipsis)) for one in x]
    return arrays.slice(x, (b, Ellipsis))


def _written(spec: KernelSpec, outs: Sequence[Any], rest: tuple[Any, ...]) -> None:
    """Run a kernel that updates its operands, once for each example."""
    n = len(spec.inputs)
    inputs, attributes = rest[:n], rest[n:]
    levels = _levels_of(outs, inputs)
    _check_outputs(spec, outs, levels)
    pairs = [_lined_up(x, levels) for x in inputs]
    kernel = getattr(arrays, spec.name)
    targets = [_flat(out, levels) for out in outs]
    for b in range(_size(levels)):
        mine = [_example(x, True, b) for x in targets]
        kernel(*mine, *[_example(x, batched, b) for x, batched in pairs], *attributes)


def _flat(out: Any, levels: Levels) -> Any:
    """Return the memory of an output with one dimension for all examples."""
    if isinstance(out, (list, tuple)):
        return [_flat(one, levels) for one in out]
    data = out.raw.data
    size = _size(levels)
    seen = data.reshape(size, *out.shape)
    if seen.size and not arrays.may_overlap(seen, data):
        raise VmapError(
            "vmap: a view of nested batches cannot be written in place; clone() it."
        )
    return seen


def loops() -> list[str]:
    """Return the kernels that ran in a loop over the examples of `vmap`.

    Examples
    --------
    >>> import autocalc as ac
    >>> isinstance(ac.func.loops(), list)
    True
    """
    return list(_LOOPED)


provide(batched=batched_kernel)
memory.empty = arrays.empty
