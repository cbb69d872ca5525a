# SPDX-License-Identifier: MIT
"""All checks of the machine and the process, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from autocalc._doctor import _cpu as cpu
from autocalc._doctor import _floating as floating
from autocalc._doctor import _libraries as libraries
from autocalc._doctor import _limits as limits
from autocalc._doctor import _packages as packages
from autocalc._doctor import _speed as speed
from autocalc._doctor._finding import Finding
from autocalc._doctor._machine import Machine

Check = Callable[[Machine], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    cpu.features,
    limits.cores,
    limits.threads,
    cpu.smt,
    cpu.numa,
    limits.memory,
    limits.load,
    packages.plugins,
    packages.operators,
    packages.record,
    packages.environment,
    libraries.openmp,
    libraries.blas,
    floating.state,
    floating.subnormals,
    speed.gemm,
)


def examine(machine: Machine | None = None) -> list[Finding]:
    """Return the findings of all checks; one that fails is a finding itself."""
    found = []
    for check in CHECKS:
        found += _findings(check, machine or Machine())
    return found


def _findings(check: Check, machine: Machine) -> list[Finding]:
    try:
        return list(check(machine))
    except Exception as error:  # the other checks are worth as much
        name = f"{check.__module__.rpartition('.')[2].lstrip('_')}.{check.__name__}"
        text = f"the check {name} failed: {type(error).__name__}: {error}"
        return [Finding("warning", name, text, "Please report it, with this line.")]
