# SPDX-License-Identifier: MIT
"""References and decompositions in the calling convention of kernels."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from typing import Any

import numpy as np

from autocalc._kernels import xp as numpy_xp
from autocalc._kernels.kernel_set import Function
from autocalc._kernels.rules import FLOATS
from autocalc._kernels.spec import Array, KernelSpec


def adapt(spec: KernelSpec) -> Function:
    """Turn a reference into a kernel: ``fn(*outputs, *inputs, *attributes)``."""
    single = len(spec.outputs) == 1 and not spec.outputs[0].is_list
    plain = single and not (spec.accumulates or spec.writes)
    plain = plain and not spec.outputs[0].optional
    return _adapt_plain(spec) if plain else _adapt_general(spec)


def _adapt_plain(spec: KernelSpec) -> Function:
    """Adapt a reference that returns one array."""
    reference = spec.reference
    if spec.free:

        def free(out: Array, *arguments: Any) -> None:
            told = {"shape": out.shape, "dtype": out.dtype}
            quietly(_write, out, reference, *arguments, **told)

        return free
    sole = _sole_ufunc(spec)
    if sole is not None:
        return _adapt_ufunc(sole)
    if spec.elementwise and not set(spec.dtypes) & set(FLOATS):
        # Bits have nothing to warn of.
        def bits(out: Array, *arguments: Any) -> None:
            out[...] = reference(numpy_xp, *arguments)

        return bits

    def kernel(out: Array, *arguments: Any) -> None:
        quietly(_write, out, reference, *arguments)

    return kernel


def _adapt_ufunc(ufunc: Any) -> Function:
    """Adapt a reference that is one ufunc of its operands: it writes the output."""

    def kernel(out: Array, *operands: Array) -> None:
        try:
            quietly(ufunc, *operands, out=out)
        except TypeError:  # the output has a dtype of another kind
            quietly(_write, out, lambda _, *operands: ufunc(*operands), *operands)

    return kernel


def _write(out: Array, reference: Any, *arguments: Any, **told: Any) -> None:
    # What `np.copyto` does with casting="unsafe", in a fifth of the time.  It warns of
    # what overflows in a narrower dtype, so it is part of what runs quietly.
    out[...] = reference(numpy_xp, *arguments, **told)


class _Operand:
    """Stands for an operand; nothing can be done with it but to hand it on."""


class _Probe:
    """A namespace of ufuncs that tell what they were called with."""

    def __getattr__(self, name: str) -> Any:
        ufunc = getattr(np, name)
        if not isinstance(ufunc, np.ufunc):
            raise TypeError(name)
        return lambda *operands: (ufunc, operands)


def _sole_ufunc(spec: KernelSpec) -> Any:
    """Return the ufunc that a reference calls with its operands alone, or None."""
    operands = tuple([_Operand() for _ in spec.inputs])
    if not spec.elementwise or spec.attributes:
        return None
    try:
        found = spec.reference(_Probe(), *operands)
    except (TypeError, AttributeError):  # it does more
        return None
    if not isinstance(found, tuple) or found[1] != operands:
        return None
    return found[0]


class _Quiet(threading.local):
    """For each thread what runs functions in contexts in which NumPy does not warn."""

    def __init__(self) -> None:
        self.runs: list[Any] = []


_quiet = _Quiet()


def quietly(function: Any, *args: Any, **keywords: Any) -> Any:
    """Call a function of arrays whose overflows and NaN NumPy does not warn of.

    ``np.errstate(all="ignore")`` for each call takes more than 16 elements do.
    """
    runs = _quiet.runs
    run = runs.pop() if runs else _quiet_run()
    try:
        return run(function, *args, **keywords)
    finally:
        runs.append(run)


def _quiet_run() -> Any:
    """Return what runs a function in a context without warnings."""
    if int(np.__version__.partition(".")[0]) < 2:  # the state is not the context's

        def run(function: Any, *args: Any, **keywords: Any) -> Any:
            with np.errstate(all="ignore"):
                return function(*args, **keywords)

        return run
    context = copy_context()
    context.run(np.seterr, all="ignore")
    return context.run


def _adapt_general(spec: KernelSpec) -> Function:
    n = len(spec.outputs)
    reference = spec.reference
    run = call_of(spec)

    def kernel(*operands: Any) -> None:
        quietly(computed, operands[:n], operands[n:])

    def computed(outs: tuple[Any, ...], rest: tuple[Any, ...]) -> None:
        for out, result in zip(outs, run(numpy_xp, reference, outs, rest), strict=True):
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
            one_out[...] = one
    else:
        out[...] = result
