# SPDX-License-Identifier: MIT
"""NumPy's linear algebra for float64, without the Python code around LAPACK.

For a 4 x 4 matrix, ``np.linalg.svd`` takes 11.8 us, of which LAPACK takes 4.2 us;
``eigh`` takes 5.9 us, of which LAPACK takes 2.3 us.  The inner functions that NumPy
calls write NaN if LAPACK fails.  In this case NumPy's public functions run, which raise
an error with the reason.  If NumPy does not have these inner functions, its public
functions always run.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from typing import Any

import numpy as np

from autocalc._kernels.rules import FLOAT64, broadcast_shapes
from autocalc._kernels.samples import Array

_umath_linalg: Any
try:
    from numpy.linalg import _umath_linalg
except ImportError:  # a private module
    _umath_linalg = None


def _direct(name: str, signature: str, public: Callable[..., Any]) -> Any:
    """Return NumPy's inner function `name` for float64 matrices, or `public`."""
    inner = getattr(_umath_linalg, name, None)
    if inner is None:
        return public
    single = len(signature.partition("->")[2]) == 1

    def function(*operands: Array) -> Any:
        for x in operands:
            if x.dtype is not FLOAT64 or not x.size or x.ndim < 2:
                return public(*operands)
            if x.ndim > _MOST_DIMS:
                return _in_one_batch(function, operands)
        found = inner(*operands, signature=signature)
        first = found if single else found[0]
        # For a single matrix, all results are NaN if LAPACK fails.
        one = first.item(0) if operands[0].ndim == 2 else first.sum()
        return public(*operands) if isnan(one) else found

    return function


#: The most dimensions of NumPy's functions; results here may have more.
_MOST_DIMS = 32


def _in_one_batch(function: Callable[..., Any], operands: tuple[Array, ...]) -> Any:
    """Call the function with all batch dimensions merged into one."""
    batch = broadcast_shapes("linalg", *[x.shape[:-2] for x in operands])
    line = [np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in operands]
    found = function(*[x.reshape(-1, *x.shape[-2:]) for x in line])
    if isinstance(found, np.ndarray):
        return found.reshape(*batch, *found.shape[1:])
    return tuple([one.reshape(*batch, *one.shape[1:]) for one in found])


inv = _direct("inv", "d->d", np.linalg.inv)
solve = _direct("solve", "dd->d", np.linalg.solve)
cholesky = _direct("cholesky_lo", "d->d", np.linalg.cholesky)
eigh = _direct("eigh_lo", "d->dd", np.linalg.eigh)
det = _direct("det", "d->d", np.linalg.det)
slogdet = _direct("slogdet", "d->dd", np.linalg.slogdet)


def _svd_full(a: Array) -> Any:
    return np.linalg.svd(a)


def _svd_reduced(a: Array) -> Any:
    return np.linalg.svd(a, full_matrices=False)


_full = _direct("svd_f", "d->ddd", _svd_full)
_reduced = _direct("svd_s", "d->ddd", _svd_reduced)


def svd(a: Array, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Return u, s, vh of matrices, or only s."""
    if not compute_uv:
        return np.linalg.svd(a, compute_uv=False)
    return _full(a) if full_matrices else _reduced(a)


def __getattr__(name: str) -> Any:
    """Return the function of NumPy."""
    return getattr(np.linalg, name)
