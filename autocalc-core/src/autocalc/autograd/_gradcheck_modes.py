# SPDX-License-Identifier: MIT
"""The options of `gradcheck`, and the directions of its fast mode."""

from __future__ import annotations

from typing import Any

import numpy as np

from autocalc._tensor.checks import check_flag
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
            f"{where}: `{wrong[0]}` is {value}; there is reverse mode alone, and no "
            f"sparse tensors. Leave it {not value}."
        )


def direction(shape: tuple[int, ...], seed: int) -> Any:
    """Return random numbers, away from 0, of both signs."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.5, 1.5, shape) * rng.choice([-1.0, 1.0], shape)
