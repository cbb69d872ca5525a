# SPDX-License-Identifier: MIT
"""`ac.onnx.export`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from autocalc._compile import Compiled
from autocalc._tensor.checks import check_type, short
from autocalc.errors import ArgumentError, DTypeError, OnnxError
from autocalc.onnx import _writing  # noqa: F401  it fills the table of writers
from autocalc.onnx._dynamic import STEPS, Free, Merged, examples, fixed, free_size
from autocalc.onnx._emit import emit
from autocalc.onnx._graph import Graph
from autocalc.onnx._package import package
from autocalc.onnx._proto import model_of, used
from autocalc.onnx._record import Arguments, evaluating, record


def export(
    model: Any,
    args: Any,
    f: str | os.PathLike[str],
    *,
    kwargs: Mapping[str, Any] | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    dynamic_axes: Mapping[str, Any] | None = None,
) -> None:
    """Write a model as an ONNX file.

    The model is called once, in evaluation mode and without gradients, and its kernel
    calls become the nodes of the graph.  Decisions that Python makes during this call,
    such as `if` and loops, are fixed in the graph.  Tensors among the arguments become
    inputs, and tensors of the result become outputs.  Parameters and buffers keep the
    names that they have in the `state_dict`.

    Parameters
    ----------
    model
        A module, or a function that takes tensors.
    args
        The arguments of the call: a tuple, or a single argument.  The inputs of the
        graph get the shapes and dtypes of these arguments.
    f
        The path of the file; an existing file is replaced.
    kwargs
        Keyword arguments of the call.
    input_names, output_names
        The names of the inputs and the outputs.  By default, the inputs have the names
        that the model's ``forward`` or the function gives its arguments.  The outputs
        are ``output``, or ``output_0``, ``output_1`` and so on.
    dynamic_axes
        The dimensions whose size may differ between calls, given as
        ``{"x": {0: "batch"}}`` or ``{"x": [0]}``.  Within one call, all these
        dimensions must have the same size, for example the size of the batch.  The
        model is then recorded three times, with different sizes of 2 or more.

    Raises
    ------
    OnnxError
        If the package onnx is missing, or if the model uses operations that ONNX does
        not have.  The message lists all of these operations.  The error is also raised
        if the model reads the value of a tensor, or changes its parameters or buffers.
    ArgumentError
        If the number of names is wrong, if the model does not return a tensor, or if
        the file cannot be written.
    DTypeError
        If `model` is not callable, or `args` does not contain a tensor.

    Examples
    --------
    >>> import tempfile
    >>> import autocalc as ac
    >>> model = ac.nn.Linear(3, 2)
    >>> path = tempfile.mkdtemp() + "/model.onnx"
    >>> ac.onnx.export(model, ac.ones(4, 3), path)
    >>> ac.onnx.load(path)(ac.ones(4, 3)).shape
    autocalc.Size([4, 2])
    """
    package("onnx.export")
    path = _path(f)
    if not callable(model):
        what = short(model)
        message = f"onnx.export: `model` is {what}; it must be a module or a function."
        raise DTypeError(message)
    model = model._function if isinstance(model, Compiled) else model
    arguments = Arguments(model, args, kwargs)
    if not arguments.tensors:
        raise DTypeError(
            f"onnx.export: `args` is {short(args)}, which contains no tensor; give the "
            "model's arguments as a tuple of tensors."
        )
    inputs = (
        _names("input_names", input_names, len(arguments.tensors)) or arguments.names
    )
    with evaluating(model):
        graph, shapes = _graph(model, arguments, inputs, output_names, dynamic_axes)
    content = model_of(used(graph), *shapes).SerializeToString()
    try:
        path.write_bytes(content)
    except OSError as error:
        message = f"onnx.export: {path} cannot be written: {error.strerror or error}."
        raise ArgumentError(message) from error


def _path(f: Any) -> Path:
    check_type("onnx.export", "f", f, (str, os.PathLike), "a path")
    return Path(f)


def _names(what: str, names: Any, count: int) -> list[str] | None:
    """Return the checked names that the caller gave, or None."""
    if names is None:
        return None
    texts = isinstance(names, Sequence) and all(isinstance(n, str) and n for n in names)
    if not texts or isinstance(names, str) or len(set(names)) != count != 0:
        raise ArgumentError(
            f"onnx.export: `{what}` is {short(names)}; it must be {count} different "
            f"names in a list."
        )
    return list(names)


def _expect_different(inputs: list[str], outputs: list[str] | None) -> None:
    both = sorted(set(inputs) & set(outputs or ()))
    if both:
        raise ArgumentError(
            f"onnx.export: {', '.join(both)} is the name of an input and of an output; "
            "give them different names."
        )


def _graph(
    model: Callable[..., Any],
    arguments: Arguments,
    inputs: list[str],
    output_names: Any,
    dynamic_axes: Mapping[str, Any] | None,
) -> tuple[Graph, tuple[Any, Any]]:
    """Return the graph, and the shapes of its inputs and outputs."""
    tensors = arguments.tensors
    first = record(model, *arguments.given(examples(tensors)))
    count = len(first.outputs)
    outputs = _names("output_names", output_names, count)
    _expect_different(inputs, outputs)
    graph = emit(first, model, inputs, outputs)
    given = [value.name for value in graph.outputs]
    free = free_size(dynamic_axes, inputs, given, tensors)
    if free is None:
        return graph, (fixed(graph.inputs), fixed(graph.outputs))
    return _merged(model, arguments, inputs, outputs, free)


def _merged(
    model: Callable[..., Any],
    arguments: Arguments,
    inputs: list[str],
    outputs: list[str] | None,
    free: Free,
) -> tuple[Graph, tuple[Any, Any]]:
    sizes = [max(free.size, 2) + step for step in STEPS]
    graphs: list[Graph] = []
    for size in sizes:
        tensors = examples(arguments.tensors, free, size)
        recording = record(model, *arguments.given(tensors))
        if graphs and len(recording.outputs) != len(graphs[0].outputs):
            raise OnnxError(
                "onnx.export: the number of tensors that the model returns depends on "
                f"the size {free.name!r}. Export with fixed sizes, without "
                "`dynamic_axes`."
            )
        graphs.append(emit(recording, model, inputs, outputs))
    merged = Merged(graphs, sizes, free)
    graph = merged.run()
    return graph, (merged.shapes("inputs"), merged.shapes("outputs"))
