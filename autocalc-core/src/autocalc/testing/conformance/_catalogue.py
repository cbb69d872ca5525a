# SPDX-License-Identifier: MIT
"""All checks by name, and where each has anything to look at."""

from __future__ import annotations

from autocalc._dispatch.plugins.discovery import registry
from autocalc._kernels.spec import KernelSpec
from autocalc.testing.conformance import _checks, _process
from autocalc.testing.conformance._checks import Check
from autocalc.testing.conformance._determinism import check_determinism
from autocalc.testing.conformance._subject import Subject

CHECKS: dict[str, Check] = {
    "values": _checks.check_values,
    "layouts": _checks.check_layouts,
    "absent-outputs": _checks.check_absent_outputs,
    "accumulation": _checks.check_accumulation,
    "aliasing": _checks.check_aliasing,
    "determinism": check_determinism,
    "bad-indices": _checks.check_bad_indices,
    "environment": _checks.check_environment,
    "dispatch": _checks.check_dispatch,
    "native": _process.check_native,
    "fork": _process.check_fork,
    "leaks": _process.check_leaks,
}


def applies(name: str, subject: Subject, spec: KernelSpec) -> bool:
    """Return whether a check of `CHECKS` has anything to look at.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc._kernels.table import TABLE
    >>> from autocalc.testing import conformance
    >>> subject = conformance.Subject.named("reference")
    >>> conformance.applies("bad-indices", subject, TABLE["add"])
    False
    """
    on_cpu = subject.kernel_set.device == "cpu"
    return {
        "absent-outputs": any(output.optional for output in spec.outputs),
        "accumulation": bool(spec.accumulates),
        "aliasing": bool(spec.alias),
        "determinism": subject.kernel_set.determinism is not None,
        "bad-indices": spec.name in _checks.INDICES,
        "dispatch": registry().sets.get(subject.name) is subject.kernel_set,
        "native": subject.kernels[spec.name].native is not None,
        "environment": on_cpu,  # what the host does with floats is not the device's
        "fork": on_cpu,  # no library of a GPU survives it
        "leaks": on_cpu,  # which counts what Python allocates
    }.get(name, True)
