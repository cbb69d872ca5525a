# SPDX-License-Identifier: MIT
"""`torch.__future__`: whether conversions of modules keep the objects of tensors."""

from __future__ import annotations

from autocalc._tensor.checks import check_flag
from autocalc.nn._module.conversion import SETTINGS
from autocalc.torch import _mentioned

__getattr__ = _mentioned.names_of(__name__)


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Set whether methods such as `Module.to` replace parameters by new objects."""
    name = "set_overwrite_module_params_on_conversion"
    SETTINGS["overwrite"] = check_flag(name, "value", value)


def get_overwrite_module_params_on_conversion() -> bool:
    """Return whether methods such as `Module.to` replace parameters by new objects."""
    return SETTINGS["overwrite"]


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Set whether conversions keep the objects of parameters in every case."""
    name = "set_swap_module_params_on_conversion"
    SETTINGS["swap"] = check_flag(name, "value", value)


def get_swap_module_params_on_conversion() -> bool:
    """Return whether conversions keep the objects of parameters in every case."""
    return SETTINGS["swap"]
