# SPDX-License-Identifier: MIT
"""NumPy's arrays as operands, and its numbers wherever a number is taken."""

from __future__ import annotations

import ast
import operator

import numpy as np
import pytest
from tests.core import traced_calls

import autocalc as ac
from autocalc import nn
from autocalc.errors import DTypeError, GradError
from autocalc.nn import functional as F
from autocalc.utils import data

pytestmark = pytest.mark.core

A = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
ARITHMETIC = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"]
COMPARISONS = ["lt", "le", "gt", "ge", "eq", "ne"]
BITS = ["and_", "or_", "xor", "lshift", "rshift"]


def check(result, expected):
    """A tensor, of NumPy's dtype and values."""
    assert isinstance(result, ac.Tensor)
    assert result.dtype is ac.from_numpy(expected).dtype
    np.testing.assert_allclose(result.numpy(), expected, 1e-6)


@pytest.mark.parametrize("name", ARITHMETIC + COMPARISONS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_array_on_either_side(name, dtype):
    function, other = getattr(operator, name), A.astype(dtype)[::-1]
    check(function(ac.tensor(A), other), function(A, other))
    check(function(other, ac.tensor(A)), function(other, A))


@pytest.mark.parametrize("name", BITS)
def test_integers_on_either_side(name):
    function, a, b = getattr(operator, name), np.array([6, 5]), np.array([3, 1])
    check(function(ac.tensor(a), b), function(a, b))
    check(function(a, ac.tensor(b)), function(a, b))


def test_products_of_matrices():
    check(ac.tensor(A) @ A.T, A @ A.T)
    check(A @ ac.tensor(A).T, A @ A.T)


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv", "ipow"])
def test_a_write_in_place_keeps_dtype_and_memory(name):
    x = y = ac.tensor(A)
    y = getattr(operator, name)(y, np.float64([1, 2, 3]))
    assert y is x
    expected = getattr(operator, name)(A.copy(), np.float32([1, 2, 3]))
    check(x, expected)


def test_an_array_without_dimensions_promotes_as_such_a_tensor():
    assert (ac.tensor(A) * np.array(2.0)).dtype is ac.float32
    assert (ac.tensor(A) * np.array([2.0])).dtype is ac.float64


def test_gradients_keep_the_values_of_the_call():
    x, a = ac.ones(2, 3, requires_grad=True), A.copy()
    y = a * x
    a[:] = 0
    y.sum().backward()
    assert x.grad.tolist() == A.tolist()


def test_arrays_that_are_no_tensors_are_refused():
    with pytest.raises(DTypeError, match="an operand is a MaskedArray"):
        ac.ones(2) * np.ma.masked_array(np.ones(2))
    with pytest.raises(DTypeError, match=r"dtype .* is not supported"):
        ac.ones(2) * np.ones(2, np.clongdouble)


SIZES = np.uint8(100), np.int64(100)
LAYERS = {
    "Linear": lambda n: nn.Linear(n, n),
    "Bilinear": lambda n: nn.Bilinear(n, n, n),
    "Embedding": lambda n: nn.Embedding(n + 1, n, padding_idx=n),
    "EmbeddingBag": lambda n: nn.EmbeddingBag(n, n),
    "Conv2d": lambda n: nn.Conv2d(n, n, np.int8(3), groups=n),
    "ConvTranspose1d": lambda n: nn.ConvTranspose1d(n, n, np.int8(3)),
    "BatchNorm1d": lambda n: nn.BatchNorm1d(n, momentum=np.float32(0.5)),
    "GroupNorm": lambda n: nn.GroupNorm(n, n, eps=np.float32(0.5)),
    "LayerNorm": nn.LayerNorm,
    "LSTM": lambda n: nn.LSTM(n, n, np.int8(2), dropout=np.float32(0.5)),
    "GRUCell": lambda n: nn.GRUCell(n, n),
    "MultiheadAttention": lambda n: nn.MultiheadAttention(n, np.int8(4)),
    "PReLU": nn.PReLU,
    "AvgPool2d": lambda n: nn.AvgPool2d(n, divisor_override=n),
    "PixelShuffle": nn.PixelShuffle,
    "Dropout": lambda n: nn.Dropout(np.float32(0.5)),
    "CTCLoss": nn.CTCLoss,
}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("size", SIZES, ids=lambda n: type(n).__name__)
def test_a_layer_of_such_sizes_is_that_of_plain_ones(name, size):
    layer, plain = LAYERS[name](size), LAYERS[name](int(size))
    assert repr(layer) == repr(plain)
    shapes = [{k: v.shape for k, v in m.state_dict().items()} for m in (layer, plain)]
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize("seed", [np.int64(3), np.uint32(3), 3.0, ac.tensor(3)])
def test_a_seed(seed):
    ac.manual_seed(seed)
    drawn = ac.rand(3).tolist()
    ac.manual_seed(3)
    assert drawn == ac.rand(3).tolist()


I = np.int64  # noqa: E741  # as in the calls
X = ac.tensor(A)
CALLS = {
    "full": lambda: ac.full((I(2),), np.bool_(True), dtype=ac.float32).sum() == 2,
    "dropout": lambda: F.dropout(X, np.float32(0)).equal(X),
    "pixel_shuffle": lambda: F.pixel_shuffle(X.reshape(6, 1, 1), I(1)).shape[0] == 6,
    "interpolate": lambda: (
        F.interpolate(X[None], scale_factor=np.float32(2)).shape[2] == 6
    ),
    "random_split": lambda: len(data.random_split([1, 2, 3], [I(1), I(2)])) == 2,
    "DataLoader": lambda: len(data.DataLoader([1, 2, 3], batch_size=I(2))) == 2,
    "RandomSampler": lambda: len(data.RandomSampler([1], num_samples=I(1))) == 1,
    "StepLR": lambda: (
        ac.optim.lr_scheduler.StepLR(
            ac.optim.SGD([nn.Parameter(ac.ones(1))], np.float32(0.5)), I(2)
        ).get_last_lr()
        == [0.5]
    ),
    "set_num_threads": lambda: ac.set_num_threads(I(ac.get_num_threads())) is None,
    "LBFGS": lambda: ac.optim.LBFGS([nn.Parameter(ac.ones(1))], max_iter=I(3)),
    "sample": lambda: (
        ac.distributions.Normal(np.float64(0), 1.0).sample(np.array([2])).shape == (2,)
    ),
    "calculate_gain": lambda: nn.init.calculate_gain("leaky_relu", np.float32(0)) > 1,
    "Upsample": lambda: nn.Upsample(scale_factor=np.float32(2)).scale_factor == 2,
}


@pytest.mark.parametrize("name", CALLS)
def test_numbers_elsewhere(name):
    assert CALLS[name]()


class _WithNumpy(ast.NodeTransformer):
    """Writes ``np.int64(2)`` for 2 and ``np.float32(0.5)`` for 0.5, not in indices."""

    def visit_Subscript(self, node):
        node.value = self.visit(node.value)
        return node

    def visit_Constant(self, node):
        names = {int: "np.int64", float: "np.float32"}
        if type(node.value) not in names:
            return node
        return ast.parse(f"{names[type(node.value)]}({node.value})", mode="eval").body


def with_numpy(expression):
    tree = _WithNumpy().visit(ast.parse(expression, mode="eval"))
    return ast.unparse(ast.fix_missing_locations(tree))


NUMBERED = {
    name: with_numpy(expression)
    for name, expression in traced_calls.EXPRESSIONS.items()
    if with_numpy(expression) != ast.unparse(ast.parse(expression, mode="eval"))
}


@pytest.mark.parametrize("name", NUMBERED)
def test_calls_with_numbers_of_either_kind(name):
    results = []
    for expression in (traced_calls.EXPRESSIONS[name], NUMBERED[name]):
        ac.manual_seed(1)
        results.append(traced_calls.call_of(expression)(traced_calls.Data("usual", 1)))
    ac.testing.assert_close(*results, equal_nan=True)


def test_functions_of_numpy_make_tensors_of_a_tensor():
    x = ac.tensor([0.0, 4.0])
    for made in (np.sqrt(x), np.add(x, 1), np.maximum(np.ones(2, np.float32), x)):
        assert (type(made), made.dtype) == (ac.Tensor, ac.float32)
    assert np.sqrt(x).tolist() == [0.0, 2.0]
    assert np.isnan(x).dtype is ac.bool
    assert type(np.concatenate([x, x])) is np.ndarray
    with pytest.raises(
        GradError, match=r"Can't call numpy\(\) on Tensor that requires grad\."
    ):
        np.sqrt(ac.ones(2, requires_grad=True))
