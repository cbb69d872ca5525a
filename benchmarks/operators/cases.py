# SPDX-License-Identifier: MIT
"""Operands and calls of `benchmarks.operators.rows` for a worker."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from math import isqrt
from typing import Any

import numpy as np

from benchmarks.operators.rows import rows
from benchmarks.worker import Run

ROWS = rows()
#: What precedes a row's name where the backward pass follows the call.
WALK = "backward of "

#: Operands that ask for gradients there.
LEAVES = (
    *("a", "b", "c", "s", "large", "regular", "row", "column", "vector", "cube"),
    *("image", "kernel", "window", "query", "keys"),
)


def start(peer: str, threads: int) -> str:
    """Import the peer and set its threads; return name and version."""
    module = importlib.import_module(peer)
    module.set_num_threads(threads)
    return f"{peer} {module.__version__}"


def operands(module: Any, side: int) -> dict[str, Any]:
    """Return what expressions may name, the same numbers for every peer."""
    rng = np.random.default_rng(0)

    def floats(*shape: int, low: float = 0.1, high: float = 0.9) -> Any:
        return module.tensor(rng.uniform(low, high, shape).astype("float32"))

    def integers(high: int, *shape: int) -> Any:
        return module.tensor(rng.integers(0, high, shape))

    a, b = floats(side, side), floats(side, side)
    regular = floats(side, side)
    return {
        "m": module,
        "F": module.nn.functional,
        "side": side,
        "shape": (side, side),
        "a": a,
        "b": b,
        "c": floats(side, side),
        "s": floats(side, side, low=-1.0, high=1.0),
        "w": floats(side, side),
        "large": floats(side, side, low=1.5, high=4.0),
        "regular": regular @ regular.T + side * module.eye(side),
        "row": floats(1, side),
        "column": floats(side, 1),
        "vector": floats(side),
        "sorted": module.tensor(np.linspace(0.0, 1.0, side, dtype="float32")),
        "cube": floats(4, 4, 4),
        "scalar": floats(),
        "i": integers(9, side, side) + 1,
        "j": integers(side, side, side),
        "labels": module.tensor(rng.permutation(side)),
        "mask": a > 0.5,
        "other": b > 0.5,
        "numbers": rng.uniform(0, 1, (side, side)).tolist(),
        "image": floats(1, 1, side, side),
        "kernel": floats(1, 1, 3, 3),
        "window": floats(side, side, 3),
        "grid": floats(1, side, side, 2, low=-1.0, high=1.0),
        "query": floats(1, 4, 1, 32),
        "keys": floats(1, 4, 200, 32),
    }


def prepare(peer: str, case: str) -> Run | None:
    """Return a row's call, or None where the peer has no such thing."""
    side, _, name = case.partition(" ")
    walk = name.startswith(WALK)
    module = importlib.import_module(peer)
    module.manual_seed(0)
    names = operands(module, isqrt(int(side)))
    call = eval(f"lambda: {ROWS[name.removeprefix(WALK)]}", names)
    try:
        if walk:
            return with_walk(names, call)
        call()
    except (AttributeError, TypeError, ValueError, RuntimeError, NotImplementedError):
        return None
    return call


def with_walk(names: dict[str, Any], call: Callable[[], Any]) -> Run | None:
    """Return the call and the backward pass after it."""
    leaves = [names[n] for n in LEAVES]
    for leaf in leaves:
        leaf.requires_grad_()
    result = _first(call())
    if result is names["w"] or not getattr(result, "requires_grad", False):
        return None
    cotangent = names["m"].ones_like(result.detach())

    def run() -> None:
        _first(call()).backward(cotangent)
        for leaf in leaves:
            leaf.grad = None

    run()
    return run


def _first(result: Any) -> Any:
    return result[0] if isinstance(result, (tuple, list)) else result
