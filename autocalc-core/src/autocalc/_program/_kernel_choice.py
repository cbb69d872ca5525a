# SPDX-License-Identifier: MIT
"""Chooses the kernel of an instruction that a pass makes, as eager calls do."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.plugins.discovery import registry
from autocalc._dispatch.selection.call import dispatch_key
from autocalc._dispatch.selection.select import Decomposed
from autocalc._dispatch.selection.state import current
from autocalc._dispatch.selection.upcast import HALVES
from autocalc._kernels.kernel_set import DispatchKey
from autocalc._kernels.spec import KernelSpec, Meta
from autocalc._program._form import Instruction, views_of
from autocalc._program._views import Operand, View
from autocalc._program._work import seen, work_of


def instruction(
    spec: KernelSpec,
    outputs: tuple[Operand, ...],
    inputs: tuple[Operand, ...],
    attributes: tuple[Any, ...],
    fused: tuple[Instruction, ...],
) -> Instruction | None:
    """Return a call that replaces those in `fused`; None if no kernel does all of it.

    `attributes` has the accumulation mask last, where the spec has one.
    """
    if any(v.dtype in HALVES for v in views_of((*outputs, *inputs))):
        return None  # such operands are computed one by one in float32
    _check_results(spec, outputs, inputs, attributes)
    key = key_of(spec, outputs, inputs, attributes)
    selection = current().selection
    name, entry = selection.choose(spec, key)
    apart = {i.chosen for i in fused}
    if isinstance(entry, Decomposed) or (name == "reference" and apart != {name}):
        return None
    selection.note(key, name)
    impl = (registry().kernels(name) or {})[spec.name]
    names = tuple(n for i in fused for n in (i.fused or (i.name,)))
    lead = max(fused, key=lambda i: work_of(i).flops)  # its line represents all
    return Instruction(
        spec, name, entry, impl.native, outputs, inputs, attributes, lead.line, names
    )


def _check_results(
    spec: KernelSpec,
    outputs: tuple[Operand, ...],
    inputs: tuple[Operand, ...],
    attributes: tuple[Any, ...],
) -> None:
    """Refuse results whose shapes differ from what the kernel writes unchecked."""
    if spec.writes:
        return  # the outputs are operands, too
    given, free = seen(spec, outputs, inputs, attributes)
    made = spec.rule(*given, **free)
    metas = (made,) if isinstance(made, Meta) else made
    for out, meta in zip(outputs, metas, strict=True):
        if isinstance(out, View) and meta is not None and out.shape != meta.shape:
            raise AssertionError(
                f"compile: a pass reserves memory of shape {out.shape} for "
                f"`{spec.name}`, whose result has shape {meta.shape}. Leave out passes "
                "one by one with off=NAME, and report the pass that causes this."
            )


def key_of(
    spec: KernelSpec,
    outputs: tuple[Operand, ...],
    inputs: tuple[Operand, ...],
    attributes: tuple[Any, ...],
) -> DispatchKey:
    """Return the dispatch key of the call of an instruction."""
    views = [_first(x) for x in (*outputs, *inputs)]
    mask = attributes[-1] if spec.accumulates else 0
    return dispatch_key(spec, views, views[len(outputs) :], attributes, mask)


def _first(x: Operand) -> View | None:
    """Return the view that represents an operand: for a list, its first view."""
    if x is None or isinstance(x, View):
        return x
    return x[0] if x else None
