# SPDX-License-Identifier: MIT
"""ONNX's own examples of every operator: the right answer, or a clear refusal."""

from __future__ import annotations

import warnings

import ml_dtypes
import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import AutocalcError
from autocalc.onnx._load import READERS

onnx = pytest.importorskip(
    "onnx", reason="the extra autocalc-core[onnx] is not installed"
)

#: Examples whose answer is another one here.
OTHERWISE = {
    # The example counts the output as 2.4 pixels wide; ONNX Runtime leaves it out, too.
    "test_resize_downsample_scales_linear_align_corners"
}

TOLERANCES = {np.dtype(np.float16): 2e-3, np.dtype(ml_dtypes.bfloat16): 1.6e-2}


def examples():
    """Return ONNX's examples of the operators that AutoCalc reads, by operator."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some examples overflow on purpose
        from onnx.backend.test.case.node import collect_testcases

        every = collect_testcases(None)
    found = {}
    for one in every:
        names = {node.op_type for node in one.model.graph.node}
        if names <= {*READERS, "Constant"}:
            found.setdefault(min(names), []).append(one)
    return found


@pytest.fixture(scope="module")
def by_operator():
    return examples()


def outcome(example, path):
    """Return "right", "refused", or what is wrong with AutoCalc's answer."""
    onnx.save(example.model, path)
    names = [one.name for one in example.model.graph.input if one.name]
    for given, wanted in example.data_sets:
        try:
            arrays = {
                name: ac.from_numpy(np.array(one))
                for name, one in zip(names, given, strict=True)
            }
            found = ac.onnx.load(path)(**arrays)
        except AutocalcError:
            return "refused"
        found = found if isinstance(found, tuple) else (found,)
        for one, other in zip(found, wanted, strict=True):
            wrong = difference(one.detach().numpy(), np.asarray(other))
            if wrong:
                return wrong
    return "right"


def difference(found, wanted):
    if (found.dtype, found.shape) != (wanted.dtype, wanted.shape):
        return f"{found.dtype}{found.shape} for {wanted.dtype}{wanted.shape}"
    bound = TOLERANCES.get(wanted.dtype, 1e-4)
    found, wanted = found.astype(np.float64), wanted.astype(np.float64)
    if np.allclose(found, wanted, rtol=bound, atol=bound, equal_nan=True):
        return ""
    return f"{found} for {wanted}"


@pytest.mark.filterwarnings("ignore")  # of NumPy, about the examples' own casts
def test_each_example_is_right_or_refused(by_operator, tmp_path):
    outcomes = {
        one.name: outcome(one, tmp_path / "m.onnx")
        for several in by_operator.values()
        for one in several
        if one.name not in OTHERWISE
    }
    wrong = {n: o for n, o in outcomes.items() if o not in ("right", "refused")}
    assert not wrong
    assert sum(o == "right" for o in outcomes.values()) > 900


def test_each_operator_has_an_example_that_is_right(by_operator, tmp_path):
    never = {
        op
        for op, several in by_operator.items()
        if all(outcome(one, tmp_path / "m.onnx") != "right" for one in several)
    }
    old = {"And", "Not", "Or", "Xor"}  # examples of version 7 of the operators
    assert never == {*old, "GRU"}  # ONNX's GRU resets before the product by default
