# SPDX-License-Identifier: MIT
"""Replaces the module `torch.autograd.gradcheck` by the parts that helpers use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import autocalc
from autocalc.autograd import GradcheckError, gradcheck, gradgradcheck

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


def _iter_tensors(tree: Any, only_requiring_grad: bool = False) -> Iterator[Any]:
    """Yield the tensors in nested sequences."""
    if isinstance(tree, autocalc.Tensor):
        if tree.requires_grad or not only_requiring_grad:
            yield tree
    elif hasattr(tree, "__iter__") and not isinstance(tree, str):
        for part in tree:
            yield from _iter_tensors(part, only_requiring_grad)


def _get_numerical_jacobian(
    fn: Any,
    inputs: Any,
    outputs: Any = None,  # noqa: ARG001  PyTorch's
    target: Any = None,
    eps: float = 1e-3,
) -> list[tuple[Any, ...]]:
    """Return, for each tensor of target, its Jacobian of each output."""
    chosen = inputs if target is None else target
    return [_jacobians(fn, inputs, x, eps) for x in _iter_tensors(chosen, True)]


def _jacobians(fn: Any, inputs: Any, x: Any, eps: float) -> tuple[Any, ...]:
    flat, rows = x.detach().view(-1), []
    for i in range(x.numel()):
        was = flat[i].item()
        ends = []
        for end in (was + eps, was - eps):
            flat[i] = end
            ends.append(_values(fn, inputs))
        flat[i] = was
        both = zip(*ends, strict=True)
        rows.append([(up - down) / (2 * eps) for up, down in both])
    columns = zip(*rows, strict=True)
    return tuple(autocalc.stack(column) for column in columns)


def _values(fn: Any, inputs: Any) -> list[Any]:
    with autocalc.no_grad():
        out = fn(*inputs) if isinstance(inputs, tuple) else fn(inputs)
    return [x.detach().clone().view(-1) for x in _iter_tensors(out)]
