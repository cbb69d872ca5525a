# SPDX-License-Identifier: MIT
"""The names that PyTorch gives to the nodes of operators."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

#: Names that do not follow from the operator's own.
_OTHER = {
    "batch_norm": "NativeBatchNorm",
    "batch_norm_activation": "NativeBatchNorm",
    "batch_norm_running": "NativeBatchNorm",
    "attention": "ScaledDotProductFlashAttentionForCpu",
    "cast": "ToCopy",
    "cdist": "Cdist",
    "cholesky": "LinalgCholeskyEx",
    "conv": "Convolution",
    "conv_dx": "Convolution",
    "copy": "Clone",
    "cross": "LinalgCross",
    "cross_entropy": "NllLoss",
    "det": "LinalgDet",
    "eigh": "LinalgEigh",
    "fold": "Col2Im",
    "inv": "LinalgInvEx",
    "layer_norm": "NativeLayerNorm",
    "length": "LinalgVectorNorm",
    "log1p": "Log1P",
    "move": "ToCopy",
    "norm": "LinalgVectorNorm",
    "on_diagonal": "DiagEmbed",
    "pad": "ConstantPadNd",
    "pinv": "LinalgPinv",
    "qr": "LinalgQr",
    "reshape": "View",
    "slogdet": "LinalgSlogdet",
    "solve": "LinalgSolveEx",
    "svd": "LinalgSvd",
    "unfold": "Im2Col",
    "windows": "Unfold",
}

#: Whole names.
_WHOLE = {"clamp": "ClampBackward1", "placed": "CopySlices", "write": "CopySlices"}

#: Operators over two or three dimensions, and the rest of their names.
_SPATIAL = {
    "adaptive_avg_pool": "AdaptiveAvgPool{}D",
    "adaptive_max_pool": "AdaptiveMaxPool{}D",
    "avg_pool": "AvgPool{}D",
    "grid_sample": "GridSampler{}D",
    "max_pool": "MaxPool{}DWithIndices",
}

_ROUNDING = {"even": "Round", "floor": "Floor", "ceil": "Ceil", "trunc": "Trunc"}


def name_of(node: Any) -> str:
    """Return the name of a node's class, such as ``"AddBackward0"``."""
    name = node.op.name
    if name in _WHOLE:
        return _WHOLE[name]
    special = _SPECIAL.get(name)
    if special is not None:
        return special(node)
    if name in _SPATIAL:
        dims = len(node.shapes[0]) - 2
        return f"{_SPATIAL[name].format(dims)}Backward0"
    return f"{_OTHER.get(name) or _camel(name)}Backward0"


def _camel(name: str) -> str:
    """Return ``"LeakyRelu"`` for ``"leaky_relu"``."""
    return "".join(part.capitalize() for part in name.split("_"))


def _product(node: Any) -> str:
    a, b, *bias = node.shapes
    adds = bool(bias and len(bias[0]))
    if max(len(a), len(b)) <= 2:
        return "AddmmBackward0" if adds else "MmBackward0"
    return "BaddbmmBackward0" if adds else "BmmBackward0"


def _linear(node: Any) -> str:
    if len(node.shapes[0]) != 2:
        return "ViewBackward0"
    return "AddmmBackward0" if len(node.shapes[2]) else "MmBackward0"


def _with_vector(node: Any) -> str:
    return "DotBackward0" if len(node.shapes[0]) == 1 else "MvBackward0"


def _power(node: Any) -> str:
    base, exponent = node.shapes
    if not exponent and base:
        return "PowBackward0"
    return "PowBackward2" if exponent and not base else "PowBackward1"


def _reduced(some: str, whole: str) -> Callable[[Any], str]:
    def name(node: Any) -> str:
        dims = node.attributes[0]
        return whole if len(dims) == len(node.shapes[0]) > 0 else some

    return name


def _view(node: Any) -> str:
    (shape,), new = node.shapes, node.attributes[0]
    if len(new) == len(shape) + 1 and 1 in new:
        return "UnsqueezeBackward0" if _without_ones(new, shape) else "ViewBackward0"
    if len(new) < len(shape) and _without_ones(shape, new):
        return "SqueezeBackward1" if len(new) + 1 == len(shape) else "SqueezeBackward0"
    return "ViewBackward0"


def _without_ones(long: Any, short: Any) -> bool:
    """Return whether `long` is `short` with more sizes of 1."""
    same = [size for size in long if size != 1] == [size for size in short if size != 1]
    return same and math.prod(long) == math.prod(short)


def _slice(node: Any) -> str:
    index = node.attributes[0]
    picks = isinstance(index, tuple) and any(isinstance(part, int) for part in index)
    return "SelectBackward0" if picks else "SliceBackward0"


def _order(node: Any) -> str:
    order = node.attributes[0]
    moved = sum(i != j for i, j in enumerate(order))
    if len(order) == moved == 2:
        return "TBackward0"
    return "TransposeBackward0" if moved == 2 else "PermuteBackward0"


def _picked(node: Any) -> str:
    if node.shapes[0] and len(node.shapes[1]) == len(node.shapes[0]):
        return "SortBackward0"
    return "MaxBackward0"


_SPECIAL: dict[str, Callable[[Any], str]] = {
    "gemm": _product,
    "linear": _linear,
    "max": _reduced("AmaxBackward0", "MaxBackward1"),
    "mean": _reduced("MeanBackward1", "MeanBackward0"),
    "min": _reduced("AminBackward0", "MinBackward1"),
    "permute": _order,
    "picked": _picked,
    "pow": _power,
    "prod": _reduced("ProdBackward1", "ProdBackward0"),
    "reshape": _view,
    "round": lambda node: f"{_ROUNDING.get(node.attributes[0], 'Round')}Backward0",
    "slice": _slice,
    "sum": _reduced("SumBackward1", "SumBackward0"),
    "times_vector": _with_vector,
}
