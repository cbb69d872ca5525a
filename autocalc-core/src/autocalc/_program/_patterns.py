# SPDX-License-Identifier: MIT
"""Patterns: two calls become one, if the second reads the result of the first.

::

    t = conv(x, w, b), u = relu(t)      becomes  u = conv_activation(x, w, b; relu)

A `Pattern` names the kernels of both calls and builds the call that replaces them.
`_rewrites.py` has the table of all rows.  `rewrite` finds the calls of a row and checks
these conditions, which are the same for all rows:

1. The first call writes a whole temporary, which nothing else writes.
2. The last call reads it through one of its inputs.  If the row says so, nothing else
   may read it.
3. The new call does not write what it still reads.
4. The set that ran the decisive call also runs the new call, undecomposed.
   So a convolution by Winograd's algorithm is not given up for an epilogue.
5. Both calls can be moved side by side in the program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from autocalc._kernels.table import TABLE
from autocalc._program._flow import Flow, one
from autocalc._program._form import Instruction, Program, views_of
from autocalc._program._kernel_choice import instruction as chosen
from autocalc._program._views import Operand, View


class Pattern(NamedTuple):
    """A pattern and its replacement.

    Attributes
    ----------
    first, last
        The kernels that the two calls may have.
    build
        A function that returns the call for both, or None where they do not fit.
    operands
        The inputs of the last call that may be the result of the first.
    alone
        Whether only the last call may read that result.
    """

    first: Sequence[str]
    last: Sequence[str]
    build: Callable[[Match], Instruction | None]
    operands: tuple[int, ...] = (0,)
    alone: bool = True


@dataclass
class Match:
    """Two calls that fit a row, and other changes that belong to the rewrite.

    Attributes
    ----------
    flow
        The program.
    at, to
        The places of the two calls.
    operand
        The input of the last call that is the result of the first.
    after
        A call to put after the new one.
    others
        Changes at other places; None removes a call.
    prologue
        Calls to add to the prologue.
    """

    flow: Flow
    at: int
    to: int
    operand: int
    after: Instruction | None = None
    others: list[tuple[int, Instruction | None]] = field(default_factory=list)
    prologue: list[Instruction] = field(default_factory=list)

    @property
    def first(self) -> Instruction:
        """The call that makes the value."""
        return self.flow[self.at]

    @property
    def last(self) -> Instruction:
        """The call that reads the value."""
        return self.flow[self.to]

    @property
    def value(self) -> View:
        """The value between both calls, as the last call sees it."""
        return one(self.last.inputs[self.operand])

    @property
    def out(self) -> View:
        """The result of the last call."""
        return one(self.last.outputs[0])

    @property
    def other(self) -> View:
        """The other input, if the last call has two."""
        return one(self.last.inputs[1 - self.operand])

    @property
    def is_alone(self) -> bool:
        """Whether nothing but the last call reads the value."""
        return self.flow.readers[self.value.slot] == {self.to}

    def call(
        self,
        kernel: str,
        outputs: tuple[Operand, ...],
        inputs: tuple[Operand, ...],
        attributes: tuple[Any, ...],
        *,
        like: Instruction | None = None,
    ) -> Instruction | None:
        """Return the call for both; None if the set of `like` does not run it.

        Without `like`, the set of the first call counts.
        """
        read = {view.slot for view in self.first.reads()}
        if read & {view.slot for view in views_of(outputs)}:
            return None
        both = self.first, self.last
        made = chosen(TABLE[kernel], outputs, inputs, attributes, both)
        like = like or self.first
        return made if made is not None and made.chosen == like.chosen else None

    def apply(self, fused: Instruction) -> bool:
        """Put the new call in place of the two, if they can be moved side by side."""
        if not self.flow.merge(self.at, self.to, fused, self.after):
            return False
        for place, instruction in self.others:
            self.flow.put(place, instruction)
        self.flow.program.prologue.extend(self.prologue)
        return True


def rewrite(rows: Sequence[Pattern], program: Program) -> Program:
    """Replace the patterns of some rows, in the order of their last calls."""
    names = {instruction.name for instruction in program.instructions}
    if all(names.isdisjoint(row.first) or names.isdisjoint(row.last) for row in rows):
        return program
    flow = Flow(program)
    for to, last in flow:
        mine = [row for row in rows if last.name in row.last]
        any(_replace(flow, row, to, i) for row in mine for i in row.operands)
    return flow.result()


def _replace(flow: Flow, row: Pattern, to: int, operand: int) -> bool:
    inputs = list(flow[to].inputs)
    value = one(inputs.pop(operand))
    at = flow.only_writer(value) if flow.is_whole(value) else None
    if at is None or flow[at].name not in row.first:
        return False
    match = Match(flow, at, to, operand)
    twice = value.slot in {view.slot for view in views_of(tuple(inputs))}
    if twice or (row.alone and not match.is_alone):
        return False
    fused = row.build(match)
    return fused is not None and match.apply(fused)
