# SPDX-License-Identifier: MIT
"""The places of temporaries: one arena, shared by what is not live at the same time.

A temporary lives from the instruction that first writes it to the last that uses it.
Larger ones are placed first, each into the smallest gap that is free for its whole
life (best fit); where that leaves gaps, other orders are tried.  A result may take
the place of an operand that dies with the same instruction, where the kernel's spec
lets the two be one array.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from autocalc._program._form import Instruction, Program
from autocalc._program._views import View

#: Bytes that every place is a multiple of: a line of the cache, and the widest vector.
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
        Bytes after the arena's beginning, by slot.
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
    lives: dict[int, LiveRange]


def lives(program: Program) -> dict[int, LiveRange]:
    """Return the life of each temporary, and of gradients among them: to the end."""
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

    What takes over its operand's memory counts once where both live.
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
    # 1. Chains of results that take over an operand's memory are one group: of
    #    t = a + b, u = relu(t), v = u * 2 all three have the place of t, which is
    #    needed from the first to the last instruction.
    host = dict(_taken_over(program, alive)) if in_place else {}
    groups: dict[int, LiveRange] = {}
    head: dict[int, int] = {}
    for slot in sorted(alive, key=lambda s: alive[s].first):
        head[slot] = head[host[slot]] if slot in host else slot
        before = groups.get(head[slot], alive[slot])
        groups[head[slot]] = LiveRange(before.first, alive[slot].last)
    # 2. Place the groups in one order after the other, until the arena is as small as
    #    the bound; finding the least arena is NP-hard, and the first order mostly finds
    #    it.
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
    """Yield orders in which places are given; the first mostly leaves no gaps."""
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
    """Return the offset of each slot if it takes the best place that is left."""
    offsets: dict[int, int] = {}
    for slot in order:
        offsets[slot] = _best_fit(slot, groups, size, offsets)
    return offsets


def _best_fit(
    slot: int,
    groups: dict[int, LiveRange],
    size: dict[int, int],
    offsets: dict[int, int],
) -> int:
    """Return the beginning of the smallest gap that is free for the slot's life."""
    life = groups[slot]
    # Only groups that live at the same time are in the way. Between them look for the
    # gap that fits most tightly; with none, go after the last of them.
    taken = sorted(
        (offsets[other], offsets[other] + size[other])
        for other in offsets
        if groups[other].first <= life.last and life.first <= groups[other].last
    )
    best, least, end = None, None, 0
    for start, stop in taken:
        gap = start - end
        if gap >= size[slot] and (least is None or gap < least):
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
    """Yield the instructions where the bytes that live change, and these bytes."""
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
        # The result may overwrite its operand if both have one layout and fill their
        # slots, the operand's life ends here where the result's begins, and the
        # instruction does not read the operand in another role, which would see new
        # elements.

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
