# SPDX-License-Identifier: MIT
"""The kernel table: its closed lists, its signatures, its decompositions."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from autocalc._kernels._plugin import load
from autocalc._kernels.kernel_set import KernelImpl, KernelSet
from autocalc._kernels.spec import Meta
from autocalc._kernels.table import PRIMITIVES, TABLE
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
WINDOWS = "kernel:ints stride:ints padding:ints"
MEANS = "ceil:bool count_include_pad:bool divisor:int"
RESAMPLING = "axis:int size:int scale:float mode:nearest,linear align_corners:bool"
GEOMETRY = "stride:ints padding:ints dilation:ints groups:int"
COMPOSITES = {
    "sub": "~ out ; a b",
    **dict.fromkeys(("sqrt", "rsqrt", "abs", "relu", "sigmoid"), "~ out ; a"),
    "clamp": "~ out ; a low? high?",
    **dict.fromkeys(
        ("relu_backward", "sigmoid_backward", "tanh_backward"), "~ out ; g y"
    ),
    "silu": "~ out ; a",
    "silu_backward": "~ out ; g a",
    "gelu": "~ out ; a ; approximate:none,tanh",
    "gelu_backward": "~ out ; g a ; approximate:none,tanh",
    "softplus": "~ out ; a ; beta:float threshold:float",
    "softplus_backward": "~ out ; g a ; beta:float threshold:float",
    "mean": "out ; a ; axes:ints keepdim:bool",
    "min": "out ; a ; axes:ints keepdim:bool",
    "var": "out mean? ; a ; axes:ints keepdim:bool correction:float",
    "logsumexp": "out ; a ; axes:ints keepdim:bool",
    "log_softmax": "out ; a ; axis:int",
    "softmax_backward": "out ; g y ; axis:int",
    "log_softmax_backward": "out ; g y ; axis:int",
    "linear": "out pre? ; x weight bias? ; activation:none,relu,gelu,gelu_tanh",
    "linear_backward": "dx? dweight? dbias? ; g x? weight? ; accumulate:int",
    "cross_entropy": (
        "loss grad? ; logits target weight? ; reduction:none,mean,sum "
        "ignore_index:int label_smoothing:float"
    ),
    "embedding_backward": "dweight ; g indices ; padding_idx:int",
    "index_select": "out ; a index ; axis:int",
    "index_add": "out ; a index src ; axis:int",
    "layer_norm": "out mean? rstd? ; x weight? bias? ; eps:float",
    "attention": (
        "out lse? ; q k v mask? seed? offset? ; "
        "scale:float causal:none,upper_left,lower_right p:float"
    ),
    "attention_backward": (
        "dq? dk? dv? ; g q k v out lse mask? seed? offset? ; "
        "scale:float causal:none,upper_left,lower_right p:float"
    ),
    "conv": f"out ; x weight bias? ; {GEOMETRY}",
    "conv_dx": f"dx ; g weight bias? ; sizes:ints {GEOMETRY} accumulate:int",
    "conv_dweight": (f"dweight dbias? ; g x ; kernel:ints {GEOMETRY} accumulate:int"),
    "rnn": "out ; x w_ih w_hh b_ih? b_hh? h0 ; activation:tanh,relu reverse:bool",
    "rnn_backward": (
        "dx? dw_ih? dw_hh? dbias? dh0? ; "
        "g x w_ih w_hh out h0 ; activation:tanh,relu reverse:bool"
    ),
    "lstm": "out c_n acts? cells? ; x w_ih w_hh b_ih? b_hh? h0 c0 ; reverse:bool",
    "lstm_backward": (
        "dx? dw_ih? dw_hh? dbias? dh0? dc0? ; "
        "g gc? x w_ih w_hh out acts cells h0 c0 ; reverse:bool"
    ),
    "gru": "out acts? ; x w_ih w_hh b_ih? b_hh? h0 ; reverse:bool",
    "gru_backward": (
        "dx? dw_ih? dw_hh? db_ih? db_hh? dh0? ; "
        "g x w_ih w_hh out acts h0 ; reverse:bool"
    ),
    "max_pool": f"out indices? ; x ; {WINDOWS} dilation:ints ceil:bool",
    "max_pool_backward": "dx ; g indices ; sizes:ints",
    "avg_pool": f"out ; x ; {WINDOWS} {MEANS}",
    "avg_pool_backward": f"dx ; g ; sizes:ints {WINDOWS} {MEANS}",
    "adaptive_max_pool": "out indices? ; x ; sizes:ints",
    "adaptive_avg_pool": "out ; x ; sizes:ints",
    "adaptive_avg_pool_backward": "dx ; g ; sizes:ints",
    "unfold": f"out ; x ; {WINDOWS} dilation:ints",
    "fold": f"out ; x ; sizes:ints {WINDOWS} dilation:ints",
    "resample": f"out ; x ; {RESAMPLING}",
    "resample_backward": f"dx ; g ; {RESAMPLING}",
    "batch_norm": "out mean var ; x weight? bias? ; eps:float",
    "batch_norm_backward": (
        "dx? dweight? dbias? ; g x mean var weight? ; eps:float accumulate:int"
    ),
    "batch_norm_relu": "out mean var ; x weight? bias? other? ; eps:float",
    "batch_norm_relu_backward": (
        "dx? dweight? dbias? dother? ; g x out mean var weight? ; eps:float "
        "accumulate:int"
    ),
    "rotary": "out ; x cos sin ; inverse:bool",
    "layer_norm_backward": (
        "dx? dweight? dbias? ; g x mean rstd weight? ; accumulate:int"
    ),
    "rms_norm_backward": "dx? dweight? ; g x rstd weight? ; accumulate:int",
    "sgd": (
        "params* buffers* ; grads* lr step ; momentum:float dampening:float "
        "weight_decay:float nesterov:bool maximize:bool"
    ),
    "adamw": (
        "params* exp_avg* exp_avg_sq* ; grads* lr step ; beta1:float beta2:float "
        "eps:float weight_decay:float decoupled:bool maximize:bool"
    ),
    "amsgrad": (
        "params* exp_avg* exp_avg_sq* max_exp_avg_sq* ; grads* lr step ; "
        "beta1:float beta2:float eps:float weight_decay:float decoupled:bool "
        "maximize:bool"
    ),
    "rmsprop": (
        "params* square_avg* buffers* grad_avg* ; grads* lr ; alpha:float eps:float "
        "weight_decay:float momentum:float centered:bool maximize:bool"
    ),
    "adagrad": (
        "params* total* ; grads* lr step ; lr_decay:float eps:float "
        "weight_decay:float maximize:bool"
    ),
    "adadelta": (
        "params* square_avg* acc_delta* ; grads* lr ; rho:float eps:float "
        "weight_decay:float maximize:bool"
    ),
    "lion": (
        "params* exp_avg* ; grads* lr ; beta1:float beta2:float weight_decay:float "
        "maximize:bool"
    ),
    "grad_norm": "norm ; grads*",
    "scale": "arrays* ; factor",
    "uniform": "out ; seed offset ; low:float high:float",
    "normal": "out ; seed offset ; mean:float std:float",
    "dropout": "out mask ; a seed offset ; p:float",
    "dropout_backward": "out ; g mask ; p:float",
}
STANDALONE = {
    **dict.fromkeys(("exp2", "expm1", "log2", "log10", "log1p", "erfc"), "~ out ; a"),
    **dict.fromkeys(("tan", "asin", "acos", "atan", "sinh", "cosh"), "~ out ; a"),
    **dict.fromkeys(("atan2", "floor_divide", "remainder", "fmod"), "~ out ; a b"),
    **dict.fromkeys(("sign", "bitwise_not"), "~ out ; a"),
    **{f"bitwise_{word}": "~ out ; a b" for word in ("and", "or", "xor")},
    "prod": "out ; a ; axes:ints keepdim:bool",
    "cumsum": "out ; a ; axis:int reverse:bool",
    "cumprod": "out ; a ; axis:int",
    "argsort": "out ; a ; axis:int descending:bool",
    "true_places": "out ; mask",
    "positions": "out ; index* ; sizes:ints",
    **dict.fromkeys(("scatter", "index_copy"), "out ; a index src ; axis:int"),
    **{f"bitwise_{word}_shift": "~ out ; a b" for word in ("left", "right")},
    **dict.fromkeys(("inv", "det", "cofactor", "cholesky"), "out ; a"),
    "solve": "out ; a b",
    "slogdet": "sign logabs ; a",
    "qr": "q r ; a ; mode:reduced,complete",
    "svd": "u s vh ; a ; full:bool",
    "eigh": "w v ; a",
}


def test_the_primitives_are_a_closed_list():
    assert frozenset(SIGNATURES) == PRIMITIVES


def test_signatures():
    """They are the contract with kernel packages: a changed one breaks them all."""
    assert {name: spec.signature for name, spec in TABLE.items()} == {
        **SIGNATURES,
        **COMPOSITES,
        **STANDALONE,
    }


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


@pytest.mark.parametrize("name", [*sorted(COMPOSITES), "gemm"])
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
