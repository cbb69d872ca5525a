# SPDX-License-Identifier: MIT
"""The activation of a product that keeps its operand, as a call of its own.

::

    u, pre = linear(x, w, b; f)      can be read as  u = f(pre)

where the set's two kernels give the same bits, which a trial on random numbers of the
same shapes tells.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autocalc._compile._kernel_choice import instruction as chosen
from autocalc._compile._memory import View, view_at
from autocalc._compile._program import Instruction, views_of
from autocalc._kernels.spec import Array
from autocalc._kernels.table import TABLE

#: Kernel and attributes of each activation that products have.
_KERNELS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "relu": ("relu", ()),
    "gelu": ("gelu", ("none",)),
    "gelu_tanh": ("gelu", ("tanh",)),
}

#: Where the activation's name stands among the attributes.
_PLACES = {"linear": -1, "gemm": -2}

#: What trials found, by set, operands and attributes.
_found: dict[Any, bool] = {}


def activation_of(product: Instruction, view: View) -> Instruction | None:
    """Return the call that makes `view` of the product before the activation."""
    name = product.name
    if name not in _PLACES or product.outputs[0] != view:
        return None
    pre = product.outputs[1]
    known = _KERNELS.get(product.attributes[_PLACES[name]])
    if known is None or not isinstance(pre, View):
        return None
    kernel, attributes = known
    made = chosen(TABLE[kernel], (view,), (pre,), attributes, (product,))
    if made is None or made.chosen != product.chosen or not _agree(product, made):
        return None
    return made


def _agree(product: Instruction, activation: Instruction) -> bool:
    """Return whether both give the same bits."""
    views = [(v.shape, v.strides, v.dtype) for v in product.views()]
    key = product.chosen, product.name, product.attributes, tuple(views)
    if key not in _found:
        _found[key] = _trial(product, activation)
    return _found[key]


def _trial(product: Instruction, activation: Instruction) -> bool:
    rng = np.random.default_rng(0)
    roots: dict[int, Array] = {}
    for view in views_of(product.inputs):
        _fill(_room(view, roots), rng)
    for view in views_of(product.outputs):
        _room(view, roots)
    operands = [_bound(x, roots) for x in (*product.outputs, *product.inputs)]
    product.function(*operands, *product.attributes)
    out, pre = operands[:2]
    other = np.empty_like(out)
    activation.function(other, pre, *activation.attributes)
    return bool(np.array_equal(out, other))


def _room(view: View, roots: dict[int, Array]) -> Array:
    """Return an array for a view; views of one slot lie in one."""
    steps = zip(view.shape, view.strides, strict=True)
    end = view.offset + view.dtype.itemsize
    end += sum((n - 1) * stride for n, stride in steps)
    if view.slot not in roots or roots[view.slot].nbytes < end:
        roots[view.slot] = np.zeros(end, np.uint8)
    return view_at(roots[view.slot], view.offset, view)


def _fill(array: Array, rng: Any) -> None:
    array[...] = rng.standard_normal(array.shape)


def _bound(x: Any, roots: dict[int, Array]) -> Any:
    return None if x is None else view_at(roots[x.slot], x.offset, x)
