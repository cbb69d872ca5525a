# SPDX-License-Identifier: MIT
"""Functions of the extension module: signatures, arguments that make no sense."""

import inspect

import pytest
from tests.simd.sets import loader


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (loader.load, TypeError, r"load\(\) missing required argument 'isa'"),
        (lambda: loader.load(3), TypeError, r"argument 1 must be str, not int"),
        (lambda: loader.load("a\0b"), ValueError, "embedded null character"),
        (
            lambda: loader.load("avx2", "none"),
            ImportError,
            "has no kernels `none-avx2`",
        ),
        (lambda: loader.cpu_runs(3), TypeError, "bad argument type"),
    ],
)
def test_arguments_that_make_no_sense(call, error, message):
    if not loader.cpu_runs("avx2") and error is ImportError:
        pytest.skip("this CPU lacks AVX2")
    with pytest.raises(error, match=message):
        call()


def test_functions_have_signatures():
    assert str(inspect.signature(loader.load)) == "(isa, family='simd')"
    assert loader.load.__doc__.startswith("Open a library")
