# SPDX-License-Identifier: MIT
"""The table of rewrites: calls of kernels that replace two calls each.

::

    t = linear(x, w), u = t + b              becomes  u = linear(x, w, b)
    t = linear(x, w, b), u = f(t)            becomes  u, t? = linear(x, w, b; f)
    t, .. = linear'(g, x, w), u = relu'(t, x)    becomes  u, .. = linear_relu'(g, x, w)
    t = conv(x), u = t + r                   becomes  u = conv_activation(x, r)
    t = conv(x), u = f(t)                    becomes  u = conv_activation(x; f)
    t = norm(x), u = t + r                   becomes  u = norm_activation(x, r)
    t = norm(x), u = f(t)                    becomes  u = norm_activation(x; f)
    t = a + b, u = layer_norm(t)             becomes  t, u = add_layer_norm(a, b)
    t = conv(x, w, b), u = f(norm(t) + r)    becomes  u = f(conv(x, w', b') + r)

The last row folds a batch norm that uses running statistics into parameters::

    w' = w * s,  b' = (b - mean) * s + beta,  s = gamma / sqrt(var + eps)

The folded parameters belong to the prologue, which computes them when a parameter has
changed.  w' is a norm of w with mean 0, and b' is a norm of b.

A new rewrite needs a new row in the table.  `_patterns.py` contains what all rows
share.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from autocalc._kernels.norm._activated import BY_INPUT, NONE, POST_OPS, PostOp, post_op
from autocalc._kernels.table import TABLE
from autocalc._program._flow import Flow, alike, one, shifted
from autocalc._program._form import Instruction, views_of
from autocalc._program._kernel_choice import instruction as chosen
from autocalc._program._patterns import Match, Pattern, rewrite
from autocalc._program._views import Operand, View

# ---- matrix products -----------------------------------------------------------------

#: The position of the activation's name among the attributes of a product.
_PLACES = {"linear": -1, "gemm": -2}

#: The kernel and attributes of each activation, by its name in a product.
ACTIVATIONS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "relu": ("relu", ()),
    "gelu": ("gelu", ("none",)),
    "gelu_tanh": ("gelu", ("tanh",)),
}
_NAMES = {form: name for name, form in ACTIVATIONS.items()}


def activation_of(product: Instruction) -> str | None:
    """Return the activation that a product applies; None if the call is no product."""
    place = _PLACES.get(product.name)
    return None if place is None else str(product.attributes[place])


def _is_plain(product: Instruction) -> bool:
    """Return whether a product only writes its result, without an activation."""
    only = not product.accumulated and not product.outputs[1]
    return only and activation_of(product) == "none"


def _bias(m: Match) -> Instruction | None:
    """Let a product add the row that a later call adds to its result."""
    product = m.first
    x, w, bias = product.inputs
    row, before = _row(m.other, m.value), one(product.outputs[0])
    fits = before == m.value and alike(m.out, m.value)
    if row is None or bias is not None or not fits or not _is_plain(product):
        return None
    outputs = shifted(before, m.out), None
    return m.call(product.name, outputs, (x, w, row), product.attributes)


def _row(view: View, of: View) -> View | None:
    """Return a bias as one row of `of`; None if it is not such a row."""
    if not of.shape:
        return None
    n, itemsize = of.shape[-1], view.dtype.itemsize
    lead = view.shape[:-1]
    plain = view.shape[-1:] == (n,) and set(lead) <= {1} and view.dtype == of.dtype
    if not plain or (n != 1 and view.strides[-1] != itemsize):
        return None
    return view._replace(shape=(n,), strides=(itemsize,))


def _product_activation(m: Match) -> Instruction | None:
    """Let a product apply an activation, and keep the activation's input for others."""
    product, name = m.first, _NAMES.get((m.last.name, m.last.attributes))
    if name is None or not _is_plain(product) or not alike(m.out, m.value):
        return None
    before = one(product.outputs[0])
    outputs = shifted(before, m.out), None if m.is_alone else before
    attributes = list(product.attributes)
    attributes[_PLACES[product.name]] = name
    return m.call(product.name, outputs, product.inputs, tuple(attributes))


def _mask(m: Match) -> Instruction | None:
    """Let a layer's backward kernel mask its gradient by the relu before the layer."""
    first = m.first
    fits = first.outputs[0] == m.value and first.inputs[1] == m.other
    if not fits or not alike(m.value, m.out):
        return None
    outputs = m.out, *first.outputs[1:]
    return m.call("linear_relu_backward", outputs, first.inputs, first.attributes)


# ---- convolutions --------------------------------------------------------------------

#: The number of attributes of a convolution before those of an activation.
_GEOMETRY = 4


def _shortcut(conv: Instruction) -> Operand:
    """Return the operand that a convolution adds."""
    return conv.inputs[3] if conv.name == "conv_activation" else None


def _conv_sum(m: Match) -> Instruction | None:
    """Let a convolution add the operand that a later call adds to its result.

    The result must not use the memory of this operand, the shortcut: the kernel reads
    it after it has begun to write.
    """
    fits = alike(m.value, m.other) and alike(m.value, m.out)
    if not fits or m.other.slot == m.out.slot or _shortcut(m.first) is not None:
        return None
    return _convolved(m, shifted(one(m.first.outputs[0]), m.other), NONE)


def _conv_activation(m: Match) -> Instruction | None:
    """Let a convolution apply the activation that follows it."""
    numbers, other = post_op(m.last.name, m.last.attributes), _shortcut(m.first)
    is_in_place = isinstance(other, View) and other.slot == m.out.slot
    if numbers is None or is_in_place or not alike(m.value, m.out):
        return None
    return _convolved(m, other, numbers)


def _convolved(m: Match, other: Operand, numbers: PostOp) -> Instruction | None:
    """Return a convolution with its epilogue, in the shape of its own result.

    The reader of the result may see it reshaped, as a transformer sees patches.
    """
    conv = m.first
    if conv.name == "conv_activation" and conv.attributes[_GEOMETRY] != "none":
        return None
    out = shifted(one(conv.outputs[0]), m.out)
    attributes = *conv.attributes[:_GEOMETRY], *numbers
    inputs = *conv.inputs[:3], other
    return m.call("conv_activation", (out,), inputs, attributes)


# ---- norms ---------------------------------------------------------------------------

#: For each norm: the norm that also makes the sum that it normalises.
NORMS_OF_SUMS = {"layer_norm": "add_layer_norm", "rms_norm": "add_rms_norm"}

#: Activations whose backward kernel reads their input, not their result.
_READ_INPUT = ("leaky_relu", "hardswish", "silu")


def _norm_of_sum(m: Match) -> Instruction | None:
    """Let a norm over the last axis also make the sum that it normalises."""
    add, norm, x = m.first, m.last, m.value
    a, b = map(one, add.inputs)
    if add.outputs[0] != x or not (alike(a, x) and alike(b, x)):
        return None
    outputs, inputs = (x, *norm.outputs), (a, b, *norm.inputs[1:])
    kernel = NORMS_OF_SUMS[norm.name]
    return m.call(kernel, outputs, inputs, norm.attributes, like=norm)


def _added(norm: Instruction) -> Operand:
    """Return the operand that a batch norm adds."""
    return None if norm.name == "batch_norm" else norm.inputs[-1]


def _norm_sum(m: Match) -> Instruction | None:
    """Let a batch norm add the operand that a later call adds to its result."""
    fits = alike(m.value, m.other) and _added(m.first) is None
    return _normed(m, m.other, NONE) if fits else None


def _normed(m: Match, other: Operand, numbers: PostOp) -> Instruction | None:
    """Return a batch norm with its epilogue."""
    norm, kernel, operands = m.first, m.first.name, m.first.inputs
    if kernel == "batch_norm":
        kernel = "batch_norm_activation"
    elif norm.attributes[1] == "none":
        operands = operands[:-1]
    else:
        return None  # an activation is in between
    if m.value != norm.outputs[0] or not alike(m.value, m.out):
        return None
    outputs = m.out, *norm.outputs[1:]
    return m.call(kernel, outputs, (*operands, other), (norm.attributes[0], *numbers))


def _norm_activation(m: Match) -> Instruction | None:
    """Let a batch norm apply an activation, and change its backward kernel to match.

    ::

        h = f'(g, y), dx, .. = norm'(h, x)    becomes  dx, .., h? = both'(g, y)

    If f' reads the value in between, which is no longer in memory, then forward and
    backward must change together or not at all.
    """
    numbers = post_op(m.last.name, m.last.attributes)
    backs = None if numbers is None else _backs(m)
    if numbers is None or backs is None:
        return None
    fused = _normed(m, _added(m.first), numbers)
    for back in backs if fused else ():
        made = _backward(m, numbers, back) if _can_meet(m, back) else None
        if made is None:
            return None
        m.others += [(back.activation, made), (back.norm, None)]
    return fused


class _Back(NamedTuple):
    """The places of the backward kernels of an activation and of its norm."""

    activation: int
    norm: int


def _backs(m: Match) -> list[_Back] | None:
    """Return the backward kernels that also change; None if others need the value."""
    by = m.value if m.last.name in _READ_INPUT else m.out
    places = sorted(m.flow.readers[by.slot] - {m.to})
    backs = [back for at in places if (back := _back(m, at, by)) is not None]
    left = m.flow.readers[m.value.slot] - {m.to} - {back.activation for back in backs}
    return None if left else backs


def _back(m: Match, at: int, by: View) -> _Back | None:
    """Return the pair of backward kernels that starts at `at`; None if none does."""
    flow, first = m.flow, m.flow[at]
    same = first.attributes == m.last.attributes
    if first.name != f"{m.last.name}_backward" or not same:
        return None
    h, g, read = map(one, (*first.outputs, *first.inputs))
    if read != by or g.slot == by.slot or flow.only_writer(h) != at:
        return None
    norms = (p for p in flow.readers[h.slot] if _is_backward(flow[p], m.first, h))
    place = next(norms, None)
    return None if place is None else _Back(at, place)


def _is_backward(last: Instruction, norm: Instruction, h: View) -> bool:
    """Return whether a call is the backward kernel of a norm, with the gradient `h`."""
    if last.name != "batch_norm_backward" or len(norm.outputs) < 3:
        return False  # a norm that uses running statistics has one result
    x, weight = norm.inputs[:2]
    same = last.inputs == (h, x, *norm.outputs[1:], weight)
    return same and last.attributes[0] == norm.attributes[0]


def _can_meet(m: Match, back: _Back) -> bool:
    """Return whether the norm's backward kernel can run at the activation's place."""
    flow, (begin, end) = m.flow, back
    first, last = flow[begin], flow[end]
    reads = {view.slot for view in last.reads()} - {one(first.outputs[0]).slot}
    writes = {view.slot for view in last.writes()}
    return not (
        any(flow.is_written(slot, begin, end - 1) for slot in reads)
        or any(flow.is_used(slot, begin, end - 1) for slot in writes)
        or flow.is_written(m.out.slot, m.to + 1, begin)
    )


def _backward(m: Match, numbers: PostOp, back: _Back) -> Instruction | None:
    """Return the backward kernel of the norm with its activation."""
    flow, first, last = m.flow, m.flow[back.activation], m.flow[back.norm]
    h, g = map(one, (*first.outputs, first.inputs[0]))
    _, x, mean, var, weight = last.inputs
    result: Operand = m.out
    bias = other = None
    if numbers[0] in BY_INPUT:  # the kernel computes the norm's result again
        result, bias, other = None, m.first.inputs[2], _added(m.first)
        if not all(_stays(flow, view, back.activation) for view in (bias, other)):
            return None
    eps, mask = last.attributes
    shared = flow.readers[h.slot] != {back.norm}
    return chosen(
        TABLE["batch_norm_activation_backward"],
        (*last.outputs, h if shared else None),
        (g, x, result, other, mean, var, weight, bias),
        (eps, *numbers, mask),
        (first, last),
    )


def _stays(flow: Flow, x: Operand, until: int) -> bool:
    """Return whether a norm's operand is unchanged when its backward kernel runs."""
    if not isinstance(x, View):
        return True
    once = flow.only_writer(x) is not None
    return once or not flow.is_written(x.slot, 0, until)


# ---- folded norms --------------------------------------------------------------------

#: The most bytes of folded weights that a program keeps.
MAX_BYTES = 1 << 30


def _fold(m: Match) -> Instruction | None:
    """Fold a norm with running statistics into parameters that are only read."""
    product, norm = m.first, m.last
    other, (_, *numbers) = norm.inputs[-1], norm.attributes
    plain = activation_of(product) in {None, "none"} and product.outputs[0] == m.value
    rows = product.name == "conv" or len(m.value.shape) == 2
    if not (plain and rows and alike(m.value, m.out) and _fit(m)):
        return None
    operands = product.inputs[0], *_folded(m)
    if len(m.prologue) < 2:
        return None
    if other is not None:
        is_added = alike(one(other), m.out) and one(other).slot != m.out.slot
        if product.name != "conv" or not is_added:
            return None
        attributes = *product.attributes, *numbers
        return m.call("conv_activation", (m.out,), (*operands, other), attributes)
    outputs = product.outputs
    if numbers[0] == "none":
        outputs = m.out, *outputs[1:]
    else:
        given = tuple(numbers[1 : 1 + POST_OPS[numbers[0]]])
        inputs, spec = (m.value,), TABLE[numbers[0]]
        m.after = chosen(spec, norm.outputs, inputs, given, (norm,))
        if m.after is None:
            return None
    return m.call(product.name, outputs, operands, product.attributes)


def _fit(m: Match) -> bool:
    """Return whether all folded operands are constant parameters, and not too large."""
    folded = *m.first.inputs[1:3], *m.last.inputs[1:5]
    kept = [v.nbytes for call in m.flow.program.prologue for v in call.writes()]
    size = one(m.first.inputs[1]).nbytes
    return sum(kept) + size <= MAX_BYTES and all(
        view.slot in m.flow.program.parameters and not m.flow.writers[view.slot]
        for view in views_of(folded)
    )


def _folded(m: Match) -> tuple[View, View]:
    """Return the folded weight and bias; the prologue gets the calls for them."""
    _, mean, var, gamma, beta, _ = m.last.inputs
    w, zeros = one(m.first.inputs[1]), m.flow.zeros(one(mean))
    b = one(m.first.inputs[2] or zeros)
    weight, bias = m.flow.kept_like(w), m.flow.kept_like(b)
    for out, of, center, shift in (weight, w, zeros, None), (bias, b, mean, beta):
        # The first dimension of a parameter is the channels, so it becomes a batch of
        # one.
        outputs, inputs = (_batch(out),), (_batch(of), center, var, gamma, shift, None)
        attributes = m.last.attributes[0], *NONE
        call = chosen(TABLE[m.last.name], outputs, inputs, attributes, (m.last,))
        m.prologue += [] if call is None else [call]
    return weight, bias


def _batch(view: View) -> View:
    return view._replace(shape=(1, *view.shape), strides=(view.nbytes, *view.strides))


# ---- the table -----------------------------------------------------------------------

_PRODUCTS = tuple(_PLACES)
_CONVS = ("conv", "conv_activation")
_NORMS = ("batch_norm", "batch_norm_activation", "batch_norm_running")
_EITHER = (0, 1)

#: The rows of each pass; the passes run in this order.
ROWS: dict[str, tuple[Pattern, ...]] = {
    "norm_folding": (Pattern(("conv", "linear"), ("batch_norm_running",), _fold),),
    "epilogues": (
        Pattern(_PRODUCTS, ("add",), _bias, _EITHER),
        Pattern(_PRODUCTS, ("relu", "gelu"), _product_activation, alone=False),
        Pattern(("linear_backward",), ("relu_backward",), _mask),
    ),
    "norm_epilogues": (
        Pattern(_NORMS, ("add",), _norm_sum, _EITHER),
        Pattern(_NORMS, tuple(POST_OPS), _norm_activation, alone=False),
    ),
    "conv_epilogues": (
        Pattern(_CONVS, ("add",), _conv_sum, _EITHER),
        Pattern(_CONVS, tuple(POST_OPS), _conv_activation),
    ),
    "residual_norms": (
        Pattern(("add",), tuple(NORMS_OF_SUMS), _norm_of_sum, alone=False),
    ),
}

#: The passes, by name.
PASSES = {name: partial(rewrite, rows) for name, rows in ROWS.items()}
