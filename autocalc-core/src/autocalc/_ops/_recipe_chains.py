# SPDX-License-Identifier: MIT
"""Elementwise kernels of a recipe that follow each other run in one pass over memory.

::

    t = x - y, u = abs(t), v = u * u   becomes  v = [sub, abs, mul](x, y)

A kernel set that has a fuser makes one kernel of them, with the same bits
(`KernelSet.fuser`).  What only these kernels see is never written.  In compiled
programs `_program/_elementwise_fusion.py` does so, and moves instructions for
it; here those join that stand next to each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from autocalc._dispatch._addresses import repeating_strides
from autocalc._dispatch._plugins import fuser_of
from autocalc._kernels.kernel_set import Chain, ChainStep, FusedKernel
from autocalc._kernels.spec import KernelSpec
from autocalc._ops._replayed import CONSTANT, DRAW, LIST, MAKE, RUN, VIEW
from autocalc._program._opaque import view_at

#: Fewer elements run as fast kernel by kernel: a chain takes 0.4 us to set up.
LEAST = 8192

#: Those that find a number which they cannot use when others are written already.
CHECKING = frozenset({"fmod", "remainder", "floor_divide"})

#: A value that is written over the first input.
OVER = -3

#: Which kernel of which set a step runs.
Kernel = tuple[KernelSpec, str]


class Fused(NamedTuple):
    """The steps of a recipe, and the new number of each old slot that is left."""

    steps: list[Any]
    slots: dict[int, int]


def in_chains(
    steps: list[Any],
    kernels: dict[int, Kernel],
    arrays: list[Any],
    n_inputs: int,
    results: set[int],
) -> Fused:
    """Return the steps with chains in the place of kernels.

    Parameters
    ----------
    steps
        Of a recipe, before any slot is forgotten.
    kernels
        For steps that run one, which.
    arrays
        What stood in each slot when the recipe was recorded.
    n_inputs
        How many of them are inputs.
    results
        The slots that are returned.
    """
    groups = _Groups(steps, kernels, arrays, n_inputs, results)
    return groups.written()


class _Link(NamedTuple):
    """A chain: its steps' places, its kernel, and the slots and arrays it is given."""

    members: list[int]
    kernel: FusedKernel
    outputs: list[int]
    inputs: list[Any]


class _Groups:
    """Finds chains among the steps of a recipe, and writes the steps anew."""

    def __init__(
        self,
        steps: list[Any],
        kernels: dict[int, Kernel],
        arrays: list[Any],
        n_inputs: int,
        results: set[int],
    ) -> None:
        self._steps, self._kernels = steps, kernels
        self._arrays, self._n_inputs = arrays, n_inputs
        self._results = results
        self._fuser = cache(fuser_of)
        self._slot: dict[int, int] = {}
        self._root = {slot: slot for slot in range(n_inputs)}
        self._uses: dict[int, list[int]] = {}
        self._number()
        #: Whether a kernel may write over the first input: no view of it is read.
        self._over = not any(
            step[0] == VIEW and self._root[step[2]] == 0 for step in steps
        )
        self._links = {link.members[-1]: link for link in self._found()}

    def _number(self) -> None:
        """Note the slot that each step makes, what it is a view of, and who uses it."""
        slot = self._n_inputs
        for i, (code, _, place, sizes, things, *_) in enumerate(self._steps):
            if code in {MAKE, VIEW, DRAW}:
                self._slot[i] = slot
                self._root[slot] = self._root[place] if code == VIEW else slot
                if code == DRAW:
                    self._root[slot + 1] = slot + 1
                slot += 2 if code == DRAW else 1
            if code == VIEW:
                self._uses.setdefault(place, []).append(i)
            if code == RUN:
                for used in _slots_of(sizes, things):
                    self._uses.setdefault(used, []).append(i)

    # ---- which kernels join -------------------------------------------------------

    def _found(self) -> Iterator[_Link]:
        group: list[int] = []
        made: set[int] = set()
        for i, (code, _, place, sizes, *_) in enumerate(self._steps):
            if code == MAKE:
                continue
            kind = self._kind(i) if code == RUN else None
            looks = code == VIEW and self._root[place] not in made
            joins = kind is not None and not any(
                slot not in made and self._root[slot] in made
                for slot in sizes
                if slot >= 0
            )
            if looks or (joins and group and kind == self._kind(group[0])):
                if kind is not None:
                    group.append(i)
                    made.add(self._out(i))
                continue
            yield from self._chains(group)
            group, made = ([i], {self._out(i)}) if kind is not None else ([], set())
        yield from self._chains(group)

    def _kind(self, i: int) -> tuple[str, Any] | None:
        """Return the set and the shape of a kernel that may join, else None."""
        _, _, writes, sizes, things, *_ = self._steps[i]
        spec, name = self._kernels.get(i, (None, ""))
        if spec is None or not spec.elementwise or LIST in sizes:
            return None
        if len(spec.outputs) != 1 or self._fuser(name) is None:
            return None
        out = sizes[0]
        made = out >= self._n_inputs and self._root[out] == out
        made = made and self._uses[out][0] == i
        over = writes and out == 0 and i == len(self._steps) - 1 and self._over
        if not (made or over) or self._arrays[out].size < LEAST:
            return None
        operands = zip(sizes, things, strict=True)
        for _, (at, thing) in zip(range(1 + len(spec.inputs)), operands, strict=False):
            if at < 0 and thing is not None and not isinstance(thing, np.ndarray):
                return None
        return name, self._arrays[out].shape

    def _out(self, i: int) -> int:
        """Return the slot that a kernel makes."""
        _, _, writes, sizes, *_ = self._steps[i]
        return OVER if writes else int(sizes[0])

    def _chains(self, group: list[int]) -> Iterator[_Link]:
        """Yield chains of a group's kernels, as long as the set takes them."""
        while len(group) > 1:
            for count in range(len(group), 1, -1):
                link = self._link(group[:count])
                if link is not None:
                    yield link
                    group = group[count:]
                    break
            else:
                group = group[1:]

    # ---- one chain ----------------------------------------------------------------

    def _link(self, members: list[int]) -> _Link | None:
        inside = set(members)
        made = [self._out(i) for i in members]
        outputs = [slot for slot in made if self._is_seen(slot, inside)]
        inputs: dict[Any, Any] = {}
        steps: list[tuple[str, list[Any], tuple[Any, ...]]] = []
        for i in members:
            spec, _ = self._kernels[i]
            _, _, _, sizes, things, *_ = self._steps[i]
            n = 1 + len(spec.inputs)
            values: list[Any] = [self._out(i)]
            for at, thing in zip(sizes[1:n], things[1:n], strict=True):
                value = at if at >= 0 else None if thing is None else (id(thing),)
                if value is not None and value not in made:
                    inputs.setdefault(value, thing if at < 0 else at)
                values.append(value)
            steps.append((spec.name, values, tuple(things[n:])))
        inner = [slot for slot in made if slot not in outputs]
        numbers: dict[Any, int | None] = {None: None}
        for value in (*outputs, *inputs, *inner):
            numbers[value] = len(numbers) - 1
        kinds = [self._made(slot).dtype for slot in outputs]
        kinds += [self._given(thing).dtype for thing in inputs.values()]
        kinds += [self._arrays[slot].dtype for slot in inner]
        chain = Chain(
            self._made(made[0]).shape,
            len(outputs),
            len(inputs),
            tuple(kinds),
            tuple(
                ChainStep(name, tuple([numbers[v] for v in values]), attributes)
                for name, values, attributes in steps
            ),
        )
        fuse = self._fuser(self._kernels[members[0]][1])
        kernel = fuse(chain) if outputs and fuse is not None else None
        if kernel is None:
            return None
        return _Link(members, kernel, outputs, list(inputs.values()))

    def _is_seen(self, slot: int, inside: set[int]) -> bool:
        if slot == OVER or slot in self._results:
            return True
        return any(i not in inside for i in self._uses[slot])

    def _made(self, slot: int) -> Any:
        """Return the array of what a kernel makes."""
        return self._arrays[0 if slot == OVER else slot]

    def _given(self, thing: Any) -> Any:
        """Return the array of an input: that of its slot, or the constant itself."""
        return self._arrays[thing] if isinstance(thing, int) else thing

    # ---- the steps anew -----------------------------------------------------------

    def written(self) -> Fused:
        """Return the steps with a call for each chain."""
        gone = {i for link in self._links.values() for i in link.members}
        kept = {slot for link in self._links.values() for slot in link.outputs}
        inner = {self._out(i) for i in gone} - kept
        steps: list[Any] = []
        slots = {OVER: 0, **{slot: slot for slot in range(self._n_inputs)}}
        count = self._n_inputs
        for i, step in enumerate(self._steps):
            if i in self._links:
                count = self._write(self._links[i], steps, slots, count)
            if i in gone or (step[0] == MAKE and self._slot[i] in inner):
                continue
            steps.append(_renumbered(step, slots))
            if i in self._slot:
                for j in range(2 if step[0] == DRAW else 1):
                    slots[self._slot[i] + j] = count
                    count += 1
        return Fused(steps, slots)

    def _write(
        self, link: _Link, steps: list[Any], slots: dict[int, int], count: int
    ) -> int:
        """Write a chain's call, behind views that repeat its inputs' elements."""
        shape = tuple(map(int, self._made(link.outputs[0]).shape))
        ins = []
        for thing in link.inputs:
            a = self._given(thing)
            if isinstance(thing, int) and a.shape == shape:
                ins.append(slots[thing])
                continue
            strides = repeating_strides(a.shape, a.strides, shape)
            if isinstance(thing, int):
                steps.append((VIEW, None, slots[thing], shape, strides, 0, False))
            else:
                seen = view_at(a.copy(), None, shape, strides, 0)
                steps.append((CONSTANT, seen, 0, (), (), 0, False))
            ins.append(count)
            count += 1
        lists = tuple([slots[slot] for slot in link.outputs]), tuple(ins)
        attributes = link.kernel.attributes
        places = LIST, LIST, *(-1,) * len(attributes)
        things = *lists, *attributes
        writes = int(OVER in link.outputs)
        steps.append((RUN, link.kernel.function, writes, places, things, 0, True))
        return count


def _renumbered(step: Any, slots: dict[int, int]) -> Any:
    """Return a step with the new numbers of the slots that it uses."""
    code, thing, place, sizes, things, *rest = step
    if code == VIEW:
        return code, thing, slots[place], sizes, things, *rest
    if code != RUN:
        return step
    given = [
        tuple([slots[one] for one in x]) if at == LIST else x
        for at, x in zip(sizes, things, strict=True)
    ]
    places = tuple([slots[at] if at >= 0 else at for at in sizes])
    return code, thing, place, places, tuple(given), *rest


def _slots_of(sizes: Any, things: Any) -> Iterator[int]:
    for at, thing in zip(sizes, things, strict=True):
        if at == LIST:
            yield from thing
        elif at >= 0:
            yield at
