# SPDX-License-Identifier: MIT
"""Epilogues of batch norms: a shortcut and an activation run in the norm's pass.

::

    t = norm(x), u = t + r                  becomes  u = norm_activation(x, r)
    u = norm(x), y = f(u)                   becomes  y = norm_activation(x; f)
    h = f'(g, y), dx, .. = norm'(h, x)      becomes  dx, .., h? = norm_activation'(g, y)

for the f that `batch_norm_activation` and `batch_norm_running` have.  Both ways change
together or not at all where the gradient of an activation is told by u, which no longer
is in memory.
"""

from __future__ import annotations

from typing import NamedTuple

from autocalc._compile._kernel_choice import instruction as chosen
from autocalc._compile._passes._fused_forms import POST_OPS, PostOp, post_op_of
from autocalc._kernels.norm._activated import BY_INPUT
from autocalc._kernels.table import TABLE
from autocalc._program._flow import Flow, alike, one
from autocalc._program._form import Instruction, Program
from autocalc._program._views import Operand, View

#: Those whose own backward kernel reads their operand, not their result.
_READ_OPERAND = ("leaky_relu", "hardswish", "silu")


class _Back(NamedTuple):
    """Places of the backward kernels of an activation and of the norm before it."""

    activation: int
    norm: int


def run(program: Program) -> Program:
    """Give shortcuts and activations to the norms before them."""
    flow = Flow(program)
    for at, instruction in flow:
        if instruction.name == "add":
            _add(flow, at)
        elif instruction.name in POST_OPS:
            _activate(flow, at)
    return flow.result()


def _norm(flow: Flow, view: View) -> int | None:
    """Return the batch norm, without an activation yet, that makes a temporary."""
    at = flow.only_writer(view) if flow.is_whole(view) else None
    if at is None or view != flow[at].outputs[0]:
        return None
    norm = flow[at]
    takes = norm.name in {"batch_norm_running", "batch_norm_activation"}
    plain = takes and norm.attributes[1] == "none"
    return at if plain or norm.name == "batch_norm" else None


def _parts(norm: Instruction) -> tuple[str, tuple[Operand, ...], Operand]:
    """Return the kernel that goes on from a norm, its operands, and what it adds."""
    if norm.name == "batch_norm":
        return "batch_norm_activation", norm.inputs, None
    return norm.name, norm.inputs[:-1], norm.inputs[-1]


def _made(
    norm: Instruction, out: View, other: Operand, numbers: PostOp, last: Instruction
) -> Instruction | None:
    """Return a norm that writes `out`, with what follows it."""
    name, operands, _ = _parts(norm)
    if out.slot in {view.slot for view in norm.reads()}:
        return None
    outputs = (out, *norm.outputs[1:])
    attributes = (norm.attributes[0], *numbers)
    return chosen(TABLE[name], outputs, (*operands, other), attributes, (norm, last))


def _add(flow: Flow, at: int) -> None:
    """Let a norm add what is added to its result."""
    out, *inputs = map(one, (*flow[at].outputs, *flow[at].inputs))
    for t, other in (inputs, inputs[::-1]):
        norm = _norm(flow, t)
        if norm is None or _parts(flow[norm])[2] is not None:
            continue
        fits = alike(t, other) and alike(t, out) and other.slot != t.slot
        if not fits or flow.readers[t.slot] != {at}:
            continue
        fused = _made(flow[norm], out, other, ("none", 0.0, 0.0), flow[at])
        if fused is not None and flow.merge(norm, at, fused):
            return


def _activate(flow: Flow, at: int) -> None:
    """Let a norm apply the activation of its result, and its backward kernel too."""
    out, u = map(one, (*flow[at].outputs, *flow[at].inputs))
    norm, numbers = _norm(flow, u), post_op_of(flow[at])
    if norm is None or numbers is None or not alike(u, out):
        return
    backs = _backs(flow, norm, at)
    if backs is None or not all(_meets(flow, at, back) for back in backs):
        return
    first = flow[norm]
    fused = _made(first, out, _parts(first)[2], numbers, flow[at])
    backward = [_backward(flow, first, out, numbers, back) for back in backs]
    if fused is None or None in backward or not flow.merge(norm, at, fused):
        return
    for back, instruction in zip(backs, backward, strict=True):
        flow.put(back.activation, instruction)
        flow.put(back.norm, None)


# ---- the way back --------------------------------------------------------------------


def _backs(flow: Flow, norm: int, at: int) -> list[_Back] | None:
    """Return the backward kernels that change too; None if what is read would go."""
    activation = flow[at]
    y, u = map(one, (*activation.outputs, *activation.inputs))
    told_by = u if activation.name in _READ_OPERAND else y
    found = []
    for place in sorted(flow.readers[told_by.slot] - {at}):
        back = _back(flow, place, activation, flow[norm], told_by)
        if back is not None:
            found.append(back)
    left = flow.readers[u.slot] - {at} - {back.activation for back in found}
    return None if left else found


def _back(
    flow: Flow, at: int, activation: Instruction, norm: Instruction, told_by: View
) -> _Back | None:
    """Return the pair of backward kernels of which the first stands at `at`."""
    first = flow[at]
    same = first.attributes == activation.attributes
    if first.name != f"{activation.name}_backward" or not same:
        return None
    h, g, by = map(one, (*first.outputs, *first.inputs))
    if by != told_by or g.slot == by.slot or flow.only_writer(h) != at:
        return None
    for place in flow.readers[h.slot]:
        if flow[place].name == "batch_norm_backward" and _is_of(flow[place], norm, h):
            return _Back(at, place)
    return None


def _is_of(last: Instruction, norm: Instruction, h: View) -> bool:
    """Return whether a backward kernel is that of a norm, from `h`."""
    if len(norm.outputs) < 3:  # by running statistics
        return False
    x, weight = norm.inputs[:2]
    same = last.inputs == (h, x, *norm.outputs[1:], weight)
    return same and last.attributes[0] == norm.attributes[0]


def _meets(flow: Flow, at: int, back: _Back) -> bool:
    """Return whether the norm's backward kernel can run where the activation's does."""
    first, last = flow[back.activation], flow[back.norm]
    reads = {view.slot for view in last.reads()} - {one(first.outputs[0]).slot}
    writes = {view.slot for view in last.writes()}
    y = one(flow[at].outputs[0])
    return not (
        any(flow.is_written(slot, back.activation, back.norm - 1) for slot in reads)
        or any(flow.is_used(slot, back.activation, back.norm - 1) for slot in writes)
        or flow.is_written(y.slot, at + 1, back.activation)
    )


def _backward(
    flow: Flow, norm: Instruction, y: View, numbers: PostOp, back: _Back
) -> Instruction | None:
    """Return the backward kernel of norm and activation."""
    first, last = flow[back.activation], flow[back.norm]
    h, g = map(one, (*first.outputs, first.inputs[0]))
    _, x, mean, var, weight = last.inputs
    told_by: tuple[Operand, ...] = (y, None)
    bias: Operand = None
    if numbers[0] in BY_INPUT:
        bias, other = norm.inputs[2], _parts(norm)[2]
        told_by = (None, other)
        if not all(_stays(flow, view, back.activation) for view in (bias, other)):
            return None
    eps, mask = last.attributes
    shared = flow.readers[h.slot] != {back.norm}
    return chosen(
        TABLE["batch_norm_activation_backward"],
        (*last.outputs, h if shared else None),
        (g, x, *told_by, mean, var, weight, bias),
        (eps, *numbers, mask),
        (first, last),
    )


def _stays(flow: Flow, x: Operand, until: int) -> bool:
    """Return whether what a norm read is what its backward kernel would read."""
    if not isinstance(x, View):
        return True
    once = flow.only_writer(x) is not None
    return once or not flow.is_written(x.slot, 0, until)
