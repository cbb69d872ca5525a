# SPDX-License-Identifier: MIT
"""Sparse tensors, their gradients and optimizers, compared with PyTorch's."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac

torch = pytest.importorskip("torch")

pytestmark = [
    pytest.mark.torch,
    # PyTorch's own, given once in a process.
    *(pytest.mark.filterwarnings(f"ignore:{text}:UserWarning") for text in (
        "Sparse invariant checks are implicitly disabled",
        "Sparse CSR tensor support is in beta state",
        "The PyTorch API of nested tensors is in prototype stage",
    )),
]  # fmt: skip

DTYPES = ["float32", "float64"]
INDEX = [[0, 1, 1, 3, 3, 3], [2, 0, 0, 1, 4, 2]]


def matrix(library, dtype, coalesced=True, values=None):
    rng = np.random.default_rng(0)
    values = rng.standard_normal(6) if values is None else values
    data = library.tensor(values.tolist(), dtype=getattr(library, dtype))
    x = library.sparse_coo_tensor(library.tensor(INDEX), data, (4, 5))
    return x.coalesce() if coalesced else x


def dense(library, dtype, *shape, seed=1):
    values = np.random.default_rng(seed).standard_normal(shape).tolist()
    return library.tensor(values, dtype=getattr(library, dtype))


def values_of(x):
    x = x.to_dense() if x.layout not in (ac.strided, torch.strided) else x
    return x.detach().numpy()


#: Functions of the library, a sparse matrix [4, 5] and dense ones [5, 3] and [4, 5].
FUNCTIONS = {
    "mm": lambda lib, x, y, z: lib.sparse.mm(x, y),
    "spmm": lambda lib, x, y, z: lib.spmm(x, y),
    "matmul": lambda lib, x, y, z: x @ y,
    "mv": lambda lib, x, y, z: lib.mv(x, y[:, 0]),
    "addmm": lambda lib, x, y, z: lib.sparse.addmm(z[:, :3], x, y, beta=0.5, alpha=2),
    "sparse mm": lambda lib, x, y, z: lib.sparse.mm(x, x.t()),
    "softmax": lambda lib, x, y, z: lib.sparse.softmax(x, 1),
    "log_softmax": lambda lib, x, y, z: lib.sparse.log_softmax(x, 0),
    "sum": lambda lib, x, y, z: lib.sparse.sum(x, 0),
    "sum of all": lambda lib, x, y, z: lib.sparse.sum(x),
    "add": lambda lib, x, y, z: x + 2 * x,
    "dense add": lambda lib, x, y, z: z + x,
    "mul": lambda lib, x, y, z: x * x,
    "dense mul": lambda lib, x, y, z: x * z,
    "div": lambda lib, x, y, z: x / 3,
    "sin": lambda lib, x, y, z: x.sin(),
    "tanh": lambda lib, x, y, z: lib.tanh(x),
    "transpose": lambda lib, x, y, z: x.t(),
    "index_select": lambda lib, x, y, z: x.index_select(0, lib.tensor([3, 0, 3])),
    "cat": lambda lib, x, y, z: lib.cat([x, x], 1),
    "mask": lambda lib, x, y, z: z.sparse_mask(x),
    "csr mm": lambda lib, x, y, z: x.to_sparse_csr() @ y,
    "csr": lambda lib, x, y, z: x.to_sparse_csr(),
    "csc": lambda lib, x, y, z: x.to_sparse_csc(),
    "csr mul": lambda lib, x, y, z: x.to_sparse_csr() * 2,
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values(name, dtype):
    results = []
    for lib in (ac, torch):
        operands = dense(lib, dtype, 5, 3), dense(lib, dtype, 4, 5, seed=2)
        results.append(FUNCTIONS[name](lib, matrix(lib, dtype), *operands))
    ours, theirs = results
    assert str(ours.layout).rpartition(".")[2] == str(theirs.layout).rpartition(".")[2]
    assert tuple(ours.shape) == tuple(theirs.shape)
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(values_of(ours), values_of(theirs), tolerance, tolerance)


GRADIENTS = ["mm", "addmm", "sparse mm", "softmax", "log_softmax", "dense mul"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name, dtype):
    found = []
    for lib in (ac, torch):
        x = matrix(lib, dtype).requires_grad_()
        y = dense(lib, dtype, 5, 3).requires_grad_()
        z = dense(lib, dtype, 4, 5, seed=2).requires_grad_()
        out = FUNCTIONS[name](lib, x, y, z)
        out = out if out.layout in (ac.strided, torch.strided) else out.to_dense()
        weights = np.cos(np.arange(out.numel())).reshape(tuple(out.shape)).tolist()
        (out * lib.tensor(weights, dtype=out.dtype)).sum().backward()
        found.append([None if t.grad is None else values_of(t.grad) for t in (x, y, z)])
    pattern = values_of(matrix(ac, dtype)) != 0
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    for i, (ours, theirs) in enumerate(zip(*found, strict=True)):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            expected = theirs * pattern if i == 0 else theirs
            np.testing.assert_allclose(ours, expected, tolerance, tolerance)


OPTIMIZERS = {
    "SGD": lambda lib, p: lib.optim.SGD(p, lr=0.1),
    "momentum": lambda lib, p: lib.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "Adagrad": lambda lib, p: lib.optim.Adagrad(p, lr=0.1, lr_decay=0.1),
    "SparseAdam": lambda lib, p: lib.optim.SparseAdam(p, lr=0.1),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_on_sparse_gradients(name, dtype):
    weights = []
    for lib in (ac, torch):
        table = dense(lib, dtype, 6, 3).requires_grad_()
        optimizer = OPTIMIZERS[name](lib, [table])
        for words in ([0, 1, 1], [5, 1], [0, 0]):
            optimizer.zero_grad()
            functional = lib.nn.functional
            rows = functional.embedding(lib.tensor(words), table, sparse=True)
            rows.pow(2).sum().backward()
            assert table.grad.is_sparse
            optimizer.step()
        weights.append(table.detach().numpy())
    np.testing.assert_allclose(*weights, rtol=1e-5)


@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "prod"])
def test_segments(reduce):
    found = []
    for lib in (ac, torch):
        x = dense(lib, "float64", 5, 2).requires_grad_()
        lengths = lib.tensor([2, 0, 3])
        out = lib.segment_reduce(x, reduce, lengths=lengths, initial=0.5)
        out.pow(2).sum().backward()
        found.append((out.detach().numpy(), x.grad.numpy()))
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_nested_tensors():
    found = []
    for lib in (ac, torch):
        parts = [dense(lib, "float64", n, 4, seed=n) for n in (2, 4, 1)]
        x = lib.nested.nested_tensor(parts, layout=lib.jagged, requires_grad=True)
        weight = dense(lib, "float64", 4, 4, seed=9)
        h = lib.nn.functional.linear(lib.nn.functional.layer_norm(x, (4,)), weight)
        heads = h.unflatten(-1, (2, 2)).transpose(1, 2)
        out = lib.nn.functional.scaled_dot_product_attention(heads, heads, heads)
        y = x + out.transpose(1, 2).flatten(-2, -1).relu()
        dense_y = lib.nested.to_padded_tensor(y, 0.0)
        dense_y.pow(2).sum().backward()
        grad = x.grad.values()
        found.append((dense_y.detach().numpy(), grad.numpy()))
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
