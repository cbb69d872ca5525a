# SPDX-License-Identifier: MIT
"""Attention over several blocks of queries and of keys, and of a few queries."""

import numpy as np
import pytest
from tests.kernel_table import TABLE, Sample
from tests.kernel_table import xp as numpy_xp
from tests.simd.products import FLOAT32, SETS

from autocalc.testing.conformance import Subject

#: Queries, keys: more than two blocks of each, blocks that see nothing; a few queries.
LENGTHS = ((300, 600), (600, 300), (1, 700), (2, 37), (3, 5), (4, 600), (4, 2))


def operands(rng, queries, keys, masked, drops):
    """Two heads of queries for one of keys; scores whose maximum rises on the way."""
    q, k, v = (
        rng.standard_normal(shape, FLOAT32)
        for shape in ((1, queries, 2, 20), (1, keys, 1, 20), (1, keys, 1, 24))
    )
    k *= np.linspace(0.1, 3, keys, dtype=np.float32)[:, None, None]
    mask = rng.random((1, 2, queries, keys)) < 0.6 if masked else None
    counter = (np.array(5), np.array(9)) if drops else (None, None)
    return q, k, v, mask, *counter


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize(
    ("causal", "masked", "p"),
    [("none", False, 0.0), ("lower_right", True, 0.0), ("upper_left", False, 0.25)],
)
def test_blocks_make_one_softmax(name, lengths, causal, masked, p):
    subject = Subject.named(name)
    rng = np.random.default_rng(sum(lengths))
    inputs = operands(rng, *lengths, masked, bool(p))
    attributes = (20**-0.5, causal, p)
    forward = Sample("long", inputs, attributes, 0b10)
    with np.errstate(all="ignore"):
        out, lse = TABLE["attention"].reference(numpy_xp, *inputs, *attributes)
    g = rng.standard_normal(out.shape, FLOAT32)
    again = (g, *inputs[:3], out, lse, *inputs[3:])
    for kernel, sample in (
        ("attention", forward),
        ("attention_backward", Sample("long", again, attributes, 0b111)),
    ):
        spec = TABLE[kernel]
        outs = subject.run(spec, sample, FLOAT32)
        subject.judge(spec, sample, FLOAT32, outs)
    # a few queries whose gradient nobody wants are not packed
    alone = forward._replace(want=0)
    spec = TABLE["attention"]
    subject.judge(spec, alone, FLOAT32, subject.run(spec, alone, FLOAT32))


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("queries", [1, 2, 3, 4, 5])
def test_elements_of_a_row_may_lie_apart(name, queries):
    subject = Subject.named(name)
    rng = np.random.default_rng(queries)
    q, k, v, *rest = operands(rng, queries, 50, False, False)
    apart = [np.repeat(x, 2, axis=3)[..., ::2] for x in (q, k, v)]
    sample = Sample("apart", (*apart, *rest), (20**-0.5, "none", 0.0))
    spec = TABLE["attention"]
    subject.judge(spec, sample, FLOAT32, subject.run(spec, sample, FLOAT32))
