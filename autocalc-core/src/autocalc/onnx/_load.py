# SPDX-License-Identifier: MIT
"""`ac.onnx.load`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from autocalc._dispatch.selection.upcast import FLOAT_KINDS
from autocalc._kernels.spec import Array
from autocalc._tensor.checks import check_flag, check_type, short
from autocalc.errors import AutocalcError, CheckpointError, OnnxError
from autocalc.onnx import _reading  # noqa: F401  it fills the table of readers
from autocalc.onnx._functions import expanded
from autocalc.onnx._module import OnnxModule
from autocalc.onnx._package import package
from autocalc.onnx._proto import KINDS
from autocalc.onnx._refusals import Refusals
from autocalc.onnx._scope import DOMAINS, Reading


def load(f: str | os.PathLike[str], *, trainable: bool = False) -> OnnxModule:
    """Read an ONNX file as a module that runs its graph with AutoCalc's operators.

    Parameters
    ----------
    f
        The path of the file.
    trainable
        True if the parameters shall require gradients.  If `export` wrote the file, its
        parameters are those of the model.  In another file, the parameters are all
        floating-point constants with at least one dimension.

    Returns
    -------
    OnnxModule
        A module that is called with the inputs of the graph.

    Raises
    ------
    OnnxError
        If the package onnx is missing or does not know the version of the graph's
        operators, or if AutoCalc does not support parts of the graph.  The message
        lists all unsupported operators, attributes and dtypes.
    CheckpointError
        If the file does not exist or is not an ONNX file.
    DTypeError
        If `f` is not a path, or if the only unsupported parts are values of dtypes
        that AutoCalc does not have.

    Examples
    --------
    >>> import tempfile
    >>> import autocalc as ac
    >>> path = tempfile.mkdtemp() + "/model.onnx"
    >>> ac.onnx.export(ac.nn.Linear(3, 2), ac.ones(4, 3), path)
    >>> model = ac.onnx.load(path, trainable=True)
    >>> model(ac.ones(4, 3)).requires_grad
    True
    """
    package("onnx.load")
    trainable = check_flag("onnx.load", "trainable", trainable)
    model = _read(f)
    try:
        return _module(model, trainable)
    except (AutocalcError, ImportError):
        raise
    except Exception as error:  # any error that a damaged message causes
        message = f"onnx.load: {os.fspath(f)} is damaged: {_first_line(error)}"
        raise CheckpointError(message) from error


def _module(model: Any, trainable: bool) -> OnnxModule:
    refusals = Refusals()
    reading = Reading(_opsets(model), refusals)
    block, inputs = reading.main(model.graph)
    refusals.check()
    outputs = [one.name for one in model.graph.output]
    kinds = _kinds(model, reading.arrays, block.numbers())
    return OnnxModule(block, inputs, outputs, reading.arrays, kinds, trainable)


def _read(f: Any) -> Any:
    check_type("onnx.load", "f", f, (str, os.PathLike), "a path")
    path = Path(f)
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise CheckpointError(f"onnx.load: {path} {what}.")
    try:
        model = expanded(package("onnx.load").load(path))
    except Exception as error:  # the package raises errors of many libraries
        message = f"onnx.load: {path} is incomplete or not an ONNX file: {error}"
        raise CheckpointError(message) from error
    if not model.graph.output:
        message = (
            f"onnx.load: {path} is not an ONNX file: it has no graph with outputs."
        )
        raise CheckpointError(message)
    return model


def _opsets(model: Any) -> dict[str, int]:
    """Return the version of the operators of each domain."""
    versions = {o.domain: int(o.version) for o in model.opset_import}
    own = max((n for domain, n in versions.items() if domain in DOMAINS), default=1)
    newest = package("onnx.load", "onnx.defs").onnx_opset_version()
    if own > newest:
        raise OnnxError(
            f"onnx.load: the file has version {own} of ONNX's operators; the installed "
            f"package onnx knows them up to version {newest}. Update it with: pip "
            "install --upgrade onnx"
        )
    return {**versions, "": own}


def _first_line(error: Exception) -> str:
    """Return the type of an error and the first line of its text."""
    text = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {text}"


def _kinds(model: Any, arrays: dict[str, Array], numbers: set[str]) -> dict[str, str]:
    """Return the kind of each array: a parameter, a buffer, a constant, or numbers."""
    text = next((p.value for p in model.metadata_props if p.key == KINDS), None)
    said = {} if text is None else _said(text)

    def kind(name: str, array: Array) -> str:
        if name in numbers:
            return "numbers"
        if text is not None:
            return str(said.get(name, "constant"))
        weighs = array.dtype.kind in FLOAT_KINDS
        return "parameter" if weighs and array.ndim else "constant"

    return {name: kind(name, array) for name, array in arrays.items()}


def _said(text: str) -> dict[str, Any]:
    """Return the entries of the metadata about arrays."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise CheckpointError(
            f"onnx.load: the metadata {KINDS!r} are {short(text)}; they must be a JSON "
            "object that names the constants that are parameters and buffers."
        )
    return said
