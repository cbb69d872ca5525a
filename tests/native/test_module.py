# SPDX-License-Identifier: MIT
"""Functions of the engine's module: signatures, arguments that make no sense."""

import importlib
import inspect

import pytest

_native = pytest.importorskip("autocalc._native")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: _native.set_num_threads("two"), TypeError, "int"),
        (lambda: _native.set_num_threads(2**40), OverflowError, "greater than maximum"),
        (lambda: _native.set_cache_limit(-1), OverflowError, "negative"),
        (lambda: _native.set_cache_limit(1.5), TypeError, "int"),
    ],
)
def test_arguments_that_make_no_sense(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_functions_have_signatures():
    assert str(inspect.signature(_native.set_num_threads)) == "(count, /)"
    assert _native.trim.__doc__.startswith("Give cached blocks back")


def test_the_submodule_can_be_imported():
    assert importlib.import_module("autocalc._native.eager") is _native.eager
    assert _native.eager.__name__ == "autocalc._native.eager"
