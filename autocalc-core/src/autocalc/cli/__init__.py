# SPDX-License-Identifier: MIT
"""The command line."""

from autocalc.cli._app import cli, main

__all__ = ["cli", "main"]
