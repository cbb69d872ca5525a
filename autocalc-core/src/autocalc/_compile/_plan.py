# SPDX-License-Identifier: MIT
"""Where temporaries lie: one arena, shared by what does not live at the same time.

A temporary lives from the instruction that first writes it to the last that uses it.
Larger ones are placed first, each into the smallest gap that is free for its whole
life (best fit).  A result may take the place of an operand that dies with the same
instruction, where the kernel's spec lets the two be one array.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from autocalc._compile._memory import View
from autocalc._compile._program import Instruction, Program

#: Bytes that every place is a multiple of: a line of the cache, and the widest vector.
ALIGNMENT = 64


class Life(NamedTuple):
    """The instructions from the first to the last that use a slot."""

    first: int
    last: int


@dataclass(slots=True)
class Plan:
    """Where each temporary lies in the arena.

    Attributes
    ----------
    offsets
        Bytes behind the arena's beginning, by slot.
    nbytes
        The arena's size.
    bound
        The most bytes that live at one time: no plan can do with less.
    lives
        By slot.
    """

    offsets: dict[int, int]
    nbytes: int
    bound: int
    lives: dict[int, Life]


def lives(program: Program) -> dict[int, Life]:
    """Return the life of each temporary."""
    found: dict[int, Life] = {}
    for i, instruction in enumerate(program.instructions):
        for view in instruction.views():
            if view.slot in program.temporaries:
                first = found[view.slot].first if view.slot in found else i
                found[view.slot] = Life(first, i)
    return found


def peak(program: Program) -> int:
    """Return the most bytes of temporaries that live at one time."""
    alive = lives(program)
    return _bound(alive, {slot: _aligned(program.sizes[slot]) for slot in alive})


def plan(program: Program, *, in_place: bool = True) -> Plan:
    """Give every temporary a place in one arena."""
    alive = lives(program)
    host = dict(_taken_over(program, alive)) if in_place else {}
    groups: dict[int, Life] = {}
    head: dict[int, int] = {}
    for slot in sorted(alive, key=lambda s: alive[s].first):
        head[slot] = head[host[slot]] if slot in host else slot
        before = groups.get(head[slot], alive[slot])
        groups[head[slot]] = Life(before.first, alive[slot].last)
    size = {slot: _aligned(program.sizes[slot]) for slot in groups}
    offsets: dict[int, int] = {}
    placed: list[int] = []
    for slot in sorted(groups, key=lambda s: (-size[s], groups[s].first)):
        offsets[slot] = _best_fit(slot, groups, size, offsets, placed)
        placed.append(slot)
    nbytes = max((offsets[s] + size[s] for s in groups), default=0)
    everywhere = {slot: offsets[head[slot]] for slot in alive}
    return Plan(everywhere, nbytes, _bound(groups, size), alive)


def _best_fit(
    slot: int,
    groups: dict[int, Life],
    size: dict[int, int],
    offsets: dict[int, int],
    placed: list[int],
) -> int:
    """Return the beginning of the smallest gap that is free for the slot's life."""
    life = groups[slot]
    taken = sorted(
        (offsets[other], offsets[other] + size[other])
        for other in placed
        if groups[other].first <= life.last and life.first <= groups[other].last
    )
    best, least, end = None, None, 0
    for start, stop in taken:
        gap = start - end
        if gap >= size[slot] and (least is None or gap < least):
            best, least = end, gap
        end = max(end, stop)
    return end if best is None else best


def _bound(groups: dict[int, Life], size: dict[int, int]) -> int:
    changes: dict[int, int] = {}
    for slot, life in groups.items():
        changes[life.first] = changes.get(life.first, 0) + size[slot]
        changes[life.last + 1] = changes.get(life.last + 1, 0) - size[slot]
    most = now = 0
    for at in sorted(changes):
        now += changes[at]
        most = max(most, now)
    return most


def _taken_over(program: Program, alive: dict[int, Life]) -> list[tuple[int, int]]:
    """Return pairs (result, operand): the result takes the operand's memory."""
    pairs = []
    for i, instruction in enumerate(program.instructions):
        pair = _pair(program, alive, i, instruction)
        if pair is not None:
            pairs.append(pair)
    return pairs


def _pair(
    program: Program, alive: dict[int, Life], at: int, instruction: Instruction
) -> tuple[int, int] | None:
    spec = instruction.spec
    if spec is None or not spec.alias:
        return None
    names = [o.name for o in spec.outputs], [x.name for x in spec.inputs]
    used = [view.slot for view in instruction.views()]
    for output, operand in spec.alias:
        out = instruction.outputs[names[0].index(output)]
        a = instruction.inputs[names[1].index(operand)]
        if not (isinstance(out, View) and isinstance(a, View)):
            continue
        same = out._replace(slot=a.slot) == a and out.offset == 0
        fits = program.sizes[out.slot] == program.sizes[a.slot] == out.nbytes
        ends = out.slot in alive and alive[out.slot].first == at
        ends = ends and a.slot in alive and alive[a.slot].last == at
        allowed = [
            instruction.inputs[names[1].index(x)] for o, x in spec.alias if o == output
        ]
        if same and fits and ends and used.count(a.slot) == allowed.count(a):
            return out.slot, a.slot
    return None


def _aligned(nbytes: int) -> int:
    return -(-nbytes // ALIGNMENT) * ALIGNMENT
