# SPDX-License-Identifier: MIT
"""Each kernel on batched arrays against a loop over the kernel.

The operands are samples of the kernels' specs.  All operands are batched at once, and
each one alone.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from autocalc._batching import rules  # noqa: F401  registers the rules
from autocalc._dispatch.device.batches import Level, place_of_levels
from autocalc._dispatch.device.device import dtype_on
from autocalc._dispatch.device.levels import hidden, shown
from autocalc._dispatch.selection.arrays import arrays
from autocalc._kernels.samples import Make
from autocalc._kernels.table import TABLE

pytestmark = pytest.mark.core

EXAMPLES = 3

#: Samples with a larger operand are left out.
MOST_ELEMENTS = 20_000

#: Kernels that a loop over calls is no oracle for, with the reason.
LEFT_OUT = {
    "dropout": "each example draws its own numbers",
    "fill": "`arrays.full` calls it with a number of Python",
    "nonzero": "the shape of its result depends on values: vmap refuses it",
    "normal": "each example draws its own numbers",
    "signbit": "`arrays.signbit` is only called with a result that is given",
    "random_bits": "each example draws its own numbers",
    "true_places": "the shape of its result depends on values: vmap refuses it",
    "uniform": "each example draws its own numbers",
}

NAMES = sorted(
    name for name, spec in TABLE.items() if not spec.writes and name not in LEFT_OUT
)


def dtype_of(spec):
    """Return float64, or another dtype if the kernel does not compute in float64."""
    return max(spec.dtypes, key=lambda dtype: (dtype.kind == "f", dtype.itemsize))


def samples_of(spec, most):
    """Return some small samples, spread over all that the spec has."""
    found = [s for s in spec.samples(Make(dtype_of(spec))) if is_small(s.inputs)]
    return found[:: max(1, -(-len(found) // most))]


def is_small(inputs):
    flat = [x for x in inputs if x is not None and not isinstance(x, (list, tuple))]
    return all(x.size <= MOST_ELEMENTS for x in flat)


def choices(spec, inputs):
    """Return which operands are batched: all, and each alone.

    Examples share the seed and the offset of random numbers.
    """
    names = [operand.name for operand in spec.inputs]
    places = [
        i
        for i, x in enumerate(inputs)
        if x is not None and names[i] not in {"seed", "offset"}
    ]
    return [places, *[[i] for i in places]] if len(places) > 1 else [places]


def varied(x, b, elementwise=False):
    """Return the operand of example `b`: other numbers, but the same indices."""
    if isinstance(x, (list, tuple)):
        return [varied(one, b, elementwise) for one in x]
    if elementwise and x.dtype.kind in "iu":
        return x + x.dtype.type(b)
    return x * (1 - 0.05 * b) if x.dtype.kind == "f" and x.ndim else x


def stacked(columns, level):
    """Return the operands of all examples as a batched array, or a list of them."""
    if isinstance(columns[0], list):
        return [stacked(column, level) for column in zip(*columns, strict=True)]
    return hidden(np.stack(columns), level, 0)


def run(spec, inputs, sample, dtype):
    words = {"shape": sample.shape, "dtype": dtype} if spec.free else {}
    if any(output.optional for output in spec.outputs):
        words["want"] = (1 << len(spec.outputs)) - 1
    found = getattr(arrays, spec.name)(*inputs, *sample.attributes, **words)
    return found if isinstance(found, (tuple, list)) else (found,)


def check(spec, sample, places):
    """Compare a call on batched arrays with one call for each example."""
    examples = [
        [
            varied(x, b, spec.elementwise) if i in places else x
            for i, x in enumerate(sample.inputs)
        ]
        for b in range(EXAMPLES)
    ]
    dtype = dtype_of(spec)
    try:
        expected = [run(spec, one, sample, dtype) for one in examples]
    except Exception:  # the sample does not allow other values
        return False
    level = Level(EXAMPLES)
    given = [
        stacked([one[i] for one in examples], level) if i in places else x
        for i, x in enumerate(sample.inputs)
    ]
    found = run(spec, given, sample, dtype_on(place_of_levels((level,)), dtype))
    for result, rows in zip(found, zip(*expected, strict=True), strict=True):
        alike(result, rows, level)
    return True


def alike(found, rows, level):
    if isinstance(rows[0], (list, tuple)):
        for one, column in zip(found, zip(*rows, strict=True), strict=True):
            alike(one, column, level)
    elif rows[0] is None:
        assert found is None
    else:
        found, expected = np.asarray(shown(found, level, 0)), np.stack(rows)
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def ran(name, most):
    spec = TABLE[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            check(spec, sample, places)
            for sample in samples_of(spec, most)
            for places in choices(spec, sample.inputs)
        ]


@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_equals_a_loop(name):
    assert any(ran(name, most=3))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_equals_a_loop_for_many_samples(name):
    assert any(ran(name, most=40))


def test_no_kernel_is_left_out_without_a_reason():
    assert LEFT_OUT.keys() <= TABLE.keys()
