# SPDX-License-Identifier: MIT
"""Sees the kernels of one step, and the module in which each of them runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from autocalc._dispatch._callers import users_line
from autocalc._dispatch.selection.select import Entry, Selection
from autocalc._kernels.rules import FLOATS
from autocalc._kernels.spec import Array, KernelSpec
from autocalc.nn import Module, ReLU, ReLU6

#: Smaller copies are of no interest.
SMALL = 4096

#: So many samples are needed before a unit that is always 0 is called dead.
ENOUGH = 16

#: Modules whose output is 0 where their input is negative.
RECTIFIERS = (ReLU, ReLU6)


class Copies(NamedTuple):
    """Copies of one shape in one place: how many, of how many bytes in all."""

    calls: int
    nbytes: int
    seconds: float
    where: str
    backward: bool
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class Units(NamedTuple):
    """The units of one activation, and how many of them were 0 for every sample."""

    units: int
    dead: int
    samples: int


class Subnormals(NamedTuple):
    """Results of one kernel in one place: how many, and how many are subnormal."""

    numbers: int
    small: int


class ModelWatch:
    """Notes copies, times, dead units and subnormal results while a model runs.

    Attributes
    ----------
    units
        By the activation.
    subnormals
        By kernel and place, where there are any.
    seconds
        The time of all kernels, in seconds.
    """

    def __init__(self, model: Module, folder: str = "") -> None:
        self._names = {id(m): name or "the model" for name, m in model.named_modules()}
        self._modules = list(model.modules())
        self._folder = folder
        self._inside: list[str] = []
        self._phase = ""
        self._rectified: set[str] = set()
        self._copies: dict[Any, Copies] = {}
        self.units: dict[str, Units] = {}
        self.subnormals: dict[tuple[str, str], Subnormals] = {}
        self.seconds = 0.0

    @property
    def copies(self) -> list[Copies]:
        """All copies, the largest first."""
        return sorted(self._copies.values(), key=lambda one: -one.nbytes)

    def selection(self, base: Selection) -> Selection:
        """Return a selection whose kernels are seen."""
        inner = base.wrap

        def seen(spec: KernelSpec, name: str, function: Entry) -> Entry:
            run = function if inner is None else inner(spec, name, function)
            n = len(spec.outputs)

            def call(*args: Any) -> None:
                started = perf_counter()
                run(*args)
                self._note(spec, args[:n], args[n:], perf_counter() - started)

            return call

        return base.derive(wrap=seen)

    @contextmanager
    def forward(self) -> Iterator[None]:
        """Know of each kernel in which module it runs."""
        handles: list[Any] = []
        for module in self._modules:
            handles.append(module.register_forward_pre_hook(self._enter))
            handles.append(module.register_forward_hook(self._leave))
        self._phase = "forward"
        try:
            yield
        finally:
            self._phase = ""
            for handle in handles:
                handle.remove()

    def start(self) -> None:
        """Let the backward pass begin."""
        self._phase = "backward"

    def stop(self) -> None:
        """End the backward pass."""
        self._phase = ""

    def _enter(self, module: Module, _args: Any) -> None:
        self._inside.append(self._names[id(module)])

    def _leave(self, module: Module, _args: Any, output: Any) -> None:
        name = self._inside[-1]
        if isinstance(module, RECTIFIERS) and name not in self._rectified:
            # Its kernel went by another name, or ran as others.
            self._note_units(output._array)
        self._inside.pop()

    def _where(self) -> str:
        """Return the module that runs, and the user's line if it is of the model."""
        if self._phase == "backward":
            return "in backward"
        inside = f"in {self._inside[-1]}" if self._inside else "outside the model"
        line = users_line()
        if line is None or not self._folder or not line.file.startswith(self._folder):
            return inside
        return f"{inside}, at {str(line).rstrip('.')}"

    def _note(self, spec: KernelSpec, outs: Any, rest: Any, seconds: float) -> None:
        if not self._phase:
            return
        self.seconds += seconds
        for out in outs:
            if isinstance(out, np.ndarray) and out.dtype in FLOATS:
                self._note_subnormals(spec, out)
        if spec.name == "copy":
            self._note_copy(outs[0], rest[0], seconds)
        elif self._phase == "forward" and _is_relu(spec, rest):
            self._note_units(outs[0])

    def _note_subnormals(self, spec: KernelSpec, out: Array) -> None:
        small = (out != 0) & (np.abs(out) < np.finfo(out.dtype).tiny)
        count = int(np.count_nonzero(small))
        if count:
            key = spec.name, self._where()
            numbers, before = self.subnormals.get(key, (0, 0))
            self.subnormals[key] = Subnormals(numbers + out.size, before + count)

    def _note_copy(self, out: Array, x: Array, seconds: float) -> None:
        if x.dtype != out.dtype or x.flags.c_contiguous or out.nbytes < SMALL:
            return
        key = where, shape, strides = self._where(), x.shape, x.strides
        before = self._copies.get(key)
        calls, nbytes, spent = (0, 0, 0.0) if before is None else before[:3]
        total = calls + 1, nbytes + out.nbytes, spent + seconds
        backward = self._phase == "backward"
        self._copies[key] = Copies(*total, where, backward, shape, strides)

    def _note_units(self, out: Array) -> None:
        if out.ndim < 2:
            return
        axis = 1 if out.ndim in {2, 4, 5} else out.ndim - 1
        others = tuple(i for i in range(out.ndim) if i != axis)
        samples = out.size // max(out.shape[axis], 1)
        if samples < ENOUGH:
            return
        alive = np.any(out != 0, axis=others)
        dead = int(alive.size - np.count_nonzero(alive))
        self._rectified.update(self._inside[-1:])
        self.units[self._where()] = Units(alive.size, dead, samples)


def _is_relu(spec: KernelSpec, rest: Any) -> bool:
    """Return whether a kernel's first output is that of a ReLU."""
    if spec.name.endswith(("_backward", "_dx")):
        return False
    return spec.name == "relu" or any(type(x) is str and x == "relu" for x in rest)
