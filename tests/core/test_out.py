# SPDX-License-Identifier: MIT
"""What `out=` cannot be; `test_out_modes` has every function that takes it."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, DTypeError, GradError, ShapeError


def test_out_of_several_must_be_several():
    with pytest.raises(ArgumentError, match=r"sort: `out` is Tensor; it must be a tup"):
        ac.sort(ac.ones(3), out=ac.empty(3))


def test_what_out_cannot_be():
    x = ac.ones(2, 2)
    with pytest.raises(ShapeError, match=r"sum: `out` has shape \(2,\), .* is a view"):
        ac.sum(x, out=ac.empty(4)[:2])
    one = ac.zeros(1)
    for shared in (one.expand(2), ac.zeros(3).as_strided((2, 2), (1, 1))):
        with pytest.raises(ArgumentError, match=r"unsupported operation: .* a single"):
            ac.linspace(0, 1, shared.numel(), out=shared)
    assert one.item() == 0
    meta = ac.empty(3, 2, device="meta").t()
    assert ac.add(meta, 1, out=meta) is meta
    same = ac.zeros(2, 3).expand(2, 3)
    assert ac.add(ac.ones(2, 3), 1, out=same) is same
    assert same.tolist() == [[2.0] * 3] * 2
    with pytest.raises(DTypeError, match=r"mm: result type Float can't be cast to the"):
        ac.mm(x, x, out=ac.empty(2, 2, dtype=ac.int64))
    with pytest.raises(
        GradError, match=r"mean: functions with out=... arguments don't"
    ):
        ac.mean(ac.ones(2, requires_grad=True), out=ac.empty(()))


@pytest.mark.filterwarnings("error")
def test_out_takes_the_shape_of_the_result():
    x = ac.tensor([[1.0, 2.0], [3.0, 4.0]])
    out = ac.empty(0)
    assert ac.add(x, x, out=out) is out
    assert out.tolist() == [[2, 4], [6, 8]]
    with pytest.warns(
        UserWarning, match=r"An output .* was resized: `out` of sum .* shape \(2, 2\)"
    ):
        ac.sum(x, 0, out=out)
    assert out.tolist() == [4, 6]
    whole = ac.zeros(3, dtype=ac.int64)
    with pytest.raises(DTypeError, match="can't be cast"):
        ac.add(x, x, out=whole)
    assert whole.shape == (3,)  # nothing is changed where the dtype does not fit


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (ac.all, "all only supports bool tensor for result, got float32"),
        (ac.any, "any only supports bool tensor for result, got float32"),
        (ac.isposinf, "isposinf does not support non-boolean outputs"),
        (ac.isneginf, "isneginf does not support non-boolean outputs"),
        (ac.nonzero, "nonzero: `out` is to have scalar type Long"),
    ],
)
def test_out_of_truths_and_places_has_their_dtype(call, text):
    with pytest.raises(DTypeError, match=text):
        call(ac.ones(2), out=ac.empty(0))


@pytest.mark.parametrize("name", ["det", "matrix_norm"])
def test_out_is_a_tensor(name):
    with pytest.raises(DTypeError, match=f"{name}: needs a Tensor, not int"):
        getattr(ac.linalg, name)(ac.eye(3), out=3)


@pytest.mark.parametrize(("name", "n"), [("qr", 2), ("svd", 3)])
def test_out_of_several_results_is_a_tuple(name, n):
    with pytest.raises(ArgumentError, match=f"{name}: `out` is int; .* tuple of {n}"):
        getattr(ac.linalg, name)(ac.eye(3), out=3)


def test_where_of_a_condition_alone_is_its_places():
    rows, columns = ac.where(ac.tensor([[0, 1], [2, 0]]))
    assert (rows.tolist(), columns.tolist()) == ([0, 1], [1, 0])


def test_a_selection_of_a_single_element():
    x = ac.tensor(2.0, requires_grad=True)
    picked = ac.index_select(x, 0, ac.tensor([0]))
    picked.backward()
    assert (picked.item(), x.grad.item()) == (2, 1)
