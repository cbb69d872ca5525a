# SPDX-License-Identifier: MIT
"""Patterns: two calls, of which the second reads the result of the first, become one.

::

    t = conv(x, w, b), u = relu(t)      becomes  u = conv_activation(x, w, b; relu)

A `Pattern` names the kernels of both calls and builds the call that replaces them; the
table of all rows is in `_rewrites.py`.  `rewrite` finds the calls of a row and checks
what is the same for all of them:

1. The first call writes a whole temporary, which nothing else writes.
2. The last call reads it through one of its inputs, and, if the row says so, nothing
   else does.
3. The new call does not write what it still reads.
4. The set that ran the call which counts runs the new call, undecomposed: a convolution
   by Winograd's algorithm is not given up for an epilogue.
5. Both calls can be brought side by side in the program.
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
        Returns the call for both, or None where they do not fit.
    operands
        The inputs of the last call that may be the result of the first.
    alone
        Whether nothing but the last call may read that result.
    """

    first: Sequence[str]
    last: Sequence[str]
    build: Callable[[Match], Instruction | None]
    operands: tuple[int, ...] = (0,)
    alone: bool = True


@dataclass
class Match:
    """Two calls that fit a row, and what else changes with them.

    Attributes
    ----------
    flow
        The program.
    at, to
        The places of the two calls.
    operand
        The input of the last call that is the result of the first.
    after
        A call that follows the new one.
    others
        Calls at other places that change too, None for those that go.
    prologue
        Calls that join the prologue.
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
        """The call that reads it."""
        return self.flow[self.to]

    @property
    def value(self) -> View:
        """The value between both, as the last call sees it."""
        return one(self.last.inputs[self.operand])

    @property
    def out(self) -> View:
        """The result of the last call."""
        return one(self.last.outputs[0])

    @property
    def other(self) -> View:
        """The other input of a last call of two."""
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
        """Return the call for both; None if the set of `like` has none.

        `like` is the first call if none is given.
        """
        read = {view.slot for view in self.first.reads()}
        if read & {view.slot for view in views_of(outputs)}:
            return None
        both = self.first, self.last
        made = chosen(TABLE[kernel], outputs, inputs, attributes, both)
        like = like or self.first
        return made if made is not None and made.chosen == like.chosen else None

    def apply(self, fused: Instruction) -> bool:
        """Put the new call where the two were, if these can meet."""
        if not self.flow.merge(self.at, self.to, fused, self.after):
            return False
        for place, instruction in self.others:
            self.flow.put(place, instruction)
        self.flow.program.prologue.extend(self.prologue)
        return True


def rewrite(rows: Sequence[Pattern], program: Program) -> Program:
    """Replace the patterns of some rows, in the order of the calls that end them."""
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
