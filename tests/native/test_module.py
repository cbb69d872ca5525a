# SPDX-License-Identifier: MIT
"""Functions of the engine's module: signatures, arguments that make no sense."""

import importlib
import inspect

from tests.engine import native
from tests.refusals import refusals

test_arguments_that_make_no_sense = refusals(
    r"""
    native.set_num_threads('two') -> TypeError: \(count: .*Int
    native.set_num_threads(2 ** 40) -> TypeError: \(count: .*Int
    native.set_cache_limit(-1) -> TypeError: \(bytes: .*Int
    native.set_cache_limit(1.5) -> TypeError: \(bytes: .*Int
    native.eager.bind('Tensr', int) -> TypeError: bind: Tensr is unknown
    native.eager.pause('yes') -> TypeError: \(paused: bool
    """,
    globals(),
)


def test_functions_say_what_they_take_and_do():
    signature, _, does = native.set_num_threads.__doc__.partition("\n\n")
    assert signature.startswith("set_num_threads(count: ")
    assert does.strip() == "Set how many threads a job may use."
    assert inspect.signature(native.read_clock).parameters == {}


def test_the_submodule_can_be_imported():
    assert importlib.import_module("autocalc._native.eager") is native.eager
    assert native.eager.__name__ == "autocalc._native.eager"
