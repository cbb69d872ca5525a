# SPDX-License-Identifier: MIT
"""Wrong calls raise what PyTorch raises: an `except` that was written for it catches.

The calls are in `against_torch/errors.txt`, below the name of the class that PyTorch
raises; `torch` is the one or the other.
"""

from __future__ import annotations

import builtins
import copy
import importlib
import pickle
import warnings
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import autocalc as ac
from autocalc import errors

pytestmark = pytest.mark.core

TABLE = Path(__file__).parent / "against_torch" / "errors.txt"
BLOCKS = [block.split("\n") for block in TABLE.read_text("utf-8").strip().split("\n\n")]
CALLS = {call: block[0].removeprefix("# ") for block in BLOCKS for call in block[1:]}


def names_of(m: ModuleType) -> dict[str, object]:
    """Return what the calls use, made of one library."""
    for name in ("utils.checkpoint", "distributions", "testing"):
        importlib.import_module(f"{m.__name__}.{name}")

    class NoForward(m.autograd.Function):
        pass

    class NoBackward(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    class WrongGrads(NoBackward):
        @staticmethod
        def backward(ctx, grad):
            return grad, grad

    class WrongShape(NoBackward):
        @staticmethod
        def backward(ctx, grad):
            return m.ones(7)

    class NoInit(m.nn.Module):
        def __init__(self):
            self.a = m.nn.ReLU()

    def twice(x):
        y = (x * x).sum()
        y.backward()
        y.backward()

    def saved(x):
        y = x * 1
        z = (y * y).sum()
        y.add_(1)
        z.backward()

    def nan_grad():
        x = m.ones(2, requires_grad=True)
        x.grad = m.ones(2) / 0
        return x

    def setbuffer(value):
        module = m.nn.Module()
        module.register_buffer("a", m.ones(2))
        module.a = value

    def setmodule(value):
        setattr(m.nn.Sequential(m.nn.ReLU()), "0", value)

    return {
        **locals(),
        "torch": m,
        "nn": m.nn,
        "F": m.nn.functional,
        "optim": m.optim,
        "data": m.utils.data,
        "dist": m.distributions,
        "ones": m.ones,
        "zeros": m.zeros,
        "tensor": m.tensor,
        "copy": copy,
        "np": np,
        "X": m.arange(6).reshape(2, 3).float() / 6,
        "G": m.ones(2, requires_grad=True),
    }


def caught(call: str, m: ModuleType) -> Exception:
    """Return what a call raises, which an `except` of PyTorch's class catches."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(getattr(builtins, CALLS[call])) as error:
            eval(call, names_of(m))
    return error.value


@pytest.mark.parametrize("call", CALLS)
def test_code_for_pytorch_catches_it(call):
    error = caught(call, ac)
    if isinstance(error, errors.AutocalcError):
        assert str(error) == error.args[0]


@pytest.mark.torch
@pytest.mark.parametrize("call", CALLS)
def test_the_table_says_what_pytorch_raises(call):
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")
    classes = type(caught(call, torch)).__mro__
    builtin = next(kind for kind in classes if kind.__module__ == "builtins")
    assert builtin.__name__ == CALLS[call]


KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, Exception)
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_error_shows_its_text_and_is_pickled(kind):
    error = kind("a text")
    assert str(error) == str(pickle.loads(pickle.dumps(error))) == "a text"


def test_a_wrong_shape_is_no_end_of_a_sequence():
    """Python takes an IndexError of `__getitem__` for that."""

    class Rows:
        def __getitem__(self, i):
            return ac.ones(2) + ac.ones(3)

    with pytest.raises(errors.ShapeError, match="do not broadcast"):
        list(Rows())
