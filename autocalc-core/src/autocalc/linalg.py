# SPDX-License-Identifier: MIT
"""Linear algebra: norms, inverses, determinants and factors of matrices.

All take batches [..., m, n], compute in float64 and round once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from autocalc._aliases import lookup as _lookup
from autocalc._ops.matrices.determinants import det, slogdet
from autocalc._ops.matrices.ex_forms import cholesky_ex, inv_ex, solve_ex
from autocalc._ops.matrices.factorizations import (
    cholesky,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    qr,
    svd,
    svdvals,
)
from autocalc._ops.matrices.ldl_factors import ldl_factor, ldl_factor_ex, ldl_solve
from autocalc._ops.matrices.linalg_vectors import cond, cross, vander, vecdot
from autocalc._ops.matrices.linalg_vectors import diagonal_of as diagonal
from autocalc._ops.matrices.linear_systems import inv, matrix_power, multi_dot, solve
from autocalc._ops.matrices.lu_factors import linalg_lu_solve as lu_solve
from autocalc._ops.matrices.lu_factors import lu_factor, lu_factor_ex
from autocalc._ops.matrices.lu_factors import lu_of as lu
from autocalc._ops.matrices.matmul import matmul
from autocalc._ops.matrices.matrix_exponential import matrix_exp
from autocalc._ops.matrices.matrix_systems import (
    householder_product,
    solve_triangular,
    tensorinv,
    tensorsolve,
)
from autocalc._ops.matrices.pseudo_inverses import lstsq, matrix_rank, pinv
from autocalc._ops.matrices.vector_norms import linalg_norm as norm
from autocalc._ops.matrices.vector_norms import matrix_norm, vector_norm
from autocalc.errors import LinAlgError

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]

if not _TYPE_CHECKING:  # a type checker knows the names that exist
    __getattr__ = _lookup(__name__)
