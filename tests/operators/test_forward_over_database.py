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
from torch.autograd import forward_ad as their_forward_ad  # noqa: E402

from tests.operators.both import (  # noqa: E402
    Skipped,
    flat,
    ours,
    spread,
    taken_over,
    theirs,
)
from tests.operators.test_against_database import (  # noqa: E402
    ARRANGED,
    LISTS,
    NOT_YET,
    TENSOR_FIRST,
    database,
    find,
)

pytestmark = [pytest.mark.torch, pytest.mark.slow]

#: The samples of each operator.  With AUTOCALC_ALL_SAMPLES=1, all of them run.
MOST = 10_000 if os.environ.get("AUTOCALC_ALL_SAMPLES") else 2

#: Of every so many operators, one is checked by `gradcheck`.
CHECKED = 1 if os.environ.get("AUTOCALC_ALL_SAMPLES") else 12

#: PyTorch's forward derivative is not the derivative at these points.
THEIRS_DIFFER: set[str] = set()

#: Functions that draw random numbers, or whose derivative is that of another function.
RANDOM = {"nn.functional.dropout", "nn.functional.rrelu"}

#: Differences are larger than the tolerance where products overflow or cancel.
LOOSE: dict[str, float] = {}


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


def tangents_of(leaves, seed):
    rng = np.random.default_rng(seed)
    return [torch.from_numpy(rng.standard_normal(tuple(x.shape))) for x, _ in leaves]


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


def names():
    return sorted(set(LISTS["differentiable"]) - NOT_YET)


@pytest.mark.parametrize("name", names())
def test_forward_derivatives_are_those_of_pytorch(name):
    entry = database()[name]
    if not entry.supports_forward_ad or not entry.supports_dtype(torch.float64, "cpu"):
        pytest.skip("PyTorch has no forward derivative in float64")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample, mine, leaves in samples_of(name):
            tangents = tangents_of(leaves, 0)
            try:
                expected = their_slopes(entry, sample, leaves, tangents)
            except (RuntimeError, NotImplementedError):
                continue
            found = our_slopes(name, sample, mine, leaves, tangents)
            room = LOOSE.get(name, 1e-9)
            assert len(found) == len(expected)
            for a, b in zip(found, expected, strict=True):
                np.testing.assert_allclose(a, b, rtol=room, atol=room)
