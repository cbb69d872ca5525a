# SPDX-License-Identifier: MIT
"""Functions of the extension module: signatures, arguments that make no sense."""

import importlib
import inspect

import pytest

_core = pytest.importorskip("autocalc_kernels_simd._core")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (_core.load, TypeError, r"load\(\) missing required argument 'isa'"),
        (lambda: _core.load(3), TypeError, r"argument 1 must be str, not int"),
        (lambda: _core.load("a\0b"), ValueError, "embedded null character"),
        (lambda: _core.load("avx2", "none"), ImportError, "has no kernels `none-avx2`"),
        (lambda: _core.cpu_runs(3), TypeError, "bad argument type"),
        (lambda: _core.set_num_threads("two"), TypeError, "int"),
        (lambda: _core.set_num_threads(2**40), OverflowError, "greater than maximum"),
        (lambda: _core.set_cache_limit(-1), OverflowError, "negative"),
        (lambda: _core.set_cache_limit(1.5), TypeError, "int"),
    ],
)
def test_arguments_that_make_no_sense(call, error, message):
    if not _core.cpu_runs("avx2") and error is ImportError:
        pytest.skip("this CPU lacks AVX2")
    with pytest.raises(error, match=message):
        call()


def test_functions_have_signatures():
    assert str(inspect.signature(_core.load)) == "(isa, family='simd')"
    assert str(inspect.signature(_core.set_num_threads)) == "(count, /)"
    assert _core.load.__doc__.startswith("Open a library")


def test_the_submodule_can_be_imported():
    assert importlib.import_module("autocalc_kernels_simd._core.eager") is _core.eager
    assert _core.eager.__name__ == "autocalc_kernels_simd._core.eager"
