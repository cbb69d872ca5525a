# SPDX-License-Identifier: MIT
"""A loaded graph node by node: what it computes, where, and for how long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from autocalc._ops.creation.from_data import from_numpy
from autocalc.errors import ArgumentError
from autocalc.onnx._block import run
from autocalc.onnx._module import OnnxModule
from autocalc.onnx._node import Known


class Seen(NamedTuple):
    """What the nodes of one operator did.

    Attributes
    ----------
    op, nodes
        The operator and the number of its nodes.
    where
        "host" if it computes numbers such as sizes, "kernels", or "both".
    shape
        The shape of the largest result.
    seconds
        The time of all its nodes.
    """

    op: str
    nodes: int
    where: str
    shape: tuple[int, ...]
    seconds: float


def examples(module: OnnxModule, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Return an input for each name: random floats, and zeros of other dtypes.

    An open size is 1 unless `sizes` names it.
    """
    kinds = module._kinds
    every = [n for kind in kinds.values() for n in kind.sizes]
    names = {n for n in every if isinstance(n, str)}
    unknown = sorted(set(sizes) - names)
    if unknown:
        raise ArgumentError(
            f"onnx: there is no open size {', '.join(unknown)}; the graph has "
            f"{', '.join(sorted(names)) or 'none'}."
        )
    rng, found = np.random.default_rng(0), {}
    for name, kind in kinds.items():
        if kind.several:
            raise ArgumentError(
                f"onnx: the input `{name}` is a sequence, but only graphs of tensors "
                "can be run here. Call the loaded module instead."
            )
        shape = [n if isinstance(n, int) else sizes.get(n or "", 1) for n in kind.sizes]
        array = (
            rng.normal(size=shape) if kind.dtype.is_floating_point else np.zeros(shape)
        )
        found[name] = from_numpy(np.array(array, np.float32)).to(kind.dtype)
    return found


def watched(module: OnnxModule, given: Mapping[str, Any]) -> list[Seen]:
    """Run the graph and return what each operator did, the slowest first."""
    block, values = module._block, module._values()
    values.update(zip(block.inputs, given.values(), strict=True))
    rows: dict[str, list[tuple[bool, tuple[int, ...], float]]] = {}
    for node in block.nodes:
        start = perf_counter()
        run(node, values)
        seconds = perf_counter() - start
        results = [values[name] for name in node.outputs if name in values]
        host = bool(results) and all(isinstance(one, Known) for one in results)
        shapes = [_shape(one) for one in results]
        row = (host, max(shapes, key=np.prod, default=()), seconds)
        rows.setdefault(node.op, []).append(row)
    return sorted((_seen(op, several) for op, several in rows.items()), key=_order)


def _seen(op: str, rows: Sequence[tuple[bool, tuple[int, ...], float]]) -> Seen:
    where = {True: "host", False: "kernels"}
    places = {where[host] for host, _, _ in rows}
    return Seen(
        op,
        len(rows),
        places.pop() if len(places) == 1 else "both",
        max((shape for _, shape, _ in rows), key=np.prod),
        sum(seconds for _, _, seconds in rows),
    )


def _order(row: Seen) -> float:
    return -row.seconds


def _shape(value: Any) -> tuple[int, ...]:
    if isinstance(value, Known):
        return tuple(value.array.shape)
    return (
        (len(value),) if isinstance(value, list) else tuple(getattr(value, "shape", ()))
    )
