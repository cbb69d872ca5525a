# SPDX-License-Identifier: MIT
"""`torch.utils.deterministic`: the switch for filling new memory."""

import sys
from types import ModuleType

from autocalc._dispatch.selection.choice import FILLING
from autocalc._tensor.checks import check_flag


class _Module(ModuleType):
    """A module with one switch, which AutoCalc reads."""

    @property
    def fill_uninitialized_memory(self) -> bool:
        """Whether deterministic algorithms fill the memory of `empty`."""
        return FILLING["memory"]

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, value: bool) -> None:
        name = "fill_uninitialized_memory"
        FILLING["memory"] = check_flag("torch.utils.deterministic", name, value)


sys.modules[__name__].__class__ = _Module
