# SPDX-License-Identifier: MIT
"""Recurrent layers beyond the samples: weights beyond L2, rows in several parts."""

import numpy as np
import pytest
from tests.kernel_table import TABLE, Sample
from tests.kernel_table import xp as numpy_xp
from tests.simd.products import FLOAT32, SETS

from autocalc.testing.conformance import Subject

#: Of a layer: gates, first states, and attributes before `reverse`.
LAYERS = {"rnn": (1, 1, ("tanh",)), "lstm": (4, 2, ()), "gru": (3, 1, ())}

STEPS, BATCH, FEATURES, HIDDEN = 2, 101, 180, 203


def weights(rng, gates):
    scale = np.float32(HIDDEN**-0.5)
    for shape in ((FEATURES,), (HIDDEN,), (), ()):
        yield rng.standard_normal((gates * HIDDEN, *shape), FLOAT32) * scale


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("layer", LAYERS)
def test_large_layers(name, layer):
    gates, states, attributes = LAYERS[layer]
    subject = Subject.named(name)
    rng = np.random.default_rng(gates)
    x = rng.standard_normal((BATCH, STEPS, FEATURES), FLOAT32).transpose(1, 0, 2)
    first = [rng.standard_normal((BATCH, HIDDEN), FLOAT32) for _ in range(states)]
    w = list(weights(rng, gates))
    inputs, attributes = (x, *w, *first), (*attributes, True)
    spec = TABLE[layer]
    sample = Sample("large", inputs, attributes, 0b1111 if layer == "lstm" else 0b11)
    subject.judge(spec, sample, FLOAT32, subject.run(spec, sample, FLOAT32))

    kept = spec.reference(numpy_xp, *inputs, *attributes)
    out, *kept = kept if isinstance(kept, tuple) else (kept,)
    g = rng.standard_normal(out.shape, FLOAT32)
    gc = (rng.standard_normal(first[0].shape, FLOAT32),) if layer == "lstm" else ()
    again = (g, *gc, x, *w[:2], out, *kept[-2 if gc else 0 :], *first)
    spec = TABLE[f"{layer}_backward"]
    sample = Sample("large", again, attributes, (1 << len(spec.outputs)) - 1)
    subject.judge(spec, sample, FLOAT32, subject.run(spec, sample, FLOAT32))


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("layer", LAYERS)
def test_inputs_multiplied_ahead(layer, reverse, batch):
    """Few rows of 101 steps: the inputs of 48 rows are multiplied together."""
    gates, states, attributes = LAYERS[layer]
    rng = np.random.default_rng(gates)
    steps, features, hidden = 101, 19, 45
    scale = np.float32(hidden**-0.5)
    shapes = ((gates * hidden, n) for n in (features, hidden))
    w = [rng.standard_normal(shape, FLOAT32) * scale for shape in shapes]
    bias = rng.standard_normal(gates * hidden, FLOAT32) * scale
    x = rng.standard_normal((steps, batch, features), FLOAT32)
    first = [rng.standard_normal((batch, hidden), FLOAT32) for _ in range(states)]
    inputs = (x, *w, bias, None, *first)
    wanted = 0b1111 if layer == "lstm" else 0b11
    sample = Sample("ahead", inputs, (*attributes, reverse), wanted)
    for subject in map(Subject.named, SETS):
        outs = subject.run(TABLE[layer], sample, FLOAT32)
        subject.judge(TABLE[layer], sample, FLOAT32, outs)
