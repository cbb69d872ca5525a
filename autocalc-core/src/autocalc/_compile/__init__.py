# SPDX-License-Identifier: MIT
"""Programs: a whole step recorded, planned and replayed without the interpreter."""

from autocalc._compile._function import Compiled
from autocalc._compile._public import compile

__all__ = ["Compiled", "compile"]
