# SPDX-License-Identifier: MIT
"""The kernel set under test; runs and counts calls, and stores the worst errors."""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from autocalc._dispatch.engine import native
from autocalc._dispatch.machine.thread_budget import get_num_threads
from autocalc._dispatch.plugins.discovery import registry
from autocalc._dispatch.plugins.trust import trusting
from autocalc._dispatch.selection.call import KernelCall
from autocalc._dispatch.selection.choice import available
from autocalc._dispatch.selection.layout import keeps_layout
from autocalc._dispatch.selection.select import find_set
from autocalc._dispatch.selection.upcast import FLOAT_KINDS, HALVES, computed_in
from autocalc._kernels.kernel_set import KernelImpl, KernelSet
from autocalc._kernels.spec import Array, DType, KernelSpec, Meta, Sample
from autocalc.errors import ConfigError, KernelDataError
from autocalc.testing._namespace import meta_of
from autocalc.testing.conformance import _floating_point as floating_point
from autocalc.testing.conformance._compare import Worst, compare
from autocalc.testing.conformance._device import on_host
from autocalc.testing.conformance._halves import (
    dtype_in_key,
    eps_of,
    output_metas_of,
    with_rounding,
)
from autocalc.testing.conformance._memory import Memory
from autocalc.testing.conformance._oracle import expected as expected_of
from autocalc.testing.conformance._oracle import slack, widen
from autocalc.testing.conformance._watch import running


class Refused(Exception):
    """The function `supports` of the set refused a call, for this reason."""


class Inapplicable(Exception):
    """A check does not apply to this kernel or set."""


class Prepared(NamedTuple):
    """A call with its operands in memory."""

    spec: KernelSpec
    outs: tuple[Any, ...]
    inputs: tuple[Any, ...]
    attributes: tuple[Any, ...]
    memory: Memory
    #: The kernel, dtype and sample, as a description of the call.
    label: str


class Subject:
    """A kernel set under test, and its kernels.

    Parameters
    ----------
    kernel_set
        The set to test.
    kernels
        The kernels that its `load` returned, by name.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.testing import conformance
    >>> subject = conformance.Subject.named("reference")
    >>> subject.name, "add" in subject.kernels
    ('reference', True)
    """

    def __init__(
        self, kernel_set: KernelSet, kernels: Mapping[str, KernelImpl]
    ) -> None:
        self.kernel_set = kernel_set
        self.kernels = kernels
        self.calls: Counter[str] = Counter()
        self.refusals: dict[str, Counter[str]] = defaultdict(Counter)
        self.worst: dict[tuple[str, str], Worst] = defaultdict(Worst)
        #: The changes of the floating-point state by the last call, and by loading the
        #: set.
        self.disturbed = ""
        self.disturbed_by_loading = ""

    @classmethod
    def named(cls, choice: str) -> Subject:
        """Load the installed kernel set `choice`.

        If `choice` is the name of a family, the best set of this family is loaded.
        """
        floating_point.restore()
        with trusting():  # another process watches the kit
            found = registry()
            kernel_set = find_set(found, choice)
            kernels = found.kernels(kernel_set.name)
        disturbed = floating_point.deviation()
        floating_point.restore()
        if kernels is None:
            reason = found.reason(kernel_set.name)
            raise ConfigError(f"kernels: {choice!r} cannot be used here: {reason}.")
        subject = cls(kernel_set, kernels)
        subject.disturbed_by_loading = disturbed
        return subject

    @property
    def name(self) -> str:
        """The name of the set."""
        return self.kernel_set.name

    @property
    def has_threads(self) -> bool:
        """Whether the set uses threads of its own, or those of core's engine."""
        return self.kernel_set.set_num_threads is not None or native.native is not None

    @property
    def flushes(self) -> bool:
        """Whether the set may treat subnormal numbers as 0."""
        return self.kernel_set.flushes_subnormals

    # ---- running ---------------------------------------------------------------------

    def run(self, spec: KernelSpec, sample: Sample, dtype: DType, **how: Any) -> Any:
        """Run one call and return its outputs; `prepare` describes the arguments."""
        prepared = self.prepare(spec, sample, dtype, **how)
        self.call(prepared)
        return prepared.outs

    def call(self, prepared: Prepared) -> None:
        """Run a prepared call, and check that it writes only its outputs.

        The call begins in the default floating-point state, which is restored after it;
        `disturbed` describes a state that the kernel has changed.
        """
        name = prepared.spec.name
        self.calls[name] += 1
        function = on_host(self.kernel_set, self.kernels[name].function)
        arguments = (*prepared.outs, *prepared.inputs, *prepared.attributes)
        floating_point.restore()
        try:
            with running(prepared.label):
                result = function(*arguments)
        except (AssertionError, KernelDataError):
            raise
        except Exception as error:
            message = f"the kernel raised {type(error).__name__}: {error}"
            raise AssertionError(message) from error
        finally:
            self.disturbed = floating_point.deviation()
            floating_point.restore()
        if result is not None:
            raise AssertionError(
                f"the kernel returned {_shown(result)}; it must write into its outputs "
                "and return None"
            )
        prepared.memory.check()

    def prepare(
        self,
        spec: KernelSpec,
        sample: Sample,
        dtype: DType,
        *,
        layouts: tuple[str, ...] = ("contiguous",),
        accumulate: int = 0,
        prior: tuple[Any, ...] = (),
        alias: str | None = None,
    ) -> Prepared:
        """Put the operands of one call into memory.

        It raises `Refused` if the set refuses the call.  Operand `i` has the layout
        ``layouts[i % len(layouts)]``, and the outputs have the layout of the first
        operand where this is allowed.  If `alias` names an input of a pair in
        `spec.alias`, the first output is written over this input.
        """
        memory = Memory()
        n = len(spec.writes)
        placed = [
            memory.copies(operand, layouts[i % len(layouts)])
            for i, operand in enumerate(sample.inputs)
        ]
        in_out, inputs = placed[:n], placed[n:]
        metas = output_metas(spec, sample, dtype)
        outs = self._outputs(spec, sample, metas, memory, layouts[0], in_out)
        for i in range(len(outs)):
            if accumulate >> i & 1:
                outs[i][...] = prior[i]
        names = [operand.name for operand in spec.inputs]
        if alias is not None:
            outs[0] = inputs[names.index(alias)]
        for name, operand in zip(names, inputs, strict=True):
            if name != alias:
                memory.protect(name, operand)
        attributes = sample.attributes
        if spec.accumulates:
            attributes = (*attributes, accumulate)
        self._ask(spec, sample, outs, inputs, metas, accumulate)
        label = f"{spec.name} ({dtype}) on {sample.label!r}"
        return Prepared(spec, tuple(outs), tuple(inputs), attributes, memory, label)

    def _outputs(
        self,
        spec: KernelSpec,
        sample: Sample,
        metas: tuple[Any, ...],
        memory: Memory,
        layout: str,
        in_out: list[Any],
    ) -> list[Any]:
        """Return arrays of NaN for wanted outputs, and in-out operands themselves."""
        if spec.writes:
            return list(in_out)
        if not (spec.strided_output or layout == "offset" or follows(spec, layout)):
            layout = "contiguous"
        return [
            memory.empty_like_meta(meta, layout)
            if sample.want >> i & 1 or not output.optional
            else None
            for i, (output, meta) in enumerate(zip(spec.outputs, metas, strict=True))
        ]

    def _ask(
        self,
        spec: KernelSpec,
        sample: Sample,
        outs: list[Any],
        inputs: list[Any],
        metas: tuple[Any, ...],
        accumulate: int,
    ) -> None:
        """Raise `Refused` if the set does not accept this call."""
        supports = self.kernels[spec.name].supports
        if supports is None:
            return
        wanted = sum(1 << i for i, out in enumerate(outs) if out is not None)
        key = KernelCall(spec)._dispatch_key(
            tuple(inputs), sample.attributes, metas, wanted, accumulate
        )
        reason = supports(key)
        if reason is not None:
            self.refusals[spec.name][reason] += 1
            raise Refused(reason)

    @contextmanager
    def threads(self) -> Iterator[Any]:
        """Yield a function that sets the thread count; restore the count afterwards."""
        own = self.kernel_set.set_num_threads

        def set_num_threads(count: int) -> None:
            native.set_num_threads(count)
            if own is not None:
                own(count)

        try:
            yield set_num_threads if self.has_threads else None
        finally:
            set_num_threads(get_num_threads())

    # ---- judging ---------------------------------------------------------------------

    def judge(
        self,
        spec: KernelSpec,
        sample: Sample,
        dtype: DType,
        outs: tuple[Any, ...],
        expected: tuple[Any, ...] | None = None,
        prior: tuple[Any, ...] = (),
        times: float = 1.0,
        limits: Any = None,
    ) -> None:
        """Compare outputs with the error budget, and store the worst error.

        The expected values and the limits can be passed if several sets share them.
        """
        if expected is None:
            expected = expected_of(spec, sample, dtype)
        exception = self.kernels[spec.name].exception
        if limits is None or exception is not None:
            limits = limits_of(spec, sample, dtype, expected, exception)
        worst = self.worst[spec.name, dtype.name]
        worst.calls += 1
        for i, output in enumerate(spec.outputs):
            if outs[i] is None:
                continue
            extra: Any = smallest_normal(dtype) if self.flushes else 0.0
            if output.name in spec.flushes:  # both the prior value and the sum
                extra = 2 * smallest_normal(computed_in(dtype))
            if prior and prior[i] is not None:
                sizes = [abs(x) for x in sample.attributes if _is_number(x)]
                beta = max(1.0, *sizes, 0.0)
                eps = eps_of(prior[i].dtype)
                extra = extra + 2 * eps * beta * np.abs(prior[i].astype(np.float64))
            for label, actual, wanted, limit in pairs(
                output.name, outs[i], expected[i], limits[i]
            ):
                allowed = times * slack(dtype) * np.asarray(limit, np.float64) + extra
                if actual.dtype.kind == "f":
                    asked = _vanished(actual, np.asarray(wanted), allowed)
                else:
                    asked = wanted
                worst.include(*compare(spec, label, actual, asked, allowed))


def _vanished(actual: Array, wanted: Array, allowed: Any) -> Array:
    """Return the expected values, with 0 where the kernel was allowed to write 0.

    The kernel may write 0 for a tiny number.  Such a 0 must not count as an error,
    which would be millions of units in the last place.
    """
    with np.errstate(invalid="ignore"):
        size = np.abs(wanted)
        zero = (actual == 0) & (size <= allowed)
        zero &= size < 128 * smallest_normal(actual.dtype)
        return np.where(zero, np.copysign(0, wanted), wanted) if zero.any() else wanted


def smallest_normal(dtype: DType) -> float:
    """Return the smallest normal number; 0 for integers."""
    return float(np.finfo(dtype).tiny) if dtype.kind == "f" else 0.0


def limits_of(
    spec: KernelSpec,
    sample: Sample,
    dtype: DType,
    expected: tuple[Any, ...],
    exception: str | None = None,
) -> Any:
    """Return the allowed absolute errors; integers are compared exactly."""
    if dtype.kind not in FLOAT_KINDS:
        return [[0.0] * len(e) if isinstance(e, list) else 0.0 for e in expected]
    inputs = tuple(map(widen, sample.inputs))
    of = spec.budget_of(exception).tolerance
    with np.errstate(all="ignore"):
        limits = of(inputs, sample.attributes, budget_view(expected), eps_of(dtype))
    if dtype not in HALVES:
        return limits
    metas = output_metas(spec, sample, dtype)
    return [
        with_rounding(limit, wanted, dtype) if dtype_in_key(meta) == dtype else limit
        for limit, wanted, meta in zip(limits, expected, metas, strict=True)
    ]


@functools.lru_cache(maxsize=1)
def chosen(name: str | None) -> Subject:
    """Load the set that ``--kernels`` names, once for the whole run.

    Raises
    ------
    ConfigError
        If no set is named, or if the named set cannot be used here.
    """
    if not name:
        raise ConfigError(
            "conformance: name the kernel set to test: --kernels NAME, one of "
            f"{', '.join(available())}."
        )
    return Subject.named(name)


def output_metas(spec: KernelSpec, sample: Sample, dtype: DType) -> tuple[Any, ...]:
    """Return the shape and dtype of each output of a call by the spec's rule."""
    if dtype in HALVES:
        return output_metas_of(spec, sample, dtype)
    keywords = {"shape": sample.shape, "dtype": dtype} if spec.free else {}
    metas = spec.rule(*map(meta_of, sample.inputs), *sample.attributes, **keywords)
    return (metas,) if isinstance(metas, Meta) else tuple(metas)


def _widest(value: Any) -> Any:
    """Return the dtype in which a value is compared: float64 or complex128."""
    return np.complex128 if np.iscomplexobj(value) else np.float64


def budget_view(expected: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the expected values in float64, in which budgets are computed."""
    return tuple(
        None
        if value is None
        else [np.asarray(one, np.float64) for one in value]
        if isinstance(value, (list, tuple))
        else np.asarray(value, _widest(value))
        for value in expected
    )


def shapes_of(sample: Sample) -> str:
    """Return the shapes of a sample's inputs, or of its output if it has no inputs."""
    lists = [x if isinstance(x, (list, tuple)) else [x] for x in sample.inputs]
    shapes = ["x".join(map(str, a.shape)) or "scalar"
              for one in lists for a in one if a is not None]  # fmt: skip
    if not shapes and sample.shape is not None:
        shapes = ["x".join(map(str, sample.shape)) or "scalar"]
    return " ".join(shapes)


def pairs(
    name: str, actual: Any, expected: Any, limit: Any
) -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield (label, actual, expected, limit) for an array or each array of a list."""
    if not isinstance(actual, (list, tuple)):
        yield name, actual, expected, limit
        return
    for i, (one, wanted) in enumerate(zip(actual, expected, strict=True)):
        yield f"{name}[{i}]", one, wanted, limit[i]


def follows(spec: KernelSpec, layout: str) -> bool:
    """Return whether the results have this layout if the operands have it."""
    return layout == "channels-last" and keeps_layout(spec)


def _shown(result: object) -> str:
    """Return a short description of a kernel's result."""
    return f"{type(result).__name__} {str(result)[:40]!r}"


def _is_number(x: object) -> bool:
    return isinstance(x, (int, float)) and not isinstance(x, bool)
