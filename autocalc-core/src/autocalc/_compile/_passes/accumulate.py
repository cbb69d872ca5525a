# SPDX-License-Identifier: MIT
"""Accumulation: a kernel adds its result to a total, instead of a separate `add`.

::

    k(t, ..), add(a, a, t)          becomes  k(a += ..)
    fill(a, 0), k(a += ..)          becomes  k(a, ..)
    fill(a, 0), add(a, a, t)        becomes  copy(a, t)

Sums may be rounded in another order.  0 + -0.0 is 0, but a copy keeps -0.0.  Results
stay within the kernels' error budgets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autocalc._kernels.table import TABLE
from autocalc._program._flow import Flow, alike, one, shifted
from autocalc._program._form import Instruction, Program
from autocalc._program._kernel_choice import instruction as chosen
from autocalc._program._views import View


def run(program: Program) -> Program:
    """Let kernels add to totals, and let them write where a total is 0."""
    flow = Flow(program)
    for at, instruction in flow:
        if instruction.name == "add":
            _start(flow, at) or _join(flow, at)
        elif instruction.accumulated:
            _plain(flow, at)
    return flow.result()


def _join(flow: Flow, at: int) -> bool:
    """Merge an addition into the kernel that made one of its operands."""
    for total, part, out in _sums(flow[at]):
        maker = flow.only_writer(part)
        if maker is None or flow.readers[part.slot] != {at} or not flow.is_whole(part):
            continue
        adding = _adding(flow[maker], part.slot, total, flow[at])
        place = None if adding is None else _place(flow, maker, at, total.slot)
        if place is None or not (total == out or _one(flow, at, total, out)):
            continue
        flow.put(maker, None)
        flow.put(at, None)
        flow.put(place, adding)
        if total != out:
            _unite(flow, total, out)
        return True
    return False


def _sums(instruction: Instruction) -> Iterator[tuple[View, View, View]]:
    """Yield (total, part, sum) for both orders, if all three have the same layout."""
    out, a, b = map(one, (*instruction.outputs, *instruction.inputs))
    if alike(a, b) and alike(a, out) and a.slot != b.slot:
        yield from ((a, b, out), (b, a, out))


def _adding(
    maker: Instruction, slot: int, total: View, add: Instruction
) -> Instruction | None:
    """Return the call that adds a slot's value to `total`; None if there is none."""
    spec = maker.spec
    if spec is None or total.slot in {view.slot for view in maker.views()}:
        return None
    outputs = list(maker.outputs)
    (i,) = [
        i for i, x in enumerate(outputs) if isinstance(x, View) and x.slot == slot
    ] or [-1]
    if i < 0 or spec.outputs[i].name not in spec.accumulates:
        return None
    outputs[i] = shifted(outputs[i], total)  # type: ignore[arg-type]  # a View
    attributes = _attributes(maker, i)
    if attributes is None:
        return None
    made = chosen(spec, tuple(outputs), maker.inputs, attributes, (maker, add))
    return made if made is not None and made.chosen == maker.chosen else None


def _attributes(maker: Instruction, i: int) -> tuple[Any, ...] | None:
    """Return the attributes that make output i accumulate; None if there are none."""
    attributes = (*maker.attributes[:-1], maker.accumulated | 1 << i)
    if maker.name != "gemm":
        return attributes
    alpha, _, activation, mask = attributes
    plain = activation == "none" and maker.outputs[1] is None
    return (alpha, 1.0, activation, mask) if plain else None


def _place(flow: Flow, maker: int, at: int, total: int) -> int | None:
    """Return where the adding call can run: at `maker` or at `at`; None if nowhere."""
    if not flow.is_used(total, maker + 1, at - 1):
        return maker
    reads = {view.slot for view in flow[maker].reads()}
    writes = {view.slot for view in flow[maker].writes()}
    moves = not any(flow.is_written(slot, maker + 1, at - 1) for slot in reads)
    moves = moves and not any(flow.is_used(slot, maker + 1, at - 1) for slot in writes)
    return at if moves else None


def _one(flow: Flow, at: int, total: View, out: View) -> bool:
    """Return whether a total and its sum can share a slot: their lives are disjoint."""
    if total.slot not in flow.program.temporaries or not flow.is_whole(total):
        return False
    uses = flow.uses(total.slot)
    return max(uses) == at and not flow.is_used(out.slot, min(uses), at - 1)


def _unite(flow: Flow, total: View, out: View) -> None:
    """Let a total use the slot of its sum."""
    flow.rename(total.slot, lambda view: shifted(view, out))


def _start(flow: Flow, at: int) -> bool:
    """Replace the first addition to zeros by a copy."""
    out, a, b = map(one, (*flow[at].outputs, *flow[at].inputs))
    for total, part in ((a, b), (b, a)):
        zeros = _zeros(flow, at, total) if total == out else None
        if zeros is None or (part.shape, part.dtype) != (out.shape, out.dtype):
            continue
        if part.slot == out.slot:
            continue
        copy = chosen(TABLE["copy"], (out,), (part,), (), (flow[at],))
        if copy is not None:
            flow.put(at, copy)
            _drop(flow, zeros, out)
            return True
    return False


def _plain(flow: Flow, at: int) -> None:
    """Let a kernel write, instead of add, where the total is zeros."""
    for i, out in enumerate(flow[at].outputs):
        instruction = flow[at]
        mask = instruction.accumulated
        if not mask >> i & 1 or not isinstance(out, View):
            continue
        zeros = _zeros(flow, at, out)
        if zeros is None:
            continue
        spec, attributes = instruction.spec, instruction.attributes
        assert spec is not None, "the host adds to nothing"
        plain = chosen(
            spec,
            instruction.outputs,
            instruction.inputs,
            (*attributes[:-1], mask ^ 1 << i),
            (instruction,),
        )
        if plain is not None:
            flow.put(at, plain)
            _drop(flow, zeros, out)


def _zeros(flow: Flow, at: int, view: View) -> int | None:
    """Return the instruction that last filled a slot with zeros before `at`, if any."""
    before = [i for i in flow.uses(view.slot) if i < at]
    place = max(before, default=-1)
    if place < 0 or flow[place].name != "fill" or view.slot in _read(flow[place]):
        return None
    out, value = map(one, (*flow[place].outputs, *flow[place].inputs))
    number = flow.value(value)
    whole = out.slot in flow.program.temporaries and flow.is_whole(out)
    return place if whole and number is not None and number.item() == 0 else None


def _read(instruction: Instruction) -> set[int]:
    return {view.slot for view in instruction.reads()}


def _drop(flow: Flow, zeros: int, out: View) -> None:
    """Remove a fill with zeros that is overwritten completely."""
    if flow.is_whole(out):
        flow.put(zeros, None)
