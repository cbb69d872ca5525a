# SPDX-License-Identifier: MIT
"""pytest's options for the conformance kit: ``--kernels`` and others.

With ``--pyargs`` pytest reads the command line before it finds the kit's folder, so a
plugin declares the options.  It is outside the package because pytest imports it in
every run, and ``import autocalc`` takes longer than this file should.
"""

from __future__ import annotations

import pytest

KIT = "autocalc.testing.conformance"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare ``--kernels``, ``--sample-seconds`` and ``--one-process``."""
    group = parser.getgroup("autocalc")
    group.addoption(
        "--kernels",
        metavar="NAME",
        help=f"kernel set (or family) to prove with `--pyargs {KIT}`; in a clone of "
        f"AutoCalc, the one that its tests of operators and models prefer",
    )
    group.addoption(
        "--sample-seconds",
        metavar="SECONDS",
        type=float,
        default=60.0,
        help="how long one sample may run there before it is stopped",
    )
    group.addoption(
        "--one-process",
        action="store_true",
        help="run all checks there in one process, for a debugger",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Say at once if there is nothing to prove."""
    if any(arg.split("::")[0] == KIT for arg in config.args):
        from autocalc.errors import ConfigError
        from autocalc.testing.conformance._subject import chosen

        try:
            chosen(config.getoption("--kernels"))
        except ConfigError as error:
            raise pytest.UsageError(str(error)) from error
