# SPDX-License-Identifier: MIT
"""A module that runs a loaded graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autocalc._kernels.spec import Array
from autocalc._ops.creation.from_data import from_numpy
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_type
from autocalc.errors import ArgumentError, DTypeError
from autocalc.nn import Module, Parameter
from autocalc.onnx._block import Block, on_host, run
from autocalc.onnx._known import LARGEST
from autocalc.onnx._node import Known, tensor_of
from autocalc.onnx._scope import Input

#: An input that is not a constant.
_ABSENT = object()


class _Part(Module):
    """Holds the parameters and buffers whose names share a prefix.

    The module is called to read them, so that a recorder of calls sees their owner.
    """

    def forward(self, name: str) -> Any:
        return getattr(self, name)


class OnnxModule(Module):
    """A module that runs an ONNX graph, node by node; `ac.onnx.load` returns it.

    It is called with the inputs of the graph, by position or by name.  It returns the
    output, or a tuple of several outputs.  Its parameters and buffers have the names
    that they have in the file.

    Attributes
    ----------
    input_names, output_names
        The names of the graph's inputs and outputs.

    Raises
    ------
    ArgumentError
        A call raises it if inputs are missing, or if there are too many inputs.
    DTypeError
        A call raises it if an input is not a tensor, or does not have the dtype that
        the graph requires.

    Examples
    --------
    >>> import tempfile
    >>> import autocalc as ac
    >>> path = tempfile.mkdtemp() + "/model.onnx"
    >>> ac.onnx.export(ac.nn.Linear(3, 2), ac.ones(4, 3), path)
    >>> model = ac.onnx.load(path)
    >>> model.input_names, list(model.state_dict())
    (['input'], ['weight', 'bias'])
    """

    def __init__(
        self,
        block: Block,
        inputs: Mapping[str, Input],
        outputs: Sequence[str],
        arrays: Mapping[str, Array],
        kinds: Mapping[str, str],
        trainable: bool,
    ) -> None:
        super().__init__()
        self.input_names = list(inputs)
        self.output_names = list(outputs)
        self._kinds = dict(inputs)
        self._block = block
        self._constants: dict[str, Any] = {}
        self._owners: dict[str, tuple[Module, str]] = {}
        for name, array in arrays.items():
            self._enter(name, array, kinds[name], trainable)
        self._fold()

    def _fold(self) -> None:
        """Run the nodes that compute numbers from constants, once and for all."""
        left = []
        for node in self._block.nodes:
            given = [self._constants.get(name, _ABSENT) for name in node.inputs if name]
            if on_host(node, given) and not node.blocks:
                values = {n: self._constants[n] for n in node.inputs if n}
                run(node, values)
                made = {n: values[n] for n in node.outputs if n in values}
                self._constants.update(made)
            else:
                left.append(node)
        self._block.nodes = left
        self._block.mark_last()

    def _enter(self, name: str, array: Array, kind: str, trainable: bool) -> None:
        """Store a constant array: as a parameter, a buffer, or a known number."""
        if kind == "numbers":
            self._constants[name] = Known(array)
            return
        if kind == "constant":
            few = array.dtype.kind in "iub" and array.size <= LARGEST
            known = few or array.size == 1  # sizes, positions, limits
            self._constants[name] = (
                Known(array) if known else from_numpy(np.array(array))
            )
            return
        *path, last = name.split(".")
        owner: Module = self
        for part in map(_free, path):
            if part not in owner._modules:
                owner.add_module(part, _Part())
            owner = owner._modules[part]
        last, tensor = _free(last), from_numpy(np.array(array))
        if kind == "parameter":
            owner.register_parameter(last, Parameter(tensor, requires_grad=trainable))
        else:
            owner.register_buffer(last, tensor)
        self._owners[name] = owner, last

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the graph."""
        given = dict(self._given(args, kwargs))
        inputs = [given[name] for name in self.input_names]
        results = tuple(map(tensor_of, self._block.run(self._values(), *inputs)))
        return results[0] if len(results) == 1 else results

    def _values(self) -> dict[str, Any]:
        """Return the constants and parameters by name."""
        values = dict(self._constants)
        for name, (owner, last) in self._owners.items():
            values[name] = owner(last) if owner is not self else getattr(self, last)
        return values

    def _given(self, args: Any, kwargs: Any) -> Iterator[tuple[str, Any]]:
        named = dict(zip(self.input_names, args, strict=False))
        unknown = sorted(set(kwargs) - set(self.input_names) | set(kwargs) & set(named))
        missing = [n for n in self.input_names if n not in named and n not in kwargs]
        if len(args) > len(self.input_names) or unknown or missing:
            raise ArgumentError(
                f"OnnxModule: it was called with {len(args)} inputs by position and "
                f"{sorted(kwargs)} by name; the graph has the inputs "
                f"{', '.join(self.input_names)}."
            )
        for name, value in {**named, **kwargs}.items():
            self._check(name, value, self._kinds[name])
            yield name, value

    @staticmethod
    def _check(name: str, value: Any, kind: Input) -> None:
        """Raise unless a value is what an input takes."""
        if value is None and kind.optional:
            return
        if kind.several:
            check_type("OnnxModule", name, value, (list, tuple), "a list of tensors")
        for one in value if kind.several else [value]:
            check_type("OnnxModule", name, one, Tensor, "a tensor")
            if one.dtype is not kind.dtype:
                raise DTypeError(
                    f"OnnxModule: `{name}` is a tensor of {one.dtype}; the graph "
                    f"needs {kind.dtype}. Convert it with .to({kind.dtype})."
                )


def _free(name: str) -> str:
    """Return a name under which a module can store something."""
    name = name or "_"
    return f"{name}_" if hasattr(Module, name) or name in vars(Module()) else name
