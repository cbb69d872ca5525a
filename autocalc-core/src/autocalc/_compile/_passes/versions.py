# SPDX-License-Identifier: MIT
"""Versions: memory that is overwritten becomes a new slot, so that slots are values.

::

    f(t, ..), g(t, t)               becomes  f(t, ..), g(u, t)

In this form (static single assignment; Cytron and others, 1991) other passes see which
values an in-place operator did not change.  The plan gives `u` the memory of `t`.
"""

from __future__ import annotations

from dataclasses import replace

from autocalc._program._flow import Flow
from autocalc._program._form import Program
from autocalc._program._views import View


def run(program: Program) -> Program:
    """Give a temporary a new slot for each write that replaces all of its content."""
    flow = Flow(program)
    sizes = flow.program.sizes
    new: set[int] = set()
    for slot in sorted(program.temporaries):
        for at in sorted(flow.writers.get(slot, ()))[1:]:
            if _is_new(flow, at, slot):
                index = max(sizes) + 1
                sizes[index] = sizes[slot]
                new.add(index)
                _split(flow, at, slot, index)
    result = flow.result()
    used = {v.slot for i in result.instructions for v in i.views()}
    return replace(result, temporaries=result.temporaries | new & used)


def _is_new(flow: Flow, at: int, slot: int) -> bool:
    """Return whether an instruction fills a slot and keeps none of its old content."""
    instruction = flow[at]
    if instruction.spec is None or instruction.spec.writes or instruction.accumulated:
        return False
    mine = [view for view in instruction.writes() if view.slot == slot]
    return len(mine) == 1 and flow.is_whole(mine[0])


def _split(flow: Flow, at: int, slot: int, index: int) -> None:
    """Let all uses before the write, and the reads of the write, use another slot."""
    for i in sorted(flow.uses(slot)):
        if i < at:
            flow.put(i, flow[i].moved(lambda v: _moved(v, slot, index)))
    writer = flow[at]
    reading = writer.moved(lambda v: _moved(v, slot, index))
    flow.put(at, replace(reading, outputs=writer.outputs))


def _moved(view: View, slot: int, index: int) -> View:
    return view._replace(slot=index) if view.slot == slot else view
