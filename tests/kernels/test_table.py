# SPDX-License-Identifier: MIT
"""The kernel table: its closed lists, its signatures, its decompositions."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from tests.kernel_table import PRIMITIVES, TABLE, Meta, load

from autocalc.plugin import KernelImpl, KernelSet
from autocalc.testing._namespace import Namespace, decomposed, meta_of
from autocalc.testing.conformance import CHECKS, Subject
from autocalc.testing.conformance._checks import cases

pytestmark = pytest.mark.core

SIGNATURES = {
    "copy": "~ out ; a",
    "fill": "out ; value",
    **dict.fromkeys(("add", "mul", "div", "maximum", "minimum", "pow"), "~ out ; a b"),
    "compare": "~ out ; a b ; op:eq,ne,lt,le,gt,ge",
    "where": "~ out ; condition a b",
    **dict.fromkeys(("neg", "exp", "log", "tanh", "erf", "sin", "cos"), "~ out ; a"),
    "round": "~ out ; a ; mode:floor,ceil,trunc,even",
    "axpy": "y ; alpha x",
    "sum": "out ; a ; axes:ints keepdim:bool",
    "max": "out ; a ; axes:ints keepdim:bool",
    "argmax": "out ; a ; axis:int keepdim:bool",
    "gemm": (
        "out pre? ; a b bias? ; alpha:float beta:float "
        "activation:none,relu,gelu,gelu_tanh accumulate:int"
    ),
    "gather": "out ; a index ; axis:int",
    "scatter_add": "out ; a index src ; axis:int",
    "embedding": "out ; weight indices",
    "softmax": "out ; a ; axis:int",
    "rms_norm": "out rstd? ; x weight? ; eps:float",
    "random_bits": "out ; seed offset ; bits:int",
}


def test_the_primitives_are_a_closed_list():
    assert frozenset(SIGNATURES) == PRIMITIVES


def test_the_signatures_of_the_primitives():
    """They are the contract with kernel packages; the golden list has all others."""
    assert {name: TABLE[name].signature for name in PRIMITIVES} == SIGNATURES


@pytest.mark.parametrize("spec", TABLE.values(), ids=list(TABLE))
def test_a_spec_is_whole(spec):
    names = [operand.name for operand in (*spec.outputs, *spec.inputs)]
    assert len(set(names)) == len(names)
    outputs = {output.name for output in spec.outputs}
    assert set(spec.writes) <= outputs
    assert set(spec.accumulates) <= outputs
    assert bool(spec.accumulates) == (
        bool(spec.attributes) and spec.attributes[-1].name == "accumulate"
    )
    for output, name in spec.alias:
        assert output in outputs
        assert name in {operand.name for operand in spec.inputs}
    assert len(spec.defaults) <= len(spec.attributes)
    assert spec.doc
    assert spec.budget.text
    if spec.name == "gemm":  # its decomposition sheds the optional parts
        assert spec.lead == "gemm"
        return
    assert (spec.decomposition is None) == (spec.kind != "composite")
    assert (spec.lead in PRIMITIVES) == (spec.kind == "composite")


@pytest.mark.parametrize("spec", TABLE.values(), ids=list(TABLE))
def test_a_reference_takes_what_the_signature_says(spec):
    """By position: xp, in-out operands, inputs, attributes; the rest by keyword."""
    attributes = [a.name for a in spec.attributes if a.name != "accumulate"]
    n = 1 + len(spec.writes) + len(spec.inputs) + len(attributes)
    for function in filter(None, (spec.reference, spec.decomposition)):
        parameters = inspect.signature(function).parameters.values()
        by_position = [p for p in parameters if p.kind is not p.KEYWORD_ONLY]
        assert len(by_position) == n, function
        assert [p.name for p in by_position[n - len(attributes) :]] == attributes
        keywords = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY}
        assert ("want" in keywords) == any(o.optional for o in spec.outputs)
        assert ({"shape", "dtype"} <= keywords) == spec.free


@pytest.mark.parametrize("spec", TABLE.values(), ids=list(TABLE))
def test_samples_fit_the_rule_and_have_work(spec):
    for dtype in spec.dtypes:
        for sample, expected, *_ in cases(spec, dtype):
            metas = [meta_of(operand) for operand in sample.inputs]
            free = {"shape": sample.shape, "dtype": dtype} if spec.free else {}
            outs = spec.rule(*metas, *sample.attributes, **free)
            outs = (outs,) if isinstance(outs, Meta) else outs
            for out, value in zip(outs, expected, strict=True):
                if isinstance(out, Meta) and value is not None:
                    assert np.shape(value) == out.shape, sample.label
            work = spec.work(*metas, *sample.attributes, **free)
            assert work.flops >= 0
            assert work.bytes >= 0


# ---- decompositions ----------------------------------------------------------------

#: How many times its budget a decomposition needs: a kernel of one rounding that is a
#: chain of four (exp, exp, add, div).  All others are within their own budget.
CHAINS = {"sigmoid": 2.0}


@pytest.fixture(scope="module")
def primitives():
    return Namespace({name: load()[name] for name in PRIMITIVES})


@pytest.fixture(scope="module")
def subject(primitives):
    composites = {
        name: KernelImpl(decomposed(spec, primitives))
        for name, spec in TABLE.items()
        if spec.decomposition is not None
    }
    return Subject(KernelSet("decomposed", "test", load=dict), composites)


@pytest.mark.parametrize("name", [n for n, s in TABLE.items() if s.accumulates])
def test_a_decomposition_adds_into_its_outputs(name, subject):
    for dtype in TABLE[name].dtypes:
        CHECKS["accumulation"](subject, TABLE[name], dtype)
        if any(output.optional for output in TABLE[name].outputs):
            CHECKS["absent-outputs"](subject, TABLE[name], dtype)


COMPOSITES = sorted(name for name, spec in TABLE.items() if spec.kind == "composite")


@pytest.mark.parametrize("name", [*COMPOSITES, "gemm"])
def test_a_decomposition_equals_its_reference(name, subject, primitives):
    spec = TABLE[name]
    primitives.calls.clear()
    for dtype in spec.dtypes:
        for sample, expected, limits, *_ in cases(spec, dtype):
            outs = subject.run(spec, sample, dtype)
            try:
                times = CHAINS.get(name, 1)
                subject.judge(
                    spec, sample, dtype, outs, expected, times=times, limits=limits
                )
            except AssertionError as error:
                message = f"{name} {dtype} on {sample.label!r}: {error}"
                raise AssertionError(message) from None
    assert primitives.calls
    assert set(primitives.calls) <= PRIMITIVES
    assert spec.lead in primitives.calls


@pytest.mark.parametrize("spec", TABLE.values(), ids=list(TABLE))
def test_the_rule_takes_every_benchmark_case(spec):
    found = list(spec.benchmarks())
    assert found
    assert len({case.label for case in found}) == len(found)
    for case in found:
        metas = map(meta_of, case.operands(np.random.default_rng(0)))
        free = {} if case.shape is None else {"shape": case.shape}
        free |= {"dtype": spec.dtypes[0]} if free else {}
        assert spec.rule(*metas, *case.attributes, **free)
