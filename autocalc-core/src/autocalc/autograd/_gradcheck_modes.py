# SPDX-License-Identifier: MIT
"""The options of `gradcheck`, and the directions of its fast mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autocalc._ops._operator.kinds import KINDS, is_of_kind
from autocalc._tensor.checks import check_flag
from autocalc.errors import ArgumentError


def check_all(where: str, **flags: Any) -> None:
    """Raise unless each of `flags` is True or False."""
    for name, flag in flags.items():
        check_flag(where, name, flag)


def check_modes(where: str, **modes: Any) -> None:
    """Raise unless one mode is asked for, and what others need is asked for, too."""
    check_all(where, **modes)
    if not (modes["check_forward_ad"] or modes["check_backward_ad"]):
        raise ArgumentError(
            f"{where}: Expected at least one of check_forward_ad or check_backward_ad "
            f"to be True, because there is nothing to check otherwise."
        )
    for flag, mode in _NEEDS.items():
        if modes[flag] and not modes[mode]:
            raise ArgumentError(
                f"{where}: `{mode}` is False; Setting {flag}=True requires {mode} to "
                f"be True."
            )


def of_values(func: Any, inputs: Any) -> tuple[Any, list[Any]]:
    """Return a function of the values of sparse inputs, and inputs without sparse ones.

    Its results are dense, so that all elements are compared.
    """
    if not KINDS or not callable(func):
        return func, inputs

    def call(*dense: Any) -> Any:
        pairs = zip(inputs, dense, strict=True)
        made = [x._with(y) if is_of_kind(x) else y for x, y in pairs]
        found = func(*made)
        if isinstance(found, (tuple, list)):
            return tuple(y.to_dense() if is_of_kind(y) else y for y in found)
        return found.to_dense() if is_of_kind(found) else found

    own = [x._values().detach() if is_of_kind(x) else x for x in inputs]
    for x, y in zip(inputs, own, strict=True):
        if is_of_kind(x):
            y.requires_grad_(x.requires_grad)
    return call, own


#: The modes that flags need.
_NEEDS = {
    "check_batched_grad": "check_backward_ad",
    "check_batched_forward_grad": "check_forward_ad",
}


def direction(shape: tuple[int, ...], seed: int) -> Any:
    """Return random numbers, away from 0, of both signs."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.5, 1.5, shape) * rng.choice([-1.0, 1.0], shape)


def same(a: Any, b: Any, rtol: float = 0.0, atol: float | None = None) -> bool:
    """Return whether two gradients are equal within limits; None is zero."""
    if a is None or b is None:
        other = a if b is None else b
        return other is None or not other.any()
    atol = rtol if atol is None else atol
    return bool(np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True))


def index_of(place: Sequence[Any]) -> str:
    """Return the text of an index."""
    return str(tuple(int(i) for i in place))


def mismatch(outputs: Any, o: int, i: int) -> str:
    """Return the kind of an error of output o and input i."""
    if not any(y.requires_grad for y in outputs):
        return "Numerical gradient for function expected to be zero"
    return f"Jacobian mismatch for output {o} with respect to input {i}"
