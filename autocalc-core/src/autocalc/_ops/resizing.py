# SPDX-License-Identifier: MIT
"""Windows as columns and resampling: linear operators, each with its adjoint."""

from __future__ import annotations

from typing import Any

from autocalc._ops._op import nary

unfold = nary("unfold")


@unfold.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.fold(g, n.shapes[0][2:], *n.attributes)


fold = nary("fold")


@fold.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.unfold(g, *n.attributes[1:])


# Attributes axis, size, scale, mode, align_corners.
resample = nary("resample")


@resample.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    axis, _, *rest = n.attributes
    return k.resample_backward(g, axis, n.shapes[0][axis], *rest)


resample_backward = nary("resample_backward")


@resample_backward.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    axis, _, *rest = n.attributes
    return k.resample(g, axis, n.shapes[0][axis], *rest)
