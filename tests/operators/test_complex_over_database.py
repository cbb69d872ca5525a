# SPDX-License-Identifier: MIT
"""The operators on complex tensors, against PyTorch's database of operators.

Each operator that takes complex numbers there and exists here runs some samples of
complex64 and complex128: values, dtypes, shapes and gradients agree, or `REFUSED`
has the operator, and it raises a clear error.
"""

from __future__ import annotations

import functools
import warnings
import zlib

import pytest

import autocalc as ac

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest", reason="PyTorch's database imports it")
from tests.operators.both import COMPLEX_TOLERANCE, Result, spread, tolerance  # noqa: E402  it imports PyTorch
from tests.operators.test_against_database import (  # noqa: E402
    ARRANGED,
    KIND,
    TENSOR_FIRST,
    database,
    find,
    run_sample,
)

pytestmark = [pytest.mark.torch, pytest.mark.slow]

#: Operators that refuse complex numbers here, with an error of their own.
REFUSED = {
    *("linalg.ldl_factor", "linalg.ldl_factor_ex", "linalg.ldl_solve"),
    *("logaddexp", "logcumsumexp", "nn.functional.rms_norm"),
}

#: Operators outside of `wanted.txt`, most of which have only complex samples.
COMPLEX_ALONE = {
    *("angle", "complex", "conj", "conj_physical", "fft.fft", "fft.fft2"),
    *("fft.fftn", "fft.fftshift", "fft.hfft", "fft.hfft2", "fft.hfftn", "fft.ifft"),
    *("fft.ifft2", "fft.ifftn", "fft.ifftshift", "fft.ihfft", "fft.ihfft2"),
    *("fft.ihfftn", "fft.irfft", "fft.irfft2", "fft.irfftn", "fft.rfft", "fft.rfft2"),
    *("fft.rfftn", "imag", "isreal", "istft", "linalg.eig", "linalg.eigvals", "polar"),
    *("real", "resolve_conj", "sgn", "stft", "view_as_complex", "view_as_real"),
}

#: Operators whose samples fail here for real numbers, too: results that are not
#: defined, other arguments, or gradients that PyTorch defines in another way.
NOT_COMPARED = {
    *("as_strided.partial_views", "as_strided_scatter", "cholesky_inverse"),
    *("cholesky_solve", "empty_permuted", "empty_strided", "gradient"),
    *("new_empty_strided", "nn.functional.triplet_margin_with_distance_loss"),
    *("pca_lowrank", "resize_as_", "svd_lowrank"),
}

MOST_SAMPLES = 2


@functools.cache
def names():
    """Return the entries with complex samples whose function exists here."""
    found = []
    for name, entry in database().items():
        kinds = set(entry.supported_dtypes("cpu"))
        if kinds.isdisjoint(COMPLEX_TOLERANCE) and name not in COMPLEX_ALONE:
            continue
        if find(entry) != (None, None) and name not in NOT_COMPARED:
            found.append(name)
    return found


def run(name, most=MOST_SAMPLES, dtypes=tuple(COMPLEX_TOLERANCE)):
    """Run an operator's complex samples through both libraries."""
    entry, result = database()[name], Result()
    kind = KIND.get(name, "differentiable")
    function, method = find(entry)
    if name in ARRANGED and function is not None:
        function = ARRANGED[name]
    if name in TENSOR_FIRST or isinstance(function, ac.DType):
        function = method
    for wanted in dtypes:
        dtype = wanted
        if not entry.supports_dtype(dtype, "cpu"):
            if name not in COMPLEX_ALONE:
                continue
            dtype = wanted.to_real()
        grad = kind == "differentiable" and entry.supports_autograd
        close = tolerance(entry, dtype)
        if (
            dtype.to_real() is torch.float32
        ):  # PyTorch's own is that far off from complex128
            close["rtol"], close["atol"] = 2e-5, max(close["atol"], 1e-4)
        samples = entry.sample_inputs("cpu", dtype, requires_grad=grad)
        own = kind if grad else "plain" if kind == "differentiable" else kind
        for i, sample in enumerate(spread(list(samples), most)):
            both = function or method, method
            run_sample(entry, own, both, sample, close, i, result)
    return result


@functools.cache
def result_of(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(zlib.crc32(name.encode()))
        return run(name)


@pytest.mark.parametrize("name", sorted(KIND.keys() | COMPLEX_ALONE | REFUSED))
def test_operator(name):
    entry = database()[name]
    if name not in names():
        pytest.skip("it takes no complex numbers, or its samples are not compared")
    result = result_of(name)
    if name in REFUSED:
        assert all("DTypeError" in text for text in result.forward)
        assert result.forward, f"{name} takes complex numbers: take it out of REFUSED"
        return
    assert result.ran, f"no sample of {entry.full_name} ran: {result.skipped}"
    assert not result.forward, "\n".join(result.forward)
    assert not result.gradient, "\n".join(result.gradient)


def test_report(capsys):
    """Print the counts; what fails does so in the tests above."""
    tried = KIND.keys() | COMPLEX_ALONE | REFUSED
    ran = [name for name in names() if name in tried]
    done = {name: result_of(name) for name in ran if name not in REFUSED}
    clean = [name for name, result in done.items() if result.clean]
    with capsys.disabled():
        print(f"\noperators with complex samples {len(ran)}, clean {len(clean)},")
        print(f"refused {len(REFUSED)}, not compared {len(NOT_COMPARED)}")
    assert set(ran) >= REFUSED
