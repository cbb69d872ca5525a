# SPDX-License-Identifier: MIT
"""``AUTOCALC_SHADOW=set:share``: run some calls on a second set too, and compare.

The calls are selected by counting, not at random, so that a run can be repeated.  With
a share of 0.01, every hundredth call of each chosen kernel is selected, including the
first one.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from autocalc._config import settings
from autocalc._dispatch._callers import users_line
from autocalc._dispatch.plugins.discovery import registry
from autocalc._dispatch.selection.canaries import Fenced, place_of
from autocalc._dispatch.selection.upcast import FLOAT_KINDS
from autocalc._kernels.kernel_set import Function
from autocalc._kernels.spec import Array, Budget, KernelSpec, Operand
from autocalc.errors import KernelError, ShadowWarning

log = logging.getLogger("autocalc.shadow")

#: Two kernels may deviate by the spec's budget in opposite directions.
SLACK = 2.0


def shadowed(
    spec: KernelSpec, name: str, function: Function, other: str
) -> Callable[..., None]:
    """Return `function` of the set `name`, sometimes compared with the set `other`.

    The function is returned unchanged if it belongs to the other set, or if that set
    does not have the kernel.
    """
    kernels = registry().kernels(other) or {}
    if name == other or spec.name not in kernels:
        return function
    second = kernels[spec.name].function
    own = (registry().kernels(name) or {}).get(spec.name)
    wider = [k.exception for k in (own, kernels[spec.name]) if k and k.exception]
    budget = spec.budget_of(wider[0] if wider else None)
    pair = _Shadowed(spec, budget, name, function, other, second)
    found = settings().shadow
    share = found[1] if found else 1.0
    due = 1.0

    def call(*operands: Any) -> None:
        nonlocal due
        is_due = due > 1.0 - 1e-9  # sums of shares are not exact
        due += share - is_due
        if is_due:
            _compare(pair, operands)
        else:
            function(*operands)

    return call


class _Shadowed(NamedTuple):
    """A kernel of one set, and the same kernel of the set with which it is compared."""

    spec: KernelSpec
    budget: Budget
    name: str
    function: Function
    other: str
    second: Function


def _compare(pair: _Shadowed, operands: tuple[Any, ...]) -> None:
    """Run both kernels on the same operands; keep the results of the first one.

    The first kernel writes to fenced memory, and the second one to copies.
    """
    spec = pair.spec
    n, stop = len(spec.outputs), len(spec.outputs) + len(spec.inputs)
    outs, given, attributes = operands[:n], operands[n:stop], operands[stop:]
    before = [_copied(out) for out in outs]
    twins = [_copied(out) for out in before]
    inputs = [_copied(x) for x in given]
    fences = [(name, a, Fenced(a)) for name, a in _named(spec.outputs, outs)]
    stand_ins = {place_of(a): fence.array for _, a, fence in fences if a.size}
    pair.function(*_replaced((*outs, *given), stand_ins), *attributes)
    for _, a, fence in fences:
        a[...] = fence.array
    pair.second(*twins, *inputs, *attributes)
    problem = _stray(spec, fences, given, inputs, stand_ins) or _difference(
        pair, before, inputs, operands, twins
    )
    if problem:
        _report(pair, problem, _described(spec, operands))


def _named(names: tuple[Operand, ...], given: tuple[Any, ...]) -> Iterator[Any]:
    """Yield (name, array) for every array among the operands."""
    for operand, x in zip(names, given, strict=True):
        yield from ((operand.name, one) for one in _list(x) if one is not None)


def _replaced(operands: tuple[Any, ...], stand_ins: dict[Any, Array]) -> list[Any]:
    """Return operands in which each output is replaced by its stand-in."""

    def replaced(x: Any) -> Any:
        if isinstance(x, (list, tuple)):
            return [replaced(one) for one in x]
        return x if x is None else stand_ins.get(place_of(x), x)

    return [replaced(x) for x in operands]


def _stray(
    spec: KernelSpec,
    fences: list[Any],
    given: tuple[Any, ...],
    before: list[Any],
    stand_ins: dict[Any, Array],
) -> str:
    """Return where the kernel wrote outside of its outputs; "" if nowhere."""
    for name, _, fence in fences:
        if not fence.is_intact():
            return f"wrote outside of its output `{name}`"
    inputs = zip(
        _named(spec.inputs, given), _named(spec.inputs, tuple(before)), strict=True
    )
    for (name, now), (_, then) in inputs:
        if place_of(now) not in stand_ins and now.tobytes() != then.tobytes():
            return f"changed its input `{name}`"
    return ""


def _difference(
    pair: _Shadowed,
    before: list[Any],
    inputs: list[Any],
    operands: tuple[Any, ...],
    twins: list[Any],
) -> str:
    """Return how the results differ; "" if the difference is allowed."""
    limits = _limits(pair.spec, pair.budget, before, inputs, operands, twins)
    for i, output in enumerate(pair.spec.outputs):
        if operands[i] is None:
            continue
        lists = _list(operands[i]), _list(twins[i]), _list(limits[i])
        for got, wanted, limit in zip(*lists, strict=True):
            worst = _excess(got, wanted, limit)
            if worst is not None:
                at, here, there = worst
                return (
                    f"differs from {pair.other}: `{output.name}` at {at} is {here!s}, "
                    f"{pair.other} gives {there!s}; allowed is {SLACK:g} times the "
                    f"kernel's budget ({pair.budget.text})"
                )
    return ""


def _described(spec: KernelSpec, operands: tuple[Any, ...]) -> str:
    """Return the names, shapes and dtypes of all operands, and unusual strides."""
    names = (*spec.outputs, *spec.inputs)
    texts = []
    for name, a in _named(names, operands[: len(names)]):
        unusual = "" if a.flags.c_contiguous else f" with strides {a.strides}"
        texts.append(f"`{name}` {a.shape} {a.dtype}{unusual}")
    return ", ".join(texts)


def _limits(
    spec: KernelSpec,
    budget: Budget,
    before: list[Any],
    inputs: list[Any],
    operands: tuple[Any, ...],
    expected: list[Any],
) -> Any:
    """Return the allowed absolute differences by output; 0 for integers."""
    first = next(_flat(expected), None)
    if first is None or first.dtype.kind not in FLOAT_KINDS:
        return [[0.0] * len(_list(e)) for e in expected]
    eps = float(np.finfo(first.dtype).eps)
    attributes = operands[len(before) + len(inputs) :]
    mask = 0
    if spec.accumulates:
        attributes, mask = attributes[:-1], attributes[-1]
    written = [
        _wide(x)
        for output, x in zip(spec.outputs, before, strict=True)
        if output.name in spec.writes
    ]
    with np.errstate(all="ignore"):
        limits = budget.tolerance(
            (*written, *map(_wide, inputs)), attributes, list(map(_wide, expected)), eps
        )
        result: list[list[Any]] = []
        for i, (limit, wanted) in enumerate(zip(limits, expected, strict=True)):
            added = eps * np.abs(_wide(before[i])) if mask >> i & 1 else 0.0
            allowed = [] if wanted is None else _list(limit)
            result.append([SLACK * (np.asarray(one) + added) for one in allowed])
        return result


def _excess(got: Array, wanted: Array, limit: Any) -> tuple[Any, ...] | None:
    """Return (place, got, wanted) where two results differ most; None if allowed."""
    if got.size == 0:
        return None
    with np.errstate(all="ignore"):
        error = np.abs(got.astype(np.float64) - wanted.astype(np.float64))
        same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
        excess = np.where(same, -1.0, error - limit)
    excess = np.where(np.isnan(excess), np.inf, excess)
    if excess.max() <= 0:
        return None
    at = np.unravel_index(int(excess.argmax()), excess.shape)
    return tuple(map(int, at)), got[at], wanted[at]


def _report(pair: _Shadowed, problem: str, operands: str) -> None:
    """Warn, or raise if ``AUTOCALC_STRICT`` is set."""
    line = users_line()
    where = "" if line is None else f" Called at {line}"
    message = (
        f"AUTOCALC_SHADOW: {pair.spec.name} of {pair.name} {problem}. Operands: "
        f"{operands}.{where}"
    )
    log.warning(message)
    if settings().strict:
        raise KernelError(message)
    warnings.warn(message, ShadowWarning, stacklevel=2)


def _copied(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return [_copied(one) for one in x]
    return None if x is None else np.array(x)


def _wide(x: Any) -> Any:
    """Return operands in float64, in which budgets are computed."""
    if isinstance(x, (list, tuple)):
        return [_wide(one) for one in x]
    if x is None or x.dtype.kind not in FLOAT_KINDS:
        return x
    return x.astype(np.float64)


def _list(x: Any) -> list[Any]:
    return list(x) if isinstance(x, (list, tuple)) else [x]


def _flat(operands: list[Any]) -> Any:
    for x in operands:
        yield from (one for one in _list(x) if one is not None)
