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
#: Of classes, and of what else takes 1 and 0 for truth values, as PyTorch does.
WRONG_FOR_SWITCHES = ("x", 2, -1, 3.5)
SWITCHES = {"autograd.backward-create_graph", "autograd.backward-retain_graph"}
SWITCHES |= {"Tensor.backward-create_graph", "Tensor.backward-retain_graph"}

MODULES = {
    "lr_scheduler": ac.optim.lr_scheduler,
    "data": ac.data,
    "transforms": ac.data.transforms,
    "autograd": ac.autograd,
    "autograd.functional": ac.autograd.functional,
}
#: Their other arguments are hardly ever right by chance; cases are below.
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
    switch = inspect.isclass(function) or f"{name}-{flag}" in SWITCHES
    wrong = WRONG_FOR_SWITCHES if switch else WRONG
    named = False
    for i in range(MOST):
        if named and i >= DRAWS:
            break
        args, kwargs = given(rng, function, flag, rng.choice(wrong))
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
        (lambda: nn.Linear(2, 2).zero_grad(set_to_none=2), "set_to_none"),
        (lambda: nn.Linear(2, 2).train(1), "mode"),
        (lambda: nn.LSTM(2, 2, bias=1), "bias"),
        (lambda: nn.LSTM(2, 2, batch_first=1), "batch_first"),
        (lambda: nn.LSTM(2, 2, bidirectional=1), "bidirectional"),
        (lambda: nn.MaxPool1d(2, ceil_mode=1), "ceil_mode"),
        (lambda: ac.data.DataLoader([1], drop_last=1), "drop_last"),
        (lambda: ac.set_grad_enabled("x"), "mode"),
        (lambda: (X * 1).requires_grad_().sum().backward(create_graph=2), "create_g"),
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


def outputs(m, *layers_and_inputs):
    """Return the results of layers whose parameters are all 1/2."""
    found = []
    for layer, *inputs in layers_and_inputs:
        for p in layer.parameters():
            p.detach().fill_(0.5)
        out = layer(*inputs)
        found.append((out[0] if isinstance(out, tuple) else out).detach().numpy())
    return found


def layers(m, flag):
    """Return layers that are made with a flag, each with its input."""
    n, x, rows = m.nn, m.ones(2, 4), m.arange(24.0).reshape(2, 3, 4)
    image = m.arange(16.0).reshape(1, 1, 4, 4)
    attend = n.MultiheadAttention(4, 2, bias=flag, batch_first=flag)
    return [
        (n.Linear(4, 3, bias=flag), x),
        (n.Conv2d(1, 2, 2, bias=flag), image),
        (n.ConvTranspose2d(1, 2, 2, bias=flag), image),
        (n.Bilinear(4, 4, 2, bias=flag), x, x),
        (n.LayerNorm(4, elementwise_affine=flag), rows),
        (n.LayerNorm(4, bias=flag), rows),
        (n.RMSNorm(4, elementwise_affine=flag), rows),
        (n.GroupNorm(1, 3, affine=flag), rows),
        (n.BatchNorm1d(3, affine=flag, track_running_stats=flag), rows),
        (n.InstanceNorm1d(3, affine=flag, track_running_stats=flag), rows),
        (n.ReLU(inplace=flag), rows * 1),
        (n.Dropout(0.0, inplace=flag), rows * 1),
        (attend, rows, rows, rows),
        (n.TransformerEncoderLayer(4, 2, 8, 0.0, norm_first=flag, bias=flag), rows),
    ]


@pytest.mark.parametrize("number", [0, 1])
def test_numbers_are_switches_of_layers(number):
    found, wanted = (outputs(ac, *layers(ac, flag)) for flag in (number, bool(number)))
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(a, b)
    others = outputs(ac, *layers(ac, not number))
    assert any(
        a.shape != b.shape or (a != b).any() for a, b in zip(found, others, strict=True)
    )


@pytest.mark.parametrize("number", [0, 1])
def test_numbers_are_other_switches(number):
    def stepped(make):
        w = ac.ones(2, requires_grad=True)
        optimizer = make(ac.optim, [w])
        for _ in range(2):
            optimizer.zero_grad(number)
            (w * w).sum().backward(retain_graph=number, create_graph=0)
            optimizer.step()
        return w.tolist()

    def makes(flag):
        yield lambda o, w: o.SGD(w, 0.1, momentum=0.9, nesterov=flag, maximize=flag)
        yield lambda o, w: o.Adam(w, amsgrad=flag, maximize=flag)
        yield lambda o, w: o.RMSprop(w, centered=flag)
        yield lambda o, w: o.NAdam(w, decoupled_weight_decay=flag, weight_decay=0.1)

    for a, b in zip(makes(number), makes(bool(number)), strict=True):
        assert stepped(a) == stepped(b)
    loader = ac.data.DataLoader(list(range(99)), batch_size=99, shuffle=number)
    (batch,) = loader
    assert (batch.tolist() == list(range(99))) is not bool(number)
    module = nn.Module()
    module.register_buffer("a", ac.ones(1), number)
    assert len(module.state_dict()) == number
    if not number:
        assert module.load_state_dict({"b": ac.ones(1)}, strict=0).unexpected_keys


@pytest.mark.torch
@pytest.mark.parametrize("number", [0, 1])
def test_numbers_are_switches_of_pytorch_s_layers(number):
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = outputs(torch, *layers(torch, number))
    for a, b in zip(outputs(ac, *layers(ac, number)), theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_there_are_as_many_flags_as_there_were():
    assert len(CASES) > 300
