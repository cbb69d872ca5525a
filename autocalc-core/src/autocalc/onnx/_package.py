# SPDX-License-Identifier: MIT
"""The package `onnx`, which describes the format; it is an optional extra."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from autocalc.errors import OnnxError


def package(where: str, part: str = "onnx") -> Any:
    """Return the package `onnx` or a part of it; raise if it is not installed.

    The error contains the command that installs it.
    """
    try:
        return import_module(part)
    except ImportError as error:
        raise OnnxError(
            f"{where}: the package onnx is needed but cannot be imported ({error}). "
            "Get it with: pip install autocalc-core[onnx]"
        ) from error
