# SPDX-License-Identifier: MIT
"""`out=` in every mode of every function: it holds the result, or there is an error."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ArgumentError

pytestmark = pytest.mark.core

RNG = np.random.default_rng(7)
MATRIX = RNG.normal(size=(3, 3))
VALUES = {
    "m": ac.tensor(MATRIX @ MATRIX.T + 3 * np.eye(3)),
    "f": ac.tensor(np.abs(MATRIX) * 0.2 + 0.3),
    "v": ac.tensor([0.2, 0.5, 0.7], dtype=ac.float64),
    "b": ac.tensor(RNG.normal(size=(2, 3, 3))),
    "k": ac.tensor(np.eye(3) == 1),
    "i": ac.tensor([[2, 0, 1], [0, 1, 2], [1, 2, 0]]),
    "p": ac.tensor([2, 0, 1]),
    "q": ac.tensor([1, 3, 3], dtype=ac.int32),
    "l": [ac.tensor(MATRIX), ac.tensor(MATRIX)],
    "s": (2, 3),
    **{str(n): n for n in range(3)},
    **{word: word for word in ("sum", "amax")},
}
#: Operands, of which a function gets the first that it takes.
OPERANDS = """m|f|k|l|b|0|m m|k k|k i|v v|m v|m 0|m 1|m i|b b|0 0|0 m|1 s|m k|f 1|m 0 i
m 0 p|m m m|m b b|v m v|m v v|0 0 0|m 1 0 0|m 1 i m|m 0 p m|m 0 p m sum|m 0 p m amax
m 1 i m sum|m q|m m q|m q m""".replace("\n", "|").split("|")
#: What an option may be given.
CHOICES = [
    *[True, False, 0, 1, -1, 2, 0.5, (0, 1), None, float("inf")],
    *["floor", "trunc", "sum", "mean", "amax", "prod", "add", "multiply", "fro", "nuc"],
    *["linear", "lower", "midpoint", "U", "L", "r", "complete", "left", "right"],
    *[VALUES[kind] for kind in "mivp"],
    *[ac.float64, ac.float32, ac.int64],
]
NOT_MODES = {"out", "device", "requires_grad", "layout", "generator", "pin_memory"}
MODULES = {"": ac, "linalg.": ac.linalg, "special.": ac.special}


def takes_out(function):
    try:
        return "out" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # no function
        return False


FUNCTIONS = {
    prefix + name: getattr(module, name)
    for prefix, module in MODULES.items()
    for name in dir(module)
    if not name.startswith("_")
    and takes_out(getattr(module, name))
    and name not in ("empty", "where", "nonzero")  # no values; tested below
}
#: What is needed in addition to the operands.
NEEDED = {"linalg.solve_triangular": {"upper": True}}


def attempt(function, operands, settings):
    """Return the result as a list of tensors, or None where there is none."""
    ac.manual_seed(0)
    try:
        found = function(*operands, **settings)
    except Exception:  # whatever the function says of arguments that do not fit
        return None
    parts = [found] if isinstance(found, ac.Tensor) else found
    are = isinstance(parts, (list, tuple)) and parts
    return parts if are and all(isinstance(x, ac.Tensor) for x in parts) else None


def modes(name):
    """Yield operands, settings and the result of each mode of a function."""
    function, needed = FUNCTIONS[name], NEEDED.get(name, {})
    parameters = inspect.signature(function).parameters
    given = ([VALUES[kind] for kind in kinds.split()] for kinds in OPERANDS)
    operands = next(g for g in given if attempt(function, g, needed) is not None)
    free = [
        p
        for i, p in enumerate(parameters)
        if i >= len(operands)
        and p not in NOT_MODES
        and parameters[p].default is not inspect.Parameter.empty
    ]
    bases = [needed] + [{**needed, "dim": 0}] * ("dim" in free)
    settings = [*bases, *({**b, p: c} for b in bases for p in free for c in CHOICES)]
    for one in settings:
        found = attempt(function, operands, one)
        if found is not None:
            yield operands, one, found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_out_holds_the_result_in_every_mode(name):
    function, count = FUNCTIONS[name], 0
    for operands, settings, wanted in modes(name):
        outs = [ac.empty(0, dtype=x.dtype) for x in wanted]
        plain = function(*operands, **settings)
        alone = isinstance(plain, ac.Tensor)
        ac.manual_seed(0)
        got = function(*operands, **settings, out=outs[0] if alone else tuple(outs))
        assert type(got) is type(plain)
        for made, out, one in zip([got] if alone else got, outs, wanted, strict=True):
            assert made is out, settings
            assert out.shape == one.shape, settings
            assert np.array_equal(out.numpy(), one.numpy(), equal_nan=True), settings
        count += 1
    assert count


def test_results_in_several_tensors_that_are_no_tuple_of_fixed_length_take_no_out():
    x, out = ac.eye(3), ac.empty(0, dtype=ac.int64)
    for as_tuple in (False, True):
        for given in (x, x.bool(), ac.ones(40, 40), ac.tensor(1.0)):
            if as_tuple:
                with pytest.raises(
                    ArgumentError, match="nonzero: with as_tuple=True th"
                ):
                    given.nonzero(as_tuple=True, out=out)
            else:
                out = ac.empty(0, dtype=ac.int64)
                assert ac.nonzero(given, out=out) is out
                assert out.equal(ac.nonzero(given))
    with pytest.raises(
        ArgumentError, match="where: of a condition alone the result consists"
    ):
        ac.where(x, out=out)
    assert ac.where(x > 0, x, 2, out=(held := ac.empty(0))) is held
