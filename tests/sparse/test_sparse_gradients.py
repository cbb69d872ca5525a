# SPDX-License-Identifier: MIT
"""Sparse gradients: of embeddings, their sums, and the optimizers that take them."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ArgumentError

pytestmark = pytest.mark.core

OPTIMIZERS = {
    "SGD": lambda p: ac.optim.SGD(p, lr=0.5),
    "SGD with momentum": lambda p: ac.optim.SGD(p, lr=0.5, momentum=0.9),
    "Adagrad": lambda p: ac.optim.Adagrad(p, lr=0.5, lr_decay=0.1),
    "SparseAdam": lambda p: ac.optim.SparseAdam(p, lr=0.5),
}


def embeddings(padding=None, dtype=ac.float32):
    ac.manual_seed(0)
    dense = ac.nn.Embedding(6, 3, padding_idx=padding, dtype=dtype)
    sparse = ac.nn.Embedding.from_pretrained(
        dense.weight.detach().clone(), freeze=False, padding_idx=padding, sparse=True
    )
    return dense, sparse


@pytest.mark.parametrize("dtype", [ac.float32, ac.float64, ac.bfloat16])
@pytest.mark.parametrize("padding", [None, 2])
def test_an_embedding_has_a_sparse_gradient(padding, dtype):
    dense, sparse = embeddings(padding, dtype)
    words = ac.tensor([[1, 2], [4, 1]])
    for layer in (dense, sparse):
        layer(words).pow(2).sum().backward()
    found = sparse.weight.grad
    assert found.is_sparse
    assert found.dtype is dtype
    assert found.shape == (6, 3)
    assert found._nnz() == (4 if padding is None else 3)
    near = found.to_dense().float().numpy()
    tolerance = 1e-2 if dtype is ac.bfloat16 else 1e-6
    np.testing.assert_allclose(near, dense.weight.grad.float().numpy(), tolerance)


def test_gradients_of_two_uses_and_of_two_passes_are_added():
    dense, sparse = embeddings()
    for layer in (dense, sparse):
        for words in ([0, 1], [5, 0]):
            index = ac.tensor(words)
            (layer(index).exp().sum() + layer(index + 0).sum()).backward()
    assert sparse.weight.grad.is_sparse
    assert sparse.weight.grad._nnz() == 8
    np.testing.assert_allclose(
        sparse.weight.grad.to_dense().numpy(), dense.weight.grad.numpy(), rtol=1e-5
    )


@pytest.mark.parametrize("order", ["sparse first", "dense first"])
def test_a_dense_and_a_sparse_gradient_make_a_dense_one(order):
    dense, sparse = embeddings()
    words = ac.tensor([1, 1])
    for layer in (dense, sparse):
        parts = [layer(words).sum(), (layer.weight * 2).sum()]
        sum(parts if order == "sparse first" else parts[::-1]).backward()
        parts = [layer(words).sum(), (layer.weight * 2).sum()]
        for part in parts if order == "sparse first" else parts[::-1]:
            part.backward()
    assert not sparse.weight.grad.is_sparse
    np.testing.assert_allclose(sparse.weight.grad.numpy(), dense.weight.grad.numpy())


def test_grad_and_hooks_get_a_sparse_tensor():
    _, layer = embeddings()
    seen = []
    layer.weight.register_hook(lambda g: seen.append(g.is_sparse))
    (found,) = ac.autograd.grad(layer(ac.tensor([3])).sum(), layer.weight)
    assert found.is_sparse
    assert found.coalesce().indices().tolist() == [[3]]
    layer(ac.tensor([3])).sum().backward()
    assert seen == [True, True]
    layer.zero_grad(set_to_none=False)
    assert layer.weight.grad._nnz() == 0
    layer.zero_grad()
    assert layer.weight.grad is None


def test_a_table_that_is_no_leaf_has_a_dense_gradient():
    table = ac.ones(4, 2, requires_grad=True)
    words = ac.tensor([1, 1])
    ac.nn.functional.embedding(words, table * 2, sparse=True).sum().backward()
    assert table.grad.tolist() == [[0, 0], [4, 4], [0, 0], [0, 0]]


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_bags(mode):
    ac.manual_seed(1)
    sparse = ac.nn.EmbeddingBag(6, 3, mode=mode, sparse=True)
    dense = ac.nn.EmbeddingBag.from_pretrained(
        sparse.weight.detach().clone(), freeze=False, mode=mode
    )
    for layer in (sparse, dense):
        words, starts = ac.tensor([0, 1, 1, 5]), ac.tensor([0, 3])
        layer(words, starts).pow(2).sum().backward()
    assert sparse.weight.grad.is_sparse
    np.testing.assert_allclose(
        sparse.weight.grad.to_dense().numpy(), dense.weight.grad.numpy(), rtol=1e-5
    )
    assert "sparse=True" in repr(sparse)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_change_the_rows_that_were_used(name):
    dense, sparse = embeddings()
    other = "Adam" if name == "SparseAdam" else name
    plain = (
        ac.optim.Adam(dense.parameters(), lr=0.5)
        if other == "Adam"
        else (OPTIMIZERS[name](dense.parameters()))
    )
    pairs = [(dense, plain), (sparse, OPTIMIZERS[name](sparse.parameters()))]
    before = sparse.weight.detach().clone()
    for _ in range(3):
        for layer, optimizer in pairs:
            optimizer.zero_grad()
            layer(ac.tensor([1, 4, 1])).pow(2).sum().backward()
            optimizer.step()
    np.testing.assert_allclose(
        sparse.weight.detach().numpy(), dense.weight.detach().numpy(), atol=1e-6
    )
    changed = (sparse.weight.detach() != before).any(1).tolist()
    assert changed == [False, True, False, False, True, False]


def test_the_state_of_sparse_adam_is_saved_and_loaded():
    _, layer = embeddings()
    optimizer = ac.optim.SparseAdam(layer.parameters(), lr=0.1)
    layer(ac.tensor([1])).sum().backward()
    optimizer.step()
    other = ac.optim.SparseAdam(layer.parameters(), lr=0.2)
    other.load_state_dict(optimizer.state_dict())
    other.step()
    assert other.param_groups[0]["lr"] == 0.1
    assert int(other.state[layer.weight]["step"]) == 2


def test_clipping_concerns_the_sum_of_equal_rows():
    dense, sparse = embeddings()
    for layer in (dense, sparse):
        layer(ac.tensor([1, 1, 2])).sum().backward()
        norm = ac.nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
        assert norm.item() == pytest.approx(np.sqrt(15))
    np.testing.assert_allclose(
        sparse.weight.grad.to_dense().numpy(), dense.weight.grad.numpy(), rtol=1e-5
    )


def test_what_is_refused():
    dense, sparse = embeddings()
    sparse(ac.tensor([1])).sum().backward()
    dense(ac.tensor([1])).sum().backward()
    for kind in (ac.optim.Adam, ac.optim.RMSprop):
        with pytest.raises(RuntimeError, match="does not support sparse gradients, pl"):
            kind(sparse.parameters(), lr=0.1).step()
    with pytest.raises(ArgumentError, match="does not support dense gradients, please"):
        ac.optim.SparseAdam(dense.parameters()).step()
    with pytest.raises(ArgumentError, match="requires dense parameter tensors"):
        ac.optim.SparseAdam([ac.eye(2).to_sparse().requires_grad_()])
    with pytest.raises(ArgumentError, match="not compatible with sparse gradients"):
        ac.optim.SGD(sparse.parameters(), lr=0.1, weight_decay=0.1).step()
    with pytest.raises(ArgumentError, match="scale_grad_by_freq not supported with sp"):
        ac.nn.Embedding(3, 2, scale_grad_by_freq=True, sparse=True)
    with pytest.raises(ArgumentError, match="scale_grad_by_freq not supported with sp"):
        ac.nn.EmbeddingBag(3, 2, scale_grad_by_freq=True, sparse=True)


def test_smm_is_the_product_and_has_its_gradients():
    a = ac.tensor([[0.0, 2.0], [3.0, 0.0]], dtype=ac.float64)
    b = ac.tensor([[1.0, -1.0], [0.5, 4.0]], dtype=ac.float64, requires_grad=True)
    found = a.to_sparse_coo().smm(b)
    assert ac.equal(found.to_dense(), a @ b)
    found.to_dense().pow(2).sum().backward()
    assert ac.equal(b.grad, a.t() @ (2 * (a @ b.detach())))
