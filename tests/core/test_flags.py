# SPDX-License-Identifier: MIT
"""Every flag of what is public: a value that is no boolean is refused by its name.

Flags are found by their annotations; other arguments are those of `test_fuzz`.
"""

from __future__ import annotations

import inspect
import random
import warnings
import zlib

import numpy as np
import pytest
from tests.core.test_fuzz import TARGETS, arguments

import autocalc as ac
from autocalc import nn
from autocalc._tensor.checks import check_flag, check_flags
from autocalc.errors import ArgumentError, AutocalcError

pytestmark = pytest.mark.core

#: Draws of the other arguments: so many, and up to the most until one of them comes as
#: far as the flag.
DRAWS, MOST = 6, 400
WRONG = ("x", 1, 0, 3.5)

MODULES = {
    "lr_scheduler": ac.optim.lr_scheduler,
    "data": ac.data,
    "transforms": ac.data.transforms,
    "autograd": ac.autograd,
    "autograd.functional": ac.autograd.functional,
}
#: Their other arguments are hardly ever right by chance; cases stand below.
BY_HAND = {
    *("ac.linspace", "ac.logspace", "ac.randint", "nn.Parameter", "Tensor.copy_"),
    *("Tensor.type", "autograd.Variable", "ac.randint_like"),
    "Tensor.cuda",  # always an error
}


def public():
    """Yield (name, what to call) of functions, methods and classes."""
    yield from TARGETS.items()
    for prefix, module in MODULES.items():
        for name in module.__all__:
            found = getattr(module, name)
            if inspect.isclass(found) or inspect.isfunction(inspect.unwrap(found)):
                yield f"{prefix}.{name}", found


def flags(function):
    """Return the names of parameters whose annotation is a boolean."""
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:
        return []
    kinds = {name: str(p.annotation) for name, p in parameters.items()}
    flag = ("bool", "bool | None")
    return [n for n, k in kinds.items() if k in flag and not n.startswith("_")]


CASES = [
    (name, function, flag)
    for name, function in public()
    for flag in flags(function)
    if name not in BY_HAND
]


def given(rng, function, flag, value):
    """Return arguments of a call with one flag wrong and the others left out."""
    names = list(inspect.signature(function).parameters)
    args, kwargs = arguments(rng, function, surplus=0)
    for other in flags(function):
        place = names.index(other)
        wanted = value if other == flag else False
        if place < len(args) and other not in kwargs:
            args[place] = wanted
        elif other == flag or other in kwargs:
            kwargs[other] = wanted
    return args, kwargs


@pytest.mark.parametrize(
    ("name", "function", "flag"), CASES, ids=[f"{n}-{f}" for n, _, f in CASES]
)
def test_a_flag_that_is_no_boolean_is_refused(name, function, flag):
    rng = random.Random(zlib.crc32(f"{name} {flag}".encode()))
    named = False
    for i in range(MOST):
        if named and i >= DRAWS:
            break
        args, kwargs = given(rng, function, flag, rng.choice(WRONG))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises((AutocalcError, MemoryError)) as caught:
                function(*args, **kwargs)
        named = named or f"`{flag}`" in str(caught.value)
    assert named, "no call came as far as the flag"


X = ac.ones(2)


@pytest.mark.parametrize(
    ("call", "flag"),
    [
        (lambda: ac.linspace(0, 1, 3, requires_grad="x"), "requires_grad"),
        (lambda: ac.logspace(0, 1, 3, requires_grad=1), "requires_grad"),
        (lambda: ac.randint(3, (2,), requires_grad="x"), "requires_grad"),
        (lambda: ac.randint_like(X, 3, requires_grad=1), "requires_grad"),
        (lambda: ac.zeros(2, out=ac.ones(2), requires_grad=1), "requires_grad"),
        (lambda: nn.Parameter(X, 1), "requires_grad"),
        (lambda: ac.autograd.Variable(X, "x"), "requires_grad"),
        (lambda: X.copy_(X, "x"), "non_blocking"),
        (lambda: X.type(ac.float64, 1), "non_blocking"),
        (lambda: nn.Linear(2, 2).train("x"), "mode"),
        (lambda: nn.Linear(2, 2).load_state_dict({}, strict="x"), "strict"),
        (lambda: list(nn.Linear(2, 2).parameters("x")), "recurse"),
        (lambda: nn.Linear(2, 2).state_dict(keep_vars=1), "keep_vars"),
        (lambda: nn.Linear(2, 2).zero_grad(set_to_none=1), "set_to_none"),
        (lambda: ac.set_grad_enabled("x"), "mode"),
        (lambda: (X * 1).requires_grad_().sum().backward(create_graph=1), "create_g"),
    ],
)
def test_flags_by_hand(call, flag):
    with pytest.raises(ArgumentError, match=f"`{flag}.*must be True or False"):
        call()


def test_a_boolean_of_numpy_is_one_and_none_is_left_out():
    check_flag("f", "flag", np.True_)
    check_flags("f", a=None, b=False)
    assert ac.zeros(2, requires_grad=None).requires_grad is False
    assert X.sum(keepdim=np.True_).shape == (1,)
    with pytest.raises(ArgumentError, match="f: `flag` is 'x'; it must be True or"):
        check_flag("f", "flag", "x")


def test_there_are_as_many_flags_as_there_were():
    assert len(CASES) > 300
