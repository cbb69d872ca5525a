# SPDX-License-Identifier: MIT
"""Images resized to given sizes or by given factors."""

from __future__ import annotations

from typing import Any

import numpy as np

from autocalc._ops.images.resizing import resampled
from autocalc._tensor import Tensor
from autocalc.errors import OnnxError
from autocalc.onnx._node import Node
from autocalc.onnx._table import reads


@reads(
    "Resize",
    numbers=(1, 2, 3),
    unused=("cubic_coeff_a", "exclude_outside", "extrapolation_value", "nearest_mode"),
)
def _(
    node: Node,
    x: Tensor,
    roi: list[float] | None = None,
    scales: list[float] | None = None,
    sizes: list[int] | None = None,
) -> Tensor:
    node.only("mode", "nearest", "linear")
    node.only("antialias", 0)
    node.only("axes", None)
    node.only("keep_aspect_ratio_policy", "stretch")
    node.expect("dimensions", x.ndim, 3, 4, 5)
    planes, factors = _wanted(node, x, scales, sizes)
    how = node.get("coordinate_transformation_mode", "half_pixel")
    if node.get("mode", "nearest") == "nearest":
        node.expect("coordinate_transformation_mode", how, "asymmetric")
        rounding = node.get("nearest_mode", "round_prefer_floor")
        node.expect("nearest_mode", rounding, "floor")
        return resampled(x, planes, factors, "nearest", False, False)
    names = ("half_pixel", "align_corners", "pytorch_half_pixel")
    node.expect("coordinate_transformation_mode", how, *names)
    if how == "pytorch_half_pixel":  # a single pixel takes the first one
        x = x[tuple([slice(0, 1) if n == 1 else slice(None) for n in (0, 0, *planes)])]
    return resampled(x, planes, factors, "linear", how == "align_corners", False)


def _wanted(
    node: Node, x: Tensor, scales: list[float] | None, sizes: list[int] | None
) -> tuple[tuple[int, ...], tuple[float, ...] | None]:
    """Return the new sizes of a plane, and the factors if they were given.

    ``size = floor(n * factor)`` is computed in float32, the dtype of the factors, so 10
    * 1.3 is 13.
    """
    given: Any = sizes or scales
    if not given or len(given) != x.ndim:
        raise OnnxError(
            f"onnx.load: Resize ({node.name}) has `scales` {scales} and `sizes` "
            f"{sizes} for an input of shape {x.shape}; one of them must have {x.ndim} "
            f"numbers."
        )
    if sizes:
        whole, factors = tuple(sizes), None
    else:
        exact = np.array(x.shape, np.float32) * np.array(scales, np.float32)
        whole, factors = tuple(np.floor(exact).astype(int).tolist()), tuple(given[2:])
    if whole[:2] != tuple(x.shape[:2]):
        message = f"onnx.load: Resize ({node.name}) changes the batch or the channels."
        raise OnnxError(message)
    return whole[2:], factors
