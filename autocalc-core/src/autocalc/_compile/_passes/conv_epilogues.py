# SPDX-License-Identifier: MIT
"""Epilogues of convolutions: a shortcut and an activation run on what lies in a cache.

::

    t = conv(x), u = t + r                  becomes  u = conv_activation(x, r)
    u = conv(x), y = f(u)                   becomes  y = conv_activation(x; f)

for the f that `conv_activation` has, where nobody else reads t and u: in inference,
and in training behind convolutions without a norm where f's gradient is told by its
result.  Each value is the same as apart, bit for bit.
"""

from __future__ import annotations

from autocalc._compile._kernel_choice import instruction as chosen
from autocalc._compile._passes._fused_forms import POST_OPS, PostOp, post_op_of
from autocalc._kernels.table import TABLE
from autocalc._program._flow import Flow, alike, one, shifted
from autocalc._program._form import Instruction, Program
from autocalc._program._views import Operand, View

#: Attributes of `conv_activation` before those of the activation.
_GEOMETRY = 4
_NONE: PostOp = ("none", 0.0, 0.0)


def run(program: Program) -> Program:
    """Give shortcuts and activations to the convolutions before them."""
    flow = Flow(program)
    for at, instruction in flow:
        if instruction.name == "add":
            _add(flow, at)
        elif instruction.name in POST_OPS:
            _activate(flow, at)
    return flow.result()


def _convolution(flow: Flow, view: View, reader: int) -> int | None:
    """Return the convolution, without an activation yet, that `reader` alone reads."""
    at = flow.only_writer(view) if flow.is_whole(view) else None
    if at is None or flow.readers[view.slot] != {reader}:
        return None
    conv = flow[at]
    plain = conv.name == "conv_activation" and conv.attributes[_GEOMETRY] == "none"
    return at if plain or conv.name == "conv" else None


def _as_made(flow: Flow, conv: int, view: View) -> View:
    """Return a view that lies like the result's reader sees it, in the result's shape.

    What reads the result may see it reshaped, as a transformer sees patches.
    """
    return shifted(one(flow[conv].outputs[0]), view)


def _other(conv: Instruction) -> Operand:
    """Return what a convolution adds."""
    return conv.inputs[3] if conv.name == "conv_activation" else None


def _merge(flow: Flow, first: int, last: int, other: Operand, numbers: PostOp) -> bool:
    """Let a convolution do what follows it; return whether its kernels can."""
    conv, (result,) = flow[first], flow[last].outputs
    out = _as_made(flow, first, one(result))
    if out.slot in {view.slot for view in conv.reads()}:
        return False
    inputs = (*conv.inputs[:3], other)
    attributes = (*conv.attributes[:_GEOMETRY], *numbers)
    both = (conv, flow[last])
    fused = chosen(TABLE["conv_activation"], (out,), inputs, attributes, both)
    if fused is None or fused.chosen != conv.chosen:
        return False  # say, Winograd's convolution, which has no such form
    return flow.merge(first, last, fused)


def _add(flow: Flow, at: int) -> None:
    """Let a convolution add what is added to its result."""
    out, *inputs = map(one, (*flow[at].outputs, *flow[at].inputs))
    for t, other in (inputs, inputs[::-1]):
        conv = _convolution(flow, t, at)
        if conv is None or _other(flow[conv]) is not None:
            continue
        # The result must not lie where the shortcut does, which is read after it is
        # written.
        fits = alike(t, other) and alike(t, out)
        if not fits or other.slot in {t.slot, out.slot}:
            continue
        if _merge(flow, conv, at, _as_made(flow, conv, other), _NONE):
            return


def _activate(flow: Flow, at: int) -> None:
    """Let a convolution apply the activation of its result."""
    out, u = map(one, (*flow[at].outputs, *flow[at].inputs))
    conv, numbers = _convolution(flow, u, at), post_op_of(flow[at])
    if conv is None or numbers is None or not alike(u, out):
        return
    other = _other(flow[conv])
    if isinstance(other, View) and other.slot == out.slot:
        return
    _merge(flow, conv, at, other, numbers)
