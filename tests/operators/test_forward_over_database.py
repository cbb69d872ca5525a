# SPDX-License-Identifier: MIT
"""Forward derivatives of the operators in PyTorch's database against PyTorch's own.

The samples of float64 run with a random tangent for all floating-point tensors.
"""

from __future__ import annotations

import os
import warnings
import zlib

import numpy as np
import pytest

import autocalc as ac
from autocalc.autograd import forward_ad

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest", reason="PyTorch's database imports it")
from tests.operators.both import Skipped, flat, ours, spread, taken_over  # noqa: E402
from tests.operators.test_against_database import (  # noqa: E402
    ARRANGED,
    LISTS,
    NOT_YET,
    TENSOR_FIRST,
    database,
    find,
)
from torch.autograd import forward_ad as their_forward_ad  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.slow]

#: With WHOLE_DATABASE=1, all operators run, and more samples of each.
WHOLE = bool(os.environ.get("WHOLE_DATABASE"))
MOST = 8 if WHOLE else 1

#: Otherwise each of so many operators runs, and fewer are checked by differences.
EVERY, CHECKED = (1, 1) if WHOLE else (9, 40)

#: Functions of symmetric matrices, which read one triangle: directions are symmetric.
SYMMETRIC = {"linalg.cholesky", "linalg.cholesky_ex", "cholesky"}

#: PyTorch's own forward derivatives are that much off: they divide by 6 in float32, or
#: add 1e-8 to a denominator.
LOOSE = {"nn.functional.hardsigmoid": 1e-7, "logcumsumexp": 1e-5}

#: Differences are of no use: results are rounded, or only symmetric inputs count.
UNCHECKED = {
    *("bfloat16", "float", "half", "linalg.cholesky", "linalg.cholesky_ex"),
    "linalg.pinv.hermitian",
}

#: Batched tangents of values that are not batched are refused: a write has no room.
NOT_BATCHED = {
    *("nn.functional.batch_norm", "nn.functional.instance_norm", "scatter"),
    *("scatter_add", "scatter_reduce.amax", "scatter_reduce.amin"),
    *("scatter_reduce.mean", "scatter_reduce.prod", "scatter_reduce.sum"),
}


def function_of(name):
    function, method = find(database()[name])
    if name in ARRANGED and function is not None:
        function = ARRANGED[name]
    return method if name in TENSOR_FIRST else function or method


def samples_of(name):
    """Yield PyTorch's samples and AutoCalc's, with the pairs of leaves."""
    entry = database()[name]
    torch.manual_seed(zlib.crc32(name.encode()))
    found = list(entry.sample_inputs("cpu", torch.float64, requires_grad=True))
    for sample in spread(found, MOST):
        if sample.kwargs.get("dropout_p"):
            continue
        leaves = []
        try:
            mine = ours((sample.input, sample.args, sample.kwargs), leaves)
        except Skipped:
            continue
        if leaves:
            yield sample, mine, leaves


def replaced(x, pairs):
    """Return a structure with other tensors in place of leaves, by identity."""
    for old, new in pairs:
        if x is old:
            return new
    if isinstance(x, (tuple, list)) and type(x) in (tuple, list):
        return type(x)(replaced(one, pairs) for one in x)
    if isinstance(x, dict):
        return {key: replaced(value, pairs) for key, value in x.items()}
    return x


def tangents_of(name, leaves):
    rng = np.random.default_rng(0)
    found = [torch.from_numpy(rng.standard_normal(tuple(x.shape))) for x, _ in leaves]
    return [t + t.mT for t in found] if name in SYMMETRIC else found


def their_slopes(entry, sample, leaves, tangents):
    """Return the tangents of PyTorch's results; zeros for None."""
    given = (sample.input, sample.args, sample.kwargs)
    with their_forward_ad.dual_level():
        pairs = [
            (x, their_forward_ad.make_dual(x.detach().clone(), t))
            for (x, _), t in zip(leaves, tangents, strict=True)
        ]
        input, args, kwargs = replaced(given, pairs)
        out = entry.op(input, *args, **kwargs)
        out = (sample.output_process_fn_grad or (lambda x: x))(out)
        parts = [their_forward_ad.unpack_dual(y) for y in floats(out, torch.Tensor)]
        return [
            (torch.zeros_like(p) if t is None else t).detach().numpy() for p, t in parts
        ]


def our_slopes(name, sample, mine, leaves, tangents):
    """Return the tangents of our results; zeros for None."""
    with forward_ad.dual_level():
        pairs = [
            (x, forward_ad.make_dual(x.detach().clone(), taken_over(t)))
            for (_, x), t in zip(leaves, tangents, strict=True)
        ]
        input, args, kwargs = replaced(mine, pairs)
        out = function_of(name)(input, *args, **kwargs)
        out = (sample.output_process_fn_grad or (lambda x: x))(out)
        parts = [forward_ad.unpack_dual(y) for y in floats(out, ac.Tensor)]
        return [
            (ac.zeros_like(p) if t is None else t).detach().numpy() for p, t in parts
        ]


def floats(out, kind):
    return [y for y in flat(out) if isinstance(y, kind) and y.dtype.is_floating_point]


NAMES = sorted(set(LISTS["differentiable"]) - NOT_YET)


@pytest.mark.parametrize("name", NAMES[::EVERY])
def test_forward_derivatives_are_those_of_pytorch(name):
    entry = database()[name]
    if not entry.supports_forward_ad or not entry.supports_dtype(torch.float64, "cpu"):
        pytest.skip("PyTorch has no forward derivative in float64")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample, mine, leaves in samples_of(name):
            tangents = tangents_of(name, leaves)
            try:
                expected = their_slopes(entry, sample, leaves, tangents)
            except (RuntimeError, NotImplementedError):
                continue
            found = our_slopes(name, sample, mine, leaves, tangents)
            room = LOOSE.get(name, 1e-9)
            assert len(found) == len(expected)
            for a, b in zip(found, expected, strict=True):
                np.testing.assert_allclose(a, b, rtol=room, atol=room)


@pytest.mark.parametrize("name", NAMES[::CHECKED])
def test_gradcheck_of_both_modes(name):
    """Compare tangents and batched gradients with differences."""
    entry = database()[name]
    if name in UNCHECKED or not entry.supports_dtype(torch.float64, "cpu"):
        pytest.skip("there is no derivative to compare with")
    modes = {"check_forward_ad": True, "check_batched_grad": True,
             "check_batched_forward_grad": name not in NOT_BATCHED,
             "check_undefined_grad": False}  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample, mine, leaves in samples_of(name):
            process = sample.output_process_fn_grad or (lambda x: x)

            def call(*tensors, mine=mine, leaves=leaves, process=process):
                places = zip(leaves, tensors, strict=True)
                pairs = [(old, new) for (_, old), new in places]
                input, args, kwargs = replaced(mine, pairs)
                out = process(function_of(name)(input, *args, **kwargs))
                return floats(out, ac.Tensor)

            inputs = [x for _, x in leaves]
            if not any(y.requires_grad for y in call(*inputs)):
                continue
            assert ac.autograd.gradcheck(call, inputs, fast_mode=True, **modes)
