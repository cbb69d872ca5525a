# SPDX-License-Identifier: MIT
"""The exponential of matrices, by scaling and squaring."""

from __future__ import annotations

import math
from typing import Any

from autocalc._dispatch.device.device import is_batched, whole
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.checks import check_shape
from autocalc._ops._operator.coerce import cast
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops.creation.constants import eye
from autocalc._ops.creation.from_data import tensor
from autocalc._ops.elementwise import arithmetic, comparison, exponential
from autocalc._ops.indexing import masking
from autocalc._ops.matrices import matmul
from autocalc._ops.reductions import extrema, reduction
from autocalc._ops.views import broadcasting, view
from autocalc._tensor import Tensor, dtypes, make
from autocalc._tensor.device import place_of_tensor
from autocalc.errors import DTypeError

#: For norms up to 1/2 the series is exact after this many terms: 2^-15 / 15! is 2e-17.
_TERMS = 14
_LARGEST = 0.5


@method("matrix_exp")
@rounded_once
def matrix_exp(A: Tensor) -> Tensor:
    """Return the matrix exponential I + A + A^2 / 2! + A^3 / 3! + ...

    The series is computed for A / 2^s in float64, squared s times, and rounded once
    (Moler, Van Loan: Nineteen dubious ways to compute the exponential of a matrix,
    2003).

    Parameters
    ----------
    A
        A tensor of shape [..., n, n] and a floating-point or complex dtype.

    Raises
    ------
    DTypeError
        If `A` has neither a floating-point nor a complex dtype.
    ShapeError
        If the matrices are not square.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.matrix_exp(ac.tensor([[0.0, 1.0], [0.0, 0.0]]))
    tensor([[1., 1.],
            [0., 1.]])
    """
    if not (check_tensor("matrix_exp", A).is_floating_point() or A.is_complex()):
        raise DTypeError(
            "matrix_exp: Expected a floating point or complex tensor, not "
            f"{A.dtype.name}. Convert it with .float()."
        )
    check_shape("matrix_exp", "A", A, "square matrices [..., n, n]")
    if A.numel() == 0:
        return view.clone(A)
    x = cast(A, dtypes.complex128 if A.is_complex() else dtypes.float64)
    if is_batched(x._array.dtype):  # all examples of `vmap` take the most steps
        counts = [max(_squarings(make(whole(x._array), None)), default=0)]
    else:
        counts = _squarings(x.detach())
    least, most = min(counts), max(counts)
    scale: Any = 0.5**most
    if least < most:
        made = tensor(counts, dtype=dtypes.float64, device=place_of_tensor(x))
        each = view.reshape(made, (*x.shape[:-2], 1, 1))
        scale = exponential.exp2(arithmetic.neg(each))
    result = _series(arithmetic.mul(x, scale))
    for done in range(most):
        square = matmul.matmul(result, result)
        if done >= least:
            square = masking.where(comparison.gt(each, done), square, result)
        result = square
    return cast(result, A.dtype)


def _squarings(x: Tensor) -> list[int]:
    """Return how often each norm must be halved; 0 if the norm is not finite."""
    norms = extrema.amax(reduction.sum(arithmetic.abs(x), -2), -1)
    return [
        max(0, math.ceil(math.log2(norm / _LARGEST))) if 0 < norm < math.inf else 0
        for norm in view.reshape(norms, (-1,)).tolist()
    ]


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
