# SPDX-License-Identifier: MIT
"""Programs: a whole step recorded, planned and replayed without the interpreter."""

from autocalc._compile._function import Compiled

__all__ = ["Compiled"]
