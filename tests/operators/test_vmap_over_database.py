# SPDX-License-Identifier: MIT
"""`vmap` of the operators in PyTorch's database against a loop over the examples.

The samples of float64 run with each tensor batched alone, and with all of them batched.
Values, dtypes and shapes are those of the loop, and so are gradients.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import GradError, VmapError

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest", reason="PyTorch's database imports it")
from tests.operators.both import Skipped, ours, spread  # noqa: E402
from tests.operators.test_against_database import (  # noqa: E402
    ARRANGED,
    KIND,
    NOT_YET,
    TENSOR_FIRST,
    database,
    find,
)

from autocalc.utils._pytree import tree_flatten, tree_unflatten  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.slow]

EXAMPLES = 3

#: Functions that make tensors: there is nothing to batch.
WITHOUT_TENSORS = {
    *("arange", "empty", "eye", "full", "linspace", "logspace", "ones", "tril_indices"),
    *("triu_indices", "zeros"),
}

#: Functions that refuse at least one sample: the shape of their result depends on
#: values, they return numbers of Python, or they write into a tensor that is shared.
REFUSED = {
    *("allclose", "argwhere", "bincount", "equal", "histc", "histogram"),
    *("histogramdd", "index_put", "item", "masked_select", "narrow", "nonzero"),
    *("nn.functional.batch_norm", "nn.functional.ctc_loss"),
    *("nn.functional.embedding", "nn.functional.embedding_bag"),
    *("nn.functional.instance_norm", "nn.functional.one_hot"),
    *("repeat_interleave", "unique", "unique_consecutive"),
}

#: Results with undefined values.
UNDEFINED = {"empty_like", "new_empty"}


def function_of(name):
    """Return AutoCalc's function of an entry."""
    function, method = find(database()[name])
    if name in ARRANGED and function is not None:
        function = ARRANGED[name]
    return method if name in TENSOR_FIRST else function or method


def samples_of(name, most=3):
    """Yield the leaves and the structure of some samples."""
    entry = database()[name]
    kind = torch.float64 if entry.supports_dtype(torch.float64, "cpu") else torch.int64
    for sample in spread(list(entry.sample_inputs("cpu", kind)), most):
        if sample.kwargs.get("dropout_p"):
            continue
        try:
            given = ours((sample.input, sample.args, sample.kwargs), [])
        except Skipped:
            continue
        yield tree_flatten(given)


def varied(x, b):
    """Return the tensor of example `b`: other floats, the same integers."""
    return x * (1 - 0.03 * b) if x.is_floating_point() else x.clone()


def choices(leaves):
    """Return which leaves are batched: all, and each alone."""
    places = [i for i, x in enumerate(leaves) if isinstance(x, ac.Tensor)]
    alone = [[i] for i in places]
    return [places, *alone] if len(places) > 1 else alone


def check(name, leaves, spec, places):
    """Compare `vmap` with a loop, for leaves at these places."""
    function = function_of(name)

    def call(*tensors):
        parts = list(leaves)
        for i, x in zip(places, tensors, strict=True):
            parts[i] = x
        input, args, kwargs = tree_unflatten(parts, spec)
        found = function(input, *args, **kwargs)
        return [y for y in tree_flatten(found)[0] if isinstance(y, ac.Tensor)]

    examples = [[varied(leaves[i], b) for i in places] for b in range(EXAMPLES)]
    try:
        expected = [call(*[x.clone() for x in one]) for one in examples]
    except Exception:  # the sample does not allow other values
        return False
    stacked = [ac.stack(column) for column in zip(*examples, strict=True)]
    floats = [x.is_floating_point() for x in stacked]
    stacked = [x.requires_grad_(f) for x, f in zip(stacked, floats, strict=True)]
    mapped = ac.vmap(call, randomness="different")
    try:
        found = mapped(*stacked)
    except VmapError:
        if name in REFUSED:
            return True
        raise
    except GradError:  # one of the operands may not require a gradient
        found = mapped(*[x.detach() for x in stacked])
    if name in UNDEFINED:
        return True
    for y, rows in zip(found, zip(*expected, strict=True), strict=True):
        alike(y, ac.stack(rows))
    check_gradient(call, examples, stacked, found)
    return True


def alike(found, expected):
    assert found.dtype is expected.dtype
    assert found.shape == expected.shape
    a, b = found.detach().numpy(), expected.detach().numpy()
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def check_gradient(call, examples, stacked, found):
    """Compare the gradient of the sum of all results."""
    ends = [y.sum() for y in found if y.requires_grad]
    wanted = [i for i, x in enumerate(stacked) if x.requires_grad]
    if not ends:
        return
    inputs = [stacked[i] for i in wanted]
    try:
        expected = [gradients_of(call, one, wanted) for one in examples]
    except GradError:  # the operator has no derivative
        return
    gradients = ac.autograd.grad(ends, inputs, materialize_grads=True)
    for b, rows in enumerate(expected):
        for g, row in zip(gradients, rows, strict=True):
            np.testing.assert_allclose(g[b].numpy(), row.numpy(), rtol=1e-7, atol=1e-8)


def gradients_of(call, example, wanted):
    mine = [x.detach().requires_grad_(x.is_floating_point()) for x in example]
    sums = [y.sum() for y in call(*mine) if y.requires_grad]
    return ac.autograd.grad(sums, [mine[i] for i in wanted], materialize_grads=True)


@pytest.mark.parametrize(
    "name",
    sorted(
        name
        for name, kind in KIND.items()
        if kind in {"differentiable", "plain"} and name not in NOT_YET
    ),
)
def test_vmap_equals_a_loop(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ran = [
            check(name, leaves, spec, places)
            for leaves, spec in samples_of(name)
            for places in choices(leaves)
        ]
    assert any(ran) or name in WITHOUT_TENSORS
