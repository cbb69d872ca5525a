# SPDX-License-Identifier: MIT
"""The operators on complex tensors, against PyTorch's database of operators.

Each operator that takes complex numbers there and exists here runs some samples of
complex64 and complex128: values, dtypes, shapes and gradients agree, or the operator
stands in `REFUSED` and raises a clear error.
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
REFUSED: set[str] = set()

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
        kinds = entry.supported_dtypes("cpu")
        if not {torch.complex64, torch.complex128} & set(kinds):
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
    for dtype in dtypes:
        if not entry.supports_dtype(dtype, "cpu"):
            continue
        grad = kind == "differentiable" and entry.supports_autograd
        close = tolerance(entry, dtype)
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
