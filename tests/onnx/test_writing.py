# SPDX-License-Identifier: MIT
"""Each kernel's nodes compute what its reference does, and are read back so."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from tests.kernel_table import TABLE, Make, xp
from tests.onnx.both import by_load, by_runtime

import autocalc as ac
from autocalc import onnx as onnx_package
from autocalc.onnx._dynamic import fixed
from autocalc.onnx._graph import WITHOUT_BFLOAT16, WITHOUT_HALVES, Graph
from autocalc.onnx._namespace import Kernels, NoWriter
from autocalc.onnx._proto import OPSET, model_of, used
from autocalc.testing.conformance._halves import rounded

pytest.importorskip("onnx", reason="the extra autocalc-core[onnx] is not installed")

#: Kernels of forward passes that ONNX has no operators for.
WITHOUT = frozenset(
    {
        "atan2",
        "ldl",
        "ldl_solve",
        "lu",
        "row_order",
        "between",
        "bessel_i",
        "bincount",
        "bitwise_left_shift",
        "bitwise_right_shift",
        "cholesky",
        "cofactor",
        "cofactor_derivative",
        "copysign",
        "cumargmax",
        "cumprod",
        "dequantize_groups",
        "det",
        "digamma",
        "quantize_groups",
        "quantized_linear",
        "dropout",
        "eigh",
        "entr",
        "erfc",
        "erfcx",
        "erfinv",
        "fmax",
        "fmin",
        "gcd",
        "histc",
        "hypot",
        "igamma",
        "igammac",
        "inv",
        "lcm",
        "lgamma",
        "log_ndtr",
        "logaddexp",
        "logaddexp2",
        "logcumsumexp",
        "ndtri",
        "next_float_bits",
        "nonzero",
        "normal",
        "pinv",
        "polygamma",
        "qr",
        "searchsorted",
        "signbit",
        "sinc",
        "slogdet",
        "solve",
        "svd",
        "true_places",
        "uniform",
        "xlogy",
        "zeta",
    }
    # Of complex numbers, which its mathematical operators do not take.
    | {"complex", "conj", "eig", "fft", "irfft", "rfft"}
)

KERNELS = [
    name
    for name, spec in TABLE.items()
    if not spec.writes and not name.endswith("_backward") and "random" not in name
]


def usable(name, sample):
    """Return whether a sample is of numbers near 1 and draws nothing."""
    if sample.label.startswith(("large", "far")):
        return False
    if name == "attention" and sample.attributes[2]:  # drops weights
        return False
    listed = (x if isinstance(x, (list, tuple)) else (x,) for x in sample.inputs)
    arrays = [np.asarray(a, np.float64) for x in listed for a in x if a is not None]
    return all(0 < a.size < 4000 and np.isfinite(a).all() for a in arrays)


def written(spec, sample, dtype):
    """Return a graph of one kernel's call, and what it is given."""
    graph, given = Graph(), []

    def value(x):
        if x is None:
            return None
        if isinstance(x, (list, tuple)):
            return tuple(map(value, x))
        given.append(np.array(x))
        return graph.input(f"x{len(given)}", np.shape(x), np.asarray(x).dtype)

    words = {"shape": sample.shape, "dtype": dtype} if spec.free else {}
    operands = [value(x) for x in sample.inputs]
    results = Kernels(graph).run(spec, *operands, *sample.attributes, **words)
    results = results if len(spec.outputs) > 1 else (results,)
    for result, output in zip(results, spec.outputs, strict=True):
        if not output.optional:
            name = graph.name("y")
            graph.node("Identity", result)
            graph.calls[-1].outputs = (name,)
            graph.outputs.append(result._replace(name=name))
    return used(graph), given


def wanted(spec, sample):
    """Return what the reference gives."""
    words = {"shape": sample.shape, "dtype": np.dtype("f4")} if spec.free else {}
    with np.errstate(all="ignore"):
        results = spec.reference(xp, *sample.inputs, *sample.attributes, **words)
    results = results if len(spec.outputs) > 1 else (results,)
    pairs = zip(results, spec.outputs, strict=True)
    return [np.asarray(result) for result, output in pairs if not output.optional]


@pytest.mark.parametrize("name", KERNELS)
def test_nodes_compute_what_the_reference_does(name, tmp_path):
    spec = TABLE[name]
    dtype = np.dtype("f4") if np.dtype("f4") in spec.dtypes else spec.dtypes[0]
    samples = [s for s in spec.samples(Make(dtype)) if usable(name, s)]
    step = max(len(samples) // 6, 1)
    for i, sample in enumerate(islice(samples, 0, None, step)):
        try:
            graph, given = written(spec, sample, dtype)
        except NoWriter:
            assert name in WITHOUT
            return
        path = tmp_path / f"{i}.onnx"
        model = model_of(graph, fixed(graph.inputs), fixed(graph.outputs))
        path.write_bytes(model.SerializeToString())
        tensors = tuple(map(ac.from_numpy, given))
        expected = wanted(spec, sample)
        for run in (by_runtime, by_load):
            for one, other in zip(run(path, tensors), expected, strict=True):
                finite = np.where(np.isfinite(other), np.abs(other), 0)
                size = finite.max(initial=1.0)
                np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5 * size)
    assert name not in WITHOUT


#: Kernels with operands of float32 that ONNX has operators for.
OF_FLOATS = [
    name
    for name in sorted({*KERNELS} - WITHOUT)
    if np.dtype("f4") in TABLE[name].dtypes and not TABLE[name].free
]
HALVES = [np.dtype(ac.bfloat16.numpy), np.dtype("f2")]


def widened(x):
    """Return arrays of halves in float32."""
    if isinstance(x, (list, tuple)):
        return tuple(map(widened, x))
    return x if x is None or x.dtype not in HALVES else x.astype(np.float32)


@pytest.mark.parametrize("half", HALVES, ids=str)
@pytest.mark.parametrize("name", OF_FLOATS)
def test_nodes_of_halves_compute_what_the_reference_does(name, half, tmp_path):
    """In float32, rounded to the half, up to a few roundings more."""
    spec, single = TABLE[name], np.dtype("f4")
    samples = [s for s in spec.samples(Make(single)) if usable(name, s)]
    for i, sample in enumerate(samples[:: max(len(samples) // 3, 1)]):
        given_halves = rounded(sample, half, spec, set())
        graph, given = written(spec, given_halves, half)
        path = tmp_path / f"{i}.onnx"
        model = model_of(graph, fixed(graph.inputs), fixed(graph.outputs))
        path.write_bytes(model.SerializeToString())
        wide = given_halves._replace(inputs=widened(given_halves.inputs))
        found = by_load(path, tuple(map(ac.from_numpy, given)))
        for one, other in zip(found, wanted(spec, wide), strict=True):
            size = np.where(np.isfinite(other), np.abs(other), 0).max(initial=1.0)
            if size > 6e4:  # which float16 does not have
                continue
            assert one.dtype == half or other.dtype != single
            limit = 4 * size * (2.0**-8 if half != "f2" else 2.0**-11)
            np.testing.assert_allclose(
                one.astype(np.float64), other.astype(np.float64), rtol=0, atol=limit
            )


def test_which_operators_take_which_halves():
    """The lists are those of ONNX's own schemas."""
    schemas = pytest.importorskip("onnx").defs
    writers = Path(onnx_package.__path__[0]) / "_writing"
    source = "".join(p.read_text() for p in writers.glob("*.py"))
    names = {s.name for s in schemas.get_all_schemas()}
    for op in sorted(names & set(re.findall(r'"([A-Z]\w+)"', source))):
        if not schemas.has(op, OPSET):
            continue
        schema = schemas.get_schema(op, OPSET)
        kinds = {t.type_param_str: t.allowed_type_strs for t in schema.type_constraints}
        taken = [kinds.get(i.type_str, ()) for i in schema.inputs[:1]]
        floats = [set(kind) for kind in taken if "tensor(float)" in kind]
        for kind in floats:
            assert (op in WITHOUT_HALVES) == ("tensor(float16)" not in kind), op
            without = op in WITHOUT_BFLOAT16 | WITHOUT_HALVES
            assert without == ("tensor(bfloat16)" not in kind), op
