# SPDX-License-Identifier: MIT
"""PyTorch's place for containers."""

from autocalc.nn import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential

__all__ = ["ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]
