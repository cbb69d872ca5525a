# SPDX-License-Identifier: MIT
"""Every public function says its parameters, what it raises, and shows an example."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil

import pytest
from tests.operator_table import OPERATORS

import autocalc as ac
from autocalc.nn import functional
from autocalc.testing import conformance

pytestmark = pytest.mark.core


def functions():
    found = {}
    for module in (ac, functional, ac.linalg):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isfunction(inspect.unwrap(value)):
                found.setdefault(value, f"{module.__name__}.{name}")
    return {name: function for function, name in found.items()}


FUNCTIONS = functions()
ELEMENTWISE = {
    function: name
    for name, function in FUNCTIONS.items()
    if function in OPERATORS.values()
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_sections(name):
    function = FUNCTIONS[name]
    doc = inspect.getdoc(function) or ""
    assert "\n>>> " in doc
    if inspect.signature(function).parameters:
        assert "\nParameters\n----------\n" in doc
    if "raise " in inspect.getsource(function):
        assert "\nRaises\n------\n" in doc


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_is_named(name):
    function = FUNCTIONS[name]
    doc = inspect.getdoc(function) or ""
    section = doc.partition("\nParameters\n----------\n")[2].partition("\n\n")[0]
    lines = [line for line in section.split("\n") if not line.startswith(" ")]
    named = {
        word.strip(" *")
        for line in lines
        for word in line.partition(" : ")[0].split(",")
    }
    assert set(inspect.signature(function).parameters) <= named


@pytest.mark.parametrize("function", ELEMENTWISE, ids=ELEMENTWISE.values())
def test_the_examples_of_elementwise_functions(function):
    """Made by a factory, they are not found where other examples are."""
    name = ELEMENTWISE[function]
    test = doctest.DocTestParser().get_doctest(function.__doc__, {}, name, None, 0)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0


#: Modules of PyTorch's in which functions only say what a CPU engine has, or which work
#: with other processes.
WITHOUT_EXAMPLES = ("accelerator", "backends", "cuda", "distributed")


def public_modules():
    yield ac
    for found in pkgutil.walk_packages(ac.__path__, "autocalc."):
        parts = found.name.split(".")[1:]
        private = any(part.startswith("_") for part in parts)
        if not private and parts[0] not in (*WITHOUT_EXAMPLES, "cli"):
            yield importlib.import_module(found.name)


def needs_no_example(value):
    """Aliases, old names of tensors by dtype, protocols, signals of the test kit."""
    return (
        not (inspect.isclass(value) or inspect.isroutine(value))
        or value.__module__.endswith(".typed_tensors")
        or getattr(value, "_is_protocol", False)
        or value in (conformance.Inapplicable, conformance.Refused)
    )


def test_every_public_class_and_function_shows_an_example():
    found = {
        f"{module.__name__}.{name}": getattr(module, name)
        for module in public_modules()
        for name in getattr(module, "__all__", ())
    }
    assert len(found) > 1000
    missing = [
        name
        for name, value in found.items()
        if not needs_no_example(value) and ">>> " not in (value.__doc__ or "")
    ]
    assert not missing
