# SPDX-License-Identifier: MIT
"""Checks of the shapes of a convolution, for shape rules and for users' calls.

The caller passes the names of the operator and of its input, because error messages
should contain the names that the user knows.
"""

from __future__ import annotations

from typing import Any

from autocalc._kernels.spec import Shape
from autocalc.errors import ArgumentError, ShapeError


def check_conv(
    where: str, x: Shape, weight: Shape, bias: Shape | None, groups: Any, name: str
) -> None:
    """Check x [N, C, ...], weight [O, C / groups, ...] and bias [O]."""
    _check_weight(where, x, weight, name)
    check_groups(where, groups, weight[0])
    _check_channels(where, x, weight, groups, weight[1] * groups, name)
    _check_bias(where, bias, weight[0])


def check_conv_transpose(
    where: str, x: Shape, weight: Shape, bias: Shape | None, groups: Any, name: str
) -> None:
    """Check x [N, C, ...], weight [C, O / groups, ...] and bias [O]."""
    _check_weight(where, x, weight, name)
    check_groups(where, groups, weight[0])
    _check_channels(where, x, weight, groups, weight[0], name)
    _check_bias(where, bias, weight[1] * groups)


def check_input(where: str, x: Shape, name: str) -> None:
    """Raise unless `x` has channels and at least one dimension after them."""
    if len(x) < 3:
        raise ShapeError(
            f"{where}: `{name}` has shape {x}; it must be (N, C, ...) with one "
            f"dimension or more after C."
        )


def check_groups(where: str, groups: Any, channels: int) -> None:
    """Raise unless `groups` is an integer that divides the channels."""
    if isinstance(groups, bool) or not isinstance(groups, int) or groups < 1:
        message = f"{where}: `groups` is {groups!r}; it must be an integer, 1 or more."
        raise ArgumentError(message)
    if channels % groups:
        raise ShapeError(
            f"{where}: {channels} channels of `weight` are not a multiple of "
            f"groups={groups}."
        )


def _check_weight(where: str, x: Shape, weight: Shape, name: str) -> None:
    check_input(where, x, name)
    if len(weight) != len(x):
        raise ShapeError(
            f"{where}: `weight` has shape {weight}; it must have {len(x)} dimensions."
        )


def _check_channels(
    where: str, x: Shape, weight: Shape, groups: int, channels: int, name: str
) -> None:
    if x[1] != channels:
        remedy = ""
        if x[-1] == channels:
            remedy = (
                f" Its last dimension has {channels}: if these are the channels, "
                f"take input.movedim(-1, {1 - len(x)})."
            )
        raise ShapeError(
            f"{where}: `{name}` has {x[1]} channels, but `weight` {weight} with "
            f"groups={groups} takes {channels}.{remedy}"
        )


def _check_bias(where: str, bias: Shape | None, channels: int) -> None:
    if bias is not None and bias != (channels,):
        raise ShapeError(
            f"{where}: `bias` has shape {bias}; it must be ({channels},), with one "
            "number for each output channel."
        )
