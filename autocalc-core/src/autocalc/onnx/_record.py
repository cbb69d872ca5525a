# SPDX-License-Identifier: MIT
"""A recorded call of a model: kernel calls on slots of memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from inspect import Parameter, signature
from typing import Any, NamedTuple

from autocalc._compile._recorder import StepRecorder
from autocalc._compile._structure import flatten, rebuild
from autocalc._dispatch._callers import users_line
from autocalc._dispatch.selection.state import current, enter, leave
from autocalc._program._form import Instruction
from autocalc._program._memory import Memory
from autocalc._program._views import View
from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError, OnnxError
from autocalc.nn import Module


class CallRecord(NamedTuple):
    """The recording of a call.

    Attributes
    ----------
    instructions, memory
        The kernel calls, and the slots that they use.
    inputs, outputs
        The memory of the tensors that were passed and returned.
    """

    instructions: list[Instruction]
    memory: Memory
    inputs: list[View]
    outputs: list[View]


class Arguments:
    """The arguments of a call of a model: tensors, which become inputs, and others.

    Attributes
    ----------
    tensors
        The tensors among the arguments, in order.
    names
        The names of the tensors in the model.
    """

    def __init__(
        self, model: Callable[..., Any], args: Any, kwargs: Mapping[str, Any] | None
    ) -> None:
        values = args if isinstance(args, tuple) else (args,)
        self._leaves: list[Any] = []
        self._nesting = flatten((values, dict(kwargs or {})), self._leaves)
        self._places = [i for i, x in enumerate(self._leaves) if isinstance(x, Tensor)]
        self.tensors: list[Tensor] = [self._leaves[i] for i in self._places]
        self.names: list[str] = []
        named = zip(_names(model, len(values)), values, strict=True)
        for name, value in [*named, *(kwargs or {}).items()]:
            count = _count(value)
            self.names += [name if count == 1 else f"{name}_{i}" for i in range(count)]

    def given(self, tensors: Sequence[Tensor]) -> tuple[Any, Any]:
        """Return arguments and keywords with other tensors in the same places."""
        leaves = list(self._leaves)
        for place, tensor in zip(self._places, tensors, strict=True):
            leaves[place] = tensor
        args, kwargs = rebuild(self._nesting, iter(leaves).__next__)
        return args, kwargs


def _count(value: Any) -> int:
    leaves: list[Any] = []
    flatten(value, leaves)
    return sum(isinstance(leaf, Tensor) for leaf in leaves)


def _names(model: Callable[..., Any], count: int) -> list[str]:
    """Return the names of positional arguments in the model's function."""
    function = model.forward if isinstance(model, Module) else model
    names: list[str] = []
    try:
        parameters = list(signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    several = {Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD}
    names = [p.name for p in parameters if p.kind not in several]
    return (names + [f"input_{i}" for i in range(len(names), count)])[:count]


class _Recorder(StepRecorder):
    """A recorder with its own errors for everything that a graph cannot hold."""

    def refuse(self, what: str, instead: str = "") -> None:
        del instead  # it is for compiled functions
        if not self.inside:
            raise OnnxError(
                f"onnx.export: {what} reads the value of a tensor while the model is "
                "recorded, so the graph would be right only for this input. Compute "
                "with tensors instead, for example with ac.where. The value is read "
                f"at {users_line()}"
            )


#: True in a context whose model is being exported.
_EXPORTS: ContextVar[bool] = ContextVar("exports", default=False)


def is_in_onnx_export() -> bool:
    """Return whether `export` is running the model in the current context.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.onnx.is_in_onnx_export()
    False
    """
    return _EXPORTS.get()


@contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """Set a module and its parts to evaluation mode for a block."""
    token = _EXPORTS.set(True)
    parts = list(model.modules()) if isinstance(model, Module) else []
    modes = [part.training for part in parts]
    try:
        if isinstance(model, Module):
            model.eval()
        yield
    finally:
        _EXPORTS.reset(token)
        for part, mode in zip(parts, modes, strict=True):
            part.training = mode


def record(model: Callable[..., Any], args: Any, kwargs: Any) -> CallRecord:
    """Run a model once with the reference kernels, and return the recording.

    The reference set has every kernel.  So composites stay whole, and the graph is the
    same on every machine.
    """
    leaves: list[Any] = []
    flatten((args, kwargs), leaves)
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    alone = current().selection.derive(choices=("reference",), only=True, wrap=None)
    token = enter(grad=False, selection=alone)
    try:
        with _Recorder(tensors) as recorder:
            inputs = [recorder.memory.view(x._array) for x in tensors]
            result = model(*args, **kwargs)
            outputs = [recorder.memory.view(x._array) for x in _tensors(result)]
    finally:
        leave(token)
    return CallRecord(recorder.instructions, recorder.memory, inputs, outputs)


def _tensors(result: Any) -> list[Tensor]:
    leaves: list[Any] = []
    flatten(result, leaves)
    found = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    others = [
        leaf for leaf in leaves if leaf is not None and not isinstance(leaf, Tensor)
    ]
    if not found or others:
        what = f"also a {type(others[0]).__name__}" if others else "no tensor"
        raise ArgumentError(
            f"onnx.export: the model returns {what}, but a graph can return only "
            "tensors. Return a tensor, or a tuple, list or dict of tensors."
        )
    return found
