# SPDX-License-Identifier: MIT
"""A product of two inputs with a weight between them."""

from __future__ import annotations

from autocalc._ops import functional
from autocalc._tensor import Tensor
from autocalc.errors import ShapeError
from autocalc.nn._checks import check_float


def bilinear(
    input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None
) -> Tensor:
    """Return x1^T W_k x2 + b_k for each output k.

    Parameters
    ----------
    input1
        x1, (..., in1).
    input2
        x2, (..., in2), the dimensions before the last as those of x1.
    weight
        W, (out, in1, in2).
    bias
        b, (out,).

    Returns
    -------
    Tensor
        (..., out).

    Raises
    ------
    ShapeError
        If the shapes do not fit.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, y = ac.tensor([1.0, 2.0]), ac.tensor([3.0])
    >>> ac.nn.functional.bilinear(x, y, ac.ones(4, 2, 1))
    tensor([9., 9., 9., 9.])
    """
    check_float("bilinear", input1, input2, weight)
    fits = (
        weight.ndim == 3
        and input1.ndim > 0
        and input2.ndim > 0
        and input1.shape[:-1] == input2.shape[:-1]
        and (input1.shape[-1], input2.shape[-1]) == weight.shape[1:]
    )
    if not fits:
        message = (
            f"bilinear: the inputs have shapes {input1.shape} and {input2.shape}, "
            f"`weight` {weight.shape}; they must be (..., in1), (..., in2) and (out, "
            f"in1, in2)."
        )
        raise ShapeError(message)
    out, in1, in2 = weight.shape
    # One product of matrices with x1, (..., out * in2), then a sum of products with x2.
    flat = functional.reshape(functional.permute(weight, (0, 2, 1)), (out * in2, in1))
    partial = functional.linear(input1, flat)
    partial = functional.reshape(partial, (*input1.shape[:-1], out, in2))
    result = functional.sum(partial * functional.unsqueeze(input2, -2), -1)
    return result if bias is None else result + bias
