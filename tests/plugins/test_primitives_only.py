# SPDX-License-Identifier: MIT
"""A backend of primitives alone: right, and enough to train."""

from __future__ import annotations

import pytest

from autocalc._kernels.table import TABLE

pytestmark = pytest.mark.core

TRAIN = """
import json, sys
import autocalc as ac

def train(optimizer, compiled=False, **options):
    ac.manual_seed(0)
    model = ac.nn.Sequential(
        ac.nn.Linear(64, 32), ac.nn.ReLU(), ac.nn.Dropout(0.1), ac.nn.Linear(32, 10)
    )
    step = getattr(ac.optim, optimizer)(model.parameters(), **options)
    digits = ac.data.Digits(train=True)
    images = ac.stack([ac.as_tensor(digits[i][0]).reshape(-1) for i in range(256)])
    target = ac.tensor([int(digits[i][1]) for i in range(256)])
    def one_step(images, target):
        step.zero_grad()
        loss = ac.nn.functional.cross_entropy(model(images), target)
        loss.backward()
        step.step()
        return loss
    if compiled:
        one_step = ac.compile(one_step)
    losses = [one_step(images, target).item() for _ in range(12)]
    if compiled:
        (program,) = one_step.programs
        assert {i.chosen for i in program.instructions} <= {name, ""}
    return losses

RUNS = [
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 1e-4}),
    ("AdamW", {"lr": 0.01}),
]
results = {}
for name in ("primitives-only", "reference"):
    with ac.kernels.use(name, only=True), ac.kernels.count() as calls:
        results[name] = [train(optimizer, **options) for optimizer, options in RUNS]
    with ac.kernels.use(name, only=True):
        results[name + " compiled"] = [
            train(optimizer, compiled=True, **options) for optimizer, options in RUNS
        ]
    sets = {}
    for (kernel, kernel_set), times in calls.items():
        sets[kernel_set] = sets.get(kernel_set, 0) + times
    results[name + " calls"] = sets
    results[name + " kernels"] = sorted({kernel for kernel, _ in calls})
print(json.dumps(results))
"""

_seen = {}


@pytest.fixture
def seen(install, python):
    if not _seen:
        _seen.update(python(TRAIN, install("primitives-only")))
    return _seen


def test_a_model_trains_without_one_call_of_the_reference(seen):
    calls = seen["primitives-only calls"]
    assert set(calls) == {"primitives-only"}
    assert calls["primitives-only"] > 1000
    assert "gemm" in seen["primitives-only kernels"]
    assert "linear" not in seen["primitives-only kernels"]
    for losses in seen["primitives-only"]:
        assert losses[-1] < 0.9 * losses[0]


def test_the_losses_are_those_of_the_reference(seen):
    for mine, reference in zip(seen["primitives-only"], seen["reference"], strict=True):
        assert mine == pytest.approx(reference, rel=1e-4)


def test_a_compiled_step_replays_primitives_alone(seen):
    compiled, eager = seen["primitives-only compiled"], seen["primitives-only"]
    for mine, wanted in zip(compiled, eager, strict=True):
        assert mine == pytest.approx(wanted, rel=1e-5)


def test_every_composite_runs_on_primitives_alone(install, python):
    program = """
import json
import numpy as np
import autocalc as ac
from autocalc._dispatch.selection.arrays import arrays
from autocalc._kernels.samples import Make
from autocalc._kernels.table import PRIMITIVES, TABLE

ran = {}
for name, spec in TABLE.items():
    if spec.kind == "standalone":  # such kernels have a reference and nothing else
        continue
    sample = next(
        s for s in spec.samples(Make(spec.dtypes[0]))
        if s.label not in {"n=0", "0-d", "no parameters"}
    )
    free = {"shape": sample.shape, "dtype": spec.dtypes[0]} if spec.free else {}
    if any(output.optional for output in spec.outputs):
        free["want"] = sample.want
    with ac.kernels.use("primitives-only", only=True), ac.kernels.count() as calls:
        getattr(arrays, name)(*sample.inputs, *sample.attributes, **free)
    ran[name] = [kernel for kernel, _ in calls]
    assert {kernel_set for _, kernel_set in calls} == {"primitives-only"}, calls
    assert set(ran[name]) <= PRIMITIVES
print(json.dumps(ran))
"""
    ran = python(program, install("primitives-only"))
    assert set(ran) == {n for n, spec in TABLE.items() if spec.kind != "standalone"}
    assert all(ran.values())
    assert "erf" in ran["linear"] or "gemm" in ran["linear"]


@pytest.mark.slow
def test_it_conforms(install, conformance):
    folder = install("primitives-only")
    finished = conformance("primitives-only", folder, "-k", "float32 or int64 or bool")
    assert finished.returncode == 0, finished.stdout[-3000:]
    assert f"primitives-only: 29 of {len(TABLE)} kernels" in finished.stdout
    assert "gemm                 refused" in finished.stdout
