# SPDX-License-Identifier: MIT
"""The exponential of matrices, by scaling and squaring."""

from __future__ import annotations

import math

from autocalc._graph._grad_mode import no_grad
from autocalc._ops import (
    arithmetic,
    broadcasting,
    clamping,
    comparison,
    exponential,
    extrema,
    masking,
    matmul,
    reduction,
    rounding,
    view,
)
from autocalc._ops._arguments import check_tensor
from autocalc._ops._checks import check_float
from autocalc._ops._coerce import cast
from autocalc._ops._halves import rounded_once
from autocalc._ops._method import method
from autocalc._ops.filled import eye
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.device import place_of_tensor
from autocalc.errors import ShapeError

#: Of norms up to 1/2 the series is exact after so many terms: 2^-15 / 15! is 2e-17.
_TERMS = 14
_LARGEST = 0.5


@method("matrix_exp")
@rounded_once
def matrix_exp(A: Tensor) -> Tensor:
    """Return I + A + A^2 / 2! + A^3 / 3! + ... of each matrix of `A` [..., n, n].

    The series of A / 2^s, squared s times (Moler, Van Loan: Nineteen dubious ways to
    compute the exponential of a matrix, 2003), in float64 and rounded once.

    Parameters
    ----------
    A
        Square matrices [..., n, n].

    Raises
    ------
    DTypeError
        If `A` is not of a floating-point dtype.
    ShapeError
        If the matrices are not square.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.matrix_exp(ac.tensor([[0.0, 1.0], [0.0, 0.0]]))
    tensor([[1., 1.],
            [0., 1.]])
    """
    check_float("matrix_exp", check_tensor("matrix_exp", A))
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        message = (
            f"matrix_exp: `A` has shape {A.shape}; it must be square matrices "
            f"[..., n, n]."
        )
        raise ShapeError(message)
    if A.numel() == 0:
        return view.clone(A)
    x = cast(A, dtypes.float64)
    with no_grad():
        squarings = _squarings(x)
        scale = exponential.exp2(arithmetic.neg(squarings))
        least, most = (int(end) for end in extrema.ends(squarings))
    result = _series(arithmetic.mul(x, scale))
    for done in range(most):
        square = matmul.matmul(result, result)
        goes_on = comparison.gt(squarings, done)
        result = square if done < least else masking.where(goes_on, square, result)
    return cast(result, A.dtype)


def _squarings(x: Tensor) -> Tensor:
    """Return how often each norm must be halved, [..., 1, 1]; 0 if it is not finite."""
    norms = extrema.amax(reduction.sum(arithmetic.abs(x), -2, True), -1, True)
    known = masking.where(comparison.lt(norms, math.inf), norms, 0.0)  # NaN is not
    halvings = exponential.log2(arithmetic.mul(known, 1 / _LARGEST))
    return clamping.clamp_min(rounding.ceil(halvings), 0.0)


def _series(x: Tensor) -> Tensor:
    """Return I + x / 1 (I + x / 2 (I + x / 3 (...)))."""
    one = broadcasting.expand(
        eye(x.shape[-1], dtype=x.dtype, device=place_of_tensor(x)), x.shape
    )
    result = arithmetic.add(one, arithmetic.mul(x, 1 / _TERMS))
    for k in range(_TERMS - 1, 0, -1):
        product = matmul.matmul(arithmetic.mul(x, 1 / k), result)
        result = arithmetic.add(one, product)
    return result
