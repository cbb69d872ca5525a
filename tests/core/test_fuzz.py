# SPDX-License-Identifier: MIT
"""Bad input to every public function: an AutoCalc error, or a result.

Functions, methods, modules and optimizers are found by looking at what is public, and
called with arguments of their names' kinds and with others: wrong dtypes, shapes, axes,
negative sizes, empty tensors, NaN, flags that are no booleans, counts and probabilities
out of range, one argument too many, and what is no tensor at all.  The same calls in
each run; `test_fuzz_against_torch` asks of those that were taken whether PyTorch takes
them, too.
"""

from __future__ import annotations

import inspect
import random
import re
import traceback
import warnings
import zlib

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, AutocalcError

pytestmark = pytest.mark.core

#: Calls in an ordinary run, and of all functions many times: 15 s.
CALLS = [500, pytest.param(10_000, marks=pytest.mark.slow)]

#: They change the process, read files, or wait for a user.
LEFT_OUT = {
    *("load", "save", "manual_seed", "seed", "set_num_threads", "set_default_dtype"),
    *("set_grad_enabled", "use_deterministic_algorithms", "serial", "from_dlpack"),
    *("backward", "register_hook", "retain_grad", "numpy", "set_printoptions"),
    "set_anomaly_enabled",
}
SPECIAL_METHODS = (
    *("__getitem__", "__setitem__", "__add__", "__matmul__", "__pow__", "__rsub__"),
    *("__floordiv__", "__mod__", "__and__", "__lshift__", "__eq__", "__lt__"),
    *("__iadd__", "__len__", "__bool__", "__int__", "__index__", "__float__"),
)

#: Parameters that are tensors, lists of tensors, small integers, or flags.
TENSORS = {
    *("input", "other", "x", "a", "A", "b", "B", "tensor", "weight", "bias", "target"),
    *("index", "src", "mat1", "mat2", "vec", "vec2", "mat", "batch1", "batch2", "mask"),
    *("query", "key", "value", "condition", "indices", "self", "tgt", "memory"),
}
LISTS = {"tensors", "operands", "arrays", "parameters"}
INTEGERS = {
    *(
        "dim",
        "dim0",
        "dim1",
        "dims",
        "n",
        "k",
        "size",
        "kernel_size",
        "stride",
        "shape",
    ),
    *("padding", "dilation", "groups", "chunks", "num", "in_features", "out_features"),
    *("num_heads", "embed_dim", "hidden_size", "input_size", "num_layers", "start"),
}
FLAGS = {"device", "inplace", "training", "keepdim"}
COUNTS = {"num_samples", "n", "k", "steps", "num_classes", "batch_size", "diagonal"}
#: From 0 to 1, or above 0.
DOMAINS = {
    "p",
    "q",
    "dropout",
    "momentum",
    "eps",
    "lr",
    "alpha",
    "beta",
    "weight_decay",
}
#: They have a default only because `axis` may stand for the `dim` in front of them.
BEHIND_DIM = {"index", "source", "src", "start", "length", "maxnorm", "sizes", "reduce"}
#: A share of the calls has an argument too many.
SURPLUS = 0.03
#: What modules have that are not called, or have no `forward` of their own.
MISSING = {ac.nn.Module.forward, ac.nn.ModuleList.forward, ac.nn.ModuleDict.forward}
NAN, INF = float("nan"), float("inf")
PLAIN = (
    *(None, True, 0, 1, -1, -7, 2, 5, 99, 0.5, NAN, INF, -INF, 1j, "", "abc", "mean"),
    *((), (2,), (0, 1), (-1,), (0, 0), (9,), (2, -3), (NAN,), (None,), {}, b"x"),
    *([1, 2], [0.5], [[1], [1, 2]], range(3), slice(1, 2), object(), "cuda"),
    *(ac.float32, ac.int64),
)


def is_function(thing):
    """Return whether this is a function, be it called in Python or in C."""
    return inspect.isfunction(inspect.unwrap(thing))


def some_tensors():
    return (
        *(ac.ones(2, 3), ac.ones(3), ac.tensor(2.0), ac.zeros(0, 3), ac.zeros(0)),
        *(
            ac.tensor([1, -5, 7]),
            ac.tensor([[True, False, True]]),
            ac.full((2, 3), NAN),
        ),
        ac.ones(2, 3, 4, 5, dtype=ac.float64),
        ac.tensor([[0, 1], [2, 9]], dtype=ac.int32),
        ac.ones(3, 3, requires_grad=True),
    )


def public():
    """Yield (name, what to call) of all that a user can call."""
    places = {"ac": ac, "linalg": ac.linalg, "F": ac.nn.functional}
    places |= {"init": ac.nn.init, "utils": ac.nn.utils, "autograd": ac.autograd}
    places |= {"functional": ac.autograd.functional}
    for prefix, place in places.items():
        for name in sorted(set(getattr(place, "__all__", dir(place))) - LEFT_OUT):
            if inspect.isfunction(
                inspect.unwrap(getattr(place, name))
            ) and not name.startswith("_"):
                yield f"{prefix}.{name}", getattr(place, name)
    for name in (*dir(ac.Tensor), *SPECIAL_METHODS):
        method = getattr(ac.Tensor, name, None)
        named = name in SPECIAL_METHODS or not name.startswith("_")
        if named and name not in LEFT_OUT and is_function(method):
            yield f"Tensor.{name}", method
    classes = {"nn": ac.nn, "optim": ac.optim, "lr": ac.optim.lr_scheduler}
    for prefix, place in classes.items():
        for name in sorted(place.__all__):
            if inspect.isclass(getattr(place, name)):
                yield f"{prefix}.{name}", getattr(place, name)


TARGETS = dict(public())


def value_for(rng, name, parameter):
    """Return an argument: half the time of the kind that the parameter has."""
    kind = str(parameter.annotation)
    if name.startswith("custom_"):
        return None  # the user's own function
    if name in FLAGS or ("bool" in kind and "Tensor" not in kind):
        return rng.choice([True, False, None, "x", 3])
    if name == "params":
        w = ac.ones(2, requires_grad=True)
        return rng.choice([[w], [w, 3], ac.ones(2), rng.choice(PLAIN)])
    if name in LISTS and rng.random() < 0.8:
        return [rng.choice(some_tensors()) for _ in range(rng.randrange(3))]
    if name in INTEGERS and rng.random() < 0.5:
        return rng.choice([0, 1, -1, 2, 3, -2, 7, (1, 2), True])
    if name in COUNTS and rng.random() < 0.5:
        return rng.choice([0, 1, 2, 3, -1, -3, 2**31, 2**63, 2**70, True, 1.5])
    if name in DOMAINS and rng.random() < 0.7:
        return rng.choice([0.0, 0.5, 1.0, -0.1, 1.5, NAN, INF, -INF, 2**70, True, "x"])
    is_tensor = name in TENSORS or ("Tensor" in kind and "Sequence" not in kind)
    likely = 0.75 if is_tensor else 0.25
    return rng.choice(some_tensors() if rng.random() < likely else PLAIN)


def can_be_left_out(name, parameters):
    """Return whether an argument has a default that stands for something."""
    names = BEHIND_DIM & set(parameters)
    if "axis" in parameters and names and name in {"dim", *names}:
        return False
    return parameters[name].default is not inspect.Parameter.empty


def arguments(rng, function, surplus=SURPLUS):
    """Return (args, kwargs); in a share `surplus` of calls, one more than fits."""
    args, kwargs = [], {}
    parameters = inspect.signature(function).parameters
    for i, (name, p) in enumerate(parameters.items()):
        if p.kind is p.VAR_POSITIONAL:
            args += [value_for(rng, name, p) for _ in range(rng.randrange(3))]
        elif name == "self":
            args.append(rng.choice(some_tensors()))
        elif p.kind is p.VAR_KEYWORD or (
            can_be_left_out(name, parameters) and rng.random() < 0.6
        ):
            continue
        elif p.kind is p.KEYWORD_ONLY or len(args) < i:
            kwargs[name] = value_for(rng, name, p)
        else:
            args.append(value_for(rng, name, p))
    if not kwargs and rng.random() < surplus:
        args.append(rng.choice(PLAIN))
    return args, kwargs


def cases(count):
    """Yield (name, function, seed) of `count` calls, spread over all functions."""
    names = sorted(TARGETS)
    random.Random(0).shuffle(names)
    for i in range(count):
        name = names[i % len(names)]
        yield name, TARGETS[name], zlib.crc32(f"{name} {i // len(names)}".encode())


def described(x):
    if isinstance(x, ac.Tensor):
        return f"<{x.dtype.name} {x.shape}>"
    return " ".join(repr(x).split())[:60]


def binds(function, args, kwargs):
    try:
        inspect.signature(function).bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def refuses(name, function, args, kwargs):
    """Return what is wrong with a call that Python itself must refuse."""
    try:
        function(*args, **kwargs)
    except (AutocalcError, TypeError):
        return ""
    return f"{name}: takes {len(args)} arguments, more than its signature has"


def attempt(name, function, rng):
    """Make one call; return what is wrong with its error, "" if nothing."""
    args, kwargs = arguments(rng, function)
    try:
        if not binds(function, args, kwargs):
            return refuses(name, function, args, kwargs)
        result = function(*args, **kwargs)
        if getattr(type(result), "forward", ac.nn.Module.forward) not in MISSING:
            more, words = arguments(rng, result.forward)
            args, kwargs = [*args, "then", *more], {**kwargs, **words}
            if not binds(result.forward, more, words):
                return refuses(f"{name}.forward", result, more, words)
            result(*more, **words)
    except AutocalcError as error:
        return "" if str(error).strip() else f"{name}: an error without a text"
    except MemoryError:
        return ""
    except Exception as error:
        words = [*map(described, args)]
        words += [f"{key}={described(value)}" for key, value in kwargs.items()]
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{last.filename.rpartition('autocalc/')[2]}:{last.lineno}"
        return (
            f"{name}({', '.join(words)}): {type(error).__name__} from {where}: {error}"
        )
    return ""


@pytest.mark.parametrize("count", CALLS)
def test_bad_input_gives_an_autocalc_error_or_a_result(count):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [
            attempt(name, function, random.Random(seed))
            for name, function, seed in cases(count)
        ]
    wrong = [text for text in found if text]
    assert not wrong, "\n".join(wrong)


def test_all_that_is_public_is_called():
    groups = [name.partition(".")[0] for name in TARGETS]
    least = {"ac": 150, "linalg": 15, "F": 60, "Tensor": 250, "nn": 60, "optim": 7}
    least |= {"init": 25, "utils": 8, "autograd": 8, "functional": 6, "lr": 14}
    for group, count in least.items():
        assert groups.count(group) >= count, group


@pytest.mark.parametrize("value", [NAN, INF, -INF, 1e30])
def test_what_is_no_integer_becomes_none(value):
    for make in (
        lambda: ac.tensor([value], dtype=ac.int64),
        lambda: ac.tensor([[1, value]], dtype=ac.int32),
        lambda: ac.full((2,), value, dtype=ac.int64),
        lambda: ac.zeros(2, dtype=ac.int64).fill_(value),
        lambda: ac.tensor(np.float64(value).item(), dtype=ac.uint8),
    ):
        with pytest.raises(ArgumentError, match=re.escape(f"the number {value} ")):
            make()
