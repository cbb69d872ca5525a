# SPDX-License-Identifier: MIT
"""The self-test of a kernel set, which runs in the process that `_trial` starts.

``python -m autocalc.testing._self_test FILE NAME PACKAGE import`` imports the module of
a plugin and runs its hook.  With ``set`` it loads the set and runs a few small samples
of each kernel, by their Python form and their C form, on contiguous and strided
operands between guard bytes.  Then it runs a step of training.  It writes to FILE each
step before it begins, the results, and the library files that the set loaded.

A fault that endangers the process is a fault of the whole set: a write outside of the
operands, or a changed floating-point state.  If a kernel only raises an error or is far
outside of its error budget, only this kernel is excluded.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from autocalc import kernels, nn, optim
from autocalc._dispatch.plugins.discovery import look_at, plugin_at, registry, sets_of
from autocalc._dispatch.plugins.precision import matmul_precision
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import DType, KernelSpec, Sample
from autocalc._kernels.table import TABLE
from autocalc._ops.creation.constants import ones
from autocalc._ops.creation.from_data import tensor
from autocalc.testing.conformance import _floating_point as floating_point
from autocalc.testing.conformance._c_form import by_c
from autocalc.testing.conformance._checks import PLACES, is_large
from autocalc.testing.conformance._device import on_host
from autocalc.testing.conformance._guarded import no_core_dump
from autocalc.testing.conformance._native import NativeKernel
from autocalc.testing.conformance._subject import Prepared, Refused, Subject

#: The seconds after which no further sample starts; the process may take about ten.
SECONDS = 3.0
#: The number of samples of each kernel and dtype; each runs in two layouts.
SAMPLES = 6
#: The most random numbers that are made for an array.
FEW = 4001
#: The error, in budgets, from which a result is wrong and not only imprecise.
GROSS = 8.0


class Fault(Exception):
    """A fault of the whole set."""


class Notes:
    """The file that the other process reads; each note is written immediately."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND)

    def write(self, **facts: Any) -> None:
        """Add some facts."""
        os.write(self._file, (json.dumps(facts) + "\n").encode())


class SampleCall(NamedTuple):
    """A sample call to make."""

    subject: Subject
    spec: KernelSpec
    dtype: DType
    sample: Sample
    layouts: tuple[str, ...]

    @property
    def label(self) -> str:
        """The description of the call."""
        way = "" if self.layouts == ("contiguous",) else f", {'/'.join(self.layouts)}"
        if isinstance(self.subject.kernels[self.spec.name].function, NativeKernel):
            way += ", by its C form"
        return f"{self.spec.name} ({self.dtype}) on {self.sample.label!r}{way}"


# ---- the calls -----------------------------------------------------------------------


class QuickMake(Make):
    """Makes large arrays from few numbers, because large samples are not run."""

    def normal(self, *shape: int, scale: float = 1.0) -> Any:
        """Return normal numbers; in a large array they repeat."""
        if math.prod(shape) <= FEW:
            return super().normal(*shape, scale=scale)
        return np.resize(super().normal(FEW, scale=scale), shape)


def calls_of(subject: Subject) -> Iterator[SampleCall]:
    """Yield calls of all kernels in turn, so each kernel has run when time ends.

    The function yields more calls than necessary, because a set may refuse some.
    """
    lists = [_of_kernel(subject, TABLE[name]) for name in subject.kernels]
    lists += [
        _of_kernel(by_c(subject, TABLE[name]), TABLE[name])
        for name, impl in subject.kernels.items()
        if impl.native is not None
    ]
    while lists:
        for one in list(lists):
            call = next(one, None)
            if call is None:
                lists.remove(one)
            else:
                yield call


def _of_kernel(subject: Subject, spec: KernelSpec) -> Iterator[SampleCall]:
    for dtype in spec.dtypes:
        for i, sample in enumerate(small_samples(spec, dtype)):
            for layouts in (("contiguous",), PLACES[i % len(PLACES)]):
                yield SampleCall(subject, spec, dtype, sample, layouts)


def small_samples(spec: KernelSpec, dtype: DType) -> list[Sample]:
    """Return the small samples, beginning with some that are far apart in the list."""
    small = [s for s in spec.samples(QuickMake(dtype)) if not is_large(s)][::-1]
    step = max(1, len(small) // SAMPLES)
    return [sample for start in range(step) for sample in small[start::step]]


# ---- running them --------------------------------------------------------------------


def run(subject: Subject, notes: Notes) -> dict[str, Any]:
    """Run calls until the time is over; return the counts and the problems."""
    until = time.monotonic() + SECONDS
    wrong: dict[str, str] = {}
    ran: Counter[tuple[Subject, str, DType]] = Counter()
    for call in calls_of(subject):
        name, kind = call.spec.name, (call.subject, call.spec.name, call.dtype)
        if time.monotonic() > until:
            break
        if name in wrong or ran[kind] >= 2 * SAMPLES:
            continue
        notes.write(running=f"while {call.label} ran")
        try:
            found = _problem(call)
        except Refused:
            continue
        ran[kind] += 1
        if found:
            wrong[name] = f"{call.label}: {found}"
    names = {name for (_, name, _), calls in ran.items() if calls}
    return {"calls": sum(ran.values()), "kernels": len(names), "wrong": wrong}


def _problem(call: SampleCall) -> str:
    """Make one call; return the problem of its result, "" if there is none."""
    subject, spec, sample = call.subject, call.spec, call.sample
    try:
        prepared = subject.prepare(spec, sample, call.dtype, layouts=call.layouts)
    except Refused:
        raise
    except Exception as error:
        return f"its supports() raised {type(error).__name__}: {error}"
    function = on_host(subject.kernel_set, subject.kernels[spec.name].function)
    raised = _error_of(function, prepared)
    disturbed = floating_point.deviation()
    floating_point.restore()
    if disturbed:
        raise Fault(f"changed the floating-point state in {call.label}: {disturbed}")
    try:
        prepared.memory.check()
    except AssertionError as stray:
        raise Fault(f"wrote outside of its outputs in {call.label}: {stray}") from None
    if raised:
        return raised
    try:
        subject.judge(spec, sample, call.dtype, prepared.outs, times=GROSS)
    except AssertionError as wrong:
        return str(wrong)
    return ""


def _error_of(function: Any, prepared: Prepared) -> str:
    """Call a kernel; return the error that it raised, "" if there is none."""
    try:
        with np.errstate(all="ignore"):
            function(*prepared.outs, *prepared.inputs, *prepared.attributes)
    except Exception as error:
        return f"it raised {type(error).__name__}: {error}"
    return ""


def train(name: str) -> None:
    """Run a training step on the set, which also uses its allocator and keys."""
    needed = registry().sets[name].precision
    with matmul_precision(needed), kernels.use(name, only=True):
        model = nn.Sequential(nn.Linear(9, 5), nn.ReLU(), nn.Linear(5, 3))
        sgd = optim.SGD(model.parameters(), lr=0.1)
        target = tensor([0, 1, 2, 0])
        for _ in range(2):
            sgd.zero_grad()
            loss = nn.functional.cross_entropy(model(ones(4, 9)), target)
            loss.backward()
            sgd.step()
    disturbed = floating_point.deviation()
    if disturbed:
        raise Fault(f"changed the floating-point state in a training step: {disturbed}")


# ---- the process ---------------------------------------------------------------------


def test(name: str, notes: Notes) -> dict[str, Any]:
    """Load and test a set; return the final facts."""
    notes.write(running="while its package was imported")
    before = _mapped()
    found = registry()
    if name not in found.sets:
        reason = found.reason(name) or "there is no such set"
        return {"unloadable": f"in a process of its own it cannot be found: {reason}"}
    notes.write(running="while its load() ran")
    kernels = found.kernels(name)
    notes.write(files=_new_files(before))
    disturbed = floating_point.deviation()
    if disturbed:
        raise Fault(f"changed the floating-point state when it was loaded: {disturbed}")
    if kernels is None:
        refusal = next(r for r in found.refusals if r.subject == name)
        return {"unloadable": refusal.reason, "traceback": refusal.traceback}
    subject = Subject(found.sets[name], kernels)
    passed = run(subject, notes)
    if not passed["wrong"]:
        notes.write(running="while a training step ran")
        train(name)
    return {"passed": passed}


def test_import(name: str, package: str, notes: Notes) -> dict[str, Any]:
    """Import the module of a plugin and run its hook; return the final facts."""
    before = _mapped()
    notes.write(running="while its module was imported")
    try:
        module = plugin_at(name, package).load()
        notes.write(running="while its hook ran")
        list(sets_of(name, module))
    except (Exception, SystemExit) as error:  # harmless: it is raised there again
        return {"unloadable": f"{type(error).__name__}: {error}"}
    except BaseException as error:
        raise Fault(f"raised {type(error).__name__} while it was imported") from None
    notes.write(files=_new_files(before))
    disturbed = floating_point.deviation()
    if disturbed:
        raise Fault(
            f"changed the floating-point state when it was imported: {disturbed}"
        )
    return {"passed": {}}


def _mapped() -> set[str]:
    """Return the libraries in this process, if the system lists them."""
    found = {getattr(m, "__file__", None) or "" for m in list(sys.modules.values())}
    with suppress(OSError):
        for line in Path("/proc/self/maps").read_text().splitlines():
            path = line.split(maxsplit=5)[5:]
            found.update(path)
    return {p for p in found if ".so" in p or p.endswith((".pyd", ".dll", ".dylib"))}


def _new_files(before: set[str]) -> list[str]:
    """Return newly loaded libraries, except those of the system and of AutoCalc."""
    own = str(Path(__file__).parents[1])
    return sorted(
        p for p in _mapped() - before if not p.startswith((own, "/usr/lib", "/lib"))
    )


def main(path: str, name: str, package: str, task: str) -> None:
    """Test a set or an import, and write the results to the file at `path`."""
    notes = Notes(path)
    look_at(package)
    no_core_dump()
    try:
        if task == "import":
            facts = test_import(name, package, notes)
        else:
            facts = test(name, notes)
    except Fault as fault:
        facts = {"fault": str(fault)}
    except Exception as error:
        facts = {"fault": f"raised {type(error).__name__} in its self-test: {error}"}
    notes.write(**facts, running="when its process came to its end")


if __name__ == "__main__":
    main(*sys.argv[1:])
