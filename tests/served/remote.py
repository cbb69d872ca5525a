# SPDX-License-Identifier: MIT
"""A kernel set whose kernels run in another process: `ctest/kernel_server.cpp`.

Every block of memory that holds an operand, guards and gaps included, goes there and
comes back, so that the conformance kit's checks see what they see in one process.
"""

from __future__ import annotations

import struct
import subprocess

import ml_dtypes
import numpy as np
from tests.kernel_table import parse_signature

from autocalc.errors import KernelDataError
from autocalc.plugin import KernelImpl, KernelSet

DESCRIBE, CALL, SUPPORTS, SET_THREADS = range(4)
DONE, BAD_VALUE, NO_MEMORY, UNSUPPORTED = range(4)
DTYPES = {
    np.dtype(name): code
    for code, name in enumerate(
        ("f4", "f8", "i1", "i2", "i4", "i8", "u1", "?", ml_dtypes.bfloat16, "f2")
    )
}
#: bfloat16 and float16: an entry that lists no dtypes takes neither.
HALVES = 3 << 8


class Server:
    """The other process."""

    def __init__(self, command):
        self._process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def close(self):
        """Let the process end; return how it did."""
        self._process.stdin.close()
        return self._process.wait(timeout=60)

    def ask(self, *words):
        """Send integers and bytes."""
        self._process.stdin.write(
            b"".join(w if isinstance(w, bytes) else struct.pack("q", w) for w in words)
        )
        self._process.stdin.flush()

    def bytes(self, size):
        data = self._process.stdout.read(size)
        if len(data) != size:
            code = self._process.wait(timeout=60)
            message = f"the kernel server ended with {code} in the middle of an answer"
            raise RuntimeError(message)
        return data

    def int(self):
        return struct.unpack("q", self.bytes(8))[0]

    def text(self):
        return self.bytes(self.int()).decode()


def root_of(a):
    """Return the array that owns the memory of `a`."""
    while isinstance(a.base, np.ndarray):
        a = a.base
    return a


class Blocks:
    """The distinct blocks of memory of a call."""

    def __init__(self):
        self.roots = {}

    def place(self, a):
        """Return block and offset of an array."""
        root = root_of(a)
        assert root.flags.c_contiguous
        index = list(self.roots).index(id(root)) if id(root) in self.roots else None
        if index is None:
            index = len(self.roots)
            self.roots[id(root)] = root
        return index, a.ctypes.data - root.ctypes.data

    def words(self):
        yield len(self.roots)
        for root in self.roots.values():
            yield from (root.ctypes.data % 64, root.nbytes, root.tobytes())

    def take_back(self, server):
        for root in self.roots.values():
            data = server.bytes(root.nbytes)
            if data != root.tobytes():
                root.reshape(-1).view(np.uint8)[...] = np.frombuffer(data, np.uint8)


class Kernel:
    """One kernel: called with ``outputs..., inputs..., attributes...``."""

    def __init__(self, server, index, name, signature, dtypes):
        self.name, self.signature = name, signature
        self._server, self._index = server, index
        self._mask = dtypes or ~HALVES
        parts = parse_signature(signature)
        self._elementwise, self._outputs, self._inputs, self._attributes = parts
        self._operands = self._outputs + self._inputs

    def __call__(self, *args):
        n = len(self._operands)
        operands, blocks = list(args[:n]), Blocks()
        if self._elementwise:
            operands[1:] = [
                None if a is None else np.broadcast_to(a, operands[0].shape)
                for a in operands[1:]
            ]
        words = [w for a in operands for w in self._operand(a, blocks)]
        self._server.ask(
            *(CALL, self._index, *blocks.words(), *self._counts(), *words),
            *self._attribute_words(args[n:]),
        )
        code, operand, index, value = (self._server.int() for _ in range(4))
        blocks.take_back(self._server)
        if code == BAD_VALUE:
            name = self._operands[operand % 16].name  # i lists further, + 16 * i
            message = f"{self.name}: `{name}` holds {value} at element {index}, too far"
            raise KernelDataError(message)
        assert code == DONE, f"{self.name} answered with status {code}"

    @property
    def halves(self):
        """Whether it takes float16 or bfloat16."""
        return bool(self._mask & HALVES)

    def _takes(self, dtype):
        return self._mask >> DTYPES[dtype] & 1

    def supports(self, key):
        """Ask the kernel about a dispatch key."""
        first = next(
            (d for d in key.dtypes[len(self._outputs) :] if d is not None), None
        )
        if first is not None and not self._takes(first):
            return f"does not take {first} in first place"
        outputs = [d for d in key.dtypes[: len(self._outputs)] if d is not None]
        if any(HALVES >> DTYPES[d] & 1 and not self._takes(d) for d in outputs):
            return "does not write this dtype"
        words = []
        for i, dtype in enumerate(key.dtypes):
            shape = None if key.shapes is None else key.shapes[i]
            strides = None if key.strides is None else key.strides[i]
            known = isinstance(shape, tuple) and all(isinstance(x, int) for x in shape)
            sizes = shape if known and dtype is not None else None
            words += [1, dtype is not None, DTYPES.get(dtype, -1)]
            words += [-1 if sizes is None else len(sizes), -1, 0, *(sizes or ())]
            if sizes is not None:
                words += strides if strides is not None else (0,) * len(sizes)
        self._server.ask(
            *(SUPPORTS, self._index, 0, *self._counts(), *words),
            *self._attribute_words(key.attributes),
        )
        return self._server.text() or None

    def _counts(self):
        return len(self._outputs), len(self._inputs), len(self._attributes)

    def _operand(self, operand, blocks):
        arrays = operand if isinstance(operand, (list, tuple)) else [operand]
        yield len(arrays)
        for a in arrays:
            if a is None:
                yield from (0, 0, 0, -1, 0)
            else:
                yield from (1, DTYPES[a.dtype], a.ndim, *blocks.place(a))
                yield from (*a.shape, *a.strides)

    def _attribute_words(self, values):
        for attribute, value in zip(self._attributes, values, strict=True):
            if attribute.type == "float":
                yield from (1, struct.pack("d", value))
            elif attribute.type == "ints":
                yield from (2, len(value), *value)
            else:
                is_word = attribute.type == "choice"
                yield from (0, attribute.choices.index(value) if is_word else value)


def remote_set(server):
    """Return the set that a server offers, and its kernels."""
    server.ask(DESCRIBE)
    api, name = server.int(), server.text()
    kernels = {}
    for index in range(server.int()):
        kernel = Kernel(server, index, server.text(), server.text(), server.int())
        kernels[kernel.name] = KernelImpl(
            kernel, supports=kernel.supports, halves=kernel.halves
        )
    kernel_set = KernelSet(
        name,
        name,
        api=api,
        load=lambda: kernels,
        determinism="threads",
        set_num_threads=lambda n: server.ask(SET_THREADS, n),
    )
    return kernel_set, kernels
