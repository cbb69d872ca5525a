# SPDX-License-Identifier: MIT
"""Every kernel of the package gives the same bits for any number of threads."""

import numpy as np
import pytest
from tests.kernel_table import TABLE, Make, Meta
from tests.simd.sets import loader, plugin

NAMES = sorted(
    set().union(
        *(loader.load(isa.name) for isa in plugin._ISAS if loader.cpu_runs(isa.name))
    )
)


#: More than there are processors, too: they take turns.
THREADS = (1, 2, 3, 5, 8, 16, 64)


def _meta(operand):
    if operand is None:
        return None
    if isinstance(operand, (list, tuple)):
        return tuple(map(_meta, operand))
    return Meta(operand.shape, operand.dtype)


def _copies(operand):
    if isinstance(operand, (list, tuple)):
        return [a.copy() for a in operand]
    return operand.copy()


def _outputs(spec, sample, inputs, attributes, dtype):
    free = {"shape": sample.shape, "dtype": dtype} if spec.free else {}
    rule_attributes = attributes[:-1] if spec.accumulates else attributes
    metas = spec.rule(*map(_meta, inputs), *rule_attributes, **free)
    metas = (metas,) if isinstance(metas, Meta) else metas
    return [
        None
        if meta is None or (operand.optional and not sample.want >> i & 1)
        else np.zeros(meta.shape, meta.dtype)
        for i, (operand, meta) in enumerate(zip(spec.outputs, metas, strict=True))
    ]


def _bits(outputs):
    arrays = [a for o in outputs for a in (o if isinstance(o, list) else [o])]
    return [None if a is None else a.tobytes() for a in arrays]


def _large(spec, dtype):
    return [s for s in spec.samples(Make(dtype)) if s.label.startswith("large")]


@pytest.mark.parametrize("name", NAMES)
def test_same_bits(kernels, set_team, name):
    if name not in kernels:
        pytest.skip("not a kernel of this set")
    spec = TABLE[name]
    dtype = np.dtype(spec.dtypes[0])
    samples = _large(spec, dtype)
    assert samples, f"{name} has no sample that is large enough for threads"
    for sample in samples:
        in_out, inputs = (
            sample.inputs[: len(spec.writes)],
            sample.inputs[len(spec.writes) :],
        )
        attributes = (*sample.attributes, 0) if spec.accumulates else sample.attributes
        seen = []
        for threads in THREADS:
            set_team(threads)
            outputs = (
                [_copies(o) for o in in_out]
                if spec.writes
                else _outputs(spec, sample, inputs, attributes, dtype)
            )
            kernels[name](*outputs, *inputs, *attributes)
            seen.append(_bits(outputs))
        assert all(bits == seen[0] for bits in seen), sample.label
