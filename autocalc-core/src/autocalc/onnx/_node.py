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
        Its operator, with its domain if that is not ONNX's, and what the file calls it.
    inputs, outputs
        Names of values; "" for what is left out.
    attributes
        By name: numbers, texts, lists of them, arrays.
    opset
        The version of the operators.
    blocks
        Attributes that are graphs: the branches of If, the bodies of Loop and Scan.
        Each is a `Block`.
    outer
        Values that the blocks take from the graph around them.
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
    blocks: dict[str, Any] = field(default_factory=dict)
    outer: set[str] = field(default_factory=set)
    last: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def get(self, name: str, default: Any = None) -> Any:
        """Return an attribute, or the default."""
        self.used.add(name)
        return self.attributes.get(name, default)

    def dtype(self, name: str, default: Any = None) -> Any:
        """Return the dtype that an attribute names, or the default."""
        given = self.get(name)
        return default if given is None else dtype_of(given)

    def expect(self, name: str, value: Any, *allowed: Any) -> None:
        """Raise unless the value of an attribute is one of these."""
        reason = self.unlike(name, value, *allowed)
        if reason:
            raise OnnxError(f"onnx.load: {reason}")

    def unlike(self, name: str, value: Any, *allowed: Any) -> str:
        """Return why a value is refused, or "" if it is one of these."""
        if value in allowed:
            return ""
        listed = ", ".join(map(repr, allowed))
        return f"{self} has {name}={value!r}; AutoCalc supports it only with {listed}."

    def __str__(self) -> str:
        return f"the operator {self.op} ({self.name})"


def dtype_of(number: int) -> DType:
    """Return the dtype that has a number in ONNX's files."""
    helper = package("onnx.load", "onnx.helper")
    return of(np.dtype(helper.tensor_dtype_to_np_dtype(number)))


class Known:
    """Numbers that the host knows: sizes, positions, limits, and sums of them."""

    __slots__ = ("_tensor", "array")

    def __init__(self, array: Array) -> None:
        self.array = array
        self._tensor: Tensor | None = None

    @property
    def tensor(self) -> Tensor:
        """The numbers as a tensor, which is made when it is needed first."""
        if self._tensor is None:
            self._tensor = from_numpy(np.array(self.array))
        return self._tensor


def numbers_of(value: Any) -> list[Any]:
    """Return the elements of a value as one list."""
    known = isinstance(value, Known)
    array = value.array if known else value.detach().numpy()
    return array.reshape(-1).tolist()  # type: ignore[no-any-return]


def tensor_of(value: Any) -> Any:
    """Return a value as a tensor; None and lists stay as they are."""
    return value.tensor if isinstance(value, Known) else value
