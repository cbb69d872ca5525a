# SPDX-License-Identifier: MIT
"""pytest's option ``--kernels``, for the conformance kit.

With ``--pyargs`` pytest reads the command line before it finds the kit's folder, so the
option is declared by a plugin.  It stands outside the package because pytest imports it
in every run, and ``import autocalc`` takes longer than this file should.
"""

from __future__ import annotations

import pytest

KIT = "autocalc.testing.conformance"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare ``--kernels``."""
    parser.getgroup("autocalc").addoption(
        "--kernels",
        metavar="NAME",
        help=f"kernel set (or family) for `--pyargs {KIT}`",
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
