# SPDX-License-Identifier: MIT
"""Models as ONNX files: written from what a model does, run with AutoCalc's operators.

The package `onnx` is needed: ``pip install autocalc-core[onnx]``.
"""

from autocalc.onnx._export import export
from autocalc.onnx._load import load
from autocalc.onnx._module import OnnxModule

__all__ = ["OnnxModule", "export", "load"]
