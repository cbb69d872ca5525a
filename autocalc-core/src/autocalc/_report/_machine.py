# SPDX-License-Identifier: MIT
"""Describe the machine and the packages of a training run."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np

from autocalc._dispatch.explain.explain import show
from autocalc._version import __version__


def machine() -> dict[str, Any]:
    """Return the CPU, threads, kernel sets, settings and versions, for a log."""
    report = show()
    return {
        "cpu": report.cpu,
        "threads": report.threads,
        "features": list(report.features),
        "hidden features": list(report.hidden),
        "kernel sets": [f"{one.name} ({one.package})" for one in report.sets],
        "refused": [f"{one.subject}: {one.reason}" for one in report.refusals],
        "tuning record": report.tuning,
        "operator calls": report.eager,
        "environment": [
            f"{name}={value}" for name, value in report.environment.items()
        ],
        "AutoCalc": __version__,
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "system": platform.platform(),
    }
