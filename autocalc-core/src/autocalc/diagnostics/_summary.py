# SPDX-License-Identifier: MIT
"""A table of a model's layers, shapes, parameters, work and memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from autocalc._dispatch._callers import running_modules
from autocalc._dispatch.selection.upcast import least_work
from autocalc._graph._grad_mode import no_grad
from autocalc._kernels.spec import meta_of
from autocalc._ops.creation.constants import ones
from autocalc._tensor import Tensor
from autocalc._tensor.checks import integers, sequence, short
from autocalc.diagnostics._activations import first_tensor
from autocalc.diagnostics._arguments import check_model
from autocalc.diagnostics._calls import Seen, calls_seen, lines_noted
from autocalc.diagnostics._layers import Layers
from autocalc.diagnostics._table import Report, Row, amount, size, sizes
from autocalc.errors import ArgumentError
from autocalc.nn import Module
from autocalc.nn.parameter import is_lazy


@dataclass
class Layer:
    """One module of a summary.

    Attributes
    ----------
    name, module, depth
        The dotted name, the class, and its depth in the tree.
    calls
        The number of calls.
    output_shape
        The shape of the first tensor of its last result; None if the layer did not run.
    parameters, trainable
        The number of elements in the module's own parameters, without those of its
        submodules.  A shared parameter counts in the first module that has it.
    flops
        The floating-point operations of the kernels that the module itself called.
    output_bytes
        The bytes of the module's results, summed over all calls.

    Examples
    --------
    >>> import autocalc as ac
    >>> net = ac.nn.Sequential(ac.nn.Linear(4, 8), ac.nn.ReLU())
    >>> layer = ac.diagnostics.summary(net, input_size=(16, 4)).layers[1]
    >>> layer.name, layer.module, layer.output_shape, layer.parameters
    ('0', 'Linear', (16, 8), 40)
    """

    name: str
    module: str
    depth: int
    calls: int = 0
    output_shape: tuple[int, ...] | None = None
    parameters: int = 0
    trainable: int = 0
    flops: float = 0.0
    output_bytes: int = 0


@dataclass(repr=False)
class Summary(Report):
    """A model's layers and their totals; `summary` returns it.

    Attributes
    ----------
    layers : list of Layer
        The layers, in the order of the tree.
    parameters, trainable, flops
        The totals over all layers.
    parameter_bytes, buffer_bytes, input_bytes, output_bytes
        The memory of the parameters, of the buffers, of the inputs, and of the results
        of layers without submodules.

    Examples
    --------
    >>> import autocalc as ac
    >>> net = ac.nn.Sequential(ac.nn.Linear(4, 8), ac.nn.ReLU())
    >>> table = ac.diagnostics.summary(net, input_size=(16, 4))
    >>> table.parameters, table.parameter_bytes, table.input_bytes
    (40, 160, 256)
    """

    layers: list[Layer]
    parameters: int
    trainable: int
    flops: float
    parameter_bytes: int
    buffer_bytes: int
    input_bytes: int
    output_bytes: int

    def _title(self) -> str:
        return f"{self.layers[0].module}: {self.parameters:,} parameters"

    def _columns(self) -> Row:
        return "layer", "module", "output", "parameters", "FLOPs", "output bytes"

    def _cells(self) -> list[Row]:
        return [
            ("  " * r.depth + (r.name.rpartition(".")[2] or "(model)"), r.module,
             "not called" if r.output_shape is None else sizes(r.output_shape),
             f"{r.parameters:,}" if r.parameters else "",
             amount(r.flops) if r.flops else "",
             size(r.output_bytes) if r.output_bytes else "")
            for r in self.layers
        ]  # fmt: skip

    def _notes(self) -> list[str]:
        fixed = self.parameters - self.trainable
        return [
            (
                f"Parameters: {self.parameters:,} ({self.trainable:,} trainable, "
                f"{fixed:,} not)."
            ),
            f"Work of a forward pass: {amount(self.flops)} FLOP.",
            (
                f"Memory: parameters {size(self.parameter_bytes)}, buffers "
                f"{size(self.buffer_bytes)}, input {size(self.input_bytes)}, outputs "
                f"of layers {size(self.output_bytes)}."
            ),
        ]


def summary(
    model: Module, *inputs: Any, input_size: Any = None, **keywords: Any
) -> Summary:
    """Return a model's layers with output shapes, parameters, FLOPs and memory.

    The model runs once, after `eval` and without gradients.  Then each module is set
    back to its previous mode.  The FLOPs are those that the kernels declare; a
    multiply-add counts as two.

    Parameters
    ----------
    model
        The module to examine.
    *inputs
        The arguments of the model's call.
    input_size
        A shape with the batch size, or a list of shapes, instead of inputs.  The inputs
        are then tensors of ones with the dtype of the parameters.
    **keywords
        Keyword arguments of the model's call.

    Raises
    ------
    DTypeError
        If `model` is not a module, or `input_size` does not consist of integers.
    ArgumentError
        If both inputs and `input_size` are given, or neither of them.

    Examples
    --------
    >>> import autocalc as ac
    >>> net = ac.nn.Sequential(ac.nn.Linear(4, 8), ac.nn.ReLU(), ac.nn.Linear(8, 2))
    >>> table = ac.diagnostics.summary(net, input_size=(16, 4))
    >>> table.parameters, table.layers[1].output_shape
    (58, (16, 8))
    """
    found = check_model("summary", model)
    if input_size is not None:
        if inputs:
            message = (
                "summary: both inputs and `input_size` are given; give only one of "
                "them."
            )
            raise ArgumentError(message)
        inputs = _made(found, input_size)
    elif not inputs and not keywords:
        raise ArgumentError(
            "summary: there is no input; give the arguments of the model, or "
            "input_size=(batch, ...)."
        )
    run = _Run(found)
    run.forward(inputs, keywords)
    return run.summary((*inputs, *keywords.values()))


def _made(model: Module, input_size: Any) -> tuple[Tensor, ...]:
    """Return tensors of ones with the given shape or shapes."""
    given = sequence("summary", "input_size", input_size)
    if not given:
        message = f"summary: `input_size` is {short(input_size)}; give a shape."
        raise ArgumentError(message)
    many = all(isinstance(one, (list, tuple)) for one in given)
    shapes = [
        integers("summary", "input_size", s) for s in (given if many else [given])
    ]
    known = (p.dtype for p in model.parameters() if p.is_floating_point())
    dtype = next(known, None)
    return tuple(ones(shape, dtype=dtype) for shape in shapes)


class _Run:
    """One forward pass that is measured."""

    def __init__(self, model: Module) -> None:
        self.model = model
        self.layers = [
            Layer(name, type(module).__name__, name.count(".") + bool(name))
            for name, module in model.named_modules()
        ]
        modules = list(model.modules())
        self.by_module = dict(zip(map(id, modules), self.layers, strict=True))
        self.modes = [(module, module.training) for module in modules]

    def forward(self, inputs: Sequence[Any], keywords: dict[str, Any]) -> None:
        """Run the model once, and restore its modes."""
        with ExitStack() as stack:
            for module, mode in self.modes:
                stack.callback(setattr, module, "training", mode)
            for module in self.model.modules():
                stack.callback(module.register_forward_hook(self._hook).remove)
            stack.enter_context(calls_seen("summary", self._look))
            stack.enter_context(lines_noted(Layers(self.model)))
            stack.enter_context(no_grad())
            self.model.eval()
            self.model(*inputs, **keywords)

    def _hook(self, module: Module, _args: Any, output: Any) -> None:
        layer = self.by_module[id(module)]
        layer.calls += 1
        out = first_tensor(output)
        if out is not None:
            layer.output_shape = tuple(out.shape)
        layer.output_bytes += sum(x.nbytes for x in _tensors(output))

    def _look(self, seen: Seen, run: Callable[[], Any]) -> None:
        flops = flops_of(seen)
        run()
        for module in running_modules():
            layer = self.by_module.get(id(module))
            if layer is not None:
                layer.flops += flops
                return

    def summary(self, inputs: Sequence[Any]) -> Summary:
        """Return the summary of the measured pass, with parameters and totals."""
        counted: set[int] = set()
        for (module, _), layer in zip(self.modes, self.layers, strict=True):
            for param in module.parameters(recurse=False):
                if id(param) in counted or is_lazy(param):
                    continue
                counted.add(id(param))
                layer.parameters += param.numel()
                layer.trainable += param.numel() * param.requires_grad
        parents = {layer.name.rpartition(".")[0] for layer in self.layers if layer.name}
        leaves = [one for one in self.layers if one.name not in parents or not one.name]
        ends = [one for one in leaves if one.name or len(self.layers) == 1]
        params = [p for p in self.model.parameters() if not is_lazy(p)]
        return Summary(
            self.layers,
            sum(one.parameters for one in self.layers),
            sum(one.trainable for one in self.layers),
            sum(one.flops for one in self.layers),
            sum(p.nbytes for p in params),
            sum(b.nbytes for b in self.model.buffers() if not is_lazy(b)),
            sum(x.nbytes for one in inputs for x in _tensors(one)),
            sum(one.output_bytes for one in ends),
        )


def flops_of(seen: Seen) -> float:
    """Return the work of a call by its spec; half precision counts as float32."""
    spec = seen.spec
    outputs = zip(seen.outputs, spec.outputs, strict=False)
    held = [meta_of(x) for x, output in outputs if output.name in spec.writes]
    n = len(spec.attributes) - bool(spec.accumulates)
    free: Any = meta_of(seen.outputs[0]) if spec.free else None
    metas = (*held, *map(meta_of, seen.inputs))
    return float(least_work(spec, metas, tuple(seen.attributes[:n]), free).flops)


def _tensors(value: Any) -> list[Tensor]:
    """Return the tensors in nested tuples, lists and dicts."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [tensor for one in value for tensor in _tensors(one)]
    return []
