# SPDX-License-Identifier: MIT
"""``AUTOCALC_SHADOW=set:share``: run some calls a second time elsewhere, and compare.

Which calls is counted, not drawn: with a share of 0.01 it is every hundredth call of
each chosen kernel, the first of them included, so that a run can be repeated.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from autocalc._config import settings
from autocalc._dispatch._plugins import registry
from autocalc._dispatch._widened import FLOAT_KINDS
from autocalc._kernels.kernel_set import Function
from autocalc._kernels.spec import Array, Budget, KernelSpec
from autocalc.errors import KernelError, ShadowWarning

log = logging.getLogger("autocalc.shadow")

#: Each of two kernels may be off by the spec's budget, one up and the other down.
SLACK = 2.0


def shadowed(
    spec: KernelSpec, name: str, function: Function, other: str
) -> Callable[..., None]:
    """Return `function` of the set `name`, compared now and then with the set `other`.

    Kernels that the other set lacks, and its own, are returned as they are.
    """
    kernels = registry().kernels(other) or {}
    if name == other or spec.name not in kernels:
        return function
    second = kernels[spec.name].function
    own = (registry().kernels(name) or {}).get(spec.name)
    wider = [k.exception for k in (own, kernels[spec.name]) if k and k.exception]
    budget = spec.budget_of(wider[0] if wider else None)
    found = settings().shadow
    share = found[1] if found else 1.0
    due = 1.0

    def call(*operands: Any) -> None:
        nonlocal due
        is_due = due > 1.0 - 1e-9  # sums of shares are not exact
        due += share - is_due
        if is_due:
            _compare(spec, budget, name, function, other, second, operands)
        else:
            function(*operands)

    return call


def _compare(
    spec: KernelSpec,
    budget: Budget,
    name: str,
    function: Function,
    other: str,
    second: Function,
    operands: tuple[Any, ...],
) -> None:
    """Run both on the same operands; what the first one wrote is what stays."""
    n = len(spec.outputs)
    before = [_copied(out) for out in operands[:n]]
    twins = [_copied(out) for out in before]
    inputs = [_copied(x) for x in operands[n : n + len(spec.inputs)]]
    function(*operands)
    second(*twins, *inputs, *operands[n + len(spec.inputs) :])
    limits = _limits(spec, budget, before, inputs, operands, twins)
    for i, output in enumerate(spec.outputs):
        if operands[i] is None:
            continue
        lists = _list(operands[i]), _list(twins[i]), _list(limits[i])
        for got, wanted, limit in zip(*lists, strict=True):
            worst = _excess(got, wanted, limit)
            if worst is not None:
                _report(spec, budget, name, other, output.name, worst)


def _limits(
    spec: KernelSpec,
    budget: Budget,
    before: list[Any],
    inputs: list[Any],
    operands: tuple[Any, ...],
    expected: list[Any],
) -> Any:
    """Return the absolute differences allowed, by output; 0 for whole numbers."""
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
    """Return (place, got, wanted) where two results differ most, or None."""
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


def _report(
    spec: KernelSpec,
    budget: Budget,
    name: str,
    other: str,
    output: str,
    worst: tuple[Any, ...],
) -> None:
    """Warn; raise where ``AUTOCALC_STRICT`` is set."""
    at, got, wanted = worst
    message = (
        f"AUTOCALC_SHADOW: {spec.name} of {name} differs from {other}: `{output}` at "
        f"{at} is {got!s}, {other} gives {wanted!s}; allowed is {SLACK:g} times the "
        f"kernel's budget ({budget.text})."
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
