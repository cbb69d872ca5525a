# SPDX-License-Identifier: MIT
"""Fixtures: each BLAS library that this machine has, opened once."""

from __future__ import annotations

import functools

import pytest

from autocalc.errors import PluginError
from autocalc_kernels_blas._plugin import LazyBlas

VENDORS = ("openblas", "mkl", "blis", "accelerate")


@functools.cache
def opened(vendor):
    """Return the library and its kernels, or the reason why it is not there."""
    blas = LazyBlas(vendor)
    try:
        kernels = blas.load()
    except PluginError as error:
        return str(error)
    blas.set_num_threads(2)
    return blas, kernels


@pytest.fixture(params=[v for v in VENDORS if not isinstance(opened(v), str)])
def library(request):
    """Return (library, kernels) for each library of this machine."""
    return opened(request.param)


@pytest.fixture(params=VENDORS)
def any_library(request):
    """Return (library, kernels); skip, with the reason, where it is missing."""
    found = opened(request.param)
    if isinstance(found, str):
        pytest.skip(found)
    return found


@pytest.fixture
def gemm(library):
    return library[1]["gemm"].function
