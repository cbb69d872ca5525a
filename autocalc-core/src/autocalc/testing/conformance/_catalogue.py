# SPDX-License-Identifier: MIT
"""All checks by name, and the kernels and sets to which each applies."""

from __future__ import annotations

from autocalc._dispatch.plugins.discovery import registry
from autocalc._kernels.spec import KernelSpec
from autocalc.testing.conformance import _checks, _process
from autocalc.testing.conformance._bounds import check_bounds, check_offsets
from autocalc.testing.conformance._c_form import check_native, check_native_limits
from autocalc.testing.conformance._calls import check_state, check_threads
from autocalc.testing.conformance._checks import Check
from autocalc.testing.conformance._determinism import check_determinism
from autocalc.testing.conformance._lengths import check_lengths
from autocalc.testing.conformance._specials import check_specials, check_subnormals
from autocalc.testing.conformance._subject import Subject

CHECKS: dict[str, Check] = {
    "values": _checks.check_values,
    "specials": check_specials,
    "subnormals": check_subnormals,
    "lengths": check_lengths,
    "layouts": _checks.check_layouts,
    "bounds": check_bounds,
    "offsets": check_offsets,
    "absent-outputs": _checks.check_absent_outputs,
    "accumulation": _checks.check_accumulation,
    "aliasing": _checks.check_aliasing,
    "state": check_state,
    "determinism": check_determinism,
    "threads": check_threads,
    "bad-indices": _checks.check_bad_indices,
    "environment": _checks.check_environment,
    "dispatch": _checks.check_dispatch,
    "native": check_native,
    "native-limits": check_native_limits,
    "fork": _process.check_fork,
    "leaks": _process.check_leaks,
}


def applies(name: str, subject: Subject, spec: KernelSpec) -> bool:
    """Return whether a check of `CHECKS` applies.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc._kernels.table import TABLE
    >>> from autocalc.testing import conformance
    >>> subject = conformance.Subject.named("reference")
    >>> conformance.applies("bad-indices", subject, TABLE["add"])
    False
    """
    has_native = subject.kernels[spec.name].native is not None
    on_cpu = subject.kernel_set.device == "cpu"
    return {
        "subnormals": bool(spec.flushes),
        "absent-outputs": any(output.optional for output in spec.outputs),
        "accumulation": bool(spec.accumulates),
        "aliasing": bool(spec.alias),
        "determinism": subject.kernel_set.determinism is not None,
        "bad-indices": spec.name in _checks.INDICES,
        "dispatch": registry().sets.get(subject.name) is subject.kernel_set,
        "native": has_native,
        "native-limits": has_native,
        "environment": on_cpu,  # the floating-point state is the host's
        "bounds": on_cpu,  # operands are copied to a device
        "offsets": on_cpu,
        "threads": on_cpu,
        "fork": on_cpu,  # GPU libraries do not survive a fork
        "leaks": on_cpu,  # it counts Python's allocations
    }.get(name, True)
