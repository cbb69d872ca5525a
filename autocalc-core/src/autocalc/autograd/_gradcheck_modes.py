# SPDX-License-Identifier: MIT
"""The options of `gradcheck`, and the directions of its fast mode."""

from __future__ import annotations

from typing import Any

import numpy as np

from autocalc._ops.creation.from_data import from_numpy
from autocalc._ops.creation.like import zeros_like
from autocalc._tensor.checks import check_flag
from autocalc.autograd._gradients import grad
from autocalc.errors import ArgumentError


def check_all(where: str, **flags: Any) -> None:
    """Raise unless each of `flags` is True or False."""
    for name, flag in flags.items():
        check_flag(where, name, flag)


def refuse_modes(where: str, wanted: dict[str, Any], absent: dict[str, Any]) -> None:
    """Raise unless flags are as the one mode has them: reverse, of dense tensors."""
    check_all(where, **wanted, **absent)
    wrong = [name for name, flag in wanted.items() if not flag]
    wrong += [name for name, flag in absent.items() if flag]
    if wrong:
        value = wrong[0] in absent
        raise ArgumentError(
            f"{where}: `{wrong[0]}` is {value}; only reverse mode is available, and "
            f"there are no sparse tensors. Leave it {not value}."
        )


def compare_products(check: Any) -> None:
    """Compare J v of two backward passes with differences along a random v."""
    tolerance = check.tolerance
    for i in check.checked:
        x = check.inputs[i]
        v = direction(x.shape, i)
        ends = [check.moved(i, step * tolerance.eps * v) for step in (1, -1)]
        for o, (high, low) in enumerate(zip(*ends, strict=True)):
            found = _product(check.outputs[o], x, v)
            expected = (high - low) / (2 * tolerance.eps)
            close = np.allclose(
                found, expected, tolerance.rtol, tolerance.atol, equal_nan=True
            )
            if not close:
                check.fail(
                    f"the product of the Jacobian of output {o} by a direction of "
                    f"`inputs[{i}]` is {found}, by differences {expected}"
                )


def _product(y: Any, x: Any, v: Any) -> Any:
    """Return J v, J the Jacobian of an output: the gradient of u^T J v in u."""
    if not y.requires_grad:
        return 0.0
    u = zeros_like(y).detach().requires_grad_()
    (g,) = grad(y, x, u, create_graph=True, allow_unused=True)
    if g is None or not g.requires_grad:
        return 0.0
    direction = from_numpy(np.asarray(v, x.dtype.numpy))
    (product,) = grad(g, u, direction, allow_unused=True)
    return 0.0 if product is None else product.numpy()


def direction(shape: tuple[int, ...], seed: int) -> Any:
    """Return random numbers, away from 0, of both signs."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.5, 1.5, shape) * rng.choice([-1.0, 1.0], shape)


def mismatch(outputs: Any, o: int, i: int) -> str:
    """Return the kind of an error of output o and input i."""
    if not any(y.requires_grad for y in outputs):
        return "Numerical gradient for function expected to be zero"
    return f"Jacobian mismatch for output {o} with respect to input {i}"
