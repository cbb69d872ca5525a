# SPDX-License-Identifier: MIT
"""`torch.compiler`: queries of programs, and decorators without effect."""

from __future__ import annotations

from autocalc._compile import compile as compile
from autocalc.torch import _mentioned

disable = allow_in_graph = substitute_in_graph = _mentioned.returns_its_function
assume_constant_result = _mentioned.returns_its_function


def is_compiling() -> bool:
    """Return False: `compile` records a function while it runs normally."""
    return False


is_dynamo_compiling = is_exporting = is_compiling


def reset() -> None:
    """Do nothing: recorded programs belong to their functions."""


def cudagraph_mark_step_begin() -> None:
    """Do nothing: AutoCalc has no CUDA graphs."""


__getattr__ = _mentioned.names_of(__name__)
