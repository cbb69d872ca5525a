# SPDX-License-Identifier: MIT
"""Norms of parameter gradients, and flags for suspicious ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from autocalc._dispatch._callers import UserLine
from autocalc._tensor import Tensor
from autocalc.diagnostics._arguments import check_model, check_threshold
from autocalc.diagnostics._flags import Flag, told
from autocalc.diagnostics._table import Report, Row, number, share, sizes
from autocalc.errors import ArgumentError
from autocalc.nn import Module


@dataclass(frozen=True)
class Gradient:
    """The gradient of one parameter.

    Attributes
    ----------
    name, shape
        The parameter's dotted name, and its shape.
    norm, maximum
        The Euclidean norm and the largest magnitude of the finite elements; None
        without a gradient.
    zeros
        The share of elements that are 0.
    nonfinite
        The number of elements that are NaN or infinite.
    weight_norm
        The norm of the parameter.
    ratio
        `norm` / `weight_norm`; None where the parameter is 0.
    update
        The norm of the parameter's update, divided by `weight_norm`; only `watch`
        measures it.

    Examples
    --------
    >>> import autocalc as ac
    >>> net = ac.nn.Linear(2, 1)
    >>> net(ac.tensor([[3.0, 4.0]])).sum().backward()
    >>> row = ac.diagnostics.gradient_health(net).rows[0]
    >>> row.name, row.shape, row.norm, row.maximum
    ('weight', (1, 2), 5.0, 4.0)
    """

    name: str
    shape: tuple[int, ...]
    norm: float | None
    maximum: float | None
    zeros: float | None
    nonfinite: int
    weight_norm: float
    ratio: float | None
    update: float | None = None


@dataclass(repr=False)
class GradientHealth(Report):
    """The gradients of a model's parameters; `gradient_health` returns it.

    Attributes
    ----------
    rows : list of Gradient
        One row for each parameter that requires a gradient.
    flags : list of Flag
        The problems found; each concerns one tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> net = ac.nn.Linear(2, 1, bias=False)
    >>> net(ac.tensor([[3.0, 4.0]])).sum().backward()
    >>> health = ac.diagnostics.gradient_health(net)
    >>> health.norm, [row.name for row in health.rows]
    (5.0, ['weight'])
    """

    rows: list[Gradient]
    flags: list[Flag]

    @property
    def norm(self) -> float:
        """The norm of all gradients together, as `clip_grad_norm_` computes it."""
        return math.sqrt(sum((row.norm or 0.0) ** 2 for row in self.rows))

    def _title(self) -> str:
        return f"Gradients: norm {self.norm:.3g} of {len(self.rows)} parameters"

    def _columns(self) -> Row:
        columns = ("parameter", "shape", "norm", "max", "zeros", "weight", "ratio")
        return (*columns, "update") if self._has_updates() else columns

    def _has_updates(self) -> bool:
        return any(row.update is not None for row in self.rows)

    def _cells(self) -> list[Row]:
        updates = self._has_updates()
        return [
            (r.name, sizes(r.shape), number(r.norm), number(r.maximum), share(r.zeros),
             number(r.weight_norm), number(r.ratio),
             *((number(r.update),) if updates else ()))
            for r in self.rows
        ]  # fmt: skip

    def _notes(self) -> list[str]:
        return told(self.flags)


#: The line that called each module, by module name, for the calls that were seen.
Lines = Mapping[str, UserLine | None]


def gradient_health(
    model: Module,
    *,
    vanishing: float = 1e-7,
    exploding: float = 100.0,
    max_norm: float = 1e3,
) -> GradientHealth:
    """Return the norms of all gradients of a model; call it after `backward`.

    Suspicious values are in `flags`: ``"nonfinite"``, ``"missing"`` (no gradient),
    ``"zero"``, ``"vanishing"`` and ``"exploding"``.  It also works for compiled steps,
    because it only reads the gradients.

    Parameters
    ----------
    model
        The module to examine.
    vanishing, exploding
        Flag a parameter of two or more dimensions if the norm of its gradient, divided
        by its own norm, is below `vanishing` or above `exploding`.
    max_norm
        Flag any parameter whose gradient has a larger norm.

    Raises
    ------
    DTypeError
        If `model` is not a module, or a threshold is not a number.
    ArgumentError
        If a threshold is below 0, or no gradient was computed at all.

    Examples
    --------
    >>> import autocalc as ac
    >>> net = ac.nn.Linear(3, 2)
    >>> (1e6 * net(ac.ones(4, 3))).sum().backward()
    >>> health = ac.diagnostics.gradient_health(net)
    >>> [(flag.kind, flag.layer) for flag in health.flags]
    [('exploding', 'weight'), ('exploding', 'bias')]
    """
    where = "gradient_health"
    found = check_model(where, model)
    limits = {
        name: check_threshold(where, name, value)
        for name, value in (
            ("vanishing", vanishing), ("exploding", exploding), ("max_norm", max_norm)
        )
    }  # fmt: skip
    params = wanted(found)
    if params and all(param.grad is None for _, param in params):
        raise ArgumentError(
            "gradient_health: no parameter has a gradient; call it after backward() "
            "and before zero_grad()."
        )
    rows = [_gradient(name, param, param._array, None) for name, param in params]
    return GradientHealth(rows, [f for row in rows for f in flags_of(row, limits)])


def wanted(model: Module) -> list[tuple[str, Tensor]]:
    """Return the parameters that require a gradient, by name."""
    return [(name, p) for name, p in model.named_parameters() if p.requires_grad]


def moved(
    params: list[tuple[str, Tensor]],
    before: dict[str, Any],
    limits: dict[str, float],
    lines: Lines,
    step_line: UserLine | None,
) -> GradientHealth:
    """Return gradients and updates, given the weights before and after a step."""
    rows, flags = [], []
    for name, param in params:
        old = before[name]
        update = _ratio(_norm(param._array.astype(np.float64) - old), _norm(old))
        row = _gradient(name, param, old, update)
        rows.append(row)
        flags += flags_of(row, limits, lines, step_line)
    return GradientHealth(rows, flags)


def _gradient(name: str, param: Tensor, weight: Any, update: float | None) -> Gradient:
    held = _norm(weight)
    shape = tuple(param.shape)
    if param.grad is None:
        return Gradient(name, shape, None, None, None, 0, held, None, update)
    wide = param.grad._array.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    norm = _norm(finite)
    largest = float(np.abs(finite).max()) if finite.size else 0.0
    zeros = 1.0 - np.count_nonzero(wide) / wide.size if wide.size else 0.0
    odd = wide.size - finite.size
    ratio = _ratio(norm, held)
    return Gradient(name, shape, norm, largest, zeros, odd, held, ratio, update)


def _norm(x: Any) -> float:
    """Return the Euclidean norm, computed in float64 without overflow."""
    wide = x.astype(np.float64).ravel()
    largest = float(np.abs(wide).max()) if wide.size else 0.0
    if not largest or not math.isfinite(largest):
        return largest
    # Not a dot product: NumPy's BLAS would wake threads of its own.
    return largest * math.sqrt(float(np.square(wide / largest).sum()))


def _ratio(a: float, b: float) -> float | None:
    return a / b if b else None


def flags_of(
    row: Gradient,
    limits: dict[str, float],
    lines: Lines | None = None,
    step_line: UserLine | None = None,
) -> list[Flag]:
    """Return the flags of one parameter."""
    found = _odd(row, limits)
    layer = row.name.rpartition(".")[0]
    at = (lines or {}).get(layer)
    flags = [
        Flag(kind, row.name, value, threshold, advice, line=at)
        for kind, value, threshold, advice in found
    ]
    limit = limits.get("update")
    too_far = limit is not None and row.update is not None and row.update > limit
    if limit is not None and too_far and len(row.shape) > 1:
        advice = (
            "One step moved the weight by more than its own size: the learning rate is "
            "too large, or the gradient explodes. Try a tenth of the rate, or clip."
        )
        value = row.update or 0.0
        flags.append(Flag("update", row.name, value, limit, advice, line=step_line))
    return flags


def _odd(row: Gradient, limits: dict[str, float]) -> list[tuple[Any, ...]]:
    """Return (kind, value, threshold, advice) for each problem."""
    if row.norm is None:
        advice = "It got no gradient: the loss does not depend on it. Is it used?"
        return [("missing", 0.0, 0.0, advice)]
    found: list[tuple[Any, ...]] = []
    if row.nonfinite:
        advice = "find_nonfinite() names the operator that made it."
        found.append(("nonfinite", float(row.nonfinite), 0.0, advice))
    elif not row.norm:
        advice = (
            "Its gradient is 0 everywhere: look for dead units or a detach() between "
            "it and the loss."
        )
        found.append(("zero", 0.0, 0.0, advice))
    larger = len(row.shape) > 1 and row.ratio is not None
    ratio = row.ratio if larger and row.ratio is not None else None
    if row.norm and ratio is not None and ratio < limits["vanishing"]:
        advice = (
            "It learns next to nothing. Look at saturated layers after it; add "
            "normalisation or residual connections."
        )
        found.append(("vanishing", ratio, limits["vanishing"], advice))
    advice = (
        "Clip gradients (nn.utils.clip_grad_norm_), or use a smaller learning rate."
    )
    if ratio is not None and ratio > limits["exploding"]:
        found.append(("exploding", ratio, limits["exploding"], advice))
    elif row.norm > limits["max_norm"]:
        found.append(("exploding", row.norm, limits["max_norm"], advice))
    return found
