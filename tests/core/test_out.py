# SPDX-License-Identifier: MIT
"""What `out=` cannot be; `test_out_modes` has every function that takes it."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc.errors import (
    ArgumentError,
    AutocalcWarning,
    DTypeError,
    GradError,
    ShapeError,
)


def test_out_of_several_must_be_several():
    with pytest.raises(ArgumentError, match=r"sort: `out` is Tensor; it must be a tup"):
        ac.sort(ac.ones(3), out=ac.empty(3))


def test_what_out_cannot_be():
    x = ac.ones(2, 2)
    with pytest.raises(ShapeError, match=r"add: `out` has shape \(2,\), .* is a view"):
        ac.add(ac.ones(5), 1, out=ac.empty(4)[:2])
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


def test_a_view_takes_the_shape_of_the_result_in_its_memory():
    """It writes where `resize_` of the view would, so that the base sees the result."""
    base = ac.zeros(2, 3)
    out = base[:, 1:]
    with pytest.warns(AutocalcWarning, match="The out tensor will be resized"):
        ac.arange(1, 4, out=out)
    assert out.tolist() == [1, 2, 3]
    assert base.tolist() == [[0, 1, 2], [3, 0, 0]]
    a, b = ac.ones(1, 2, 3), ac.ones(1, 3, 0)
    assert ac.bmm(a, b, out=ac.empty(1, 2, 0)[:, :, :]).shape == (1, 2, 0)


@pytest.mark.parametrize("name", ["max", "min", "mode", "median", "kthvalue"])
def test_values_and_indices_are_written_into_tensors_of_their_dtypes(name):
    x, find = ac.tensor([[3.0, 1.0]]), getattr(ac, name)
    arguments = (1,) if name == "kthvalue" else ()
    words = {"dim": -1}
    good = ac.empty(1), ac.empty(1, dtype=ac.int64)
    assert find(x, *arguments, **words, out=good)[0] is good[0]
    with pytest.raises(DTypeError, match="scalar type Float but got Double for values"):
        find(x, *arguments, **words, out=(good[0].double(), good[1]))
    with pytest.raises(DTypeError, match="scalar type Long but got Int for indices"):
        find(x, *arguments, **words, out=(good[0], good[1].int()))


def test_the_running_maximum_is_written_into_a_tensor_of_its_dtype():
    out = ac.empty(2, dtype=ac.int16), ac.empty(2, dtype=ac.int64)
    with pytest.raises(DTypeError, match="expected scalar_type Float but found Short"):
        ac.cummax(ac.ones(2), 0, out=out)


def test_zeros_and_ones_are_drawn_into_any_dtype():
    for dtype in (ac.bool, ac.uint8, ac.int64, ac.float16):
        out = ac.empty(50, dtype=dtype)
        ac.bernoulli(ac.full((50,), 0.5), out=out)
        assert set(out.tolist()) == {0, 1}


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
