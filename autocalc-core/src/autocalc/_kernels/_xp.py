# SPDX-License-Identifier: MIT
"""`xp` for NumPy: the array namespace that references are written against.

It is NumPy itself plus the few functions that NumPy lacks.  A device with another
array library passes a module of the same names.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autocalc._kernels._philox import philox_words
from autocalc._kernels._spec import Array

_erf = np.frompyfunc(math.erf, 1, 1)
_erfc = np.frompyfunc(math.erfc, 1, 1)


def erf(a: Array) -> Array:
    """Return the error function of `a` in float64."""
    return np.asarray(_erf(a), dtype=np.float64)


def erfc(a: Array) -> Array:
    """Return 1 less the error function of `a`, in float64."""
    return np.asarray(_erfc(a), dtype=np.float64)


def index_add(a: Array, index: tuple[Array, ...], src: Array) -> Array:
    """Return `a` with ``src[i]`` added at ``index[i]``, in the order of `i`."""
    out = np.array(a)
    np.add.at(out, index, src)
    return out


def random_words(seed: int, start: int, count: int) -> Array:
    """Return words `start` to ``start + count`` of the Philox stream of `seed`."""
    return philox_words(seed, start, count)


def __getattr__(name: str) -> Any:
    """Answer with NumPy's function, and remember it."""
    value = globals()[name] = getattr(np, name)
    return value
