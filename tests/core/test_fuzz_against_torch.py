# SPDX-License-Identifier: MIT
"""Calls of the fuzz that AutoCalc takes: PyTorch takes them, too, but for a list."""

from __future__ import annotations

import random
import warnings

import pytest
from tests.core.test_fuzz import CALLS, arguments, binds, cases, described

import autocalc as ac

torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")
pytestmark = pytest.mark.torch

PLACES = {
    "ac": torch,
    "linalg": torch.linalg,
    "F": torch.nn.functional,
    "Tensor": torch.Tensor,
    "nn": torch.nn,
    "optim": torch.optim,
    "lr": torch.optim.lr_scheduler,
    "init": torch.nn.init,
    "utils": torch.nn.utils,
    "autograd": torch.autograd,
    "functional": torch.autograd.functional,
}
#: Names whose methods and functions are one thing here: a number may be first, or
#: where PyTorch asks for a tensor; the result is that of a 0-d tensor.
OF_TWO = {
    *("add", "sub", "subtract", "mul", "multiply", "div", "divide", "true_divide"),
    *("pow", "float_power", "floor_divide", "remainder", "xlogy", "bitwise_and"),
    *("bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"),
    *("__mod__", "__add__", "__pow__", "__and__", "__floordiv__", "__lshift__"),
}
#: Name -> why AutoCalc takes what PyTorch does not.
ALLOWED = {
    "one_hot": "any integer dtype holds classes",
    "pin_memory": "there is no accelerator to pin memory for; the tensor is returned",
    "cpu": "`memory_format` may be first, and has no effect",
    "softmax": "`dim` is guessed by the function in `nn.functional`, which is this one",
    "log_softmax": "as softmax",
    "flip": "one integer stands for a tuple of one",
    "permute": "one integer stands for a tuple of one",
    "tile": "one integer stands for a tuple of one",
    "new_full": "one integer stands for a tuple of one",
    "as_strided": "one integer stands for a tuple of one",
    "as_strided_copy": "one integer stands for a tuple of one",
    "view_copy": "one integer stands for a tuple of one",
    "Unflatten": "one integer stands for a tuple of one",
    "soft_margin_loss": "the two broadcast, and `target` may require a gradient",
    "tensordot": "dimensions stand for tuples of one",
    "broadcast_tensors": "tensors may be in one list",
    "mean": "`keepdim` needs no `dim`, as in `sum`",
    "var": "`keepdim` needs no `dim`",
    "std": "`keepdim` needs no `dim`",
    "median": "`keepdim` needs no `dim`",
    "nanmedian": "`keepdim` needs no `dim`",
    "tensor": "`requires_grad` of None is that it was left out",
    "unique": "a flag of None is that it was left out",
    "qr": "a flag of None is that it was left out",
    "svd": "a flag of None is that it was left out",
    "max": "`dim` of None is that it was left out",
    "min": "`dim` of None is that it was left out",
    "uniform_": "the ends are called `low` and `high`",
    "celu": "an empty or positive input never meets `alpha`",
    "set_num_interop_threads": "has no effect",
    "matrix_power": "True is the integer 1",
    "trunc_normal_": "True is the number 1",
    "clip_grad_value_": "of no parameters there is nothing to limit",
    "set_": "without memory or a size, what is said of both has no effect",
    "where": "`out` is of the form with three operands",
}


def twin(x):
    """Return an argument as PyTorch has it."""
    if isinstance(x, ac.Tensor):
        tensor = torch.tensor(x.detach().numpy().copy())
        return tensor.requires_grad_() if x.requires_grad else tensor
    if isinstance(x, type(ac.float32)):
        return getattr(torch, x.name)
    if isinstance(x, (list, tuple)):
        return type(x)(map(twin, x))
    return x


def reason(prefix, name, args, kwargs):
    """Return why a call may be taken that PyTorch refuses, or ""."""
    if kwargs.get("out", 0) is None or "out" in kwargs:
        return "methods are the functions and take `out`, converted to its dtype"
    if {"master_weights", "stochastic_rounding"} & kwargs.keys():
        return "optimizers take these here alone"
    if name in OF_TWO and not all(isinstance(x, ac.Tensor) for x in args[:2]):
        return "a number is taken as a tensor without dimensions"
    return ALLOWED.get(name, "")


def refused(name, function, seed):
    """Return the call, if AutoCalc takes it and PyTorch refuses it; else ""."""
    prefix, _, short = name.partition(".")
    theirs = getattr(PLACES[prefix], short, None)
    args, kwargs = arguments(random.Random(seed), function)
    if theirs is None or not binds(function, args, kwargs):
        return ""
    twins, words = twin(args), {key: twin(value) for key, value in kwargs.items()}
    given = ", ".join([*map(described, args), *map(str, kwargs.items())])
    try:
        function(*args, **kwargs)
    except Exception:  # what AutoCalc refuses is not asked of PyTorch
        return ""
    try:
        theirs(*twins, **words)
    except Exception as error:
        why = reason(prefix, short, args, kwargs)
        return "" if why else f"{name}({given}): {type(error).__name__}: {error}"
    return ""


@pytest.mark.parametrize("count", CALLS)
def test_what_is_taken_is_taken_by_pytorch(count):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [refused(*case) for case in cases(count)]
    wrong = [text for text in found if text]
    assert not wrong, "\n".join(wrong)
