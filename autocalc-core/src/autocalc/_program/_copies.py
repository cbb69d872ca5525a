# SPDX-License-Identifier: MIT
"""Removes copies: readers use the original memory, or the maker writes the copy.

::

    copy(t, a), f(.., t)            becomes  f(.., a)      where a stays as it is
    g(t, ..), copy(a, t)            becomes  g(a, ..)      where a is not used between

Both views must have the same layout, and t must be a whole temporary.
"""

from __future__ import annotations

from autocalc._program._flow import Flow, alike, one, shifted
from autocalc._program._form import Instruction, Program
from autocalc._program._views import View

#: Kernels that may raise for one number after they have written others. The target of
#: the copy must be complete until they have succeeded.
CHECKING = frozenset({"fmod", "remainder", "floor_divide"})


def run(program: Program) -> Program:
    """Remove copies that are not needed."""
    flow = Flow(program)
    for at, instruction in flow:
        if instruction.name != "copy":
            continue
        to, of = map(one, (*instruction.outputs, *instruction.inputs))
        if to == of:
            flow.put(at, None)
        elif to.slot != of.slot and alike(to, of):
            _read_original(flow, at, to, of) or _write_copy(flow, at, to, of)
    return flow.result()


def _read_original(flow: Flow, at: int, to: View, of: View) -> bool:
    """Let the readers of the copy read the original."""
    if flow.only_writer(to) != at:
        return False
    if flow.is_written(of.slot, at, max(flow.uses(to.slot))):
        return False
    flow.put(at, None)
    flow.rename(to.slot, lambda view: shifted(view, of))
    return True


def _write_copy(flow: Flow, at: int, to: View, of: View) -> bool:
    """Let the instruction that makes the original write the copy."""
    maker = flow.only_writer(of)
    if maker is None or not flow.is_whole(of) or maker > at:
        return False
    last = max(flow.uses(of.slot))
    if flow.is_used(to.slot, maker + 1, at - 1) or flow.is_written(
        to.slot, at + 1, last
    ):
        return False
    if not _may_write(flow[maker], of, to):
        return False
    flow.put(at, None)
    flow.rename(of.slot, lambda view: shifted(view, to))
    return True


def _may_write(maker: Instruction, of: View, to: View) -> bool:
    """Return whether a call may write `to` instead of `of`, although it may read it."""
    if maker.name in CHECKING:
        return False
    slots = [view.slot for view in maker.views()]
    if to.slot not in slots:
        return True
    spec = maker.spec
    assert spec is not None, "the host writes no temporaries"
    outputs = [output.name for output in spec.outputs]
    inputs = [x.name for x in spec.inputs]
    return slots.count(to.slot) == 1 and any(
        maker.outputs[outputs.index(output)] == of
        and maker.inputs[inputs.index(operand)] == to
        for output, operand in spec.alias
    )
