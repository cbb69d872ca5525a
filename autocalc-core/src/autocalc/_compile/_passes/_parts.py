# SPDX-License-Identifier: MIT
"""Reads the last part of a fused call as a call of its own.

::

    u, pre = linear(x, w, b; f)      can be read as  u = f(pre)
    s, u, .. = add_norm(a, b, w)     can be read as  u, .. = norm(s, w)

The call must also store the operand of this last part.  The two kernels of the set must
give the same bits.  A trial with random numbers of the same shapes shows whether they
do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autocalc._kernels.spec import Array
from autocalc._kernels.table import TABLE
from autocalc._program._form import Instruction, views_of
from autocalc._program._kernel_choice import instruction as chosen
from autocalc._program._rewrites import ACTIVATIONS, NORMS_OF_SUMS, activation_of
from autocalc._program._views import View, view_at

#: The results of trials, by set, operands and attributes.
_found: dict[Any, bool] = {}

#: For each norm that also makes the sum that it normalises: the norm that does not.
_NORMS = {of_sum: norm for norm, of_sum in NORMS_OF_SUMS.items()}


def part_of(call: Instruction, view: View) -> Instruction | None:
    """Return a call that makes the result `view` from another result of this call."""
    made = _activation(call, view) or _norm(call, view)
    if made is None or made.chosen != call.chosen or not _agree(call, made):
        return None
    return made


def _activation(product: Instruction, view: View) -> Instruction | None:
    known = ACTIVATIONS.get(activation_of(product) or "")
    if known is None or product.outputs[0] != view:
        return None
    pre = product.outputs[1]
    if not isinstance(pre, View):
        return None
    kernel, attributes = known
    return chosen(TABLE[kernel], (view,), (pre,), attributes, (product,))


def _norm(call: Instruction, view: View) -> Instruction | None:
    if call.name not in _NORMS or view not in call.outputs[1:]:
        return None
    total, *outputs = call.outputs
    inputs = total, *call.inputs[2:]
    spec = TABLE[_NORMS[call.name]]
    return chosen(spec, tuple(outputs), inputs, call.attributes, (call,))


def _agree(call: Instruction, part: Instruction) -> bool:
    """Return whether both calls give the same bits."""
    views = [(v.shape, v.strides, v.dtype) for v in call.views()]
    key = call.chosen, call.name, call.attributes, part.name, tuple(views)
    if key not in _found:
        _found[key] = _trial(call, part)
    return _found[key]


def _trial(call: Instruction, part: Instruction) -> bool:
    rng = np.random.default_rng(0)
    roots: dict[int, Array] = {}
    for view in views_of(call.inputs):
        _room(view, roots)[...] = rng.standard_normal(view.shape)
    for view in views_of(call.outputs):
        _room(view, roots)
    operands = [_bound(x, roots) for x in (*call.outputs, *call.inputs)]
    call.function(*operands, *call.attributes)
    again = dict(roots)
    for view in views_of(part.outputs):
        again[view.slot] = np.zeros_like(roots[view.slot])
    operands = [_bound(x, again) for x in (*part.outputs, *part.inputs)]
    part.function(*operands, *part.attributes)
    return all(
        np.array_equal(roots[view.slot], again[view.slot])
        for view in views_of(part.outputs)
    )


def _room(view: View, roots: dict[int, Array]) -> Array:
    """Return an array for a view; the views of one slot share memory."""
    if view.slot not in roots or roots[view.slot].nbytes < view.stop:
        roots[view.slot] = np.zeros(view.stop, np.uint8)
    return view_at(roots[view.slot], view.offset, view)


def _bound(x: Any, roots: dict[int, Array]) -> Any:
    return None if x is None else view_at(roots[x.slot], x.offset, x)
