# SPDX-License-Identifier: MIT
"""NumPy's linear algebra for matrices of float64, without the Python around LAPACK.

``np.linalg.svd`` of a 4 x 4 matrix takes 11.8 us, 4.2 of them in LAPACK, and ``eigh``
5.9, 2.3 of them there.  The functions that NumPy calls in the end write NaN where
LAPACK finds no answer; then NumPy's own run, which say what is wrong.  Where NumPy has
no such functions its own run always.
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
except ImportError:  # it is not public
    _umath_linalg = None


def _direct(name: str, signature: str, public: Callable[..., Any]) -> Any:
    """Return NumPy's inner function `name` of matrices of float64, or `public`."""
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
        # Of one matrix all that was not found is NaN.
        one = first.item(0) if operands[0].ndim == 2 else first.sum()
        return public(*operands) if isnan(one) else found

    return function


#: NumPy's functions count dimensions of results to these, which may have more.
_MOST_DIMS = 32


def _in_one_batch(function: Callable[..., Any], operands: tuple[Array, ...]) -> Any:
    """Call with one dimension in the place of all before the matrices."""
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
    """Return u, s, vh of matrices, or s alone."""
    if not compute_uv:
        return np.linalg.svd(a, compute_uv=False)
    return _full(a) if full_matrices else _reduced(a)


def __getattr__(name: str) -> Any:
    """Answer with NumPy's function."""
    return getattr(np.linalg, name)
