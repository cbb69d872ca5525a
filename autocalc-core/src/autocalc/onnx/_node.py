# SPDX-License-Identifier: MIT
"""The nodes of a loaded graph, and values that the host knows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autocalc._kernels.spec import Array
from autocalc._ops.creation.from_data import from_numpy
from autocalc._tensor import Tensor
from autocalc._tensor.dtypes import DType, of
from autocalc.errors import OnnxError
from autocalc.onnx._package import package


@dataclass(slots=True)
class Node:
    """One node.

    Attributes
    ----------
    op, name
        Its operator, and what the file calls it.
    inputs, outputs
        Names of values; "" for what is left out.
    attributes
        By name: numbers, texts, lists of them, arrays.
    opset
        The version of the operators.
    last
        Values that no later node needs.
    used
        Names of the attributes that were asked for so far.
    """

    op: str
    name: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any]
    opset: int
    last: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def get(self, name: str, default: Any = None) -> Any:
        """Return an attribute, or the default."""
        self.used.add(name)
        return self.attributes.get(name, default)

    def dtype(self, name: str) -> DType:
        """Return the dtype that an attribute names."""
        helper = package("onnx.load", "onnx.helper")
        return of(np.dtype(helper.tensor_dtype_to_np_dtype(self.get(name))))

    def only(self, name: str, *allowed: Any) -> None:
        """Raise unless an attribute has one of these values; the first is default."""
        self.expect(name, self.get(name, allowed[0]), *allowed)

    def expect(self, name: str, value: Any, *allowed: Any) -> None:
        """Raise unless the value of an attribute is one of these."""
        if value not in allowed:
            listed = ", ".join(map(repr, allowed))
            raise OnnxError(
                f"onnx.load: the operator {self.op} ({self.name}) has "
                f"{name}={value!r}; AutoCalc supports it only with {listed}."
            )


class Known:
    """Numbers that the host knows: sizes, positions, limits, and sums of them."""

    __slots__ = ("array", "tensor")

    def __init__(self, array: Array) -> None:
        self.array = array
        self.tensor: Tensor = from_numpy(np.array(array))


def numbers_of(value: Any) -> list[Any]:
    """Return the elements of a value as one list."""
    known = isinstance(value, Known)
    array = value.array if known else value.detach().numpy()
    return array.reshape(-1).tolist()  # type: ignore[no-any-return]


def tensor_of(value: Any) -> Any:
    """Return a value as a tensor; None stays None."""
    return value.tensor if isinstance(value, Known) else value
