# SPDX-License-Identifier: MIT
"""Recomputation: what is cheap to make is made again where it is read next.

::

    u = f(t), .., g(u), .., h(u)    becomes  u = f(t), .., g(u), .., v = f(t), h(v)

so that u need not live in between (rematerialization; Chen and others, "Training deep
nets with sublinear memory cost", 2016).  Where the most bytes live, what saves most of
them for the least work is made again, until the limit is kept.  The same kernels run on
the same operands, so results have the same bits: what reads memory that was written
since is not repeated.  Random kernels are functions of a seed and an offset, whose
cells no one else writes: again they draw the same numbers.

Without a limit nothing changes.  Products are made again only where nothing else helps.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace

from autocalc._compile._passes._remaking import Remake, Values
from autocalc._program._form import Instruction, Program
from autocalc._program._plan import lives, occupancy, plan
from autocalc._program._views import View


def run(program: Program) -> Program:
    """Make values again until the arena is no larger than the limit."""
    limit = program.limit
    if limit is None:
        return program
    least = plan(program).nbytes
    program = replace(program, needed=least)
    best, goal = program, limit
    search = _Search(program)
    while least > limit:
        search.reach(goal)
        nbytes = plan(search.program).nbytes
        if nbytes < least:
            best, least = search.program, nbytes
        if search.peak > goal:
            break
        goal = search.peak - 1  # the arena has gaps
    return best


class _Search:
    """Takes one value after another out of the peak.

    Attributes
    ----------
    program
        As it is now.
    peak
        The most bytes that live at one time.
    """

    def __init__(self, program: Program) -> None:
        self._origin: dict[int, int] = {}
        self._set(program)

    def _set(self, program: Program) -> None:
        self.program = program
        self._lives = lives(program)
        self._bytes = occupancy(program, self._lives)
        self.peak = max(self._bytes, default=0)

    def reach(self, goal: int) -> None:
        """Lower the peak until it is at most `goal`, or nothing lowers it any more."""
        while self.peak > goal:
            if not (self._step(products=False) or self._step(products=True)):
                return

    def _step(self, *, products: bool) -> bool:
        """Make one value again that lives at the peak; return whether one helped."""
        values = Values(self.program, self._lives, self._origin)
        remakes = list(self._remakes(values, products))
        for remake in sorted(remakes, key=lambda r: r.cost / r.gain):
            changed = _applied(values, remake)
            alive = lives(changed)
            if self._is_lower(occupancy(changed, alive)):
                self._note(remake)
                self._set(changed)
                return True
        return False

    def _remakes(self, values: Values, products: bool) -> Iterator[Remake]:
        """Yield values, unused at the peak, that could be made again after it."""
        at = self._bytes.index(self.peak)
        for slot, life in self._lives.items():
            unused = life.first < at < life.last and slot in self.program.temporaries
            if not unused:
                continue
            uses = values.uses[slot]
            place = bisect_left(uses, at)
            if uses[place] == at:
                continue
            remake = values.remake(slot, uses[place])
            if remake is None or bool(remake.products) != products:
                continue
            remake.gain += self.program.sizes[slot]
            if remake.gain > 0:
                yield remake

    def _is_lower(self, found: list[int]) -> bool:
        """Return whether the peak is lower, or is reached at fewer places."""
        highest = max(found)
        if highest != self.peak:
            return highest < self.peak
        return found.count(highest) < self._bytes.count(highest)

    def _note(self, remake: Remake) -> None:
        for slot, new in remake.new.items():
            self._origin[new] = self._origin.get(slot, slot)


def _applied(values: Values, remake: Remake) -> Program:
    """Return the program with the calls in it, and their results read from then on."""
    program, at = values.program, remake.at
    later = {slot: remake.new[slot] for slot in values.companions(remake)}

    def moved(instruction: Instruction) -> Instruction:
        if all(view.slot not in later for view in instruction.views()):
            return instruction
        return instruction.moved(_renamed)

    def _renamed(view: View) -> View:
        return view._replace(slot=later.get(view.slot, view.slot))

    instructions = program.instructions[:at] + remake.calls
    instructions += map(moved, program.instructions[at:])
    sizes = {new: program.sizes[slot] for slot, new in remake.new.items()}
    return replace(
        program,
        instructions=instructions,
        sizes={**program.sizes, **sizes},
        temporaries=program.temporaries | set(remake.new.values()),
    )
