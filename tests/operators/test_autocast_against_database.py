# SPDX-License-Identifier: MIT
"""The dtypes of results under `autocast`, as PyTorch's database of operators has them.

Each operator runs samples of float32, and the same in bfloat16, through both libraries.
"""

from __future__ import annotations

import warnings

import pytest

import autocalc as ac

torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")

from tests.operators.both import Skipped, flat, ours, spread  # noqa: E402
from tests.operators.test_against_database import (  # noqa: E402
    ARRANGED,
    KIND,
    TENSOR_FIRST,
    database,
    find,
)

pytestmark = pytest.mark.torch

#: Results that differ, and why.
OTHERWISE = {
    **dict.fromkeys(
        ("linalg.pinv.hermitian", "linalg.pinv.singular", "linalg.pinv"),
        "PyTorch decomposes, and multiplies in bfloat16; here all of it is float32",
    ),
    **dict.fromkeys(
        ("pca_lowrank", "svd_lowrank"),
        "a decomposition of products in bfloat16; here all of it is float32",
    ),
    "nn.functional.interpolate.area": "PyTorch's of volumes is a pooling in float32",
}

NAMES = sorted(KIND.keys() - OTHERWISE.keys())


def to_bfloat16(x):
    """Return a sample with its tensors of float32 in bfloat16."""
    if isinstance(x, torch.Tensor):
        return x.detach().bfloat16() if x.dtype is torch.float32 else x
    if isinstance(x, (tuple, list)) and not isinstance(x, torch.Size):
        return type(x)(to_bfloat16(one) for one in x)
    if isinstance(x, dict):
        return {key: to_bfloat16(value) for key, value in x.items()}
    return x


def dtypes(results):
    found = (x.dtype for x in flat(results) if hasattr(x, "dtype"))
    return [str(dtype).partition(".")[2] for dtype in found]


@pytest.mark.parametrize("convert", [lambda x: x, to_bfloat16], ids=["float32", "half"])
@pytest.mark.parametrize("name", NAMES)
def test_operator(name, convert):
    entry = database()[name]
    if not entry.supports_dtype(torch.float32, "cpu"):
        pytest.skip("PyTorch has none in this dtype")
    function, method = find(entry)
    function = method if name in TENSOR_FIRST else ARRANGED.get(name, function)
    ran = 0
    for sample in spread(list(entry.sample_inputs("cpu", torch.float32)), 3):
        given = convert((sample.input, sample.args, sample.kwargs))
        try:
            x, args, kwargs = ours(given, [])
        except Skipped:
            continue
        other, other_args, other_kwargs = given
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                with torch.autocast("cpu"):
                    expected = entry.op(other, *other_args, **other_kwargs)
            except (RuntimeError, NotImplementedError, TypeError):
                continue  # it has no kernel for the dtype
            with ac.autocast("cpu"):
                found = function(x, *args, **kwargs)
        assert dtypes(found) == dtypes(expected), given
        ran += 1
    if not ran:
        pytest.skip("PyTorch takes no sample")
