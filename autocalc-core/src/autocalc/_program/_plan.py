# SPDX-License-Identifier: MIT
"""Places temporaries in one arena, which those that never live together share.

A temporary lives from the instruction that first writes it to the last one that uses
it.  Larger temporaries are placed first.  Each gets the smallest gap that is free for
its whole life (best fit).  If that leaves gaps, other orders are tried.  A result may
use the memory of an operand that dies in the same instruction, if the kernel's spec
allows the two to be one array.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from autocalc._program._form import Instruction, Program
from autocalc._program._views import View

#: The alignment of every place in bytes: a cache line, and the widest vector.
ALIGNMENT = 64


class LiveRange(NamedTuple):
    """The instructions from the first to the last that use a slot."""

    first: int
    last: int


@dataclass(slots=True)
class Plan:
    """The place of each temporary in the arena.

    Attributes
    ----------
    offsets
        The offset of each slot in the arena, in bytes.
    nbytes
        The arena's size.
    bound
        The most bytes that live at one time: no plan can use less.
    lives
        The live range of each slot.
    """

    offsets: dict[int, int]
    nbytes: int
    bound: int
    lives: dict[int, LiveRange]


def lives(program: Program) -> dict[int, LiveRange]:
    """Return the live ranges of temporaries, and of shared gradients to the end."""
    found: dict[int, LiveRange] = {}
    placed = program.temporaries | program.shared
    end = len(program.instructions) - 1
    for i, instruction in enumerate(program.instructions):
        for view in instruction.views():
            if view.slot in placed:
                first = found[view.slot].first if view.slot in found else i
                found[view.slot] = LiveRange(
                    first, end if view.slot in program.shared else i
                )
    return found


def occupancy(program: Program, alive: dict[int, LiveRange]) -> list[int]:
    """Return the bytes of temporaries that live at each instruction.

    A result that takes over its operand's memory counts only once where both live.
    """
    changes = [0] * (len(program.instructions) + 1)
    for slot, (first, last) in alive.items():
        size = _aligned(program.sizes[slot])
        changes[first] += size
        changes[last + 1] -= size
    for slot, _ in _taken_over(program, alive):
        size = _aligned(program.sizes[slot])
        changes[alive[slot].first] -= size
        changes[alive[slot].first + 1] += size
    return list(accumulate(changes))[:-1]


def peak(program: Program) -> int:
    """Return the most bytes of temporaries that live at one time."""
    alive = lives(program)
    return _bound(alive, {slot: _aligned(program.sizes[slot]) for slot in alive})


def plan(program: Program, *, in_place: bool = True) -> Plan:
    """Give every temporary a place in one arena."""
    alive = lives(program)
    # 1. A chain of results that take over their operands' memory forms one group. In
    # ``t = a + b, u = relu(t), v = u * 2`` all three use the place of t, which is
    # needed from the first to the last instruction.
    host = dict(_taken_over(program, alive)) if in_place else {}
    groups: dict[int, LiveRange] = {}
    head: dict[int, int] = {}
    for slot in sorted(alive, key=lambda s: alive[s].first):
        head[slot] = head[host[slot]] if slot in host else slot
        before = groups.get(head[slot], alive[slot])
        groups[head[slot]] = LiveRange(before.first, alive[slot].last)
    # 2. Place the groups in one order after another, until the arena is as small as the
    # bound. Finding the smallest arena is NP-hard; the first order usually finds it.
    size = {slot: _aligned(program.sizes[slot]) for slot in groups}
    bound = _bound(groups, size)
    best: dict[int, int] = {}
    nbytes = None
    for order in _orders(groups, size):
        offsets = _places(order, groups, size)
        end = max((offsets[s] + size[s] for s in groups), default=0)
        if nbytes is None or end < nbytes:
            best, nbytes = offsets, end
        if nbytes == bound:
            break
    assert nbytes is not None, "there is an order"
    everywhere = {slot: best[head[slot]] for slot in alive}
    return Plan(everywhere, nbytes, bound, alive)


def _orders(groups: dict[int, LiveRange], size: dict[int, int]) -> Iterator[list[int]]:
    """Yield orders in which groups are placed; the first usually leaves no gaps."""
    peak = _fullest(groups, size)

    def is_elsewhere(slot: int) -> bool:
        return not groups[slot].first <= peak <= groups[slot].last

    yield sorted(groups, key=lambda s: (-size[s], groups[s].first))
    yield sorted(groups, key=lambda s: (groups[s].first, -size[s]))
    yield sorted(groups, key=lambda s: (is_elsewhere(s), -size[s], groups[s].first))
    yield sorted(groups, key=lambda s: (is_elsewhere(s), groups[s].first, -size[s]))
    yield sorted(groups, key=lambda s: (-size[s] * _length(groups[s]), -size[s]))
    yield sorted(groups, key=lambda s: (-_length(groups[s]), -size[s]))


def _length(life: LiveRange) -> int:
    return life.last - life.first + 1


def _places(
    order: list[int], groups: dict[int, LiveRange], size: dict[int, int]
) -> dict[int, int]:
    """Return the offset of each slot if each takes the best place that is left."""
    offsets: dict[int, int] = {}
    placed: list[_Placed] = []
    for slot in order:
        life, nbytes = groups[slot], size[slot]
        start = offsets[slot] = _best_fit(life, nbytes, placed)
        insort(placed, (start, start + nbytes, life.first, life.last))
    return offsets


#: A group that has a place: where it begins and ends, and its first and last use.
_Placed = tuple[int, int, int, int]


def _best_fit(life: LiveRange, nbytes: int, placed: list[_Placed]) -> int:
    """Return the beginning of the smallest gap that is free for a whole life.

    `placed` is in the order of the places.
    """
    begin, until = life
    # Only groups that live at the same time are in the way. Look for the gap between
    # them that fits most tightly. If there is none, use the place after the last of
    # them.
    best, least, end = None, None, 0
    for start, stop, first, last in placed:
        if first > until or begin > last:
            continue
        gap = start - end
        if gap >= nbytes and (least is None or gap < least):
            best, least = end, gap
        end = max(end, stop)
    return end if best is None else best


def _bound(groups: dict[int, LiveRange], size: dict[int, int]) -> int:
    """Return the most bytes that live at one time."""
    return max((now for _, now in _living(groups, size)), default=0)


def _fullest(groups: dict[int, LiveRange], size: dict[int, int]) -> int:
    """Return the first instruction at which the most bytes live."""
    return max(_living(groups, size), key=lambda pair: pair[1], default=(0, 0))[0]


def _living(
    groups: dict[int, LiveRange], size: dict[int, int]
) -> Iterator[tuple[int, int]]:
    """Yield the instructions where the living bytes change, and these bytes."""
    changes: dict[int, int] = {}
    for slot, life in groups.items():
        changes[life.first] = changes.get(life.first, 0) + size[slot]
        changes[life.last + 1] = changes.get(life.last + 1, 0) - size[slot]
    now = 0
    for at in sorted(changes):
        now += changes[at]
        yield at, now


def _taken_over(program: Program, alive: dict[int, LiveRange]) -> list[tuple[int, int]]:
    """Return pairs (result, operand): the result takes the operand's memory."""
    pairs = []
    for i, instruction in enumerate(program.instructions):
        pair = _pair(program, alive, i, instruction)
        if pair is not None:
            pairs.append(pair)
    return pairs


def _pair(
    program: Program, alive: dict[int, LiveRange], at: int, instruction: Instruction
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
        # The result may overwrite its operand under three conditions. Both have one
        # layout and fill their slots. The operand's life ends here, where the result's
        # begins. The instruction does not read the operand in another role, where it
        # would see new elements.

        same = out._replace(slot=a.slot) == a and out.offset == 0
        fits = program.sizes[out.slot] == program.sizes[a.slot] == out.nbytes
        ends = out.slot in alive and alive[out.slot].first == at
        ends = ends and a.slot in program.temporaries and alive[a.slot].last == at
        allowed = [
            instruction.inputs[names[1].index(x)] for o, x in spec.alias if o == output
        ]
        if same and fits and ends and used.count(a.slot) == allowed.count(a):
            return out.slot, a.slot
    return None


def _aligned(nbytes: int) -> int:
    return -(-nbytes // ALIGNMENT) * ALIGNMENT
