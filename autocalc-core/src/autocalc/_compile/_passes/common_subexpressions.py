# SPDX-License-Identifier: MIT
"""Common subexpressions: calls with the same values run only once.

Every slot has a version that each write increments.  Equal keys therefore mean equal
values (value numbering; Cocke and Schwartz, 1970).  Results must be temporaries that
nothing else writes.  Checkpoints run a call twice to save memory, so the pass makes no
change that would raise the peak.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from autocalc._program._flow import Flow
from autocalc._program._form import Instruction, Program
from autocalc._program._plan import peak
from autocalc._program._views import Operand, View

#: The memory that a program with fewer calls may use: a multiple of the peak, plus a
#: number of bytes that do not matter.
MORE_MEMORY, FEW_BYTES = 1.05, 1 << 16


def run(program: Program) -> Program:
    """Let later calls that compute the same values read the first call's results."""
    merged = _merged(program)
    fewer = len(merged.instructions) < len(program.instructions)
    most = MORE_MEMORY * peak(program) + FEW_BYTES
    return merged if fewer and peak(merged) <= most else program


def _merged(program: Program) -> Program:
    flow = Flow(program)
    versions: Counter[int] = Counter()
    first: dict[Hashable, Instruction] = {}
    for at, instruction in flow:
        key = _key(flow, instruction, versions)
        same = None if key is None else first.setdefault(key, instruction)
        if same is None or same is instruction:
            for view in instruction.writes():
                versions[view.slot] += 1
            continue
        flow.put(at, None)
        for mine, other in zip(instruction.outputs, same.outputs, strict=True):
            if isinstance(mine, View) and isinstance(other, View):
                _replace(flow, mine.slot, other.slot)
    return flow.result()


def _replace(flow: Flow, slot: int, by: int) -> None:
    flow.rename(slot, lambda view: view._replace(slot=by))


def _key(
    flow: Flow, instruction: Instruction, versions: Counter[int]
) -> Hashable | None:
    """Return the key of a call's results; None if the call does more than that."""
    spec = instruction.spec
    if spec is None or spec.writes or instruction.accumulated:
        return None
    outputs: list[Hashable] = []
    for x in instruction.outputs:
        if isinstance(x, View):
            if flow.only_writer(x) is None:
                return None
            outputs.append((x.shape, x.strides, x.dtype))
        elif x is not None:
            return None
        else:
            outputs.append(None)
    inputs = tuple(_value(x, versions) for x in instruction.inputs)
    # -0.0 equals 0.0, and 1 equals True, but their texts differ.
    attributes = repr(instruction.attributes)
    return spec.name, instruction.chosen, inputs, attributes, tuple(outputs)


def _value(x: Operand, versions: Counter[int]) -> Hashable:
    if x is None:
        return None
    if isinstance(x, View):
        return x, versions[x.slot]
    return tuple((view, versions[view.slot]) for view in x)
