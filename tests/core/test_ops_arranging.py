# SPDX-License-Identifier: MIT
"""Reading and writing at indices, parts, arrangement: views, errors."""

from __future__ import annotations

import contextlib
import inspect
import operator
import zlib

import numpy as np
import pytest
from tests.dispatcher import arrays
from tests.refusals import refusals

import autocalc as ac
from autocalc.errors import (
    ArgumentError,
    AutocalcError,
    AutocalcWarning,
    DTypeError,
    GradError,
    ShapeError,
)
from autocalc.testing import gradcheck, gradgradcheck

pytestmark = pytest.mark.core

VALUES = np.array(
    [[0.7, -1.3, 2.1, 0.4], [1.9, 0.3, -0.6, 1.2], [-0.9, 1.6, 0.8, -2.2]]
)
F = ac.nn.functional
I = ac.tensor  # noqa: E741  an index


def leaf(values=VALUES):
    return ac.tensor(values, dtype=ac.float64, requires_grad=True)


VIEWS = {
    "select": lambda x: x.select(0, 1),
    "narrow": lambda x: x.narrow(1, 1, 2),
    "split": lambda x: x.split(2)[1],
    "split sizes": lambda x: x.split([1, 2])[1],
    "chunk": lambda x: x.chunk(2)[1],
    "unbind": lambda x: x.unbind(1)[2],
    "hsplit": lambda x: x.hsplit(2)[1],
    "vsplit": lambda x: x.vsplit(3)[1],
    "diagonal": lambda x: x.diagonal(1),
    "movedim": lambda x: x.movedim(0, 1),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "unflatten": lambda x: x.unflatten(1, (2, 2)),
    "ravel": lambda x: x.ravel(),
    "view_as": lambda x: x.view_as(ac.ones(4, 3)),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_share_memory_and_take_writes(name):
    x = ac.arange(12.0).reshape(3, 4)
    view = VIEWS[name](x)
    assert np.shares_memory(view.numpy(), x.numpy())
    w = ac.tensor(2.0, requires_grad=True)
    view.mul_(w)
    x.sum().backward()
    assert w.grad.item() == view.detach().sum().item() / 2


def test_the_shapes_that_numpy_gives():
    a = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    x = ac.from_numpy(a)
    pairs = [
        (x.roll(1), np.roll(a, 1)),
        (x.roll((5, -1), (2, 0)), np.roll(a, (5, -1), (2, 0))),
        (x.flip((0, -1)), np.flip(a, (0, -1))),
        (x.fliplr(), np.fliplr(a)),
        (x.flipud(), np.flipud(a)),
        (x.tile((2, 1)), np.tile(a, (2, 1))),
        (x.repeat_interleave(3), np.repeat(a, 3)),
        (x.repeat_interleave(I([0, 2, 0, 1]), 2), np.repeat(a, [0, 2, 0, 1], 2)),
        (x.diagonal(-1, 1, 2), a.diagonal(-1, 1, 2)),
        (x.tril(1), np.tril(a, 1)),
        (x.triu(-1), np.triu(a, -1)),
        (ac.dstack([x[0], x[1]]), np.dstack([a[0], a[1]])),
        (ac.column_stack([x[0], x[0, :, 0]]), np.column_stack([a[0], a[0, :, 0]])),
        (ac.atleast_3d(x[0, 0]), np.atleast_3d(a[0, 0])),
        (ac.moveaxis(x, 0, 2), np.moveaxis(a, 0, 2)),
        (ac.repeat_interleave(I([0, 2, 0, 1])), np.array([1, 1, 3])),
    ]
    for ours, expected in pairs:
        assert ours.tolist() == expected.tolist()
    assert [p.shape for p in ac.dsplit(x, 2)] == [(2, 3, 2)] * 2
    assert [p.shape for p in ac.zeros(0, 2).chunk(3)] == [(0, 2)] * 3


X = ac.zeros(3, 4)
test_errors_say_what_does_not_fit = refusals(
    r"""
    X.select(0, 3) -> DimensionError: `index`=3 is out of range for dim
    X.select(0, 1.5) -> DTypeError: select: `index` is 1.5; it must be an
    X.narrow(1, 2, 3) -> DimensionError: 3 slices from index 2 on extend
    X.split([1, 1]) -> ShapeError: split: the sizes \(1, 1\) along
    X.split(0) -> ArgumentError: `split_size_or_sections` is 0 for dimension 0
    X.chunk(0) -> ArgumentError: chunk expects `chunks` to be greater than 0, got:
    X.hsplit(3) -> ArgumentError: torch\.hsplit attempted to split along dimension 1,
    X[0].vsplit(2) -> DimensionError: torch\.vsplit requires a tensor with at least 2
    X[0, 0].unbind() -> DimensionError: a tensor without dimensions has no
    X.tensor_split(0) -> ArgumentError: tensor_split: number of sections must be larger
    X.diagonal(0, 1, 1) -> DimensionError: dimensions are 1 and 1 of 2;
    X[None].diag() -> ShapeError: diag: .*\(1, 3, 4\)
    X[0].tril() -> ShapeError: tril: `input` has shape \(4,\)
    ac.tril_indices(-1, 2) -> ArgumentError: row=-1, col=2
    X.movedim((0, 0), (0, 1)) -> DimensionError: movedim: repeated dim in `source`;
    X.unflatten(1, (3, -1)) -> ShapeError: size 4 .* split into \(3, -1\)
    X.sum_to_size(2) -> ShapeError: \(2,\) does not broadcast to the shape
    X.repeat(2) -> ShapeError: \(2,\), were given for a tensor of shape \(3,
    X.repeat(-1, 2) -> ShapeError: \(-1, 2\) contains a negative number\.
    X.repeat_interleave(I([1, 2]), 0) -> ShapeError: must be \(3,\)
    X.repeat_interleave(I([1, -2, 1]), 0) -> ArgumentError: holds -2
    X.roll((1, 2), 0) -> ArgumentError: `shifts`=\(1, 2\) and `dims`=\(0,\)
    ac.meshgrid(X) -> ShapeError: meshgrid: Expected 0D or 1D tensor, and meshgrid
    ac.meshgrid(X[0], indexing='ji') -> ArgumentError: meshgrid: indexing must be one
    ac.hstack([]) -> ArgumentError: hstack: expects a non-empty TensorList; give at
    X.index_add(0, I([0]), X) -> ShapeError: 1 indices along dimension 0 it
    X.index_copy(0, I([5]), X[:1]) -> KernelDataError: `index` holds 5
    X.index_copy(0, I([[0]]), X[:1]) -> ShapeError: it must be a vector
    X.index_add(0, I([0]), X[:1].double()) -> DTypeError: 32 and float64
    X.index_fill(0, I([0]), X) -> ShapeError: a number or a tensor without
    X.long().masked_fill(X > 0, 0.5) -> DTypeError: float32, which a
    X.masked_fill(X, 0) -> DTypeError: masked_fill: only supports boolean masks:
    X.masked_scatter(X == 0, X[0]) -> ShapeError: 4 elements for 12 True
    X.scatter(0, I([[0]]), X, reduce='max') -> ArgumentError: use 'add' or
    X.scatter(0, I([[3]]), 1.0) -> KernelDataError: scatter: `index` holds 3
    X.scatter(0, I([[0] * 5]), 1.0) -> ShapeError: larger only in dimension 0\.
    X.scatter(0, I([[0, 1]]), X[:, :1]) -> ShapeError: at least as large in every
    X.scatter_add(0, I([[0]]), X.long()) -> DTypeError: are float32 and int64
    X.gather(0, X) -> DTypeError: float32; it must be int64 or
    X.take_along_dim(I([0]), 0) -> ShapeError: take_along_dim: `input` has shape \(3,
    F.pad(X, (1,)) -> ShapeError: `pad` holds 1 numbers for a tensor
    F.pad(X, (-3, -2)) -> ShapeError: give the shape \(3, -1\); no size
    F.pad(X, (1, 1), 'same') -> ArgumentError: `mode`='same' with `value`
    F.pad(X, (4, 0), 'reflect') -> ShapeError: less than the corresponding input
    F.one_hot(X) -> DTypeError: `tensor` has dtype float32; it must
    F.one_hot(I([2]), 2) -> KernelDataError: `index` holds 2
    F.one_hot(I([2])[:0]) -> ArgumentError: `num_classes`=-1 for 0 labels
    X.index_put((), X) -> ArgumentError: `indices` contains no tensor;
    """,
    globals(),
)


#: Arguments that fit nowhere, or seldom.
POOL = [0, 1, -1, -7, 1.5, None, "a", True, (), (2, -1), [0, 1], slice(None), np.nan,
        np.ones(2), ac.float64, object(), X, ac.zeros(0, 2), I(1.0), I(2), I([0, -1]),
        I([[0, 1], [1, 0]]), X > 0, ac.ones(2, 3, 4)]  # fmt: skip
FUNCTIONS = [
    "atleast_2d",
    "broadcast_tensors",
    "broadcast_to",
    "cat",
    "chunk",
    "column_stack",
    "diag",
    "diag_embed",
    "diagonal",
    "expand",
    "fill",
    "flatten",
    "flip",
    "gather",
    "hsplit",
    "hstack",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "index_select",
    "masked_fill",
    "masked_scatter",
    "masked_select",
    "meshgrid",
    "movedim",
    "narrow",
    "permute",
    "repeat",
    "repeat_interleave",
    "reshape",
    "roll",
    "scatter",
    "scatter_add",
    "select",
    "split",
    "split_with_sizes",
    "squeeze",
    "stack",
    "sum_to_size",
    "take_along_dim",
    "tensor_split",
    "tile",
    "topk",
    "trace",
    "transpose",
    "tril",
    "tril_indices",
    "unbind",
    "unflatten",
    "unsqueeze",
    "vstack",
    "arange",
    "bernoulli",
    "empty",
    "eye",
    "full",
    "full_like",
    "linspace",
    "logspace",
    "multinomial",
    "normal",
    "rand",
    "randint",
    "randint_like",
    "randperm",
    "zeros",
    "zeros_like",
    "nn.functional.pad",
    "nn.functional.one_hot",
    "Tensor.view",
    "Tensor.__getitem__",
    "Tensor.__setitem__",
    "Tensor.index_put_",
    "Tensor.scatter_",
    "Tensor.random_",
    "Tensor.bernoulli_",
    "Tensor.exponential_",
    "Tensor.new_full",
    "Tensor.uniform_",
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_does_not_fit_is_an_error_of_ours(name):
    """Thirty random calls: they work, or say what is wrong; nothing else comes out."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    function = operator.attrgetter(name)(ac)
    tensors = [x for x in POOL if isinstance(x, ac.Tensor)]
    signature = inspect.signature(function)
    for _ in range(30):
        args = [POOL[rng.integers(len(POOL))] for _ in range(rng.integers(1, 5))]
        if name.startswith("Tensor") or rng.random() < 0.7:
            args[0] = tensors[rng.integers(len(tensors))].clone()
        try:
            signature.bind(*args)
        except TypeError:
            continue  # too many or too few
        with contextlib.suppress(AutocalcError):
            function(*args)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda x: x.reshape(shape=(3, 2)), lambda x: x.reshape(3, 2)),
        (lambda x: x.view(size=(-1,)), lambda x: x.view(-1)),
        (lambda x: x.permute(dims=(1, 0)), lambda x: x.permute(1, 0)),
        (lambda x: x[:1].expand(size=(2, -1)), lambda x: x[:1].expand(2, -1)),
        (lambda x: x.repeat(repeats=(2, 1)), lambda x: x.repeat(2, 1)),
    ],
)
def test_sizes_are_given_by_their_name_too(call, expected):
    x = ac.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(call(x), expected(x))


def test_sizes_are_given_once():
    x = ac.zeros(2, 3)
    with pytest.raises(ArgumentError, match=r"reshape: the sizes .* are given twice"):
        x.reshape(6, shape=(3, 2))
    with pytest.raises(ArgumentError, match=r"repeat: the sizes .* are given twice"):
        x.repeat(1, 2, repeats=(1, 2))


def test_where_takes_a_mask_of_uint8():
    mask = ac.tensor([0, 1, 2], dtype=ac.uint8)
    x = ac.tensor([1.0, 2.0, 3.0], requires_grad=True)
    with pytest.warns(AutocalcWarning, match="uint8 is taken for a mask"):
        result = ac.where(mask, x, -x)
    np.testing.assert_array_equal(result.detach(), [-1.0, 2.0, 3.0])
    result.sum().backward()
    np.testing.assert_array_equal(x.grad, [-1.0, 1.0, 1.0])


@pytest.mark.parametrize(("join", "name"), [(ac.cat, "cat"), (ac.stack, "stack")])
def test_joining_is_one_node_whose_gradients_are_views(join, name):
    x = ac.ones(2, 3, requires_grad=True)
    y = join([x * 1, ac.zeros(2, 3), x * 2], 1)
    node = y._edge
    assert node.op.name == name
    g = np.arange(18.0, dtype=np.float32).reshape(y.shape)
    first, second, third = node.op.rule(arrays, node, g)
    assert second is None
    assert np.may_share_memory(first, g)
    assert np.may_share_memory(third, g)
    y.backward(ac.tensor(g))
    parts = (g[:, :3], g[:, 6:]) if name == "cat" else (g[:, 0], g[:, 2])
    assert np.array_equal(x.grad.numpy(), parts[0] + 2 * parts[1])


def test_stack_of_two_dtypes():
    assert ac.stack([ac.tensor([1]), ac.tensor([0.5])]).tolist() == [[1.0], [0.5]]
    with pytest.raises(DTypeError, match="stack: needs a Tensor, not float"):
        ac.stack([ac.tensor([1.0]), 1.0])
    with pytest.raises(ShapeError, match=r"stack: `tensors\[1\]` has shape \(1,\)"):
        ac.stack([ac.tensor([1.0, 2.0]), ac.tensor([1])])


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize(
    "pick",
    [
        lambda x, keepdim: ac.max(x, 1, keepdim),
        lambda x, keepdim: ac.min(x, 1, keepdim),
        lambda x, keepdim: ac.kthvalue(x, 2, 1, keepdim),
        lambda x, keepdim: ac.topk(x, 2, 1),
        lambda x, keepdim: ac.sort(x, 1, descending=True),
    ],
)
def test_indices_of_picked_values_must_stay_as_they_were(pick, keepdim):
    x = ac.tensor(VALUES, requires_grad=True)
    assert gradcheck(lambda x: pick(x, keepdim)[0], x)
    assert gradgradcheck(lambda x: pick(x * x, keepdim)[0], x)
    values, indices = pick(x, keepdim)
    assert (values.ndim == 2) == (indices.ndim == 2)
    indices.zero_()
    with pytest.raises(GradError, match="that `picked` needs was changed in place"):
        values.sum().backward()


def test_flipud_without_dimensions():
    with pytest.raises(ShapeError, match=r"flipud: Input must be >= 1-d"):
        ac.flipud(ac.tensor(1.0))
