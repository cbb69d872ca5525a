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
from autocalc.errors import ArgumentError, AutocalcError, DTypeError, OnnxError
from autocalc.nn import Module, Parameter
from autocalc.onnx._known import KNOWN
from autocalc.onnx._node import Known, Node, numbers_of, tensor_of
from autocalc.onnx._table import READERS

_INT64 = np.dtype(np.int64)


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
        nodes: Sequence[Node],
        inputs: Mapping[str, Any],
        outputs: Sequence[str],
        arrays: Mapping[str, Array],
        kinds: Mapping[str, str],
        trainable: bool,
    ) -> None:
        super().__init__()
        self.input_names = list(inputs)
        self.output_names = list(outputs)
        self._dtypes = dict(inputs)
        self._nodes = list(nodes)
        self._constants: dict[str, Any] = {}
        self._owners: dict[str, tuple[Module, str]] = {}
        for name, array in arrays.items():
            self._enter(name, array, kinds[name], trainable)
        self._mark_last()

    def _enter(self, name: str, array: Array, kind: str, trainable: bool) -> None:
        """Store a constant array: as a parameter, a buffer, or a known number."""
        if kind == "constant":
            whole = array.dtype == _INT64 and array.ndim < 2
            known = whole or array.size == 1  # sizes, positions, limits
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

    def _mark_last(self) -> None:
        """Note for each node which values no later node needs."""
        needed = set(self.output_names)
        for node in reversed(self._nodes):
            names = {*node.inputs, *node.outputs} - {""}
            node.last = sorted(names - needed)
            needed |= names

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the graph."""
        values = dict(self._given(args, kwargs))
        values.update(self._constants)
        for name, (owner, last) in self._owners.items():
            values[name] = owner(last) if owner is not self else getattr(self, last)
        for node in self._nodes:
            self._run(node, values)
        results = tuple(tensor_of(values[name]) for name in self.output_names)
        return results[0] if len(results) == 1 else results

    def _given(self, args: Any, kwargs: Any) -> Iterator[tuple[str, Tensor]]:
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
            check_type("OnnxModule", name, value, Tensor, "a tensor")
            if value.dtype is not self._dtypes[name]:
                raise DTypeError(
                    f"OnnxModule: `{name}` is a tensor of {value.dtype}; the graph "
                    f"needs {self._dtypes[name]}. Convert it with "
                    f".to({self._dtypes[name]})."
                )
            yield name, value

    @staticmethod
    def _run(node: Node, values: dict[str, Any]) -> None:
        given = [values[name] if name else None for name in node.inputs]
        try:
            results = _results(node, given)
        except AutocalcError:
            raise
        except Exception as error:  # any error that a damaged node causes
            shapes = ", ".join(_described(x) for x in given)
            raise OnnxError(
                f"OnnxModule: the operator {node.op} ({node.name}) cannot be run with "
                f"the inputs {shapes}: {error}"
            ) from error
        _check_used(node, len(results))
        values.update(zip(node.outputs, results, strict=False))
        for name in node.last:
            values.pop(name, None)


def _results(node: Node, given: list[Any]) -> tuple[Any, ...]:
    """Run a node: on the host if all inputs are sizes, else by its reader."""
    if node.op in KNOWN and all(x is None or _is_whole(x) for x in given):
        arrays = [x and x.array for x in given]
        return (Known(np.asarray(KNOWN[node.op](node, *arrays))),)
    reader = READERS[node.op]
    operands = [
        numbers_of(x) if i in reader.numbers and x is not None else tensor_of(x)
        for i, x in enumerate(given)
    ]
    results = reader.function(node, *operands)
    return results if isinstance(results, tuple) else (results,)


def _check_used(node: Node, count: int) -> None:
    """Raise if a node has unused attributes, or more outputs than are known."""
    unused = node.attributes.keys() - node.used - {*READERS[node.op].unused}
    if unused:
        raise OnnxError(
            f"OnnxModule: the operator {node.op} ({node.name}) has the attributes "
            f"{', '.join(sorted(unused))}, which AutoCalc does not know. Export the "
            f"model with an older version of the operators."
        )
    missing = [name for name in node.outputs[count:] if name]
    if missing:
        raise OnnxError(
            f"OnnxModule: the operator {node.op} ({node.name}) has the outputs "
            f"{', '.join(missing)}; AutoCalc computes only the first {count}."
        )


def _described(value: Any) -> str:
    if value is None:
        return "none"
    tensor = tensor_of(value)
    return f"{tensor.dtype}{list(tensor.shape)}"


def _is_whole(value: Any) -> bool:
    return isinstance(value, Known) and value.array.dtype == _INT64


def _free(name: str) -> str:
    """Return a name under which a module can store something."""
    name = name or "_"
    return f"{name}_" if hasattr(Module, name) or name in vars(Module()) else name
