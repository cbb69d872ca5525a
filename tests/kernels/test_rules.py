# SPDX-License-Identifier: MIT
"""What shape and dtype rules answer, and what they say where they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kernel_table import TABLE, Meta

from autocalc.errors import ArgumentError, DTypeError, ShapeError

pytestmark = pytest.mark.core


def f4(*shape):
    return Meta(shape, np.dtype("f4"))


def f8(*shape):
    return Meta(shape, np.dtype("f8"))


def i8(*shape):
    return Meta(shape, np.dtype("i8"))


def i4(*shape):
    return Meta(shape, np.dtype("i4"))


def b1(*shape):
    return Meta(shape, np.dtype("?"))


RMSPROP = (0.99, 1e-8, 0.0, 0.0, False, False)
AXES = r"axes must be sorted, distinct and not empty\."
READ = "bilinear", "zeros", False

SHAPES = [
    ("grid_sample", (f4(1, 1, 2, 2), f4(1, 2, 3), *READ), "they must be .N, C, H, W"),
    ("grid_sample", (f4(1, 1, 0, 2), f4(1, 2, 2, 2), *READ), "its images are empty"),
    (
        "grid_sample_backward",
        (f4(1, 1, 2, 3), f4(1, 1, 2, 2), f4(1, 2, 2, 2), *READ),
        r"`g` has shape \(1, 1, 2, 3\), it must be \(1, 1, 2, 2\)",
    ),
    ("add", (f4(2, 3), f4(4, 3)), r"add: shapes \(2, 3\) and \(4, 3\) do not broad"),
    ("where", (b1(2), f4(3), f4(3)), r"where: shapes \(2,\) and \(3,\) and \(3,\)"),
    ("fill", (f4(2),), r"fill: `value` has shape \(2,\), it must be \(\)"),
    ("axpy", (f4(2), f4(), f4(3)), r"axpy: the shapes differ: `y` \(2,\), `x` \(3,\)"),
    ("sum", (f4(2), (1,), False), r"sum: axis 1 is not a dimension of shape \(2,\)"),
    ("sum", (f4(2, 3), (1, 0), False), rf"sum: axes \(1, 0\) of shape .*{AXES}"),
    ("sum", (f4(2), (), False), rf"sum: axes \(\) of shape \(2,\): {AXES}"),
    ("max", (f4(2, 0), (1,), False), r"max: dimension 1 of shape \(2, 0\) is empty"),
    ("min", (f4(0), (0,), False), "of no elements is undefined. Give at least one"),
    ("argmax", (f4(0), 0, False), r"argmax: dimension 0 of shape \(0,\) is empty"),
    ("argmax", (f4(3), 1, False), r"argmax: axis 1 is not a dimension"),
    ("cumargmax", (f4(3), 1, False), r"cumargmax: axis 1 is not a dimension"),
    ("logcumsumexp", (f4(3), 1), r"logcumsumexp: axis 1 is not a dimension"),
    ("searchsorted", (f4(), f4(3), False), r"`line` .*; it must have a dim"),
    ("searchsorted", (f4(2, 3), f4(4, 5), False),
     r"searchsorted: `values` has shape \(4, 5\), it must be \(2, 5\)"),
    ("mean", (f4(3), (0, 0), False), AXES),
    ("var", (f4(3), (-1,), False, 1.0), r"var: axis -1 is not a dimension"),
    ("logsumexp", (f4(3), (5,), False), r"logsumexp: axis 5 is not a dimension"),
    ("gemm", (f4(3, 4), f4(5, 6), None, 1.0, 1.0, "none"),
     (r"gemm: shapes \(3, 4\) and \(5, 6\) do not match: a.shape\[-1\] is 4, "
     r"b.shape\[-2\] is 5")),
    ("gemm", (f4(4), f4(4, 6), None, 1.0, 1.0, "none"), r"at least 2 dimensions"),
    ("gemm", (f4(3, 4), f4(4, 6), f4(3), 1.0, 1.0, "none"),
     r"gemm: `bias` has shape \(3,\), it must be \(6,\)"),
    ("gemm", (f4(2, 3, 4), f4(3, 4, 6), None, 1.0, 1.0, "none"),
     r"gemm: shapes \(2,\) and \(3,\) do not broadcast"),
    ("linear", (f4(2, 4), f4(5, 3), None, "none"),
     (r"linear: `x` has shape \(2, 4\) and `weight` \(5, 3\); the last dimension of "
      r"`x` must be 3")),
    ("linear", (f4(), f4(5, 3), None, "none"), r"linear: .*1D, but `x` has shape \(\)"),
    ("linear", (f4(2, 3), f4(5), None, "none"), r"`weight` .* must have 2 dimensions"),
    ("linear", (f4(2, 3), f4(5, 3), f4(3), "none"), r"`bias` .* it must be \(5,\)"),
    ("linear_backward", (f4(), None, None), r"`g` has no dimensions"),
    ("linear_backward", (f4(2, 5), f4(3, 4), None), r"`x` has shape \(3, 4\)"),
    ("linear_backward", (f4(2, 5), None, f4(4, 3)), r"`weight` has shape \(4, 3\)"),
    ("gather", (f4(2, 3), i8(2), 0), r"gather: `index` .* must have 2 dimensions"),
    ("gather", (f4(2, 3), i8(5, 2), 0), r"`index` has shape \(5, 2\), it must be"),
    ("gather", (f4(2, 3), i8(5, 3), 2), r"gather: axis 2 is not a dimension"),
    ("scatter_add", (f4(2, 3), i8(5, 3), f4(4, 3), 0), r"`src` has shape \(4, 3\)"),
    ("embedding", (f4(2), i8(3)), r"embedding: `weight` .* must have 2 dimensions"),
    ("index_select", (f4(2, 3), i8(1, 2), 0), r"must have 1 dimension\."),
    ("index_add", (f4(2, 3), i8(4), f4(2, 3), 0), r"`src` .* it must be \(4, 3\)"),
    ("softmax", (f4(), 0), r"softmax: axis 0 is not a dimension of shape \(\)"),
    ("log_softmax", (f4(2), 1), r"log_softmax: axis 1"),
    ("softmax_backward", (f4(2), f4(3), 0), r"the shapes differ: `g` \(2,\), `y`"),
    ("rms_norm", (f4(), None, 1e-6), r"rms_norm: `x` has no dimensions"),
    ("rms_norm", (f4(2, 3), f4(2), 1e-6), r"`weight` has shape \(2,\), it must be"),
    ("layer_norm", (f4(), None, None, 1e-5), r"layer_norm: `x` has no dimensions"),
    ("layer_norm", (f4(2, 3), f4(2), None, 1e-5), r"layer_norm: `weight` has shape"),
    ("layer_norm", (f4(2, 3), None, f4(1, 3), 1e-5), r"`bias` .* it must be \(3,\)"),
    ("layer_norm_backward", (f4(), f4(), f4(), f4(), None), r"`x` has no dimensions"),
    ("layer_norm_backward", (f4(2), f4(2, 3), f4(2), f4(2), None), r"`g` \(2,\)"),
    ("layer_norm_backward", (f4(2, 3), f4(2, 3), f4(2, 1), f4(2), None),
     r"layer_norm_backward: `mean` has shape \(2, 1\), it must be \(2,\)"),
    ("layer_norm_backward", (f4(2, 3), f4(2, 3), f4(2), f4(), None), r"`rstd` has"),
    ("layer_norm_backward", (f4(2, 3), f4(2, 3), f4(2), f4(2), f4(2)),
     r"`weight` has shape \(2,\), it must be \(3,\)"),
    ("rms_norm_backward", (f4(2, 3), f4(2, 3), f4(2), None),
     r"rms_norm_backward: `rstd` has shape \(2,\), it must be \(2, 1\)"),
    ("rms_norm_backward", (f4(3, 3), f4(2, 3), f4(2, 1), None), r"the shapes differ"),
    ("rms_norm_backward", (f4(2, 3), f4(2, 3), f4(2, 1), f4(2)), r"`weight` has"),
    ("gelu_backward", (f4(2), f4(3), "none"), r"gelu_backward: shapes \(2,\) and"),
    ("cross_entropy", (f4(2), i8(2), None, "mean", -100, 0.0),
     r"`logits` has shape \(2,\), it must have 2 dimensions"),
    ("cross_entropy", (f4(2, 3), i8(3), None, "mean", -100, 0.0),
     r"`target` has shape \(3,\), it must be \(2,\)"),
    ("cross_entropy", (f4(2, 3), i8(2), f4(2), "mean", -100, 0.0), r"`weight` has"),
    ("uniform", (i8(1), i8(), 0.0, 1.0), r"uniform: `seed` has shape \(1,\)"),
    ("normal", (i8(), i8(2), 0.0, 1.0), r"normal: `offset` has shape \(2,\)"),
    ("dropout", (f4(2), i8(2), i8(), 0.5), r"dropout: `seed` has shape"),
    ("dropout_backward", (f4(2), b1(3), 0.5), r"the shapes differ: `g` \(2,\), `mask`"),
    ("sgd", ((f4(2),), (f4(2),), (f4(2),), f4(), i8(), 0.0, 0.0, 0.0, False, False),
     "sgd: `buffers` has 1 arrays, but `momentum` is 0, which needs no buffers."),
    ("sgd", ((f4(2),), (), (f4(2),), f4(), i8(), 0.9, 0.0, 0.0, False, False),
     r"sgd: `buffers` has 0 arrays for 1 parameters"),
    ("sgd", ((f4(2),), (), (f4(3),), f4(), i8(), 0.0, 0.0, 0.0, False, False),
     r"sgd: `grads\[0\]` has shape \(3,\), it must be \(2,\)"),
    ("adamw", ((f4(2),), (f4(2),), (f4(2),), (f4(2),), f4(1), i8(),
               0.9, 0.999, 1e-8, 0.0, True, False), r"adamw: `lr` has shape \(1,\)"),
    ("rmsprop", ((f4(2),), (f4(2),), (f4(2),), (), (f4(2),), f4(), *RMSPROP),
     r"rmsprop: `buffers` has 1 arrays, but `momentum` is 0\.0, which needs"),
    ("rmsprop", ((f4(2),), (f4(2),), (), (f4(2),), (f4(2),), f4(), *RMSPROP),
     "rmsprop: `grad_avg` has 1 arrays, but `centered` is"),
    ("rmsprop", ((f4(2),), (), (), (), (f4(2),), f4(), *RMSPROP),
     r"rmsprop: `square_avg` has 0 arrays for 1 parameters"),
    ("rmsprop", ((f4(2),), (f4(2),), (), (), (f4(2),), f4(1), *RMSPROP),
     r"rmsprop: `lr` has shape \(1,\)"),
    ("adagrad", ((f4(2),), (f4(3),), (f4(2),), f4(), i8(), 0.0, 1e-10, 0.0, False),
     r"adagrad: `total\[0\]` has shape \(3,\), it must be \(2,\)"),
    ("adagrad", ((f4(2),), (f4(2),), (f4(2),), f4(), i8(1), 0.0, 1e-10, 0.0, False),
     r"adagrad: `step` has shape \(1,\)"),
    ("adadelta", ((f4(2),), (f4(2),), (), (f4(2),), f4(), 0.9, 1e-6, 0.0, False),
     r"adadelta: `acc_delta` has 0 arrays for 1 parameters"),
    ("lion", ((f4(2),), (f4(2),), (f4(),), f4(), 0.9, 0.99, 0.0, False),
     r"lion: `grads\[0\]` has shape \(\), it must be \(2,\)"),
    ("grad_norm", ((),), r"grad_norm: `grads` is an empty list.* at least one array"),
    ("scale", ((f4(2),), f4(1)), r"scale: `factor` has shape \(1,\), it must be"),
]  # fmt: skip

DTYPES = [
    ("add", (f4(2), f8(2)), r"add: the operands have the dtypes float32, float64"),
    ("div", (i8(2), i8(2)), ": needs float32 or float64, not"),
    ("neg", (b1(2),), r"neg: `a` is bool; it must be float32 or"),
    ("where", (f4(2), f4(2), f4(2)), r"`condition` is float32; it must be bool"),
    ("compare", (f4(2), i8(2), "lt"), ": the operands have the dtypes"),
    ("round", (i8(2), "floor"), "round: needs float32 or"),
    ("exp", (i8(2),), ": needs float32 or float64, not int64. Convert it with"),
    ("mean", (i8(2), (0,), False), "mean: needs float32 or float64, not"),
    ("gemm", (f4(2, 2), f8(2, 2), None, 1.0, 1.0, "none"), r"gemm: the operands have"),
    ("linear", (i8(2, 2), i8(2, 2), None, "none"), ". Convert it with"),
    ("gather", (f4(2), i4(2), 0), r"`index` is int32; it must be int64"),
    ("scatter_add", (b1(2), i8(2), b1(2), 0), r"scatter_add: `a` is bool"),
    ("embedding", (f4(2, 2), i4(2)), r"`indices` is int32; it must be int64"),
    ("index_add", (f4(2), i8(2), f8(2), 0), ": the operands have the dtypes"),
    ("cross_entropy", (f4(2, 3), i4(2), None, "mean", -100, 0.0),
     r"cross_entropy: `target` is int32; it must be int64"),
    ("dropout", (f4(2), i4(), i8(), 0.5), r"`seed` is int32; it must be int64"),
    ("dropout_backward", (f4(2), f4(2), 0.5), r"`mask` is float32; it must be bool"),
    ("gelu", (i8(2), "none"), ": needs float32 or float64, not"),
    ("softplus", (b1(2), 1.0, 20.0), ": needs float32 or float64, not"),
    ("layer_norm", (f4(2), f8(2), None, 1e-5), ": the operands have the dtypes"),
    ("grad_norm", ((f4(2), f8(2)),), ": the operands have the dtypes"),
    ("scale", ((f4(2),), f8()), r"scale: the operands have the dtypes float64"),
    ("sgd", ((f4(2),), (), (f4(2),), f8(), i8(), 0.0, 0.0, 0.0, False, False),
     r"sgd: the operands have the dtypes float64, float32"),
    ("sgd", ((f4(2),), (), (f4(2),), f4(), f4(), 0.0, 0.0, 0.0, False, False),
     r"sgd: `step` is float32; it must be int64"),
]  # fmt: skip

FREE = {"shape": (3,), "dtype": np.dtype("f4")}


def apply(name, args):
    spec = TABLE[name]
    return spec.rule(*args, **(FREE if spec.free else {}))


@pytest.mark.parametrize(("name", "args", "match"), SHAPES)
def test_shapes_that_do_not_fit(name, args, match):
    with pytest.raises(ShapeError, match=match):
        apply(name, args)


def test_volumes_are_not_read_by_cubic_convolution():
    volumes = f4(1, 1, 2, 2, 2), f4(1, 2, 2, 2, 3)
    with pytest.raises(ArgumentError, match=": mode 'bicubic' supports images,"):
        apply("grid_sample", (*volumes, "bicubic", "zeros", False))


@pytest.mark.parametrize(("name", "args", "match"), DTYPES)
def test_dtypes_that_do_not_fit(name, args, match):
    with pytest.raises(DTypeError, match=match):
        apply(name, args)


def test_random_bits_go_into_the_integers_that_hold_them():
    rule = TABLE["random_bits"].rule
    int32, int64 = np.dtype("i4"), np.dtype("i8")
    assert rule(i8(), i8(), 31, shape=(2,), dtype=int32) == Meta((2,), int32)
    assert rule(i8(), i8(), 32, shape=(2,), dtype=int64) == Meta((2,), int64)
    with pytest.raises(DTypeError, match="of 31 bits need the dtype int32, not int64"):
        rule(i8(), i8(), 31, shape=(2,), dtype=int64)
    for bits in (0, 63):
        with pytest.raises(ArgumentError, match=f"`bits` is {bits}; it must be from"):
            rule(i8(), i8(), bits, shape=(2,), dtype=int64)


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("add", (f4(3, 1), f4(4)), f4(3, 4)),
        ("compare", (i8(3, 1), i8(4), "lt"), b1(3, 4)),
        ("where", (b1(3, 1), i8(4), i8()), i8(3, 4)),
        ("clamp", (f4(3), None, f4()), f4(3)),
        ("sum", (b1(2, 3), (1,), True), i8(2, 1)),
        ("sum", (f4(2, 3), (0, 1), False), f4()),
        ("max", (i8(2, 3), (0,), False), i8(3)),
        ("argmax", (f4(2, 3), 1, True), i8(2, 1)),
        ("var", (f8(2, 3), (1,), False, 1.0), (f8(2), f8(2))),
        (
            "gemm",
            (f4(2, 1, 3, 4), f4(5, 4, 6), None, 1.0, 1.0, "none"),
            (f4(2, 5, 3, 6),) * 2,
        ),
        ("linear", (f4(2, 7, 3), f4(5, 3), f4(5), "relu"), (f4(2, 7, 5),) * 2),
        (
            "linear_backward",
            (f4(2, 7, 5), f4(2, 7, 3), f4(5, 3)),
            (f4(2, 7, 3), f4(5, 3), f4(5)),
        ),
        ("linear_backward", (f4(2, 5), None, None), (None, None, f4(5))),
        ("embedding", (f4(9, 3), i8(2, 4)), f4(2, 4, 3)),
        ("index_select", (f4(9, 3), i8(4), 1), f4(9, 4)),
        ("rms_norm", (f4(2, 3), None, 1e-6), (f4(2, 3), f4(2, 1))),
        ("layer_norm", (f4(2, 3), None, f4(3), 1e-5), (f4(2, 3), f4(2), f4(2))),
        (
            "layer_norm_backward",
            (f4(2, 7, 3), f4(2, 7, 3), f4(2, 7), f4(2, 7), None),
            (f4(2, 7, 3), f4(3), f4(3)),
        ),
        (
            "rms_norm_backward",
            (f4(2, 7, 3), f4(2, 7, 3), f4(2, 7, 1), None),
            (f4(2, 7, 3), f4(3)),
        ),
        ("gelu", (f4(2, 3), "tanh"), f4(2, 3)),
        ("softplus_backward", (f8(2, 1), f8(3), 1.0, 20.0), f8(2, 3)),
        ("grad_norm", ((f4(2, 3), f4()),), f4()),
        ("scale", ((f4(2, 3), f4()), f4()), ((f4(2, 3), f4()),)),
        (
            "cross_entropy",
            (f4(2, 3), i8(2), None, "none", -100, 0.0),
            (f4(2), f4(2, 3)),
        ),
        ("cross_entropy", (f4(2, 3), i8(2), None, "mean", -100, 0.0), (f4(), f4(2, 3))),
        ("dropout", (f4(2), i8(), i8(), 0.5), (f4(2), b1(2))),
    ],
)
def test_results(name, args, expected):
    assert TABLE[name].rule(*args) == expected
