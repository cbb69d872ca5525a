# SPDX-License-Identifier: MIT
"""`compare_kernels` measures the errors of installed kernel sets in ULP."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autocalc._dispatch.plugins.discovery import registry
from autocalc._dispatch.selection.choice import available
from autocalc._dispatch.selection.select import find_set
from autocalc._kernels.table import TABLE
from autocalc._tensor import dtypes as ac_dtypes
from autocalc.errors import ArgumentError, ConfigError
from autocalc.testing._comparison import Compared, Comparison

if TYPE_CHECKING:
    from autocalc._kernels.spec import DType, KernelSpec, Sample
    from autocalc.testing.conformance._subject import Subject

#: The default number of samples for each kernel and dtype.
SAMPLES = 12


def compare_kernels(
    *kernels: str,
    sets: Sequence[str] | None = None,
    dtypes: Sequence[Any] | None = None,
    samples: int | Sequence[str] | None = SAMPLES,
    layouts: Sequence[Sequence[str]] | None = None,
) -> Comparison:
    """Run kernels of all installed sets on the same operands and measure their errors.

    The correct result is that of the reference kernels, computed in float64 for float32
    and in long double for float64.  The error of an element is
    ``|result - right| / ulp(right)``, where right is the correct result, and one ULP is
    the distance between neighbouring numbers of the kernel's dtype.  A floating-point
    result is wrong if its error is larger than the kernel's error budget.  An integer
    result is wrong if it differs from the correct result.

    Operands are stored between guard bytes, once contiguously and once not, which finds
    kernels that read strides wrongly or write outside of their operands.  A kernel that
    crashes ends the process; ``pytest --pyargs autocalc.testing.conformance`` runs each
    kernel in a process of its own.

    Parameters
    ----------
    *kernels
        The names of kernels in the kernel table; by default all, which takes minutes.
    sets
        The names of kernel sets or families; by default all that run on this machine.
    dtypes
        The dtypes to test; by default all that the kernel supports.
    samples
        The number of small samples for each kernel and dtype, taken from the list of
        samples at even distances; or the labels of samples; or None for all samples.
    layouts
        The memory layouts of the operands.  The argument has one list of words for each
        run.  The first word is the layout of the outputs and of the first input, the
        second word is that of the second input, and so on; after the last word, the
        list begins again.  The words are contiguous, offset, strided, padded,
        transposed and channels-last.

    Returns
    -------
    Comparison
        The errors.  Print it for a table; ``failures`` are the calls that exceed their
        budget, and ``save`` writes a script that repeats the worst calls.

    Raises
    ------
    ConfigError
        If a kernel or a kernel set with a given name does not exist.
    ArgumentError
        If `samples` or `layouts` are not valid, or if no sample has a given label.

    Examples
    --------
    >>> import autocalc as ac
    >>> found = ac.testing.compare_kernels("exp", sets=["reference"], samples=4)
    >>> found.failures
    ()
    >>> max(row.ulp for row in found.rows) < 1
    True
    """
    specs = [_spec(name) for name in kernels or TABLE]
    subjects = _subjects(sets)
    wanted = None if dtypes is None else {ac_dtypes.as_dtype(d).numpy for d in dtypes}
    choose, places = _choice(samples), _places(layouts)
    rows: list[Compared] = []
    labels: set[str] = set()
    for spec in specs:
        owners = [s for s in subjects if spec.name in s.kernels]
        for dtype in spec.dtypes if owners else ():
            if wanted is None or dtype in wanted:
                chosen = choose(spec, dtype)
                labels.update(sample.label for sample in chosen)
                for i, sample in enumerate(chosen):
                    rows += _compared(owners, spec, dtype, sample, places(i))
    _expect_labels(samples, labels)
    refused = tuple(
        (r.subject, r.reason) for r in registry().refusals if ": " in r.subject
    )
    return Comparison(tuple(s.name for s in subjects), tuple(rows), refused)


# ---- arguments -----------------------------------------------------------------------


def _spec(name: str) -> KernelSpec:
    if name not in TABLE:
        raise ConfigError(
            f"compare_kernels: there is no kernel {name!r}; the table has "
            f"{', '.join(TABLE)}."
        )
    return TABLE[name]


def _subjects(sets: Sequence[str] | None) -> list[Subject]:
    from autocalc.testing.conformance import Subject

    if isinstance(sets, str):
        message = f"compare_kernels: `sets` is {sets!r}; give a list, [{sets!r}]."
        raise ArgumentError(message)
    found = registry()
    names = available() if sets is None else [find_set(found, s).name for s in sets]
    return [
        Subject(found.sets[name], found.kernels(name) or {})
        for name in dict.fromkeys(names)
    ]


def _choice(samples: Any) -> Callable[[KernelSpec, DType], list[Sample]]:
    """Return a function that selects samples of a kernel."""
    if samples is None:
        return lambda spec, dtype: list(_small(spec, dtype))
    if isinstance(samples, int) and not isinstance(samples, bool) and samples > 0:
        return lambda spec, dtype: _some(list(_small(spec, dtype)), samples)
    if isinstance(samples, (list, tuple)) and all(isinstance(s, str) for s in samples):
        from autocalc._kernels.samples import Make

        return lambda spec, dtype: [
            s for s in spec.samples(Make(dtype)) if s.label in samples
        ]
    raise ArgumentError(
        f"compare_kernels: `samples` is {samples!r}; give the number of samples, a "
        "list of labels, or None for all."
    )


def _small(spec: KernelSpec, dtype: DType) -> Iterator[Sample]:
    from autocalc._kernels.samples import Make
    from autocalc.testing.conformance._checks import is_large

    return (s for s in spec.samples(Make(dtype)) if not is_large(s))


def _some(samples: list[Sample], count: int) -> list[Sample]:
    """Return `count` samples spread over a list, including the first and the last."""
    last = len(samples) - 1
    if last < count:
        return samples
    steps = max(count - 1, 1)
    return [samples[last - (steps - i) * last // steps] for i in range(count)]


def _expect_labels(samples: Any, found: set[str]) -> None:
    if not isinstance(samples, (list, tuple)):
        return
    missing = [label for label in samples if label not in found]
    if missing:
        message = f"compare_kernels: none of these kernels has a sample {missing[0]!r}."
        raise ArgumentError(message)


def _places(layouts: Any) -> Callable[[int], Iterable[tuple[str, ...]]]:
    """Return a function that returns the layouts for a sample's number."""
    from autocalc.testing.conformance._checks import PLACES
    from autocalc.testing.conformance._memory import LAYOUTS

    if layouts is None:
        return lambda i: (("contiguous",), PLACES[i % len(PLACES)])
    given = [tuple(one) for one in layouts if not isinstance(one, str) and one]
    wrong = [word for one in given for word in one if word not in LAYOUTS]
    if len(given) < len(layouts) or not given or wrong:
        raise ArgumentError(
            f"compare_kernels: `layouts` is {layouts!r}; give a list of lists of the "
            f"words {', '.join(LAYOUTS)}."
        )
    return lambda _: given


# ---- running -------------------------------------------------------------------------


def _compared(
    owners: list[Subject],
    spec: KernelSpec,
    dtype: DType,
    sample: Sample,
    layouts: Iterable[tuple[str, ...]],
) -> Iterator[Compared]:
    """Yield the errors of each set in one call, for each layout of its operands."""
    from autocalc.testing.conformance._oracle import expected
    from autocalc.testing.conformance._subject import limits_of, shapes_of

    right = expected(spec, sample, dtype)
    limits = limits_of(spec, sample, dtype, right)
    shapes = shapes_of(sample)
    for places in layouts:
        for subject in owners:
            found = _measured(subject, spec, dtype, sample, places, right, limits)
            if found is not None:
                ulp, share, problem = found
                yield Compared(
                    *(spec.name, subject.name, dtype.name, sample.label, shapes),
                    *(places, ulp, share, problem),
                )


def _measured(
    subject: Subject,
    spec: KernelSpec,
    dtype: DType,
    sample: Sample,
    layouts: tuple[str, ...],
    right: tuple[Any, ...],
    limits: Any,
) -> tuple[float, float, str] | None:
    """Return ULP, the share of the budget and the problem; None if the set refuses."""
    from autocalc.testing.conformance import Refused

    try:
        outs = subject.run(spec, sample, dtype, layouts=layouts)
    except Refused:
        return None
    except AssertionError as error:
        return float("nan"), float("inf"), str(error)
    except Exception as error:
        return float("nan"), float("inf"), f"it raised {type(error).__name__}: {error}"
    ulp = _worst_ulp(spec, outs, right)
    subject.worst.clear()
    try:
        subject.judge(spec, sample, dtype, outs, right, limits=limits)
    except AssertionError as error:
        return ulp, float("inf"), str(error)
    if subject.disturbed:
        problem = f"it changed the floating-point state: {subject.disturbed}"
        return ulp, float("inf"), problem
    return ulp, subject.worst[spec.name, dtype.name].share, ""


def _worst_ulp(
    spec: KernelSpec, outs: tuple[Any, ...], right: tuple[Any, ...]
) -> float:
    """Return the largest error of all outputs; infinite if only one side is NaN."""
    from autocalc.testing.conformance._compare import compare
    from autocalc.testing.conformance._subject import pairs

    worst = 0.0
    for output, got, wanted in zip(spec.outputs, outs, right, strict=True):
        if got is None:
            continue
        boundless = [np.inf] * len(got) if isinstance(got, (list, tuple)) else np.inf
        for label, one, expected, limit in pairs(output.name, got, wanted, boundless):
            try:
                ulp, _ = compare(spec, label, one, expected, limit)
            except AssertionError:
                ulp = float("inf")
            worst = max(worst, ulp)
    return worst
