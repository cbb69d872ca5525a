# SPDX-License-Identifier: MIT
"""The checks; each tests one promise of a kernel over the samples of its spec."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from autocalc._dispatch.plugins.precision import matmul_precision
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.choice import count, use
from autocalc._dispatch.selection.upcast import computed_in
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import DType, KernelSpec, Sample
from autocalc.errors import KernelDataError
from autocalc.testing.conformance import _floating_point as floating_point
from autocalc.testing.conformance._device import dtype_of_set, placed
from autocalc.testing.conformance._halves import samples_of
from autocalc.testing.conformance._memory import Memory, expanded
from autocalc.testing.conformance._oracle import expected as expected_of
from autocalc.testing.conformance._subject import (
    Inapplicable,
    Refused,
    Subject,
    limits_of,
    output_metas,
    shapes_of,
    smallest_normal,
)
from autocalc.testing.conformance._watch import running

Check = Callable[[Subject, KernelSpec, DType], None]

#: The name of a kernel -> its input of indices, and the size that they select from.
INDICES: dict[str, tuple[str, Callable[[Sample], int]]] = {
    "gather": ("index", lambda s: int(s.inputs[0].shape[s.attributes[0]])),
    "scatter_add": ("index", lambda s: int(s.inputs[0].shape[s.attributes[0]])),
    "scatter": ("index", lambda s: int(s.inputs[0].shape[s.attributes[0]])),
    "index_copy": ("index", lambda s: int(s.inputs[0].shape[s.attributes[0]])),
    "index_select": ("index", lambda s: int(s.inputs[0].shape[s.attributes[0]])),
    "index_add": ("index", lambda s: int(s.inputs[0].shape[s.attributes[0]])),
    "embedding": ("indices", lambda s: int(s.inputs[0].shape[0])),
    "embedding_backward": ("indices", lambda s: int((s.shape or (0,))[0])),
    "max_pool_backward": ("indices", lambda s: math.prod(s.attributes[0])),
    "cross_entropy": ("target", lambda s: int(s.inputs[0].shape[1])),
}

#: Kernels of matrices [..., m, n].  Repeated rows would make the matrices singular, and
#: then their factors are not unique.
OF_MATRICES = frozenset(
    {"inv", "solve", "det", "slogdet", "cofactor", "cholesky", "qr", "svd", "eigh"}
    | {"pinv", "cofactor_derivative", "eig"}
)

#: The layouts of operands, in rotation; the first one is for the output and the first
#: input.
PLACES = (
    ("offset",),
    ("transposed",),
    ("strided", "padded"),
    ("padded", "contiguous", "offset"),
    ("contiguous", "transposed", "strided"),
)


class Case(NamedTuple):
    """A call, its expected results, and the errors that are allowed."""

    sample: Sample
    expected: tuple[Any, ...]
    limits: Any
    accumulate: int = 0
    prior: tuple[Any, ...] = ()


def case_of(
    spec: KernelSpec,
    sample: Sample,
    dtype: DType,
    accumulate: int = 0,
    prior: tuple[Any, ...] = (),
) -> Case:
    """Compute the expected results of a call."""
    expected = expected_of(spec, sample, dtype, accumulate, prior)
    limits = limits_of(spec, sample, dtype, expected)
    return Case(sample, expected, limits, accumulate, prior)


# Computing the expected results takes longer than the kernels themselves.  The results
# are cached until the next kernel, because all checks and all sets use them.


@functools.lru_cache(maxsize=1)
def cases(spec: KernelSpec, dtype: DType) -> tuple[Case, ...]:
    """Return the spec's samples for a dtype, each with its expected results."""
    return tuple(case_of(spec, sample, dtype) for sample in samples_of(spec, dtype))


@functools.lru_cache(maxsize=1)
def repeated_cases(spec: KernelSpec, dtype: DType) -> tuple[Case, ...]:
    """Return every third small case, with inputs that repeat along an axis."""
    return tuple(
        case_of(spec, repeated, dtype)
        for case in cases(spec, dtype)[::3]
        if not is_large(case.sample)
        for repeated in _repeated(spec, case.sample)
    )


@functools.lru_cache(maxsize=1)
def accumulated_cases(spec: KernelSpec, dtype: DType) -> tuple[Case, ...]:
    """Return the small cases, with each combination of outputs accumulated."""
    able = [i for i, o in enumerate(spec.outputs) if o.name in spec.accumulates]
    make = Make(computed_in(dtype), seed=1)
    found = []
    for sample in samples(spec, dtype):
        if is_large(sample):
            continue
        metas = output_metas(spec, sample, dtype)
        wanted = [i for i in able if _is_wanted(spec, sample, i)]
        for chosen in product((0, 1), repeat=len(wanted)):
            mask = sum(bit << i for i, bit in zip(wanted, chosen, strict=True))
            if mask == 0:
                continue
            prior = tuple(
                make.normal(*meta.shape).astype(meta.dtype) if mask >> i & 1 else None
                for i, meta in enumerate(metas)
            )
            found.append(case_of(spec, sample, dtype, mask, prior))
    return tuple(found)


def samples(spec: KernelSpec, dtype: DType) -> list[Sample]:
    """Return the spec's samples for a dtype; they are the same in each call."""
    return [case.sample for case in cases(spec, dtype)]


def is_large(sample: Sample) -> bool:
    """Return whether a sample is large enough for several threads."""
    return sample.label.startswith("large")


def flushed(spec: KernelSpec, case: Case, dtype: DType) -> Case:
    """Return the case with 0 instead of subnormal numbers in the inputs."""
    tiny = smallest_normal(dtype)

    def without(x: Any) -> Any:
        if isinstance(x, (list, tuple)):
            return [without(one) for one in x]
        if x is None or x.dtype.kind != "f":
            return x
        small = (np.abs(x) < tiny) & (x != 0)
        return np.where(small, np.copysign(0, x), x) if small.any() else x

    inputs = tuple(map(without, case.sample.inputs))
    if all(a is b for a, b in zip(inputs, case.sample.inputs, strict=True)):
        return case
    sample = case.sample._replace(inputs=inputs)
    return case_of(spec, sample, dtype, case.accumulate, case.prior)


class Judged:
    """Runs and counts calls, judges results, and names the sample in a failure."""

    def __init__(self, subject: Subject, spec: KernelSpec, dtype: DType) -> None:
        self.subject, self.spec, self.dtype = subject, spec, dtype
        self.calls = 0
        self.refusal: Refused | None = None

    def __call__(self, case: Case, **how: Any) -> None:
        if self.subject.flushes:
            case = flushed(self.spec, case, self.dtype)
        sample, accumulate = case.sample, case.accumulate
        if accumulate:
            how["accumulate"] = accumulate
        details = "".join(f", {key}={value}" for key, value in how.items())
        try:
            with self.named(sample, details):
                outs = self.subject.run(
                    self.spec, sample, self.dtype, prior=case.prior, **how
                )
                self.judge(case, outs)
        except Refused as refused:
            self.refusal = refused
            optional = [o.optional for o in self.spec.outputs]
            left_out = sum(bit << i for i, bit in enumerate(optional))
            needed = accumulate & left_out
            if sample.want and not needed and not all(optional):
                self(case._replace(sample=sample._replace(want=0)), **how)
            return
        self.calls += 1

    def judge(self, case: Case, outs: tuple[Any, ...]) -> None:
        """Raise if the outputs differ too much from the expected results."""
        self.subject.judge(
            *(self.spec, case.sample, self.dtype, outs, case.expected, case.prior),
            limits=case.limits,
        )

    @contextmanager
    def named(self, sample: Sample, details: str = "") -> Iterator[None]:
        """Add the kernel, sample, set and shapes to failures in the block."""
        try:
            yield
        except (AssertionError, KernelDataError) as error:
            raised = "" if isinstance(error, AssertionError) else "the kernel raised "
            raise AssertionError(
                f"{self.spec.name} on {sample.label!r}{details}: {raised}{error} "
                f"(kernel set {self.subject.name}, operands {shapes_of(sample)})"
            ) from None

    def finish(self, nothing: str) -> None:
        """Raise `Inapplicable` if no call was made."""
        if not self.calls:
            reason = nothing if self.refusal is None else f"refused: {self.refusal}"
            raise Inapplicable(reason)


def check_values(subject: Subject, spec: KernelSpec, dtype: DType) -> None:
    """Each sample with contiguous, aligned operands is within the budget."""
    judged = Judged(subject, spec, dtype)
    for case in cases(spec, dtype):
        judged(case)
    judged.finish("no samples")


def check_layouts(subject: Subject, spec: KernelSpec, dtype: DType) -> None:
    """Unaligned, strided, transposed and repeated operands have the same results."""
    judged = Judged(subject, spec, dtype)
    for i, case in enumerate(cases(spec, dtype)):
        if not is_large(case.sample):
            for places in (PLACES[i % 5], PLACES[(i + 2) % 5]):
                judged(case, layouts=places)
            if any(getattr(x, "ndim", 0) == 4 for x in case.sample.inputs):
                judged(case, layouts=("channels-last",))
    for case in repeated_cases(spec, dtype):
        judged(case)
    judged.finish("no samples")


def _repeated(spec: KernelSpec, sample: Sample) -> Iterator[Sample]:
    """Yield the sample with one input, or all inputs, repeated along an axis."""
    n = len(spec.writes)
    inner = 2 if spec.name in OF_MATRICES else 0
    for axis in (0,) if inner else (0, -1):
        inputs = [
            expanded(a, axis % a.ndim)
            if i >= n
            and isinstance(a, np.ndarray)
            and a.ndim > inner
            and a.shape[axis] > 1
            else a
            for i, a in enumerate(sample.inputs)
        ]
        if any(a is not b for a, b in zip(inputs, sample.inputs, strict=True)):
            label = f"{sample.label}, repeated along axis {axis}"
            yield sample._replace(label=label, inputs=tuple(inputs))


def check_absent_outputs(subject: Subject, spec: KernelSpec, dtype: DType) -> None:
    """Each combination of optional outputs can be left out."""
    optional = [i for i, output in enumerate(spec.outputs) if output.optional]
    judged = Judged(subject, spec, dtype)
    for case in cases(spec, dtype):
        sample = case.sample
        given = [i for i in optional if sample.want >> i & 1]
        for chosen in product((0, 1), repeat=len(given)):
            want = sum(bit << i for i, bit in zip(given, chosen, strict=True))
            if want == sample.want or is_large(sample):
                continue
            if want or len(optional) < len(spec.outputs):
                judged(case._replace(sample=sample._replace(want=want)))
    judged.finish("no samples")


def check_accumulation(subject: Subject, spec: KernelSpec, dtype: DType) -> None:
    """Results can be added to each combination of outputs."""
    judged = Judged(subject, spec, dtype)
    for case in accumulated_cases(spec, dtype):
        judged(case)
    judged.finish("no samples")


def _is_wanted(spec: KernelSpec, sample: Sample, i: int) -> bool:
    return not spec.outputs[i].optional or bool(sample.want >> i & 1)


def check_aliasing(subject: Subject, spec: KernelSpec, dtype: DType) -> None:
    """An output may share the memory of each input for which the spec allows it."""
    judged = Judged(subject, spec, dtype)
    names = [operand.name for operand in spec.inputs]
    for case in cases(spec, dtype):
        out = output_metas(spec, case.sample, dtype)[0]
        for _, name in spec.alias:
            a = case.sample.inputs[names.index(name)]
            if a is not None and (a.shape, a.dtype) == (out.shape, out.dtype):
                judged(case, alias=name)
    judged.finish("no sample has an output like an input")


def check_bad_indices(subject: Subject, spec: KernelSpec, dtype: DType) -> None:
    """An index out of range raises `KernelDataError` with the operand and value."""
    name, size_of = INDICES[spec.name]
    position = [operand.name for operand in spec.inputs].index(name)
    calls = 0
    for sample in samples(spec, dtype):
        if not sample.inputs[position].size:
            continue
        size, index = size_of(sample), sample.inputs[position]
        for value, element in ((-1, 0), (size, index.size - 1), (2**40, 0)):
            bad = index.copy()
            bad.reshape(-1)[element] = value
            inputs = list(sample.inputs)
            inputs[position] = bad
            wrong = sample._replace(inputs=tuple(inputs))
            try:
                _expect_data_error(subject, spec, dtype, wrong, name, element, value)
            except Refused:
                continue
            calls += 1
    if not calls:
        raise Inapplicable("every call is refused")


def _expect_data_error(
    subject: Subject,
    spec: KernelSpec,
    dtype: DType,
    sample: Sample,
    name: str,
    element: int,
    value: int,
) -> None:
    where = f"{spec.name} on {sample.label!r}, `{name}` element {element} = {value}"
    try:
        subject.run(spec, sample, dtype)
    except KernelDataError as error:
        if f"`{name}` holds {value} at element {element}," not in str(error):
            message = (
                f"{where}: the error does not name the operand and the value: {error}"
            )
            raise AssertionError(message) from error
        return
    raise AssertionError(
        f"{where}: the kernel accepted it; it must raise KernelDataError"
    )


def check_environment(subject: Subject, spec: KernelSpec, dtype: DType) -> None:
    """A call does not change the floating-point state: rounding and subnormals."""
    calls = 0
    chosen = [s for s in samples(spec, dtype) if not is_large(s)][:8]
    chosen += list(filter(is_large, samples(spec, dtype)))[:1]
    for sample in chosen:
        _expect_default(spec, sample)
        try:
            subject.run(spec, sample, dtype)
        except Refused:
            continue
        calls += 1
        if subject.disturbed:
            raise AssertionError(
                f"{spec.name} on {sample.label!r} changed the floating-point state of "
                f"its thread: {subject.disturbed}; restore the state that was set at "
                "its start"
            )
    if not calls:
        raise Inapplicable("every call is refused")


def _expect_default(spec: KernelSpec, sample: Sample) -> None:
    """Raise if the default state cannot be set, because the check would be void."""
    floating_point.restore()
    before = floating_point.deviation()
    if before:
        raise AssertionError(
            f"{spec.name} on {sample.label!r}: before the call, {before}, and this "
            "cannot be restored here; test this kernel in a separate run"
        )


def check_dispatch(subject: Subject, spec: KernelSpec, dtype: DType) -> None:
    """If the dispatcher selects this set, only this set runs the call, exactly once."""
    calls = 0
    for sample in [s for s in samples(spec, dtype) if not is_large(s)][:6]:
        try:
            subject.run(spec, sample, dtype)
        except Refused:
            continue
        there = dtype_of_set(subject.kernel_set, dtype)
        free = {"shape": sample.shape, "dtype": there} if spec.free else {}
        want = {} if _is_quick(spec) else {"want": sample.want}
        memory = Memory()
        inputs = [
            placed(subject.kernel_set, memory.copies(operand, "contiguous"))
            for operand in sample.inputs
        ]
        label = f"{spec.name} ({dtype}) on {sample.label!r}, dispatched,"
        with (
            matmul_precision(subject.kernel_set.precision),
            use(subject.name, only=True),
            count() as counter,
            running(label),
        ):
            getattr(arrays, spec.name)(*inputs, *sample.attributes, **want, **free)
        floating_point.restore()
        calls += 1
        if dict(counter) != {(spec.name, subject.name): 1}:
            raise AssertionError(
                f"{spec.name} on {sample.label!r}: the set was chosen through "
                f"use({subject.name!r}, only=True), but {dict(counter)} ran"
            )
    if not calls:
        raise Inapplicable("every call is refused")


def _is_quick(spec: KernelSpec) -> bool:
    """Return whether the call has no keywords: no optional operand, no attribute."""
    return not any(output.optional for output in spec.outputs)
