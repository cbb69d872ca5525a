# SPDX-License-Identifier: MIT
"""Every differentiable operator against central differences, to second order."""

from __future__ import annotations

import importlib
import pkgutil
import zlib

import numpy as np
import pytest
from tests.kernel_table import TABLE
from tests.operator_table import OPERATORS

import autocalc as ac
from autocalc import _ops
from autocalc._ops.activations.smooth import (
    gelu_backward,
    silu_backward,
    softplus_backward,
)
from autocalc._ops.attention import dot_product, rotary
from autocalc._ops.elementwise import comparison
from autocalc._ops.elementwise.zero_weights import weigh_op
from autocalc._ops.embedding.rows import embedding_op as embedding
from autocalc._ops.indexing import scattering
from autocalc._ops.losses.binary_losses import of_logits
from autocalc._ops.matrices import matmul
from autocalc._ops.random import dropout
from autocalc._ops.views import slicing
from autocalc.nn.functional import cross_entropy, linear, nll_loss
from autocalc.testing import gradcheck, gradgradcheck

F = ac.nn.functional

#: Covered below under the name of the case that exercises them.
COVERED: set[str] = set()
NO_GRADIENT = {"compare", "argmax"}
#: Covered in test_nn_conv.py, test_nn_pooling.py, test_nn_channel_norms.py,
#: test_nn_resizing.py, test_nn_grid_sampling.py and test_nn_recurrent.py.
ELSEWHERE = {
    *("unfold", "fold", "resample", "resample_backward", "grid_sample"),
    *("batch_norm", "batch_norm_activation", "batch_norm_running"),
    *("rnn", "lstm", "gru"),
    *("conv", "conv_dx", "conv_dweight"),
    *("max_pool", "max_pool_backward", "avg_pool", "avg_pool_backward"),
    *("adaptive_max_pool", "adaptive_avg_pool", "adaptive_avg_pool_backward"),
}


def leaf(*sizes, low=-2.0, high=2.0, seed=0):
    """Random values, no two of them equal, none within 0.05 of 0."""
    rng = np.random.default_rng(zlib.crc32(repr((sizes, low, high, seed)).encode()))
    n = int(np.prod(sizes))
    values = rng.permutation(np.linspace(low, high, n)) if n > 1 else [high * 0.6] * n
    values = np.asarray(values, np.float64) + 0.013 * seed  # no ties between inputs
    values = np.where(np.abs(values) < 0.05, values + 0.1, values)
    return ac.tensor(values.reshape(sizes), dtype=ac.float64, requires_grad=True)


def positive(*sizes, seed=0):
    return leaf(*sizes, low=0.3, high=2.0, seed=seed)


def index(*rows):
    return ac.tensor(rows)


BROADCAST = {
    "same": lambda make: (make(2, 3), make(2, 3, seed=1)),
    "row": lambda make: (make(2, 3), make(3, seed=1)),
    "column": lambda make: (make(2, 1), make(1, 3, seed=1)),
    "0-d": lambda make: (make(2, 3), make(seed=1)),
    "both 0-d": lambda make: (make(), make(seed=1)),
    "new dims": lambda make: (make(3), make(2, 2, 3, seed=1)),
    "empty": lambda make: (make(0, 3), make(3, seed=1)),
}
BINARY = {
    "add": (lambda a, b: a + b, leaf),
    "sub": (lambda a, b: a - b, leaf),
    "mul": (lambda a, b: a * b, leaf),
    "div": (lambda a, b: a / b, positive),
    "pow": (lambda a, b: a**b, positive),
    "maximum": (ac.maximum, leaf),
    "minimum": (ac.minimum, leaf),
    "where": (
        lambda a, b: ac.where((a > 0) if a.ndim else ac.tensor(True), a, b),
        leaf,
    ),
}
UNARY = {
    "neg": (ac.neg, leaf),
    "abs": (ac.abs, leaf),
    "exp": (ac.exp, leaf),
    "log": (ac.log, positive),
    "sqrt": (ac.sqrt, positive),
    "rsqrt": (ac.rsqrt, positive),
    "sin": (ac.sin, leaf),
    "cos": (ac.cos, leaf),
    "tanh": (ac.tanh, leaf),
    "erf": (ac.erf, leaf),
    "sigmoid": (ac.sigmoid, leaf),
    "relu": (ac.relu, leaf),
    "hardtanh": (lambda a: F.hardtanh(a, -0.7, 1.1), leaf),
    "leaky_relu": (lambda a: F.leaky_relu(a, 0.3), leaf),
    "elu": (lambda a: F.selu(a) + F.celu(a, 0.7) + F.elu(a, -1.5), leaf),
    "hardswish": (lambda a: F.hardswish(2 * a), leaf),
    "silu": (F.silu, leaf),
    "gelu": (F.gelu, leaf),
    "gelu tanh": (lambda a: F.gelu(a, "tanh"), leaf),
    "softplus": (F.softplus, leaf),
    "softplus beta threshold": (lambda a: F.softplus(a, 1.7, 2.3), leaf),
    "copy": (ac.clone, leaf),
    "square": (lambda a: a**2, leaf),
    "reciprocal": (lambda a: 1 / a, positive),
    "power of two": (lambda a: 2.0**a, leaf),
    "number minus": (lambda a: 1.5 - a, leaf),
    "cast": (lambda a: a.to(ac.float64) * 2, leaf),
    "clamp": (lambda a: a.clamp(-1.03, 1.07), leaf),
    "clamp low": (lambda a: a.clamp(min=-1.03), leaf),
    "clamp high": (lambda a: a.clamp(max=1.07), leaf),
    "round": (lambda a: a.round() * a, leaf),
}
SHAPES = {"2-d": (2, 3), "0-d": (), "1": (1,), "empty": (0, 2), "4-d": (1, 2, 1, 2)}
AXES = [
    ((2, 3), None, False),
    ((2, 3), 0, False),
    ((2, 3), -1, True),
    ((2, 3, 2), (0, 2), False),
    ((2, 3, 2), (0, 2), True),
    ((2, 3, 2), (1,), False),
    ((), None, False),
    ((3, 1), 1, False),
]
REDUCTIONS = {
    "sum": ac.sum,
    "mean": ac.mean,
    "var": ac.var,
    "var of all": lambda x, dim, keepdim: ac.var(x, dim, False, keepdim),
    "std": ac.std,
    "norm": lambda x, dim, keepdim: ac.linalg.vector_norm(x, 2, dim, keepdim),
    "max": ac.amax,
    "min": ac.amin,
    "logsumexp": ac.logsumexp,
}
CASES = {
    "softmax": (lambda x: x.softmax(1), lambda: (leaf(2, 3),)),
    "softmax of the first dim": (lambda x: x.softmax(0), lambda: (leaf(2, 3, 2),)),
    "softmax 0-d": (lambda x: x.softmax(0), lambda: (leaf(),)),
    "log_softmax": (lambda x: x.log_softmax(-1), lambda: (leaf(2, 3),)),
    "log_softmax middle": (lambda x: x.log_softmax(1), lambda: (leaf(2, 3, 2),)),
    "max with indices": (lambda x: x.max(1)[0], lambda: (leaf(3, 4),)),
    "min with indices": (lambda x: x.min(0, keepdim=True)[0], lambda: (leaf(3, 4),)),
    "clamp by tensors": (
        lambda a, low, high: a.clamp(low, high),
        lambda: (
            leaf(2, 4),
            leaf(4, low=-1.5, high=-0.6, seed=1),
            leaf(4, low=0.6, high=1.5, seed=2),
        ),
    ),
    "gemm": (ac.matmul, lambda: (leaf(2, 3), leaf(3, 4))),
    "gemm of vectors": (ac.matmul, lambda: (leaf(3), leaf(3, seed=1))),
    "gemm row": (ac.matmul, lambda: (leaf(3), leaf(2, 3, 2))),
    "gemm column": (ac.matmul, lambda: (leaf(2, 2, 3), leaf(3))),
    "gemm batches": (ac.matmul, lambda: (leaf(2, 1, 2, 3), leaf(2, 3, 2))),
    "gemm of a transpose": (
        lambda a, b: a.t() @ b.t(),
        lambda: (leaf(3, 2), leaf(2, 3)),
    ),
    "attention": (
        lambda q, k, v: dot_product.attention_op(
            q, k, v, None, None, None, 0.7, "lower_right", 0.0
        ),
        lambda: (leaf(1, 2, 4, 2), leaf(1, 3, 2, 2, seed=1), leaf(1, 3, 2, 2, seed=2)),
    ),
    "rotary": (
        lambda x: rotary.rotary_op(x, *ac.ones(2, 3, 2, dtype=ac.float64), True),
        lambda: (leaf(1, 3, 2, 4),),
    ),
    "gemm times a number": (
        lambda a, b: matmul.gemm_op(a, b, None, -0.7, 1.0, "none"),
        lambda: (leaf(2, 3), leaf(3, 4)),
    ),
    "gemm empty": (ac.matmul, lambda: (leaf(2, 0), leaf(0, 3))),
    "gemm with itself": (lambda a: a @ a, lambda: (leaf(2, 2),)),
    "linear": (linear, lambda: (leaf(2, 3), leaf(4, 3), leaf(4))),
    "linear without bias": (linear, lambda: (leaf(2, 3), leaf(4, 3))),
    "linear of 3-d": (linear, lambda: (leaf(2, 2, 3), leaf(1, 3), leaf(1))),
    "linear of 1-d": (linear, lambda: (leaf(3), leaf(2, 3), leaf(2))),
    "weigh": (weigh_op, lambda: (leaf(2, 3), leaf(3, seed=1))),
    "logistic_loss": (of_logits, lambda: (leaf(2, 3), leaf(2, 3, seed=1))),
    "logistic_loss weighted": (
        of_logits,
        lambda: (leaf(2, 3), leaf(2, 3, seed=1), leaf(3, seed=2)),
    ),
    "cross_entropy": (
        lambda x: cross_entropy(x, index(0, 2, 1)),
        lambda: (leaf(3, 4),),
    ),
    "cross_entropy sum": (
        lambda x: cross_entropy(x, index(0, 2, 1), reduction="sum"),
        lambda: (leaf(3, 4),),
    ),
    "cross_entropy none": (
        lambda x: cross_entropy(x, index(0, 2, 1), reduction="none"),
        lambda: (leaf(3, 4),),
    ),
    "nll_loss": (lambda x: nll_loss(x, index(0, 2, 1)), lambda: (leaf(3, 4),)),
    "nll_loss sum": (
        lambda x: nll_loss(x, index(0, 2, 1), reduction="sum"),
        lambda: (leaf(3, 4),),
    ),
    "nll_loss none ignore": (
        lambda x: nll_loss(x, index(0, 2, 1), ignore_index=2, reduction="none"),
        lambda: (leaf(3, 4),),
    ),
    "cross_entropy weight smoothing ignore": (
        lambda x: cross_entropy(
            x,
            index(0, 2, -100),
            weight=ac.tensor([0.5, 1.0, 2.0], dtype=ac.float64),
            label_smoothing=0.1,
        ),
        lambda: (leaf(3, 3),),
    ),
    "cross_entropy one row": (
        lambda x: cross_entropy(x, ac.tensor(1)),
        lambda: (leaf(3),),
    ),
    "cross_entropy pixels": (
        lambda x: cross_entropy(x, ac.tensor([[0, 1], [2, 0]]), reduction="none"),
        lambda: (leaf(2, 3, 2),),
    ),
    "reshape": (lambda x: x.reshape(3, 2) * 2, lambda: (leaf(2, 3),)),
    "reshape of a transpose": (lambda x: x.t().reshape(6) * 2, lambda: (leaf(2, 3),)),
    "view": (lambda x: x.view(-1), lambda: (leaf(2, 3),)),
    "flatten": (lambda x: x.flatten(1), lambda: (leaf(2, 3, 2),)),
    "permute": (lambda x: x.permute(2, 0, 1), lambda: (leaf(2, 3, 2),)),
    "transpose": (lambda x: x.transpose(0, -1), lambda: (leaf(2, 3, 2),)),
    "expand": (lambda x: x.expand(4, 2, 3), lambda: (leaf(2, 1),)),
    "squeeze": (lambda x: x.squeeze(), lambda: (leaf(1, 3, 1),)),
    "unsqueeze": (lambda x: x.unsqueeze(-1), lambda: (leaf(3),)),
    "slice": (lambda x: x[1:, ::2], lambda: (leaf(3, 4),)),
    "slice of one": (lambda x: x[-1, None, ..., 2], lambda: (leaf(3, 4),)),
    "overlapping slices": (lambda x: x[:2] * x[1:], lambda: (leaf(3, 2),)),
    "index tensor": (lambda x: x[index(2, 0, 2)], lambda: (leaf(3, 2),)),
    "index tensor 2-d": (lambda x: x[ac.tensor([[0, -1]])], lambda: (leaf(3, 2),)),
    "index_select": (
        lambda x: x.index_select(1, index(1, 1, 0)),
        lambda: (leaf(2, 3),),
    ),
    "gather": (
        lambda x: x.gather(1, ac.tensor([[0, 0], [2, 1]])),
        lambda: (leaf(2, 3),),
    ),
    "scatter_add": (
        lambda a, src: scattering.scatter_add_op(
            a, ac.tensor([[0, 0], [2, 1]]), src, 1
        ),
        lambda: (leaf(2, 3), leaf(2, 2)),
    ),
    "index_add": (
        lambda a, src: scattering.index_add_op(a, index(1, 1), src, 0),
        lambda: (leaf(3, 2), leaf(2, 2)),
    ),
    "embedding": (
        lambda w: embedding(w, ac.tensor([[0, 2], [2, 2]])),
        lambda: (leaf(3, 2),),
    ),
    "embedding with padding": (
        lambda w: F.embedding(ac.tensor([1, 0, 2, 0]), w, padding_idx=0)[0::2],
        lambda: (leaf(3, 2),),
    ),
    "silu_backward": (silu_backward, lambda: (leaf(2, 3), leaf(2, 3, seed=1))),
    "gelu_backward": (
        lambda g, a: gelu_backward(g, a, "none"),
        lambda: (leaf(2, 3), leaf(2, 3, seed=1)),
    ),
    "gelu_backward tanh": (
        lambda g, a: gelu_backward(g, a, "tanh"),
        lambda: (leaf(2, 3), leaf(2, 3, seed=1)),
    ),
    "softplus_backward": (
        lambda g, a: softplus_backward(g, a, 1.3, 1.9),
        lambda: (leaf(2, 3), leaf(2, 3, seed=1)),
    ),
    "layer_norm": (
        lambda x, w, b: F.layer_norm(x, (4,), w, b),
        lambda: (leaf(3, 4), positive(4), leaf(4)),
    ),
    "layer_norm without bias": (
        lambda x, w: F.layer_norm(x, (4,), w),
        lambda: (leaf(2, 1, 4), leaf(4)),
    ),
    "layer_norm of two dims": (
        lambda x, w, b: F.layer_norm(x, (2, 3), w, b, 0.1),
        lambda: (leaf(2, 2, 3), leaf(2, 3, seed=1), leaf(2, 3, seed=2)),
    ),
    "layer_norm plain": (lambda x: F.layer_norm(x, 3), lambda: (leaf(3),)),
    "layer_norm no rows": (
        lambda x, w, b: F.layer_norm(x, 3, w, b),
        lambda: (leaf(0, 3), leaf(3), leaf(3, seed=1)),
    ),
    "layer_norm of a product": (
        lambda x, w: F.layer_norm(x * w, 3, w),
        lambda: (leaf(2, 3), leaf(3, seed=1)),
    ),
    "rms_norm": (
        lambda x, w: F.rms_norm(x, (4,), w),
        lambda: (leaf(3, 4), positive(4)),
    ),
    "rms_norm plain": (
        lambda x: F.rms_norm(x, (2, 2), eps=0.3),
        lambda: (leaf(3, 2, 2),),
    ),
    "cat": (lambda a, b: ac.cat([a, b, a], 1), lambda: (leaf(2, 3), leaf(2, 1))),
    "cat empty": (lambda a, b: ac.cat([a, b]), lambda: (leaf(0, 2), leaf(2, 2))),
    "stack": (
        lambda a, b: ac.stack([a, b], -1),
        lambda: (leaf(2, 3), leaf(2, 3, seed=1)),
    ),
    "diagonal": (lambda x: x.diagonal(-1, 2, 0), lambda: (leaf(3, 2, 3),)),
    "as_strided": (lambda x: x.as_strided((3, 2), (1, 2), 1), lambda: (leaf(2, 3),)),
    "as_strided of columns": (
        lambda x: x.t().as_strided((3, 2), (1, 2), 1),
        lambda: (leaf(2, 3),),
    ),
    "windows": (lambda x: x.unfold(1, 3, 2), lambda: (leaf(2, 6),)),
    "heaviside": (
        lambda y: ac.heaviside(ac.tensor([0.0, 2.0, -1.0, 0.0]).double(), y * y),
        lambda: (leaf(4),),
    ),
    "windows apart": (lambda x: x.t().unfold(0, 2, 3), lambda: (leaf(2, 6),)),
    "placed": (
        lambda x: slicing.placed(x, (3, 3), (slice(1, 3), 0)),
        lambda: (leaf(2),),
    ),
    "dropout": (
        lambda x: dropout.dropout_op(x, ac.tensor(3), ac.tensor(0), 0.4)[0],
        lambda: (leaf(2, 3),),
    ),
    "dropout_backward": (
        lambda g: dropout.dropout_backward(g, ac.tensor([True, False]), 0.4),
        lambda: (leaf(2),),
    ),
    "one tensor twice": (lambda x: x * x + x, lambda: (leaf(3),)),
    "diamond": (lambda x: (x.exp() * x.sin()).sum() * x.tanh(), lambda: (leaf(3),)),
}


@pytest.mark.parametrize("shapes", BROADCAST)
@pytest.mark.parametrize("name", BINARY)
def test_binary(name, shapes):
    function, make = BINARY[name]
    inputs = BROADCAST[shapes](make)
    assert gradcheck(function, inputs)
    assert gradgradcheck(function, inputs)


@pytest.mark.parametrize("sizes", SHAPES)
@pytest.mark.parametrize("name", UNARY)
def test_unary(name, sizes):
    function, make = UNARY[name]
    inputs = (make(*SHAPES[sizes]),)
    assert gradcheck(function, inputs)
    assert gradgradcheck(function, inputs)


def reduced_count(sizes, dim):
    return int(
        np.prod(sizes if dim is None else [sizes[d] for d in np.atleast_1d(dim)])
    )


@pytest.mark.parametrize(
    ("name", "sizes", "dim", "keepdim"),
    [
        (name, *axes)
        for name in REDUCTIONS
        for axes in AXES
        # the variance of one value is undefined, or 0 with a kink in its root
        if not (name in {"var", "std"} and reduced_count(*axes[:2]) < 2)
        and not (name == "logsumexp" and axes[1] is None)  # which needs a dimension
    ],
)
def test_reductions(name, sizes, dim, keepdim):
    def function(x):
        return REDUCTIONS[name](x, dim, keepdim=keepdim)

    assert gradcheck(function, (leaf(*sizes),))
    assert gradgradcheck(function, (leaf(*sizes),))


@pytest.mark.parametrize("name", CASES)
def test_operators_of_many_forms(name):
    function, make = CASES[name]
    assert gradcheck(function, make())
    assert gradgradcheck(function, make())


def test_only_some_inputs_need_a_gradient():
    for needed in [(0,), (1,), (2,), (0, 2)]:
        inputs = [leaf(2, 3), leaf(4, 3), leaf(4)]
        for i, x in enumerate(inputs):
            if i not in needed:
                x.requires_grad_(False)
        assert gradcheck(linear, inputs)
        assert gradgradcheck(linear, inputs)


@pytest.mark.parametrize("needed", [(0,), (1,), (2,), (0, 2), (1, 2)])
def test_only_some_inputs_of_a_norm_need_a_gradient(needed):
    inputs = [leaf(2, 3), leaf(3), leaf(3, seed=1)]
    for i, x in enumerate(inputs):
        x.requires_grad_(i in needed)

    def normed(x, w, b):
        return F.layer_norm(x, 3, w, b) * F.rms_norm(x, 3, w) + b

    assert gradcheck(normed, inputs)
    assert gradgradcheck(normed, inputs)


def test_every_operator_is_covered_here():
    for module in pkgutil.iter_modules(_ops.__path__, "autocalc._ops."):
        importlib.import_module(module.name)  # some are imported when they are used
    words = {name.split()[0] for name in [*BINARY, *UNARY, *REDUCTIONS, *CASES]}
    missing = set(OPERATORS) - NO_GRADIENT - words - {"round"} - ELSEWHERE
    assert {name for name in missing if TABLE[name].kind != "standalone"} == set()


def test_second_derivative_of_cross_entropy_where_an_input_leads_to_another():
    # The recorded walk goes through a decomposition; it must give the derivative with
    # respect to the logits alone, however they were made.
    w = leaf(3, 3)

    def f(w):
        return cross_entropy(w.tanh() @ w, index(0, 1, 2))

    assert gradgradcheck(f, w)


def test_elementwise_names_are_public():
    assert comparison.eq(ac.ones(1), 1).item()
