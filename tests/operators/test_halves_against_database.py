# SPDX-License-Identifier: MIT
"""float16 and bfloat16: the operators of PyTorch's database, by their exact results.

PyTorch computes each sample in float64; what AutoCalc makes of it in half precision may
be off by a few roundings of the largest element, since an operator may be made of
several that round.
"""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")

from tests.operators.both import Skipped, flat, handed_over, ours, spread  # noqa: E402
from tests.operators.test_against_database import (  # noqa: E402
    ARRANGED,
    KIND,
    TENSOR_FIRST,
    database,
    find,
)

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::UserWarning"),  # of deprecated calls
]

ROUNDINGS = 8

#: What has no error that rounding would bound.
JUMPS = {
    **dict.fromkeys(
        ("argsort", "sort", "topk", "histc", "mode", "kthvalue", "median", "msort"),
        "places of equals, or counts between edges",
    ),
    **dict.fromkeys(
        ("__rmod__", "fmod", "remainder", "div.floor_rounding", "floor_divide"),
        "a quotient that is rounded to another integer",
    ),
    "nn.functional.soft_margin_loss": "PyTorch's samples overflow",
    "nn.functional.multilabel_soft_margin_loss": "a mean of terms that cancel",
}


def converted(x, dtype):
    """Return a sample with its tensors of half precision in another dtype."""
    if isinstance(x, torch.Tensor):
        x = x.detach()
        return x.to(dtype) if x.dtype in (torch.float16, torch.bfloat16) else x
    if isinstance(x, torch.dtype):
        return dtype if x in (torch.float16, torch.bfloat16) else x
    if isinstance(x, (tuple, list)) and not isinstance(x, torch.Size):
        return type(x)(converted(one, dtype) for one in x)
    if isinstance(x, dict):
        return {key: converted(value, dtype) for key, value in x.items()}
    return x


NAMES = sorted(
    name
    for name, kind in KIND.items()
    if kind == "differentiable" and name not in JUMPS
)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", NAMES)
def test_operator(name, dtype):
    entry, dtype = database()[name], getattr(torch, dtype)
    if not entry.supports_dtype(dtype, "cpu"):
        pytest.skip("PyTorch has none in this dtype")
    function, method = find(entry)
    function = method if name in TENSOR_FIRST else ARRANGED.get(name, function)
    ran = 0
    for sample in spread(list(entry.sample_inputs("cpu", dtype)), 2):
        given = (sample.input, sample.args, sample.kwargs)
        try:
            x, args, kwargs = ours(given, [])
        except Skipped:
            continue
        if kwargs.get("dropout_p") or kwargs.get("sparse"):
            continue
        other, other_args, other_kwargs = converted(given, torch.float64)
        expected = entry.op(other, *other_args, **other_kwargs)
        found = function(x, *args, **kwargs)
        for mine, theirs in zip(flat(found), flat(expected), strict=True):
            check(mine, theirs, dtype)
        ran += 1
    assert ran or entry.name == "zeros_like"


def check(mine, theirs, dtype):
    if not isinstance(theirs, torch.Tensor) or not theirs.dtype.is_floating_point:
        return
    assert mine.shape == tuple(theirs.shape)
    found = handed_over(mine).double().numpy()
    wanted = theirs.detach().resolve_neg().to(dtype).double().numpy()
    finite = np.isfinite(wanted)
    if finite.any():
        size = max(np.abs(wanted[finite]).max(), torch.finfo(dtype).smallest_normal)
        off = np.abs(found[finite] - wanted[finite]).max()
        assert off <= ROUNDINGS * torch.finfo(dtype).eps * size
