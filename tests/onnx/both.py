# SPDX-License-Identifier: MIT
"""A model, exported and run by three programs: AutoCalc's answer comes from each."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn

#: Of numbers near 1, over whole models.
TOLERANCE = 1e-5


def arrays_of(result):
    """Return the arrays of a result's tensors, in their order."""
    if isinstance(result, ac.Tensor):
        return [result.detach().numpy()]
    parts = result.values() if isinstance(result, dict) else result
    return [array for part in parts if part is not None for array in arrays_of(part)]


def expected(model, *args):
    """Return what the model answers in evaluation mode."""
    if isinstance(model, nn.Module):
        model.eval()
    with ac.no_grad():
        return arrays_of(model(*args))


def by_reference(path, args):
    """Return the answers of ONNX's reference evaluator."""
    reference = pytest.importorskip("onnx.reference", reason="onnx is not installed")
    evaluator = reference.ReferenceEvaluator(str(path))
    given = zip(evaluator.input_names, arrays_of(args), strict=True)
    return evaluator.run(None, dict(given))


def by_runtime(path, args):
    """Return the answers of ONNX Runtime."""
    runtime = pytest.importorskip("onnxruntime", reason="it is not installed")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    providers = ["CPUExecutionProvider"]
    session = runtime.InferenceSession(str(path), options, providers=providers)
    names = [one.name for one in session.get_inputs()]
    return session.run(None, dict(zip(names, arrays_of(args), strict=True)))


def by_load(path, args):
    """Return AutoCalc's answers, from the file."""
    with ac.no_grad():
        return arrays_of(ac.onnx.load(path)(*args))


def assert_close(found, wanted, tolerance=TOLERANCE):
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def check(path, model, *args, others=(), runs=(by_runtime, by_load), **words):
    """Export a model and compare all answers, for `args` and for `others`."""
    pytest.importorskip("onnx", reason="the extra autocalc-core[onnx] is not installed")
    ac.onnx.export(model, args, path, **words)
    for given in (args, *others):
        wanted = expected(model, *given)
        for run in runs:
            assert_close(run(path, given), wanted)
