# SPDX-License-Identifier: MIT
"""Work that is cut for many threads has the bits that it has on one."""

import numpy as np
import pytest
from tests.dispatcher import thread_budget, threads
from tests.engine import native

import autocalc as ac
from autocalc.nn import functional as F

THREADS = (1, 2, 3, 5, 8, 16, 64)


@pytest.fixture
def on_threads():
    """Give what runs a function on a number of threads, whatever the processors."""
    before = thread_budget.chosen_budget()

    def run(count, work):
        threads.apply_budget(count)
        native.set_team_limit(count)
        return work()

    yield run
    native.set_team_limit(0)
    threads.apply_budget(before)


def _leaf(*shape):
    return ac.randn(*shape).requires_grad_()


def _gradients(out, *leaves):
    weights = ac.arange(out.numel(), dtype=ac.float32).reshape(out.shape) % 7 - 3
    out.backward(weights)
    return [out.detach(), *(leaf.grad for leaf in leaves)]


def product(m, n, k):
    return [ac.randn(m, k) @ ac.randn(k, n)]


def transposed_product(m, n, k):
    return [ac.randn(m, k) @ ac.randn(n, k).mT]


def linear(rows, ins, outs):
    x, weight, bias = _leaf(rows, ins), _leaf(outs, ins), _leaf(outs)
    return _gradients(F.linear(x, weight, bias), x, weight, bias)


def convolution(x_shape, weight_shape, stride, groups, last):
    x, weight = _leaf(*x_shape), _leaf(*weight_shape)
    given = x.contiguous(memory_format=ac.channels_last) if last else x
    out = F.conv2d(given, weight, stride=stride, padding=1, groups=groups)
    return _gradients(out, x, weight)


def embedding(rows, width, count):
    weight = _leaf(rows, width)
    return _gradients(F.embedding(ac.randint(0, rows, (count,)), weight), weight)


def layer_norm(rows, width):
    x, weight, bias = _leaf(rows, width), _leaf(width), _leaf(width)
    return _gradients(F.layer_norm(x, (width,), weight, bias), x, weight, bias)


def column_sums(rows, width):
    return [ac.randn(rows, width).sum(dim=0), ac.randn(rows, width).var(dim=0)]


def attention(heads, queries, keys, causal):
    q, k, v = (_leaf(1, heads, n, 32) for n in (queries, keys, keys))
    out = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    return _gradients(out, q, k, v)


def lstm(steps, batch, features, hidden):
    layer = ac.nn.LSTM(features, hidden)
    x = _leaf(steps, batch, features)
    out, _ = layer(x)
    return _gradients(out, x, *layer.parameters())


CASES = {
    "wide product": (product, 3, 9000, 200),
    "product of few rows": (product, 96, 1500, 700),
    "tall product": (product, 3000, 70, 300),
    "large product": (product, 700, 900, 1300),
    "product of one row": (product, 1, 5000, 700),
    "swapped product": (transposed_product, 90, 2000, 300),
    "product along k": (transposed_product, 3, 2000, 900),
    "linear": (linear, 300, 400, 500),
    "conv": (convolution, (2, 64, 20, 20), (48, 64, 3, 3), 1, 1, False),
    "conv of one image": (convolution, (1, 40, 30, 30), (24, 40, 3, 3), 1, 1, False),
    "strided conv": (convolution, (2, 32, 21, 21), (48, 32, 3, 3), 2, 1, False),
    "conv, channels last": (convolution, (2, 64, 20, 20), (48, 64, 3, 3), 1, 1, True),
    "conv of groups": (convolution, (2, 64, 16, 16), (64, 16, 3, 3), 1, 4, True),
    "depthwise conv": (convolution, (2, 96, 16, 16), (96, 1, 3, 3), 1, 96, False),
    "narrow embedding": (embedding, 50, 40, 3000),
    "embedding": (embedding, 50, 128, 3000),
    "wide embedding": (embedding, 50, 300, 1000),
    "layer norm": (layer_norm, 2500, 100),
    "wide layer norm": (layer_norm, 900, 800),
    "column sums": (column_sums, 5000, 100),
    "long attention": (attention, 2, 300, 1100, False),
    "causal attention": (attention, 3, 600, 600, True),
    "lstm": (lstm, 6, 40, 70, 150),
}


@pytest.mark.parametrize("name", CASES)
def test_same_bits(on_threads, name):
    make, *sizes = CASES[name]

    def work():
        ac.manual_seed(3)
        return [np.asarray(x.detach().numpy()).tobytes() for x in make(*sizes)]

    seen = [on_threads(threads, work) for threads in THREADS]
    wrong = [n for n, bits in zip(THREADS, seen, strict=True) if bits != seen[0]]
    assert not wrong


def test_parts_without_memory_of_their_own_are_recorded(on_threads):
    """A recorded job's parts are those of as many threads, one after another."""

    def work():
        return product(64, 64 * 40, 200)

    expected = on_threads(1, lambda: (ac.manual_seed(0), work())[1])
    try:
        native.record_jobs(16)
        ac.manual_seed(0)
        out = work()
        records = native.job_records()
    finally:
        native.record_jobs(0)
    assert out[0].numpy().tobytes() == expected[0].numpy().tobytes()
    tasks, parts, passed = max(records, key=lambda record: record[0])
    assert tasks >= 16
    assert len(parts) == 16
    assert 0 < max(parts) < sum(parts) < passed
    native.record_jobs(16)
    assert native.job_records() == []
    native.record_jobs(0)
