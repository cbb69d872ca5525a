# SPDX-License-Identifier: MIT
"""Products of groups of different sizes; PyTorch is asked in `tests/models`."""

from __future__ import annotations

from tests.refusals import refusals

import autocalc as ac

mm = ac.nn.functional.grouped_mm


def drawn(*shape):
    return ac.randn(shape, dtype=ac.float64, requires_grad=True)


def ends(*values):
    return ac.tensor(values, dtype=ac.int32)


def test_a_matrix_for_each_group_of_rows():
    a, b = drawn(6, 3), drawn(3, 3, 4)
    out = mm(a, b, offs=ends(2, 2, 6))
    assert ac.allclose(out, ac.cat([a[:2] @ b[0], a[2:] @ b[2]]))
    short = mm(a, b, offs=ends(1, 2, 4))
    assert short.shape == (6, 4)
    assert short[4:].tolist() == [[0] * 4] * 2


def test_groups_of_columns_and_of_the_sum():
    a, b = drawn(2, 5, 3), drawn(3, 6)
    out = mm(a, b, offs=ends(2, 5))
    assert ac.allclose(out[:, :2], a[0] @ b[:, :2])
    assert ac.allclose(out[:, 2:5], a[1] @ b[:, 2:5])
    assert out[:, 5].tolist() == [0] * 5
    a, b = drawn(4, 6), drawn(6, 3)
    out = mm(a, b, offs=ends(2, 2, 6))
    assert ac.allclose(
        out, ac.stack([a[:, :2] @ b[:2], a[:, :0] @ b[:0], a[:, 2:] @ b[2:]])
    )


def test_no_groups_and_whole_matrices():
    a, b = drawn(2, 4, 3), drawn(2, 3, 5)
    assert ac.allclose(mm(a, b), a @ b)
    assert mm(drawn(4, 3), drawn(0, 3, 2), offs=ends()).tolist() == [[0, 0]] * 4
    assert mm(drawn(4, 3), drawn(3, 2), offs=ends()).shape == (0, 4, 2)
    halves = [x.detach().bfloat16() for x in (a, b)]
    assert mm(*halves, out_dtype=ac.bfloat16).dtype is ac.bfloat16


A, B = ac.ones(4, 3), ac.ones(2, 3, 5)


test_impossible_calls = refusals(
    r"""
    mm(A, B) -> ShapeError: and `offs` is left out; `offs` is needed
    mm(B, B.mT, offs=ends(1, 2)) -> ShapeError: and `offs` is given
    mm(A, B.mT, offs=ends(1, 2)) -> ShapeError: grouped_mm: `mat_a` has shape \(4, 3\)
        and `mat_b` has shape \(2, 5, 3\);
    mm(A[0], B, offs=ends(1, 2)) -> ShapeError: grouped_mm: `mat_a` has shape \(3,\) and
        `mat_b` has shape \(2, 3, 5\);
    mm(B[:1], B.mT) -> ShapeError: grouped_mm: `mat_a` has shape \(1, 3, 5\) and `mat_b`
        has shape \(2, 5, 3\);
    mm(A, B, offs=ends(4)) -> ShapeError: `offs` has shape \(1,\); it mu
    mm(A, A.T, offs=ends(4)[0]) -> ShapeError: for each group, \(G,\)
    mm(A, B, offs=ends(3, 2)) -> ArgumentError: `offs` is \[3, 2\]; the
    mm(A, B, offs=ends(3, 5)) -> ArgumentError: grouped_mm: `offs` is \[3,
    mm(A, B, offs=ends(-1, 4)) -> ArgumentError: must not decrease
    mm(A, B, offs=ends(1, 2).long()) -> DTypeError: it must be int32
    mm(A, B, offs=[1, 4]) -> DTypeError: grouped_mm:
    mm(A, B.double(), offs=ends(1, 2)) -> DTypeError: grouped_mm:
    mm(A.long(), B, offs=ends(1, 2)) -> DTypeError: grouped_mm: needs float32 or
    mm(A, B, offs=ends(1, 2), bias=A) -> ArgumentError: grouped_mm: `bias` is not
        supported; add it to the result\.
    mm(A, B, offs=ends(1, 2), out_dtype=ac.float64) -> DTypeError: `out_dtype` is
        float64; it must be the dtype of `mat_a`, float32\. Convert
    """,
    globals(),
)
