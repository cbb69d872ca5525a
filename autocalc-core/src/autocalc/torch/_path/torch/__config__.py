# SPDX-License-Identifier: MIT
"""`torch.__config__`: the version and the threads."""

from __future__ import annotations

import autocalc


def show() -> str:
    """Return the version of AutoCalc."""
    return f"AutoCalc {autocalc.__version__}\n"


def parallel_info() -> str:
    """Return the number of threads."""
    return f"threads: {autocalc.get_num_threads()}\n"
