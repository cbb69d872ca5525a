# SPDX-License-Identifier: MIT
"""The backend tests of the package `onnx`: the right answer, or refused at load.

A part of them runs here; ``python -m tools.onnx_tests`` runs all.
"""

from __future__ import annotations

import pkgutil

import numpy as np
import pytest

onnx = pytest.importorskip(
    "onnx", reason="the extra autocalc-core[onnx] is not installed"
)

from tools import onnx_tests  # noqa: E402

from autocalc.onnx._known import KNOWN  # noqa: E402
from autocalc.onnx._table import READERS  # noqa: E402

#: Modules of tests that take seconds to make.
SLOW = {"averagepool", "lppool", "maxpool"}

#: Each Nth test runs here.
EVERY = 4

#: The operators of version 28 and before that AutoCalc neither reads nor expands.
REFUSED = {
    "ImageDecoder", "RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit",
    "TfIdfVectorizer",
}  # fmt: skip

#: The dtypes for which a test may be refused.
KINDS = (
    "string", "uint2", "int2", "uint4", "int4", "uint16", "uint32", "uint64",
    "float4_e2m1fn", "float6", "float8_",
)  # fmt: skip

#: The domains of which AutoCalc reads no operators.
DOMAINS = ("ai.onnx.ml::", "ai.onnx.preview.training::")


def test_the_operators_that_are_refused():
    schemas = [
        one
        for one in onnx.defs.get_all_schemas()
        if not one.domain and one.since_version <= 28 and not one.deprecated
    ]
    bodies = {
        one.name
        for one in schemas
        if one.has_function or one.has_context_dependent_function
    }
    missing = {one.name for one in schemas} - {*READERS, "Constant"} - bodies
    known = {one.name for one in schemas}
    assert missing == REFUSED & known


@pytest.fixture(scope="module")
def cases():
    from onnx.backend.test.case import node

    names = [one.name for one in pkgutil.iter_modules(node.__path__)]
    return [
        case
        for name in names
        if name not in SLOW
        for case in onnx_tests.module_cases(name)
    ]


@pytest.fixture(scope="module")
def outcomes(cases):
    return onnx_tests.outcomes(cases[::EVERY])


def test_no_answer_is_wrong_and_no_call_raises(outcomes):
    bad = {
        name: one
        for name, one in outcomes.items()
        if one[0] in {"wrong", "raised"}
        and not (one[0] == "wrong" and name in onnx_tests.OTHERWISE)
    }
    assert not bad
    right = sum(one == "right" for one, _ in outcomes.values())
    assert right > 0.8 * len(outcomes)


def test_each_refusal_is_about_a_known_operator_or_dtype(outcomes):
    reasons = {n: why for n, (one, why) in outcomes.items() if one == "refused"}
    words = [*(f"{op} (" for op in REFUSED), *DOMAINS, *(f" {k}" for k in KINDS)]
    odd = {n: why for n, why in reasons.items() if not any(w in why for w in words)}
    assert not odd


def with_constants(case):
    """Return a test whose inputs are constants, so that the host computes it."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    ((given, wanted),) = case.pairs
    for info, array in zip(case.model.graph.input, given, strict=True):
        tensor = onnx.numpy_helper.from_array(np.asarray(array), info.name)
        model.graph.initializer.append(tensor)
    del model.graph.input[:]
    onnx.helper.set_model_props(model, {"autocalc_kinds": "{}"})  # no parameters
    return onnx_tests.Case(case.name, model, [([], wanted)])


def test_the_host_computes_as_the_kernels(cases):
    known = [
        with_constants(case)
        for case in cases
        if all(node.op_type in KNOWN for node in case.model.graph.node)
        and all(isinstance(x, (np.ndarray, np.generic)) for x in case.pairs[0][0])
        and all(one.type.HasField("tensor_type") for one in case.model.graph.input)
    ]
    found = onnx_tests.outcomes(known[::2])
    bad = {n: one for n, one in found.items() if one[0] in {"wrong", "raised"}}
    assert not bad
    assert sum(one == "right" for one, _ in found.values()) > 100


def test_stored_models():
    """Whole models that `onnx` stores, in which sequences and loops occur."""
    cases = [
        one for one in onnx_tests.stored_cases() if not one.name.startswith("light_")
    ]
    found = onnx_tests.outcomes(cases[::3])
    bad = {n: one for n, one in found.items() if one[0] not in {"right", "refused"}}
    assert not bad
    refused = [n for n, one in found.items() if one[0] == "refused"]
    assert all("strnorm" in n or "gradient" in n for n in refused)
