# SPDX-License-Identifier: MIT
"""Encodes chains of elementwise kernels for `csrc/generic/elementwise/chain.cpp`."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from autocalc.plugin import Chain, ChainStep, FusedKernel
from autocalc_kernels_simd import _loader

#: The numbers of `ac_dtype`.
_DTYPES = {
    np.dtype(name): code
    for code, name in enumerate(("f4", "f8", "i1", "i2", "i4", "i8", "u1", "?"))
}
_FIRST_REGISTER = 32
_ABSENT = 127
_MOST_OUTPUTS = 6
_MOST_ARRAYS = 16
_MOST_STEPS = 16
_MOST_REGISTERS = 8
_MOST_WORDS = 32
_MOST_DIMS = 8

#: Kernels that raise for numbers that they cannot use.
_CHECKING = frozenset({"fmod", "remainder", "floor_divide"})


class Fuser:
    """Makes one kernel of a chain of elementwise kernels of an instruction set."""

    def __init__(self, isa: str) -> None:
        kernels = _loader.load(isa)
        self._places = {name: place for place, name in enumerate(kernels)}
        self._attributes = {
            name: [word.partition(":")[2] for word in _part(kernel.signature, 2)]
            for name, kernel in kernels.items()
            if kernel.signature.startswith("~") and name not in _CHECKING
        }
        self._kernel = _loader.load(isa, "chain")["elementwise_chain"]

    def __call__(self, chain: Chain) -> FusedKernel | None:
        """Return the chain as one kernel, or None if it is too long or too wide."""
        arrays = chain.outputs + chain.inputs
        fits = chain.outputs <= _MOST_OUTPUTS and arrays <= _MOST_ARRAYS
        fits = fits and len(chain.steps) <= _MOST_STEPS
        fits = fits and len(chain.shape) <= _MOST_DIMS
        if not fits or any(not self._takes(chain, step) for step in chain.steps):
            return None
        registers = _Registers(chain)
        words = [word for step in chain.steps for word in self._words(step, registers)]
        if len(registers.dtypes) > _MOST_REGISTERS or len(words) >= _MOST_WORDS:
            return None
        program = (registers.word(), *words)
        return FusedKernel(self._kernel, self._kernel.native, (program,))

    def _takes(self, chain: Chain, step: ChainStep) -> bool:
        if step.kernel not in self._attributes:
            return False
        if any(chain.dtypes[v] not in _DTYPES for v in step.operands if v is not None):
            return False
        exponent = step.operands[2] if step.kernel == "pow" else None
        # The chain recognises a square before it runs, so it must not compute the
        # exponent.
        made = {other.operands[0] for other in chain.steps}
        return exponent is None or exponent not in made

    def _words(self, step: ChainStep, registers: _Registers) -> list[int]:
        """Return a step as words, followed by its attributes."""
        kinds = self._attributes[step.kernel]
        word = self._places[step.kernel]
        word |= len(kinds) << 16 | len(step.operands) << 20
        for i, operand in enumerate(registers.step(step)):
            word |= operand << 24 + 7 * i
        pairs = zip(step.attributes, kinds, strict=True)
        return [word, *(_number(value, kind) for value, kind in pairs)]


class _Registers:
    """Assigns a register to each value inside the chain while it is needed."""

    def __init__(self, chain: Chain) -> None:
        self.dtypes: list[Any] = []
        self._chain = chain
        self._first = chain.outputs + chain.inputs
        self._last = {v: i for i, s in enumerate(chain.steps) for v in s.operands}
        self._held: dict[int, int] = {}
        self._free: list[int] = []
        self._done = 0

    def word(self) -> int:
        """Return a word with the number of registers and their dtypes."""
        word = len(self.dtypes)
        for i, dtype in enumerate(self.dtypes):
            word |= _DTYPES[dtype] << 4 + 4 * i
        return word

    def step(self, step: ChainStep) -> list[int]:
        """Return the places of the operands of the next step."""
        output, *inputs = step.operands
        places = [self._place(v) for v in inputs]
        for v in inputs:
            if v in self._held and self._last[v] == self._done:
                self._free.append(self._held.pop(v))
        if output is not None and output >= self._first:
            self._held[output] = self._new(self._chain.dtypes[output])
        places.insert(0, self._place(output))
        if output in self._held and self._last[output] == self._done:
            self._free.append(self._held.pop(output))
        self._done += 1
        return places

    def _new(self, dtype: Any) -> int:
        """Return a free register of this dtype; a loop may work in place."""
        for register in self._free:
            if self.dtypes[register] == dtype:
                self._free.remove(register)
                return register
        self.dtypes.append(dtype)
        return len(self.dtypes) - 1

    def _place(self, value: int | None) -> int:
        if value is None:
            return _ABSENT
        return value if value < self._first else _FIRST_REGISTER + self._held[value]


def _part(signature: str, index: int) -> list[str]:
    parts = signature.split(";")
    return parts[index].split() if index < len(parts) else []


def _number(value: Any, kind: str) -> int:
    """Return an attribute as a word: the bits of a float, or the index of a choice."""
    if kind == "float":
        (bits,) = struct.unpack("<q", struct.pack("<d", value))
        return int(bits)
    if kind in {"int", "bool"}:
        return int(value)
    return kind.split(",").index(value)
