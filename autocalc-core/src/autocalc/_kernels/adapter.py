# SPDX-License-Identifier: MIT
"""Adapt references and decompositions to the calling convention of kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import copy_context
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from autocalc._kernels import xp as numpy_xp
from autocalc._kernels.kernel_set import Function
from autocalc._kernels.rules import FLOAT64, FLOATS
from autocalc._kernels.spec import Array, KernelSpec


def adapt(spec: KernelSpec) -> Function:
    """Turn a reference into a kernel: ``fn(*outputs, *inputs, *attributes)``."""
    single = len(spec.outputs) == 1 and not spec.outputs[0].is_list
    plain = single and not (spec.accumulates or spec.writes)
    plain = plain and not spec.outputs[0].optional
    kernel = _adapt_plain(spec) if plain else _adapt_general(spec)
    return _adapt_flushing(spec, kernel) if spec.flushes else kernel


def _adapt_flushing(spec: KernelSpec, kernel: Any) -> Function:
    """Make a kernel write 0 for subnormal numbers in the outputs of `spec.flushes`."""
    places = [i for i, o in enumerate(spec.outputs) if o.name in spec.flushes]

    def flushing(*operands: Any) -> None:
        kernel(*operands)
        for i in places:
            flush(operands[i])

    fresh = getattr(kernel, "fresh", None)
    if fresh is None:
        return flushing
    return _with_fresh(flushing, lambda *operands: flush(fresh(*operands)))


def flush(out: Any) -> Any:
    """Replace subnormal numbers by 0 of the same sign; return the array."""
    if isinstance(out, (list, tuple)):
        for one in out:
            flush(one)
    elif out is not None and out.dtype in FLOATS:
        small = np.abs(out) < np.finfo(out.dtype).tiny
        np.multiply(out, 0, out=out, where=small)
    return out


def _adapt_plain(spec: KernelSpec) -> Function:
    """Adapt a reference that returns one array."""
    reference = spec.reference
    if spec.free:

        def free(out: Array, *arguments: Any) -> None:
            before = silence()
            try:
                out[...] = reference(
                    numpy_xp, *arguments, shape=out.shape, dtype=out.dtype
                )
            finally:
                restore(before)

        return free
    sole, widens = _sole_ufunc(spec)
    if sole is not None:
        return _adapt_wide_ufunc(sole) if widens else _adapt_ufunc(sole)
    chosen = _chosen_ufuncs(spec)
    if chosen is not None:
        return _adapt_chosen(chosen)
    if spec.elementwise and not set(spec.dtypes) & set(FLOATS):
        # Operations on bits cause no warnings.
        def bits(out: Array, *arguments: Any) -> None:
            out[...] = reference(numpy_xp, *arguments)

        return _with_fresh(bits, partial(reference, numpy_xp))

    def kernel(out: Array, *arguments: Any) -> None:
        before = silence()
        try:
            # This is the same as `np.copyto` with casting="unsafe", in a fifth of the
            # time.  It warns if a value overflows in a narrower dtype, so it also runs
            # without warnings.
            out[...] = reference(numpy_xp, *arguments)
        finally:
            restore(before)

    return _with_fresh(kernel, partial(reference, numpy_xp))


def _with_fresh(kernel: Any, fresh: Callable[..., Any]) -> Function:
    """Attach to a kernel a function that returns its result instead of writing it.

    The attached function avoids a second array and a copy.  Its callers must know that
    its result for their operands is like the output that the kernel would get.  They
    call it with NumPy's warnings switched off.
    """
    kernel.fresh = fresh
    return kernel  # type: ignore[no-any-return]  # the kernel itself


def _adapt_ufunc(ufunc: Any) -> Function:
    """Adapt a reference that is one ufunc of its operands, which writes the output."""

    def one(out: Array, a: Array) -> None:
        before = silence()
        try:
            ufunc(a, out=out)
        except TypeError:  # the output's dtype has another kind
            out[...] = ufunc(a)
        finally:
            restore(before)

    def two(out: Array, a: Array, b: Array) -> None:  # `*operands` is a third slower
        before = silence()
        try:
            ufunc(a, b, out=out)
        except TypeError:
            out[...] = ufunc(a, b)
        finally:
            restore(before)

    return _with_fresh(one if ufunc.nin == 1 else two, ufunc)


def _adapt_wide_ufunc(ufunc: Any) -> Function:
    """Adapt a reference that is one ufunc in float64, rounded once."""

    def one(out: Array, a: Array) -> None:
        before = silence()
        try:
            out[...] = ufunc(a if a.dtype.itemsize >= 8 else a.astype(FLOAT64))
        finally:
            restore(before)

    def two(out: Array, a: Array, b: Array) -> None:
        before = silence()
        try:
            if a.dtype.itemsize < 8:
                a, b = a.astype(FLOAT64), b.astype(FLOAT64)
            out[...] = ufunc(a, b)
        finally:
            restore(before)

    def fresh(*operands: Array) -> Array:
        dtype = operands[0].dtype
        if dtype.itemsize >= 8:
            return ufunc(*operands)
        return ufunc(*[a.astype(FLOAT64) for a in operands]).astype(dtype)

    return _with_fresh(one if ufunc.nin == 1 else two, fresh)


def _adapt_chosen(ufuncs: dict[str, Any]) -> Function:
    """Adapt a reference that is one ufunc for each value of its attribute."""

    def one(out: Array, a: Array, word: str) -> None:
        before = silence()
        try:
            ufuncs[word](a, out=out)
        except TypeError:
            out[...] = ufuncs[word](a)
        finally:
            restore(before)

    def two(out: Array, a: Array, b: Array, word: str) -> None:
        before = silence()
        try:
            ufuncs[word](a, b, out=out)
        except TypeError:
            out[...] = ufuncs[word](a, b)
        finally:
            restore(before)

    def fresh(*given: Any) -> Array:
        *operands, word = given
        return ufuncs[word](*operands)

    some = next(iter(ufuncs.values()))
    return _with_fresh(one if some.nin == 1 else two, fresh)


class _Traced:
    """A placeholder for an operand or a result, which records how it was made."""

    def __init__(self, itemsize: int, *made: Any) -> None:
        self.made = made
        self.dtype = SimpleNamespace(itemsize=itemsize, char="")

    def astype(self, dtype: Any) -> _Traced:
        return _Traced(self.dtype.itemsize, "as", dtype, (self,))


class _Probe:
    """A namespace of ufuncs that record their arguments."""

    float64 = np.float64

    def __getattr__(self, name: str) -> Any:
        ufunc = getattr(np, name)
        if not isinstance(ufunc, np.ufunc):
            raise TypeError(name)
        return lambda *operands: _Traced(0, "call", ufunc, operands)


def _sole_ufunc(spec: KernelSpec) -> tuple[Any, bool]:
    """Return the ufunc that a reference applies to its operands, or None.

    The second result says whether narrower operands are converted to float64 first.
    """
    if not spec.elementwise or spec.attributes:
        return None, False
    return _ufunc_of(spec)


def _chosen_ufuncs(spec: KernelSpec) -> dict[str, Any] | None:
    """Return the ufuncs of a reference by the value of its attribute, or None."""
    if not spec.elementwise or [a.type for a in spec.attributes] != ["choice"]:
        return None
    found = {word: _ufunc_of(spec, word) for word in spec.attributes[0].choices}
    if any(ufunc is None or widens for ufunc, widens in found.values()):
        return None
    return {word: ufunc for word, (ufunc, _) in found.items()}


def _ufunc_of(spec: KernelSpec, *attributes: Any) -> tuple[Any, bool]:
    """Return the result of `_sole_ufunc` for a call with these attributes."""
    if len(spec.inputs) > 2:
        return None, False
    (ufunc, *of_narrow) = _traced(spec, 4, attributes)
    (other, *of_wide) = _traced(spec, 8, attributes)
    as_given, rounded = ["given", "given"], ["float64", "rounded"]
    if ufunc is other and of_wide in (as_given, ["given", "rounded"]):
        if of_narrow == of_wide == as_given:
            return ufunc, False
        if of_narrow == rounded:
            return ufunc, True
    return None, False


def _traced(spec: KernelSpec, itemsize: int, attributes: Any) -> list[Any]:
    """Return the single ufunc of a reference, its dtype and the dtype of its result."""
    operands = tuple([_Traced(itemsize) for _ in spec.inputs])
    try:
        found = spec.reference(_Probe(), *operands, *attributes)
    except (TypeError, AttributeError):  # not a single ufunc
        return [None, "", ""]
    given, computed = "given", "given"
    if isinstance(found, _Traced) and found.made[:2] == ("as", operands[0].dtype):
        (found,), given = found.made[2], "rounded"
    if not isinstance(found, _Traced) or found.made[:1] != ("call",):
        return [None, "", ""]
    _, ufunc, of = found.made
    if all(isinstance(x, _Traced) and x.made[:2] == ("as", np.float64) for x in of):
        of, computed = tuple([x.made[2][0] for x in of]), "float64"
    return [ufunc if of == operands else None, computed, given]


def _silencer() -> tuple[Callable[[], Any], Callable[[Any], object]]:
    """Return a function that silences NumPy's warnings, and one that undoes this.

    `np.seterr` sets one context variable; running it in a separate context reveals the
    variable and its value.  Setting this variable takes a tenth of the time of
    ``np.errstate``, or of running in another context.  For 16 elements, these take
    longer than the arithmetic.
    """
    if int(np.__version__.partition(".")[0]) >= 2:  # a context variable since NumPy 2
        before, after = copy_context(), copy_context()
        after.run(np.seterr, all="ignore")
        changed = [v for v in after if before.get(v) is not after[v]]
        if len(changed) == 1:
            variable = changed[0]
            return partial(variable.set, after[variable]), variable.reset
    return partial(np.seterr, all="ignore"), lambda state: np.seterr(**state)


silence, restore = _silencer()


def quietly(function: Any, *args: Any, **keywords: Any) -> Any:
    """Call a function of arrays without NumPy's warnings about overflow and NaN."""
    before = silence()
    try:
        return function(*args, **keywords)
    finally:
        restore(before)


def _adapt_general(spec: KernelSpec) -> Function:
    n = len(spec.outputs)
    reference = spec.reference
    optional = any(output.optional or output.is_list for output in spec.outputs)
    if not (optional or spec.accumulates or spec.writes or spec.free or n == 1):

        def plain(*operands: Any) -> None:
            before = silence()
            try:
                results = reference(numpy_xp, *operands[n:])
                for out, result in zip(operands, results, strict=False):
                    out[...] = result
            finally:
                restore(before)

        return plain
    run = call_of(spec)

    def kernel(*operands: Any) -> None:
        outs = operands[:n]
        before = silence()
        try:
            results = run(numpy_xp, reference, outs, operands[n:])
            for out, result in zip(outs, results, strict=True):
                if out.__class__ is np.ndarray:
                    out[...] = result
                else:
                    store(out, result)
        finally:
            restore(before)

    return kernel


def adapt_on(spec: KernelSpec, xp: Any) -> Function:
    """Turn a reference into a kernel for the device with the namespace `xp`.

    The numbers of a call may be 0-d NumPy arrays.
    """
    n = len(spec.outputs)
    reference, run = spec.reference, call_of(spec)

    def kernel(*operands: Any) -> None:
        outs = operands[:n]
        arguments = [_as_number(x) for x in operands[n:]]
        results = run(xp, reference, outs, arguments)
        for out, result in zip(outs, results, strict=True):
            store(out, result)

    return kernel


def _as_number(x: Any) -> Any:
    return x[()] if x.__class__ is np.ndarray and x.ndim == 0 else x


def call_of(spec: KernelSpec) -> Callable[..., tuple[Any, ...]]:
    """Make ``call(xp, function, outs, arguments)`` for a reference or decomposition.

    It arranges the operands of a kernel call for the function.  In-out operands come
    first.  If outputs are optional, the keyword `want` is passed.  Outputs to which
    results are added are passed by name.  If the spec is free, shape and dtype are
    passed.  The result has one entry for each output.
    """
    writes = [i for i, o in enumerate(spec.outputs) if o.name in spec.writes]
    names = [output.name for output in spec.outputs]
    has_optional = any(output.optional for output in spec.outputs)
    single = len(spec.outputs) == 1
    accumulates, free = bool(spec.accumulates), spec.free
    bits = [1 << i for i in range(len(spec.outputs))]

    def call(
        namespace: Any,
        function: Callable[..., Any],
        outs: tuple[Any, ...],
        arguments: Sequence[Any],
    ) -> tuple[Any, ...]:
        keywords: dict[str, Any] = {}
        if has_optional:
            want = 0
            for out, bit in zip(outs, bits, strict=True):
                if out is not None:
                    want |= bit
            keywords["want"] = want
        if accumulates:
            *arguments, mask = arguments
            if mask:
                added = [i for i in range(len(outs)) if mask >> i & 1]
                keywords |= {names[i]: outs[i] for i in added}
        if free:
            keywords |= {"shape": outs[0].shape, "dtype": outs[0].dtype}
        if writes:
            arguments = [*[outs[i] for i in writes], *arguments]
        result = function(namespace, *arguments, **keywords)
        return (result,) if single else tuple(result)

    return call


def store(out: Any, result: Any) -> None:
    """Copy a result into the caller's array or list of arrays."""
    if out is None:
        return
    if isinstance(out, (list, tuple)):
        for one_out, one in zip(out, result, strict=True):
            one_out[...] = one
    else:
        out[...] = result
