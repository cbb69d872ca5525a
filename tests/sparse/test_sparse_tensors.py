# SPDX-License-Identifier: MIT
"""Sparse tensors: their parts, conversions, checks and what dense functions say."""

from __future__ import annotations

import copy
import pickle
import sys
import types

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, DTypeError, ShapeError

pytestmark = pytest.mark.core

LAYOUTS = ["sparse_coo", "sparse_csr", "sparse_csc"]


def example(coalesced: bool = True, **words):
    index = [[0, 1, 1, 2], [2, 0, 0, 1]]
    x = ac.sparse_coo_tensor(index, [3.0, 4.0, 5.0, -1.0], (3, 4), **words)
    return x.coalesce() if coalesced else x


def dense_example():
    return np.array([[0, 0, 3, 0], [9, 0, 0, 0], [0, -1, 0, 0]], np.float32)


def test_parts_of_a_coo_tensor():
    x = example(coalesced=False)
    assert isinstance(x, ac.Tensor)
    assert x.is_sparse
    assert x.layout is ac.sparse_coo
    assert not x.is_coalesced()
    assert (x.shape, x.ndim, x._nnz(), x.dtype) == ((3, 4), 2, 4, ac.float32)
    assert (x.sparse_dim(), x.dense_dim(), x.numel()) == (2, 0, 12)
    y = x.coalesce()
    assert y.is_coalesced()
    assert y.coalesce() is y
    assert y.indices().tolist() == [[0, 1, 2], [2, 0, 1]]
    assert y.values().tolist() == [3.0, 9.0, -1.0]
    np.testing.assert_array_equal(x.to_dense().numpy(), dense_example())
    with pytest.raises(ArgumentError, match="indices: Cannot get indices on an uncoa"):
        x.indices()
    with pytest.raises(RuntimeError, match=r"please call .coalesce"):
        x.values()


def test_parts_of_compressed_matrices():
    x = example().to_sparse_csr()
    assert x.is_sparse_csr
    assert not x.is_sparse
    assert x.layout is ac.sparse_csr
    assert x.crow_indices().tolist() == [0, 1, 2, 3]
    assert x.col_indices().tolist() == [2, 0, 1]
    y = example().to_sparse_csc()
    assert y.ccol_indices().tolist() == [0, 1, 2, 3, 3]
    assert y.row_indices().tolist() == [1, 2, 0]
    assert x.t().layout is ac.sparse_csc
    np.testing.assert_array_equal(x.t().to_dense().numpy(), dense_example().T)
    with pytest.raises(ArgumentError, match="col_indices expected sparse row compre"):
        y.col_indices()
    with pytest.raises(ArgumentError, match="coalesce expected sparse coordinate"):
        x.coalesce()
    with pytest.raises(ArgumentError, match=r"crow_indices .* but got Strided"):
        ac.ones(2).crow_indices()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("source", ["dense", *LAYOUTS])
def test_conversions(source, layout):
    dense = ac.from_numpy(dense_example())
    x = dense if source == "dense" else dense.to_sparse(layout=getattr(ac, source))
    y = x.to_sparse(layout=getattr(ac, layout))
    assert y.layout is getattr(ac, layout)
    np.testing.assert_array_equal(y.to_dense().numpy(), dense_example())
    z = pickle.loads(pickle.dumps(copy.deepcopy(y)))
    np.testing.assert_array_equal(z.to_dense().numpy(), dense_example())


def test_hybrid_tensors():
    dense = ac.randn(3, 2, 4)
    dense[1] = 0
    x = dense.to_sparse(1)
    assert (x.sparse_dim(), x.dense_dim(), x._nnz()) == (1, 2, 2)
    np.testing.assert_array_equal(x.to_dense().numpy(), dense.numpy())
    total = ac.sparse.sum(x, (0, 2))
    np.testing.assert_allclose(total.numpy(), dense.sum((0, 2)).numpy(), rtol=1e-5)


def test_printing():
    assert repr(ac.eye(2).to_sparse()) == (
        "tensor(indices=tensor([[0, 1],\n"
        "                       [0, 1]]),\n"
        "       values=tensor([1., 1.]),\n"
        "       size=(2, 2), nnz=2, layout=autocalc.sparse_coo)"
    )
    x = ac.eye(1, dtype=ac.float64).to_sparse_csr().requires_grad_()
    assert "dtype=autocalc.float64, layout=autocalc.sparse_csr, requires" in repr(x)


@pytest.mark.parametrize(
    ("index", "values", "size", "error", "match"),
    [
        ([[0, 3]], [1.0, 2.0], (3,), ShapeError, "for dim 0, size is 3 but found ind"),
        ([[0, -1]], [1.0, 2.0], (3,), ShapeError, "found negative index -1 for dim 0"),
        ([[0, 1]], [1.0], (3,), ShapeError, "must have same nnz, but got nnz from in"),
        ([[0]], [1.0], (3, 3), ShapeError, r"must be sparse_dim \(1\) \+ dense_dim"),
        (
            [[0]],
            [[1.0]],
            (3, 2),
            ShapeError,
            r"values has incorrect size, expected \[1",
        ),
        ([0, 1], [1.0], (3,), ShapeError, "indices must be sparse_dim x nnz"),
        ([[0.5]], [1.0], (3,), DTypeError, "indices must be an int64 tensor"),
        ([[0]], [1.0], (-3,), ShapeError, "must not be negative"),
    ],
)
def test_wrong_coordinates(index, values, size, error, match):
    with pytest.raises(error, match=match):
        ac.sparse_coo_tensor(index, values, size)


@pytest.mark.parametrize(
    ("starts", "plain", "values", "match"),
    [
        ([0, 1], [0], [1.0], r"rows plus one \(3\), but got 2"),
        ([0, 1, 2], [0], [1.0], "must begin with 0 and end with"),
        ([1, 1, 1], [0], [1.0], "must begin with 0 and end with"),
        ([0, 1, 1], [0], [1.0, 2.0], "the same number of entries"),
        ([0, 1, 1], [4], [1.0], "from 0 to 2, but the smallest is 4"),
        ([0, 2, 2], [1, 0], [1.0, 2.0], "must be sorted and different"),
        ([0, 2, 1], [1], [1.0], "must not decrease"),
        ([[0, 1, 1]], [[0]], [[1.0]], "Batches of matrices are not supported"),
    ],
)
def test_wrong_compressed_indices(starts, plain, values, match):
    with pytest.raises(ShapeError, match=match):
        ac.sparse_csr_tensor(starts, plain, values, (2, 3))
    with pytest.raises(ArgumentError, match="expected layout sparse_csr or sparse_csc"):
        ac.sparse_compressed_tensor(starts, plain, values, layout=ac.strided)


DENSE_ONLY = {
    "exp": ac.exp,
    "reshape": lambda x: x.reshape(-1),
    "softmax": lambda x: ac.softmax(x, 1),
    "linear": lambda x: ac.nn.functional.linear(x, ac.ones(2, 4)),
    "where": lambda x: ac.where(x > 0, x, x),
    "stack": lambda x: ac.stack([x, x]),
    "maximum": lambda x: ac.maximum(x, x),
    "layer_norm": lambda x: ac.nn.functional.layer_norm(x, (4,)),
    "index": lambda x: x[0:1],
    "out": lambda x: ac.add(ac.ones(3, 4), 1, out=x),
    "einsum": lambda x: ac.einsum("ij,jk->ik", x, ac.ones(4, 2)),
    "numpy": np.asarray,
    "view": lambda x: x.view(12),
    "add a number": lambda x: x + 1,
    "iadd": lambda x: ac.ones(3, 4).copy_(x),
}


@pytest.mark.parametrize("name", DENSE_ONLY)
def test_a_dense_function_refuses_a_sparse_tensor(name):
    with pytest.raises((TypeError, ArgumentError), match=r"sparse|Sparse"):
        DENSE_ONLY[name](example())


def test_arithmetic():
    x, dense = example(coalesced=False), dense_example()
    for result, expected in [
        (x + x, 2 * dense),
        (x - 3 * x, -2 * dense),
        (ac.add(x, x, alpha=3), 4 * dense),
        (ac.ones(3, 4) + x, 1 + dense),
        (x * x, dense * dense),
        (ac.full((3, 4), 2.0) * x, 2 * dense),
        (x / 2, dense / 2),
        (-x, -dense),
        (ac.relu(x), np.maximum(dense, 0)),
        (x.abs(), abs(dense)),
        (x.coalesce() ** 2, dense**2),
        (ac.cat([x, x], 1), np.concatenate([dense, dense], 1)),
        (x.t(), dense.T),
        (ac.transpose(x, 0, 1), dense.T),
        (x.index_select(0, ac.tensor([2, 0, 2])), dense[[2, 0, 2]]),
        (x[1], dense[1]),
        (x.sum(1), dense.sum(1)),
        (ac.sparse.sum(x, 0), dense.sum(0)),
        (ac.sum(x), dense.sum()),
        (ac.zeros_like(x), 0 * dense),
        (ac.ones(3, 4).sparse_mask(x.coalesce()), dense != 0),
        (example().mul_(2), 2 * dense),
    ]:
        np.testing.assert_allclose(result.to_dense().numpy(), expected, rtol=1e-6)
    with pytest.raises(TypeError, match="Sparse division requires a scalar"):
        x / x
    with pytest.raises(ShapeError, match="to have same size"):
        x + x.t()
    with pytest.raises(ArgumentError, match="exponent above 0"):
        x**-1


@pytest.mark.parametrize("layout", LAYOUTS)
def test_products(layout):
    x, dense = example().to_sparse(layout=getattr(ac, layout)), dense_example()
    right, left = ac.randn(4, 5), ac.randn(5, 3)
    expected = dense @ right.numpy()
    for product in (x @ right, ac.mm(x, right), ac.spmm(x, right), x.mm(right)):
        np.testing.assert_allclose(product.numpy(), expected, rtol=1e-5)
    np.testing.assert_allclose((left @ x).numpy(), left.numpy() @ dense, rtol=1e-5)
    np.testing.assert_allclose((x @ right[:, 0]).numpy(), expected[:, 0], rtol=1e-5)
    added = ac.addmm(ac.ones(3, 5), x, right, beta=2, alpha=3)
    np.testing.assert_allclose(added.numpy(), 2 + 3 * expected, rtol=1e-5)
    squared = ac.sparse.mm(x, x.t())
    np.testing.assert_allclose(squared.to_dense().numpy(), dense @ dense.T, rtol=1e-5)
    with pytest.raises(ShapeError, match=r"cannot be multiplied \(3x4 and 3x5\)"):
        ac.mm(x, ac.ones(3, 5))
    with pytest.raises(DTypeError, match="the same dtype"):
        ac.mm(x, right.double())


def test_long_products_are_computed_in_blocks(monkeypatch):
    from autocalc.sparse import _products

    dense, right = ac.randn(30, 40), ac.randn(40, 7)
    monkeypatch.setattr(_products, "BLOCK", 50)
    product = dense.to_sparse() @ right
    np.testing.assert_allclose(product.numpy(), (dense @ right).numpy(), atol=1e-5)


def test_the_gradient_of_a_leaf_is_sparse():
    x = example(requires_grad=True, coalesced=False)
    right = ac.randn(4, 2, requires_grad=True)
    (x @ right).pow(2).sum().backward()
    assert x.is_leaf
    assert x.grad.is_sparse
    assert x.grad._nnz() == 3
    dense = ac.from_numpy(dense_example()).requires_grad_()
    other = right.detach().clone().requires_grad_()
    (dense @ other).pow(2).sum().backward()
    masked = dense.grad.numpy() * (dense_example() != 0)
    np.testing.assert_allclose(x.grad.to_dense().numpy(), masked, rtol=1e-5)
    np.testing.assert_allclose(right.grad.numpy(), other.grad.numpy(), rtol=1e-5)
    (found,) = ac.autograd.grad((x @ right.detach()).pow(2).sum(), x)
    np.testing.assert_allclose(found.to_dense().numpy(), masked, rtol=1e-5)
    x.grad = None
    assert x.grad is None


FUNCTIONS = {
    "mm": ac.sparse.mm,
    "dense first": lambda x, y: y.t() @ x.t(),
    "sparse mm": lambda x, y: ac.sparse.mm(x, x.t()),
    "sampled_addmm": lambda x, y: ac.sparse.sampled_addmm(x, y[:3] @ y.t(), y @ y.t()),
    "add": lambda x, y: x + 2 * x,
    "mul": lambda x, y: x * (y @ y.t())[:3],
    "sum": lambda x, y: ac.sparse.sum(x, 1),
    "softmax": lambda x, y: ac.sparse.softmax(x, 1),
    "log_softmax": lambda x, y: ac.sparse.log_softmax(x, 0),
    "coalesce": lambda x, y: x.coalesce().sin(),
    "mask": lambda x, y: (y @ y.t())[:3].sparse_mask(x),
}


@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_by_finite_differences(name, layout):
    if layout == "sparse_csr" and name == "coalesce":
        pytest.skip("only coordinates are coalesced")
    x = example(dtype=ac.float64).to_sparse(layout=getattr(ac, layout))
    x.requires_grad_()
    y = ac.randn(4, 2, dtype=ac.float64, requires_grad=True)
    assert ac.autograd.gradcheck(FUNCTIONS[name], (x, y), masked=True)


@pytest.mark.parametrize("check", [ac.autograd.gradcheck, ac.autograd.gradgradcheck])
@pytest.mark.parametrize("name", ["mm", "add", "mul", "sum"])
def test_gradients_of_complex_values(name, check):
    x = (example(dtype=ac.complex128) * (2 - 1j)).detach().requires_grad_()
    y = ac.randn(4, 2, dtype=ac.complex128, requires_grad=True)
    assert x.is_complex()
    assert ac.is_complex(x.to_sparse_csr())
    assert check(FUNCTIONS[name], (x, y), masked=True)


class SpecialSpmm(ac.autograd.Function):
    """The product of pyGAT, with the gradient of a sparse matrix's values."""

    @staticmethod
    def forward(ctx, indices, values, shape, b):
        a = ac.sparse_coo_tensor(indices, values, shape)
        ctx.save_for_backward(a, b)
        return ac.matmul(a, b)

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        row, col = a._indices()
        values = grad_output.matmul(b.t())[row, col]
        return None, values, None, a.t().matmul(grad_output)


def test_a_function_of_the_user_saves_a_sparse_tensor():
    x = example()
    values = x.values().double().requires_grad_()
    b = ac.randn(4, 2, dtype=ac.float64, requires_grad=True)
    index, shape = x.indices(), x.shape
    assert ac.autograd.gradcheck(
        lambda v, b: SpecialSpmm.apply(index, v, shape, b), (values, b)
    )
    with pytest.raises(RuntimeError, match=r"SpecialSpmm: an input of shape .* sparse"):
        SpecialSpmm.apply(index, values, shape, x.double().requires_grad_().t())


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_matrices_of_scipy_are_recognised_by_their_methods(kind, monkeypatch):
    x = example().to_sparse(layout=getattr(ac, f"sparse_{kind}"))
    made = types.SimpleNamespace(format=kind, shape=(3, 4), has_canonical_format=True)
    made.tocoo = lambda: made
    made.data = x.values().numpy()
    if kind == "coo":
        made.row, made.col = x.indices().numpy()
    else:
        made.indptr, made.indices = x._starts.numpy(), x._plain.numpy()
    y = ac.sparse.from_scipy(made)
    assert y.layout is x.layout
    np.testing.assert_array_equal(y.to_dense().numpy(), dense_example())
    array = types.SimpleNamespace(csr_array=lambda *a, **k: ("csr", a, k))
    array.csc_array = lambda *a, **k: ("csc", a, k)
    array.coo_array = lambda *a, **k: ("coo", a, k)
    monkeypatch.setitem(sys.modules, "scipy.sparse", array)
    found, (parts,), words = ac.sparse.to_scipy(x)
    assert found == kind
    assert words == {"shape": (3, 4)}
    assert parts[0] is x.values().numpy() or parts[0].tolist() == x.values().tolist()
    with pytest.raises(DTypeError, match=r"give a matrix of scipy\.sparse"):
        ac.sparse.from_scipy([1])
    with pytest.raises(DTypeError, match="to_scipy: got a Tensor"):
        ac.sparse.to_scipy(ac.ones(1))
    with pytest.raises(ShapeError, match="SciPy has sparse matrices only"):
        ac.sparse.to_scipy(ac.ones(2).to_sparse())
