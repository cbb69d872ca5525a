# SPDX-License-Identifier: MIT
"""A dtype as Python, NumPy or a text names it, in everything that takes one."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import autocalc as ac

pytestmark = pytest.mark.core

#: What is given, and what is meant.
SPELLINGS = [
    *[(float, ac.float64), (int, ac.int64), (bool, ac.bool)],
    *[(np.float16, ac.float16), (np.float32, ac.float32), (np.float64, ac.float64)],
    *[(np.int32, ac.int32), (np.uint8, ac.uint8), (np.bool_, ac.bool)],
    *[(np.dtype("int16"), ac.int16), ("float64", ac.float64), ("double", ac.float64)],
]
VALUES = {
    "m": ac.tensor([[1.0, 2.0], [3.0, 5.0]]),
    "n": ac.tensor([[1, 2], [3, 4]]),
    "k": [1.0, 0.0, 2.0],
    "a": np.array([[1.0, 2.0], [3.0, 4.0]]),
    "b": bytearray(64),
    "s": (2, 3),
    "p": (1, 0),
    "l": [2],
    "t": ac.float64,
    "c": [0, 1, 2],  # the rows of a sparse matrix, its columns, and its elements
    "j": [0, 1],
    "v": [1.0, 2.0],
    **{str(n): n for n in (0, 1, 2, 9)},
}
#: Arguments, of which a function gets the first that it takes.
ARGUMENTS = """m|2|s|k|b|a|2 1|s 1|0 2|0 2 2|m 0|m 1|m m|m s|m s 1|1 0 2|n n 2|m 2|0 2 s
2 2|k m|s k||m 1 2|1 1 1|2 9 l|s p|c j v""".replace("\n", "|").split("|")
#: Names of parameters that are something else.
OTHER = {"check_grad_dtypes", "dtypes"}
MODULES = {
    "": ac,
    "linalg.": ac.linalg,
    "special.": ac.special,
    "nn.functional.": ac.nn.functional,
    "nn.": ac.nn,
    "Tensor.": ac.Tensor,
}


def parameters(function):
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # nothing to call
        return {}


#: (name, function, its parameter)
TAKE = [
    (prefix + name, function, parameter)
    for prefix, module in MODULES.items()
    for name in dir(module)
    if not name.startswith("_") and name not in ("RNNBase", "RNNCellBase")
    for function in [getattr(module, name, None)]
    for parameter in parameters(function)
    if "dtype" in parameter and parameter not in OTHER
]
#: Needs a dtype that is the operands'.
NO_CHOICE = {"nn.functional.grouped_mm", "Tensor.cumprod_", "Tensor.cumsum_"}


#: What must be given by its name, too.
NEEDED = {"sparse_compressed_tensor": {"layout": ac.sparse_csr}}


def outcome(function, arguments, settings):
    """Return dtypes and sums of what comes out, or the type of the error."""
    ac.manual_seed(0)
    settings = {**NEEDED.get(getattr(function, "__name__", ""), {}), **settings}
    try:
        found = function(*arguments, **settings)
    except Exception as error:
        return type(error)
    if "empty" in getattr(function, "__name__", ""):
        found.zero_()
    if hasattr(found, "materialize"):
        found.materialize((0,))
    if isinstance(found, ac.nn.Module):
        found = [p for p in found.parameters() if type(p) is ac.nn.Parameter]
    many = found if isinstance(found, (list, tuple)) else [found]
    return [described(one) for one in many]


def described(one):
    if not isinstance(one, ac.Tensor):
        return getattr(one, "dtype", type(one))
    if one.layout is not ac.strided:
        one = one.to_dense()
    return one.dtype, one.shape, one.detach().double().nan_to_num(3).sum().item()


@pytest.mark.parametrize(
    ("name", "function", "parameter"),
    TAKE,
    ids=[f"{name} {parameter}" for name, _, parameter in TAKE],
)
def test_every_function_takes_a_dtype_as_others_name_it(name, function, parameter):
    candidates = ([VALUES[kind] for kind in kinds.split()] for kinds in ARGUMENTS)
    takes = (
        given
        for given in candidates
        for dtype in (ac.float64, ac.int64)
        if isinstance(outcome(function, given, {parameter: dtype}), list)
    )
    arguments = next(takes, None)
    assert (arguments is None) == (name in NO_CHOICE)
    for given, meant in SPELLINGS if arguments is not None else ():
        found = outcome(function, arguments, {parameter: given})
        assert found == outcome(function, arguments, {parameter: meant}), given


#: What takes a dtype by its place.
POSITIONAL = {
    "to": lambda x, d: x.to(d),
    "to a device": lambda x, d: x.to("cpu", d),
    "to, copied": lambda x, d: x.to(d, copy=True),
    "type": lambda x, d: x.type(d),
    "view": lambda x, d: x.view(d),
    "a module": lambda _, d: ac.nn.Linear(2, 2).to(d).weight,
    "a module's type": lambda _, d: ac.nn.Linear(2, 2).type(d).weight,
    "finfo": lambda _, d: ac.finfo(d),
    "iinfo": lambda _, d: ac.iinfo(d),
    "promote_types": lambda _, d: ac.promote_types(d, ac.int8),
    "can_cast": lambda _, d: ac.can_cast(d, ac.float32),
}


@pytest.mark.parametrize("name", POSITIONAL)
@pytest.mark.parametrize(("given", "meant"), SPELLINGS)
def test_a_dtype_by_its_place(name, given, meant):
    if isinstance(given, str) and name in (
        "to",
        "to a device",
        "to, copied",
        "a module",
    ):
        pytest.skip("a text is the name of a device there")
    if isinstance(given, (str, np.dtype)) and name == "view":
        pytest.skip("the arguments are sizes, or a class")
    for x in (ac.ones(2, 8), ac.ones(2, 8, dtype=ac.int64)):
        function = POSITIONAL[name]
        assert outcome(function, [x, given], {}) == outcome(function, [x, meant], {})


def test_pythons_float_has_64_bits_whatever_the_default_dtype_is():
    assert ac.zeros(2, dtype=float).dtype is ac.float64
    assert ac.tensor([1, 2], dtype=float).dtype is ac.float64
    assert ac.ones(2).to(float).dtype is ac.float64
    assert ac.ones(2).sum(dtype=float).dtype is ac.float64
    assert ac.nn.Linear(2, 2).to(float).weight.dtype is ac.float64
    assert ac.linspace(0, 1, 3, dtype=float)[1].item() == 0.5
    for default in (ac.float16, ac.float32):
        ac.set_default_dtype(default)
        try:
            assert ac.zeros(2, dtype=float).dtype is ac.float64
            assert ac.tensor(1.0).dtype is default
        finally:
            ac.set_default_dtype(ac.float32)
    try:
        ac.set_default_dtype(float)
        assert ac.tensor(1.0).dtype is ac.float64
    finally:
        ac.set_default_dtype(ac.float32)
