# SPDX-License-Identifier: MIT
"""Recomputation: a value that is cheap is computed again just before its next use.

::

    u = f(t), .., g(u), .., h(u)    becomes  u = f(t), .., g(u), .., v = f(t), h(v)

Then u need not live between its uses (rematerialization; Chen and others, "Training
deep nets with sublinear memory cost", 2016).  The pass looks at the place where the
most bytes live.  It recomputes the values that save the most bytes there for the least
work, until the limit is kept.  The same kernels run on the same operands, so results
have the same bits.  A call that reads memory which was written since is not repeated.
Random kernels are functions of a seed and an offset, in cells that nothing else writes,
so they draw the same numbers again.

Without a limit nothing changes.  Products are recomputed only where nothing else helps.
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
    """Recompute values until the arena is no larger than the limit."""
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
        goal = search.peak - 1  # the arena is larger than the peak: it has gaps
    return best


class _Search:
    """Removes one value after another from the peak.

    Attributes
    ----------
    program
        The current program.
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
        """Lower the peak until it is at most `goal`, or until that is not possible."""
        while self.peak > goal:
            if not (self._step(products=False) or self._step(products=True)):
                return

    def _step(self, *, products: bool) -> bool:
        """Recompute one value that lives at the peak; return whether that helped."""
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
        """Yield values that are unused at the peak and could be recomputed after it."""
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
        """Return whether the peak is lower, or occurs at fewer places."""
        highest = max(found)
        if highest != self.peak:
            return highest < self.peak
        return found.count(highest) < self._bytes.count(highest)

    def _note(self, remake: Remake) -> None:
        for slot, new in remake.new.items():
            self._origin[new] = self._origin.get(slot, slot)


def _applied(values: Values, remake: Remake) -> Program:
    """Return the program with the calls inserted; later uses read their results."""
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
