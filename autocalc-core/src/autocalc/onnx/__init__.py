# SPDX-License-Identifier: MIT
"""Models as ONNX files: written from what a model does, run with AutoCalc's operators.

The package `onnx` is needed: ``pip install autocalc-core[onnx]``.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from autocalc._aliases import lookup as _lookup
from autocalc.onnx._export import export
from autocalc.onnx._load import load
from autocalc.onnx._module import OnnxModule
from autocalc.onnx._record import is_in_onnx_export

__all__ = ["OnnxModule", "export", "is_in_onnx_export", "load"]

if not _TYPE_CHECKING:  # type checkers know the names that exist
    __getattr__ = _lookup(__name__)
