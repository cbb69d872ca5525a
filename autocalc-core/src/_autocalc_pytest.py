# SPDX-License-Identifier: MIT
"""pytest's option ``--kernels``, for the conformance kit.

With ``--pyargs`` pytest reads the command line before it finds the kit's folder, so the
option is declared by a plugin.  It stands outside the package because pytest imports it
in every run, and ``import autocalc`` takes longer than this file should.
"""

from __future__ import annotations

from typing import Any


def pytest_addoption(parser: Any) -> None:
    """Declare ``--kernels``."""
    parser.getgroup("autocalc").addoption(
        "--kernels",
        metavar="NAME",
        help="kernel set (or family) for `--pyargs autocalc.testing.conformance`",
    )
