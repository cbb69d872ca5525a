# SPDX-License-Identifier: MIT
"""Benchmark cases: calls for timing a kernel, and their operands.

A case is a call with sizes as in models.  It has the inputs and attributes in the order
of the kernel's signature.  `Operands` makes the inputs from a random generator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

#: The annotation is a string, because importing `np.random` takes 5 ms.
Operands: TypeAlias = "Callable[[np.random.Generator], tuple[Any, ...]]"

SIZES = {"4 Ki": 4 << 10, "64 Ki": 64 << 10, "1 Mi": 1 << 20, "16 Mi": 16 << 20}

#: The parameters of a small transformer: an embedding, two blocks with eight parameters
#: each, and a norm.
PARAMETERS = [(1000, 256), *[(768, 256), (768,), (256, 256), (256,)] * 2, (256,)]


class Case(NamedTuple):
    """One call to time."""

    label: str
    operands: Operands
    attributes: tuple[Any, ...] = ()
    #: The bit mask of the optional outputs to compute.
    want: int = 0
    #: The shape of the result, if the inputs do not determine it (`KernelSpec.free`).
    shape: tuple[int, ...] | None = None


def floats(*shape: int) -> Operands:
    """Make one standard normal float32 operand."""
    return lambda rng: (rng.standard_normal(shape, np.float32),)


def positive(*shape: int) -> Operands:
    """Make one float32 operand in [0.5, 1.5)."""
    return lambda rng: (rng.random(shape, np.float32) + np.float32(0.5),)


def uniform(*shape: int) -> Operands:
    """Make one float32 operand in [0, 1)."""
    return lambda rng: (rng.random(shape, np.float32),)


def transposed(n: int) -> Operands:
    """Make one float32 operand: the transpose of a square."""
    return lambda rng: (rng.random((n, n), np.float32).T,)


def indices(below: int, *shape: int) -> Operands:
    """Make one int64 operand in [0, below)."""
    return lambda rng: (rng.integers(below, size=shape),)


def integers(n: int) -> Operands:
    """Make one int64 operand in [0, 2^30)."""
    return indices(1 << 30, n)


def bools(*shape: int) -> Operands:
    """Make one bool operand."""
    return lambda rng: (rng.random(shape) < 0.5,)


def alternating(n: int) -> Operands:
    """Make one bool operand in which every second element is true."""
    return lambda rng: (np.arange(n) % 2 == 0,)


def absent(rng: np.random.Generator) -> tuple[None]:
    """Leave an optional operand out."""
    return (None,)


def nothing(rng: np.random.Generator) -> tuple[list[Any]]:
    """Make one empty list of arrays."""
    return ([],)


def number(value: float) -> Operands:
    """Make one 0-d float32 operand."""
    return lambda rng: (np.asarray(value, np.float32),)


def definite(count: int, n: int) -> Operands:
    """Make one float32 operand of symmetric, positive definite matrices."""

    def make(rng: np.random.Generator) -> tuple[Any, ...]:
        a = rng.standard_normal((count, n, n), np.float32)
        return (a @ a.transpose(0, 2, 1) + np.float32(n) * np.eye(n, dtype=a.dtype),)

    return make


def counter(rng: np.random.Generator) -> tuple[Any, ...]:
    """Make the seed and the offset of random bits."""
    return np.asarray(1, np.int64), np.asarray(0, np.int64)


def join(*parts: Operands) -> Operands:
    """Make operands one after the other."""
    return lambda rng: tuple(one for part in parts for one in part(rng))


def listed(*parts: Operands) -> Operands:
    """Make operands as one list of arrays."""
    return lambda rng: (list(join(*parts)(rng)),)


def parameters(copies: int, *scalars: Any) -> Operands:
    """Make lists of arrays like those of an optimizer, and 0-d operands."""

    def make(rng: np.random.Generator) -> tuple[Any, ...]:
        lists = tuple(
            [rng.random(shape, np.float32) for shape in PARAMETERS]
            for _ in range(copies)
        )
        return (*lists, *scalars)

    return make


def step_scalars() -> tuple[Any, Any]:
    """Return the learning rate and the number of the step as 0-d arrays."""
    return np.asarray(1e-3, np.float32), np.asarray(2, np.int64)


def parameters_label() -> str:
    """Return the label with the number of parameters that `parameters` makes."""
    return f"{sum(int(np.prod(s)) for s in PARAMETERS):,} parameters"


def sized(operands: Callable[[int], Operands], *attributes: Any) -> list[Case]:
    """Return one case for each size."""
    label = "".join(f"{a} " for a in attributes if isinstance(a, str) and a != "none")
    return [
        Case(f"{label}{name}", operands(n), attributes) for name, n in SIZES.items()
    ]


def mebi(
    *makes: Callable[[int], Operands], attributes: tuple[Any, ...] = ()
) -> Callable[[], list[Case]]:
    """Declare one case with 2^20 elements in each operand."""
    return lambda: [Case("1 Mi", join(*[make(1 << 20) for make in makes]), attributes)]
