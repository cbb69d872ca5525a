# SPDX-License-Identifier: MIT
"""Decompositions of composites as short programs, and in full."""

from __future__ import annotations

import numpy as np
import pytest
from tests.core.test_traced import OFTEN
from tests.dispatcher import PROCESS, Decomposed, arrays, decomposed, eager, provided
from tests.kernel_table import TABLE, Make
from tests.operator_table import traced_composites

import autocalc as ac

pytestmark = pytest.mark.skipif(eager.calls is None, reason="calls are Python's")

COMPOSITES = [
    name
    for name, spec in TABLE.items()
    if spec.decomposition is not None and not (spec.writes or spec.free)
]
EVERY = -1


def small(spec):
    """Return the first samples of a few elements in float32."""
    found = []
    for sample in spec.samples(Make(np.dtype(np.float32))):
        sizes = [x.size for x in sample.inputs if hasattr(x, "size")]
        if all(0 < size < 200 for size in sizes):
            found.append(sample)
        if len(found) == 4:
            break
    return found


def shuffled(x, rng):
    """Return an operand with its floats in another order; lists likewise."""
    if isinstance(x, (list, tuple)):
        return [shuffled(one, rng) for one in x]
    if getattr(x, "dtype", None) not in (np.float32, np.float64):
        return x
    return rng.permutation(x.ravel()).reshape(x.shape)


def described(results):
    """Return dtype, shape, strides and bytes of what a composite returned."""
    several = results if isinstance(results, tuple) else (results,)
    return [
        None if a is None else (a.dtype, a.shape, a.strides, a.tobytes())
        for a in several
    ]


@pytest.mark.parametrize("name", COMPOSITES)
def test_a_program_does_what_the_decomposition_does(name):
    spec, rng = TABLE[name], np.random.default_rng(0)
    compute = traced_composites.composite(spec)
    wanted = sum(1 << i for i in range(len(spec.outputs)))
    for sample in small(spec):
        for _ in range(OFTEN + 6):
            operands = [shuffled(x, rng) for x in sample.inputs]
            found = compute(operands, sample.attributes, wanted)
            expected = decomposed(spec, operands, sample.attributes, wanted)
            assert described(found) == described(expected), sample.label


def programs() -> int:
    return sum(program is not None for program in (PROCESS.remembered or {}).values())


def test_the_backward_pass_of_a_composite_runs_from_programs():
    pytest.importorskip("tests.simd.sets")  # the reference has `unfold`
    if PROCESS.remembered is not None:
        PROCESS.remembered = {}  # a full table would be emptied in a call
    x = ac.rand(1, 1, 4, 4, requires_grad=True)
    before = programs()
    for _ in range(OFTEN):
        ac.nn.functional.unfold(x, 2).sum().backward()
    assert programs() >= before + 2  # unfold, and fold in its gradient


def test_outputs_that_are_not_wanted_are_absent():
    spec = next(s for s in TABLE.values() if s.name in COMPOSITES and _optional(s))
    sample = small(spec)[0]
    mandatory = sum(1 << i for i, o in enumerate(spec.outputs) if not o.optional)
    compute = traced_composites.composite(spec)
    for _ in range(OFTEN):
        found = compute(sample.inputs, sample.attributes, mandatory)
        kept = [x is not None for x in found]
        assert kept == [not output.optional for output in spec.outputs]


def _optional(spec):
    return len(spec.outputs) > 1 and any(output.optional for output in spec.outputs)


def test_large_composites_are_run_in_full(monkeypatch):
    called = []
    spec = TABLE["unfold"]
    monkeypatch.setattr(
        provided, "short_program", lambda _: lambda *_: called.append(1)
    )
    attributes = (2, 2), (1, 1), (0, 0), (1, 1)
    few = np.ones((1, 1, 4, 4), "f4")
    many = np.ones((1, 1, 300, 300), "f4")
    assert Decomposed(spec).compute((few,), attributes, 1) is None
    assert Decomposed(spec).compute((many,), attributes, 1).shape == (1, 4, 299 * 299)
    assert called == [1]
    assert arrays is provided.arrays
