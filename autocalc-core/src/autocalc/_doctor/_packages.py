# SPDX-License-Identifier: MIT
"""Kernel packages: those in use, those refused, and settings that cost time."""

from __future__ import annotations

from collections.abc import Iterator

from autocalc._config import settings
from autocalc._dispatch.engine import eager, native
from autocalc._dispatch.plugins.discovery import registry
from autocalc._dispatch.selection import tuning
from autocalc._doctor._finding import Finding
from autocalc._doctor._machine import Machine


def plugins(_machine: Machine) -> Iterator[Finding]:
    """Name the kernel sets that can run, and every fault of a package."""
    found = registry()
    usable = [name for name in found.sets if found.kernels(name) is not None]
    others = [name for name in usable if name != "reference"]
    if others:
        yield Finding("ok", "kernels", f"usable sets: {', '.join(usable)}")
    else:
        yield Finding(
            "warning",
            "kernels",
            "only the reference kernels can run, which are slow",
            "pip install 'autocalc-core[simd,blas]'; `autocalc kernels` says why "
            "an installed package is refused.",
        )
    for refusal in found.refusals:
        if refusal.fault:
            origin = f" ({refusal.origin})" if refusal.origin else ""
            yield Finding(
                "warning",
                "kernels",
                f"{refusal.subject}{origin} is refused: {refusal.reason}",
                "`autocalc kernels -v` shows the traceback; upgrade or remove the "
                "package, or leave it out with AUTOCALC_DISABLE_KERNELS.",
            )
    absent = [r for r in found.refusals if not r.fault]
    if absent:
        told = "; ".join(f"{r.subject}: {r.reason.rstrip('.')}" for r in absent)
        yield Finding("ok", "kernels", f"not for this machine: {told}")


def operators(_machine: Machine) -> Iterator[Finding]:
    """Look whether calls of operators are accelerated."""
    told = eager.describe()
    if eager.calls is not None:
        yield Finding("ok", "operators", told)
    elif native.native is not None:
        yield Finding("note", "operators", told, "Unset AUTOCALC_EAGER.")
    else:
        remedy = (
            "Small calls take several times as long, and kernels run on one thread. "
            "Install a C++17 compiler and Python's headers, then: pip install "
            "--force-reinstall --no-deps --no-binary autocalc-core autocalc-core"
        )
        yield Finding("warning", "operators", told, remedy)


def record(_machine: Machine) -> Iterator[Finding]:
    """Look whether a record of `autocalc tune` counts."""
    told = tuning.state()
    if told.startswith("not used"):
        yield Finding("note", "tuning", told, "Run `autocalc tune` again.")
    else:
        yield Finding("ok", "tuning", told)


def environment(_machine: Machine) -> Iterator[Finding]:
    """Name settings of the environment that are for tests or cost time."""
    now = settings()
    for name, is_set, cost in (
        ("AUTOCALC_SHADOW", now.shadow is not None, "calls run twice"),
        ("AUTOCALC_STRICT", now.strict, "calls that no package takes are errors"),
        ("AUTOCALC_DETERMINISTIC", now.deterministic, "BLAS products are refused"),
        ("AUTOCALC_DISABLE_KERNELS", bool(now.disabled), "kernel sets are left out"),
        ("AUTOCALC_KERNELS", bool(now.kernels), "it goes before ranks and tuning"),
    ):
        if is_set:
            yield Finding(
                "note",
                "environment",
                f"{name}={now.found[name]}: {cost}",
                f"Unset {name} if that is not meant.",
            )
    if not now.found:
        yield Finding("ok", "environment", "no variable of AutoCalc is set")
