# SPDX-License-Identifier: MIT
"""Conversion of nested values to a JSON text and named arrays, and back.

Plain values, lists and dicts with string keys are stored as JSON.  Any other value is
an object whose key `$` names its kind, for example a tensor: `{"$": "tensor", "name":
"0.bias"}`. An array that occurs twice is stored once, and is loaded as one tensor.
Tensors that overlap in memory are stored each for itself, and overlap when loaded.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from autocalc._dispatch.selection.state import refuse_reading
from autocalc._io import memory
from autocalc._ops.creation.from_data import from_numpy
from autocalc._tensor import Tensor, dtypes, make
from autocalc._tensor.device import Device, host_array
from autocalc._tensor.state_dict import StateDict
from autocalc.errors import CheckpointError, DTypeError

Array: TypeAlias = npt.NDArray[Any]
_KIND = "$"
_MAX_DEPTH = 200

#: The dtypes of tensors, which are those of AutoCalc's arrays.
DTYPES = frozenset(dtype.numpy for dtype in dtypes.ALL + dtypes.COMPLEX)


class Encoder:
    """Encodes one value as JSON; `arrays` collects the arrays under their names."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self._names: dict[tuple[Any, ...], str] = {}
        # Keeps every array alive while addresses are compared.  Otherwise the address
        # of a freed temporary array could be reused for the next one.
        self._seen: list[Array] = []
        self._tensors: list[tuple[dict[str, Any], Array]] = []

    def encode(self, value: Any) -> str:
        """Return the JSON text of `value`."""
        import json  # 2 ms of import, only for saving

        tree = self._encode(value, ())
        memory.add_places(self._tensors)
        return json.dumps(tree, allow_nan=False)

    def _encode(self, value: Any, path: tuple[str, ...]) -> Any:
        if len(path) > _MAX_DEPTH:
            raise CheckpointError(
                f"save: {_where(path[:3])}... is nested more than {_MAX_DEPTH} levels "
                "deep; a list or dict that contains itself cannot be saved."
            )
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return _encode_float(value)
        if isinstance(value, np.generic):
            return self._encode(value.item(), path)
        if isinstance(value, Tensor):
            return self._encode_tensor(value, path)
        if isinstance(value, np.ndarray):
            return {_KIND: "array", "name": self._name(value, path)}
        return self._encode_container(value, path)

    def _encode_container(self, value: Any, path: tuple[str, ...]) -> Any:
        if isinstance(value, Mapping):
            return self._encode_mapping(value, path)
        if isinstance(value, list | tuple):
            items = [self._encode(v, (*path, str(i))) for i, v in enumerate(value)]
            return items if isinstance(value, list) else {_KIND: "tuple", "of": items}
        if callable(getattr(value, "state_dict", None)):
            return self._encode(value.state_dict(), path)
        raise DTypeError(
            f"save: {_where(path)} is of type {type(value).__name__}; a checkpoint can "
            "hold tensors, arrays, numbers, strings, None, lists, tuples and dicts of "
            "these, and objects with a `state_dict()`."
        )

    def _encode_mapping(
        self, value: Mapping[Any, Any], path: tuple[str, ...]
    ) -> dict[str, Any]:
        items = [(k, self._encode(v, (*path, str(k)))) for k, v in value.items()]
        if isinstance(getattr(value, "_metadata", None), Mapping):
            return self._encode_state(value, items, path)
        if all(isinstance(key, str) for key in value) and _KIND not in value:
            return dict(items)
        for key in value:
            if not isinstance(key, str | int | float | bool | None):
                raise DTypeError(
                    f"save: {_where(path)} has a key of type {type(key).__name__}; "
                    "keys must be strings or numbers."
                )
        return {_KIND: "dict", "of": [list(item) for item in items]}

    def _encode_state(
        self, value: Any, items: list[tuple[Any, Any]], path: tuple[str, ...]
    ) -> dict[str, Any]:
        """Encode the state of a module with the versions of the modules."""
        versions = self._encode(dict(value._metadata), (*path, "_metadata"))
        return {
            _KIND: "state_dict",
            "of": [list(item) for item in items],
            "metadata": versions,
        }

    def _encode_tensor(self, value: Any, path: tuple[str, ...]) -> dict[str, Any]:
        refuse_reading("save")
        array = host_array(value._array)  # numpy() would mark it as exported
        node: dict[str, Any] = {_KIND: "tensor", "name": self._name(array, path)}
        if value.requires_grad:
            node["requires_grad"] = True
        self._tensors.append((node, array))
        return node

    def _name(self, array: Array, path: tuple[str, ...]) -> str:
        if array.dtype not in DTYPES:
            raise DTypeError(
                f"save: {_where(path)} is an array of {array.dtype}; a checkpoint can "
                f"hold {', '.join(sorted(map(str, DTYPES)))}."
            )
        key = (array.ctypes.data, array.shape, array.strides, array.dtype)
        if array.size and key in self._names:
            return self._names[key]
        name = self._free_name(".".join(path) or "value")
        self._names[key] = name
        self._seen.append(array)
        self.arrays[name] = array
        return name

    def _free_name(self, wanted: str) -> str:
        """Return `wanted`, or `wanted#2` and so on if that name is taken.

        A dotted key can read like a path.
        """
        name, count = wanted, 1
        while name in self.arrays:
            count += 1
            name = f"{wanted}#{count}"
        return name


class Decoder:
    """Decodes the JSON of an `Encoder`, given the named arrays."""

    def __init__(self, arrays: Mapping[str, Array], device: Device | None) -> None:
        self._arrays = arrays
        self._device = device
        self._made: dict[tuple[str, str, bool], Any] = {}
        self._blocks = memory.Blocks()

    def decode(self, text: str) -> Any:
        """Return the value that `text` describes."""
        import json

        return self._decode(json.loads(text))

    def _decode(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self._decode(item) for item in node]
        if not isinstance(node, dict):
            return node
        kind = node.get(_KIND)
        if kind is None:
            return {key: self._decode(item) for key, item in node.items()}
        if kind in {"tensor", "array"}:
            return self._array(kind, node)
        if kind == "tuple":
            return tuple(self._decode(item) for item in node["of"])
        if kind == "dict":
            return {key: self._decode(item) for key, item in node["of"]}
        if kind == "state_dict":
            return self._state(node)
        if kind == "float":
            return float(node["of"])
        raise ValueError(f"a value of the unknown kind {kind!r}")

    def _state(self, node: dict[str, Any]) -> StateDict:
        state = StateDict((key, self._decode(item)) for key, item in node["of"])
        state._metadata = self._decode(node["metadata"])
        return state

    def _array(self, kind: str, node: dict[str, Any]) -> Any:
        """Return the array or tensor of a node; the same node gives the same object."""
        key = (kind, node["name"], bool(node.get("requires_grad")))
        if key not in self._made:
            array = self._arrays[node["name"]]
            self._made[key] = array if kind == "array" else self._tensor(array, node)
        return self._made[key]

    def _tensor(self, array: Array, node: dict[str, Any]) -> Tensor:
        wants = bool(node.get("requires_grad"))
        place = node.get(memory.KEY)
        if place is None or self._device is not None:
            return loaded(array, self._device, wants)
        placed, version = self._blocks.placed(array, place)
        tensor = make(placed, None)
        tensor._version = version
        return tensor.requires_grad_() if wants else tensor


def loaded(array: Array, device: Device | None, requires_grad: bool = False) -> Tensor:
    """Return a loaded array as a tensor on a device; None means the CPU."""
    tensor = from_numpy(array)
    if device is not None:
        tensor = tensor.to(device)
    return tensor.requires_grad_() if requires_grad else tensor


def _encode_float(value: float) -> Any:
    """Encode infinities and NaN, which JSON lacks; other floats keep every bit."""
    return value if math.isfinite(value) else {_KIND: "float", "of": repr(value)}


def _where(path: tuple[str, ...]) -> str:
    return "the object" + "".join(f"[{part!r}]" for part in path)
