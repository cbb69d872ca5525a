# SPDX-License-Identifier: MIT
"""Declared checks of what is public: each is reached, and its text says what is wrong.

Checks are found in the source: calls of `require`, `check_type`, `check_shape`,
`one_of` and their kin that name a parameter of the function around them.  That one
is given a wrong value, and the other arguments are those of `test_fuzz`.  Flags have
a test of their own, `test_flags`.
"""

from __future__ import annotations

import ast
import inspect
import random
import re
import textwrap
import warnings
import zlib
from types import CodeType

import numpy as np
import pytest
from tests.core.test_flags import public
from tests.core.test_fuzz import arguments
from tests.refusals import refusals

import autocalc as ac
from autocalc import nn
from autocalc.errors import AutocalcError, DTypeError
from autocalc.nn import functional as F

pytestmark = pytest.mark.core

#: Draws of the other arguments until one of them comes as far as the check.
MOST = 400

NAN = float("nan")
CUBE, PAIR = ac.ones(2, 3, 4), ac.ones(2, 3)
TENSORS = (ac.ones(1, 1, 1, 1, 1, 1, 1), CUBE, PAIR, ac.ones(3), ac.tensor(1.0), "x")
#: Function that checks -> (place of the parameter's name, wrong values).
CHECKS = {
    "require": (1, (-1, 2.5, NAN, "unknown", 10**6, 0, None, object(), (1, 2, 3))),
    "check_type": (1, (object(), 3)),
    "check_shape": (1, TENSORS),
    "one_of": (1, ("unknown", 3, None)),
    "as_int": (1, (0.5, "x", 2**70)),
    "number": (1, ("x", (1, 2), None)),
    "check_number": (1, (-1, NAN, "x")),
}
#: The name of the parameter is that of the function.
NAMED = {
    "check_probability": ("p", (-0.5, 2, NAN, "x")),
    "check_reduction": ("reduction", ("unknown", 3)),
    "check_approximate": ("approximate", ("unknown", 3)),
}
#: What must be in a text: the argument, what was given, and what is needed.
SAYS = r"`{}(\[[^`]*)?`( is |=| has shape ).*(must be|use |is from |does not fit)"


def body_of(thing):
    """Return the function that has the checks of a function or class."""
    return inspect.unwrap(thing.__init__ if inspect.isclass(thing) else thing)


def names_in(code):
    """Return the global names in compiled code and in the functions inside it."""
    inner = (x for x in code.co_consts if isinstance(x, CodeType))
    return set(code.co_names).union(*map(names_in, inner))


def calls(function, names):
    """Return the calls in a function, written in Python, that calls one of the names.

    To read and parse the source of all public functions takes a second.
    """
    code = getattr(function, "__code__", None)
    if code is None or names_in(code).isdisjoint(names):
        return []
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    found = (x for x in ast.walk(tree) if isinstance(x, ast.Call))
    return [x for x in found if isinstance(x.func, ast.Name) and x.func.id in names]


def checks(thing):
    """Yield (parameter, wrong values) of the checks in a function."""
    function = body_of(thing)
    for node in calls(function, {*CHECKS, *NAMED}):
        known = inspect.signature(function).parameters
        check = node.func.id
        if check in NAMED and NAMED[check][0] in known:
            yield NAMED[check]
        elif check in CHECKS and len(node.args) > CHECKS[check][0]:
            at, wrong = CHECKS[check]
            name = node.args[at]
            if isinstance(name, ast.Constant) and name.value in known:
                yield name.value, wrong


def cases():
    """Return name of the case -> (function, parameter, wrong values), each once."""
    found, seen = {}, set()
    for name, thing in public():
        for parameter, wrong in checks(thing):
            key = body_of(thing), parameter
            if key not in seen:
                seen.add(key)
                found[f"{name}-{parameter}"] = thing, parameter, wrong
    return found


CASES = cases()
#: Their other arguments are hardly ever right by chance.
BY_HAND = {
    "F.instance_norm-momentum": lambda: F.instance_norm(CUBE, momentum="x"),
    "F.multi_margin_loss-margin": lambda: F.multi_margin_loss(
        PAIR, ac.tensor([0, 1]), margin="x"
    ),
    "F.scaled_dot_product_attention-scale": lambda: F.scaled_dot_product_attention(
        PAIR, PAIR, PAIR, scale="x"
    ),
    "autograd.gradcheck-nondet_tol": lambda: ac.autograd.gradcheck(
        ac.exp, ac.ones(2, dtype=ac.float64, requires_grad=True), nondet_tol="x"
    ),
    "data.DistributedSampler-seed": lambda: ac.data.DistributedSampler(
        [1], 1, 0, seed="x"
    ),
    "nn.AdaptiveLogSoftmaxWithLoss-div_value": lambda: nn.AdaptiveLogSoftmaxWithLoss(
        4, 6, [2], div_value="x"
    ),
    "nn.DataParallel-dim": lambda: nn.DataParallel(nn.Linear(2, 2), dim="x"),
    "utils.spectral_norm-eps": lambda: nn.utils.spectral_norm(nn.Linear(2, 2), eps="x"),
    "utils.weight_norm-dim": lambda: nn.utils.weight_norm(nn.Linear(2, 2), dim="x"),
}


def optimizer():
    return ac.optim.SGD([nn.Parameter(ac.ones(1))], 0.1, momentum=0.9)


def refusal(thing, parameter, wrong, rng):
    """Return the text that refuses a wrong value, or None."""
    names = list(inspect.signature(thing).parameters)
    for _ in range(MOST):
        args, words = arguments(rng, thing, surplus=0)
        if names[0] == "optimizer":  # of a schedule
            needed = {"CyclicLR": [0.1, 0.2], "OneCycleLR": [0.1, 9]}
            args = [optimizer(), *needed.get(thing.__name__, [])]
            words = {}
        place = names.index(parameter)
        if place < len(args) and parameter not in words:
            args[place] = rng.choice(wrong)
        else:
            words[parameter] = rng.choice(wrong)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                thing(*args, **words)
        except (AutocalcError, MemoryError) as error:
            if re.search(SAYS.format(parameter), str(error), re.DOTALL):
                return str(error)
    return None


@pytest.mark.parametrize("name", sorted(set(CASES) - set(BY_HAND)))
def test_a_wrong_argument_is_refused_by_its_name(name):
    thing, parameter, wrong = CASES[name]
    text = refusal(thing, parameter, wrong, random.Random(zlib.crc32(name.encode())))
    assert text is not None, "no call came as far as the check"
    assert re.match(r"[\w.]+: ", text)
    assert text.endswith(".")


@pytest.mark.parametrize("name", sorted(BY_HAND))
def test_wrong_arguments_by_hand(name):
    assert name in CASES
    with pytest.raises(AutocalcError, match=SAYS.format(CASES[name][1])):
        BY_HAND[name]()


def float_cases():
    """Return name -> (function, parameters) of functions that take floats alone."""
    found = {}
    for name, thing in public():
        function = body_of(thing)
        for node in calls(function, {"check_float"}):
            given = [ast.unparse(x) for x in node.args[1:]]
            known = inspect.signature(function).parameters
            if names := [x for x in given if x in known]:
                found.setdefault(name, (thing, names))
    return found


FLOATS = float_cases()


@pytest.mark.parametrize("name", sorted(FLOATS))
def test_a_wrong_dtype_is_refused(name):
    thing, parameters = FLOATS[name]
    rng = random.Random(zlib.crc32(name.encode()))
    names = list(inspect.signature(thing).parameters)
    for _ in range(MOST):
        args, words = arguments(rng, thing, surplus=0)
        for parameter in parameters:
            wrong = rng.choice((PAIR, CUBE, ac.ones(3), ac.ones(1, 2, 4, 4))).long()
            place = names.index(parameter)
            if place < len(args):
                args[place] = wrong
            else:
                words[parameter] = wrong
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                thing(*args, **words)
        except DTypeError as error:
            if re.search(r"^\w+: needs float32 or float64, not int64: it", str(error)):
                return
        except AutocalcError:
            pass
    pytest.fail("no call came as far as the check")


def test_there_are_as_many_checks_as_there_were():
    assert len(CASES) >= 130
    assert len(FLOATS) >= 30


def test_numbers_of_numpy_and_tensors_of_one_element_count():
    x = ac.arange(6.0).reshape(2, 3)
    assert x.narrow(1, np.int8(1), ac.tensor(2)).shape == (2, 2)
    assert x.sum([np.int64(1)]).shape == x.sum(ac.tensor(1)).shape == (2,)
    assert x.permute([1, ac.tensor(0)]).shape == (3, 2)
    slopes = [F.leaky_relu(-x, p) for p in (0.5, np.float32(0.5), ac.tensor([0.5]))]
    assert slopes[0].tolist() == slopes[1].tolist() == slopes[2].tolist()
    assert F.threshold(x, 10**400, 3).unique().tolist() == [3.0]


test_what_is_no_number_or_word = refusals(
    r"""
    PAIR.narrow(1, 0.5, 1) -> DTypeError: `start` is 0\.5; it must be an
    PAIR.narrow(1, 2 ** 63, 1) -> ArgumentError: does not fit into int64
    PAIR.permute('ab') -> DTypeError: `dims` is 'ab'; it must be an int
    PAIR.permute([None]) -> DTypeError: is None; it must be an int
    F.leaky_relu(PAIR, PAIR) -> DTypeError: must be one number
    F.leaky_relu(PAIR, 1j) -> DTypeError: must be one number
    F.leaky_relu(PAIR, (1,)) -> DTypeError: `negative_slope` is \(1,\);
    ac.linalg.multi_dot(1.0) -> DTypeError: which a float is not
    F.gelu(PAIR, 3) -> ArgumentError: =3; use 'none' or 'tanh'
    F.gelu(PAIR, 'x' * 99) -> ArgumentError: ='x{56}\.\.\.; use
    """,
    globals(),
)
