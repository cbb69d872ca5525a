# SPDX-License-Identifier: MIT
"""Conversion of a recording to a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from autocalc._dispatch._callers import UserLine
from autocalc._program._form import Instruction
from autocalc._program._views import View
from autocalc.errors import OnnxError
from autocalc.nn import Module, Parameter
from autocalc.onnx._contents import Contents, place_of
from autocalc.onnx._graph import Graph, Value
from autocalc.onnx._namespace import Kernels, NoWriter
from autocalc.onnx._record import CallRecord


def state_of(model: Any) -> dict[str, Any]:
    """Return parameters and buffers by name, including those outside of checkpoints."""
    if not isinstance(model, Module):
        return {}
    return {**dict(model.named_parameters()), **dict(model.named_buffers())}


class Emitter:
    """Writes the graph of one recording."""

    def __init__(self, recording: CallRecord, state: dict[str, Any]) -> None:
        self.graph = Graph()
        self._recording = recording
        self._kernels = Kernels(self.graph)
        self._slots: dict[int, Contents] = {}
        self._owned: dict[int, list[tuple[View, str, Any]]] = {}
        self._kinds = {
            name: "parameter" if isinstance(tensor, Parameter) else "buffer"
            for name, tensor in state.items()
        }
        for name, tensor in state.items():
            view = recording.memory.view(tensor._array)
            self._owned.setdefault(view.slot, []).append((view, name, tensor._array))
        self._missing: dict[str, UserLine | None] = {}

    def run(self, inputs: Sequence[str], outputs: Sequence[str] | None) -> Graph:
        """Write everything; raise with a list of the kernels that ONNX lacks."""
        graph, recording = self.graph, self._recording
        for name, view in zip(inputs, recording.inputs, strict=True):
            slot = self._slots.setdefault(view.slot, Contents(graph))
            slot.write(view, graph.input(name, view.shape, view.dtype))
        names = outputs or _output_names(len(recording.outputs))
        names = [graph.name(name) for name in names]
        for instruction in recording.instructions:
            self._call(instruction)
        if self._missing:
            raise OnnxError(_missing(self._missing))
        for name, view in zip(names, recording.outputs, strict=True):
            value = graph.node("Identity", self._read(view))
            graph.outputs.append(value._replace(name=name))
            graph.calls[-1].outputs = (name,)
        return graph

    def _contents(self, view: View) -> Contents:
        """Return the value of a slot; memory from before the call is constant."""
        contents = self._slots.get(view.slot)
        if contents is None:
            contents = self._slots[view.slot] = Contents(self.graph)
            slot = self._recording.memory.slots[view.slot]
            if not slot.made:
                self._take(contents, view, slot.array)
        return contents

    def _take(self, contents: Contents, view: View, root: Any) -> None:
        """Store constants in a slot: parameters by name, or the whole slot."""
        seen = set()
        for own, name, array in self._owned.get(view.slot, ()):
            place = place_of(own)
            if place not in seen and place.size and not place.repeats:
                seen.add(place)
                value = self.graph.array(np.array(array), name)
                self.graph.kinds[value.name] = self._kinds[name]
                contents.write(own, value)
        if not seen:
            whole = self._recording.memory.view(root)
            # 0-d numbers are frequent and often equal.
            new = self.graph.constant if root.size < 2 else self._named
            contents.write(whole, new(np.array(root)))

    def _named(self, array: Any) -> Value:
        return self.graph.array(array, "constant")

    def _read(self, view: View) -> Value:
        return self._contents(view).read(view)

    def _operand(self, operand: Any) -> Any:
        if operand is None:
            return None
        if isinstance(operand, View):
            return self._read(operand)
        return tuple(map(self._read, operand))

    def _call(self, call: Instruction) -> None:
        """Write one kernel call; note a call that ONNX lacks, and continue."""
        if call.spec is None or call.spec.writes:
            self._missing.setdefault(call.name, call.line)
            return
        spec, attributes = call.spec, call.attributes
        words: dict[str, Any] = {}
        if spec.accumulates:
            attributes, mask = attributes[:-1], attributes[-1]
            names = [output.name for output in spec.outputs]
            words = {
                name: self._operand(view)
                for i, (name, view) in enumerate(zip(names, call.outputs, strict=True))
                if mask >> i & 1
            }
        first = call.outputs[0]
        assert isinstance(first, View)  # only optimizers write lists
        if spec.free:
            words.update(shape=first.shape, dtype=first.dtype)
        if spec.name == "copy":
            words["dtype"] = first.dtype
        want = sum(1 << i for i, view in enumerate(call.outputs) if view is not None)
        operands = [self._operand(x) for x in call.inputs]
        try:
            results = self._kernels.run(
                spec, *operands, *attributes, want=want, **words
            )
        except NoWriter as error:
            self._missing.setdefault(str(error), call.line)
            nothing = [self._nothing(view) for view in call.outputs]
            results = nothing if len(nothing) > 1 else nothing[0]
        several = results if len(spec.outputs) > 1 else (results,)
        for view, value in zip(call.outputs, several, strict=True):
            if isinstance(view, View):
                self._write(call, view, value)

    def _nothing(self, view: Any) -> Value | None:
        return view and Value("nothing", view.shape, view.dtype)

    def _write(self, call: Instruction, view: View, value: Value) -> None:
        """Store a result in memory; an elementwise result may be smaller."""
        if not self._recording.memory.slots[view.slot].made and not self._is_input(
            view
        ):
            raise OnnxError(
                "onnx.export: the model writes to a parameter, a buffer or another "
                f"tensor that outlives the call, by {call.name} at {call.line} A graph "
                "keeps no values between runs: return the new value instead."
            )
        value = self.graph.cast(value, view.dtype)
        if value.shape != view.shape:
            if prod(value.shape) == prod(view.shape):
                value = self.graph.reshape(value, view.shape)
            value = self.graph.expand(value, view.shape)
        contents = self._slots.setdefault(view.slot, Contents(self.graph))
        contents.write(view, value)

    def _is_input(self, view: View) -> bool:
        return any(view.slot == one.slot for one in self._recording.inputs)


def _output_names(count: int) -> list[str]:
    return ["output"] if count == 1 else [f"output_{i}" for i in range(count)]


def _missing(missing: dict[str, UserLine | None]) -> str:
    lines = "\n".join(f"  {name}, at {line}" for name, line in sorted(missing.items()))
    return (
        f"onnx.export: ONNX has no nodes for {len(missing)} of the kernels that the "
        f"model runs:\n{lines}\nCompute these parts outside of the exported model, or "
        f"with other operators."
    )


def emit(
    recording: CallRecord,
    model: Callable[..., Any],
    inputs: Sequence[str],
    outputs: Sequence[str] | None,
) -> Graph:
    """Return the graph of a recording; the names are those of inputs and outputs."""
    return Emitter(recording, state_of(model)).run(inputs, outputs)
