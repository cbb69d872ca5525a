# SPDX-License-Identifier: MIT
"""float16 and bfloat16: the operators of PyTorch's database, by their exact results.

Every sample that PyTorch takes is taken, with results of the same dtypes and shapes.
PyTorch computes values and gradients in float64; what AutoCalc makes of them in half
precision may be off by a few roundings of the largest element, since an operator may be
made of several that round.
"""

from __future__ import annotations

import functools
import warnings
import zlib

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")
pytest.importorskip("expecttest", reason="PyTorch's database imports it")

from tests.operators.both import (  # noqa: E402
    Result,
    Skipped,
    flat,
    handed_over,
    leaves_of,
    ours,
    spread,
    taken_over,
    theirs,
)
from tests.operators.test_against_database import (  # noqa: E402
    ARRANGED,
    KIND,
    TENSOR_FIRST,
    database,
    find,
)

import autocalc as ac  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::UserWarning"),  # of deprecated calls
]

DTYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16}
HALVES = frozenset(DTYPES.values())
ROUNDINGS = 8
#: Of each operator and dtype.
MOST_SAMPLES = 8

#: Gradients that are made of the rounded result, as those of PyTorch's flash kernel:
#: where terms cancel they are off by as much, 15.6 roundings in one of the samples.
OF_RESULTS = {"nn.functional.scaled_dot_product_attention": 16}

#: What PyTorch's `assert_close` allows beyond it, of all dtypes.
ATOL = 1e-5

#: What has no error that rounding would bound: kinds and shapes alone are compared.
JUMPS = {
    **dict.fromkeys(
        ("mode", "sort", "topk"), "which of equal elements has the gradient"
    )
}


def converted(x, dtype):
    """Return a sample with its tensors of halves in another dtype, as leaves."""
    if isinstance(x, torch.Tensor):
        half = x.dtype in HALVES
        made = x.detach().to(dtype) if half else x.detach()
        return made.requires_grad_(x.requires_grad)
    if isinstance(x, torch.dtype):
        return dtype if x in HALVES else x
    if isinstance(x, (tuple, list)) and not isinstance(x, torch.Size):
        return type(x)(converted(one, dtype) for one in x)
    if isinstance(x, dict):
        return {key: converted(value, dtype) for key, value in x.items()}
    return x


def run(name, dtype):
    """Run an operator's samples through both libraries; return what came of it."""
    entry, result = database()[name], Result()
    function, method = find(entry)
    function = method if name in TENSOR_FIRST else ARRANGED.get(name, function)
    torch.manual_seed(zlib.crc32(name.encode()))
    learns = KIND[name] == "differentiable" and entry.supports_autograd
    learns = learns and dtype in entry.backward_dtypes
    samples = list(entry.sample_inputs("cpu", dtype, requires_grad=learns))
    for sample in spread(samples, MOST_SAMPLES):
        run_sample(entry, function, sample, result)
    return result


def run_sample(entry, function, sample, result):
    given, leaves = (sample.input, sample.args, sample.kwargs), []
    try:
        x, args, kwargs = ours(given, leaves)
    except Skipped as reason:
        result.skipped[str(reason)] += 1
        return
    where = f"{sample.summary()}"[:300]
    try:
        half = applied(entry, theirs(given))
    except Exception as error:
        result.skipped[f"PyTorch: {type(error).__name__}"] += 1
        return
    result.ran += 1
    try:
        found = function(x, *args, **kwargs)
        alike(found, half)
        if KIND[entry.full_name] != "differentiable" or sample.kwargs.get("dropout_p"):
            return
        exact = converted(given, torch.float64)
        expected = applied(entry, exact)
        for mine, other in zip(flat(found), flat(expected), strict=True):
            near(mine, other)
    except Exception as error:
        result.forward.append(f"{where}: {type(error).__name__}: {error}"[:1500])
        return
    if not leaves or entry.full_name in JUMPS:
        return
    try:
        process = sample.output_process_fn_grad or (lambda x: x)
        results = (process(found), process(expected), process(half))
        roundings = OF_RESULTS.get(entry.full_name, ROUNDINGS)
        gradients(*results, leaves, leaves_of(exact), roundings)
    except Exception as error:
        result.gradient.append(f"{where}: {type(error).__name__}: {error}"[:1500])


def applied(entry, given):
    x, args, kwargs = given
    return entry.op(x, *args, **kwargs)


def alike(found, half):
    """Compare number, dtypes and shapes of results with PyTorch's."""
    found, half = flat(found), flat(half)
    assert len(found) == len(half), f"{len(found)} results, not {len(half)}"
    for mine, other in zip(found, half, strict=True):
        if isinstance(other, torch.Tensor):
            kind = str(other.dtype).removeprefix("torch.")
            assert mine.dtype.name == kind, f"dtype {mine.dtype.name}, not {kind}"
            assert mine.shape == tuple(other.shape), f"{mine.shape}, not {other.shape}"


def near(mine, other, roundings=ROUNDINGS):
    """Compare a result in half precision with the exact one."""
    if not isinstance(other, torch.Tensor) or not other.dtype.is_floating_point:
        return
    dtype = getattr(torch, mine.dtype.name)
    found = handed_over(mine).double().numpy()
    wanted = other.detach().resolve_neg().to(dtype).double().numpy()
    finite = np.isfinite(wanted)
    if finite.any():
        size = max(np.abs(wanted[finite]).max(), torch.finfo(dtype).smallest_normal)
        off = np.abs(found[finite] - wanted[finite]).max()
        eps = max(torch.finfo(dtype).eps, torch.finfo(torch.float16).eps)
        room = roundings * eps * size + ATOL
        assert off <= room, f"off by {off / eps / size:.1f} roundings of {size}"


def gradients(found, expected, half, leaves, exact, roundings=ROUNDINGS):
    """Compare gradients with the exact ones; each result has a cotangent of its own."""
    pairs = [
        (a, b)
        for a, b, c in zip(flat(found), flat(expected), flat(half), strict=True)
        if isinstance(b, torch.Tensor) and b.requires_grad and c.requires_grad
    ]
    if not pairs:
        return
    rng, dtype = np.random.default_rng(0), leaves[0][0].dtype
    given = [torch.from_numpy(rng.normal(size=b.shape)).to(dtype) for _, b in pairs]
    ours_, theirs_ = zip(*pairs, strict=True)
    assert all(a.requires_grad for a in ours_), "a result has no history"
    wanted = torch.autograd.grad(
        theirs_,
        [x for x in exact if x.requires_grad],
        [g.to(b.dtype) for g, b in zip(given, theirs_, strict=True)],
        allow_unused=True,
    )
    mine = ac.autograd.grad(
        ours_,
        [x for _, x in leaves],
        [taken_over(g).to(a.dtype) for g, a in zip(given, ours_, strict=True)],
        allow_unused=True,
    )
    for a, b, (x, _) in zip(mine, wanted, leaves, strict=True):
        if a is None:
            assert b is None or not b.any(), "no gradient"
        elif b is not None:
            assert a.dtype.name == str(x.dtype).removeprefix("torch.")
            assert a.shape == tuple(x.shape)
            near(a, b, roundings)
        else:
            assert not a.any().item(), "a gradient"


@functools.cache
def result_of(name, dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run(name, DTYPES[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", sorted(KIND))
def test_operator(name, dtype):
    if not database()[name].supports_dtype(DTYPES[dtype], "cpu"):
        pytest.skip("PyTorch has none in this dtype")
    result = result_of(name, dtype)
    assert result.ran, f"no sample of {name} ran: {result.skipped}"
    assert not result.forward, "\n".join(result.forward)
    assert not result.gradient, "\n".join(result.gradient)
