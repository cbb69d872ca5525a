# SPDX-License-Identifier: MIT
import numpy as np
import pytest

from autocalc_kernels_blas._layout import (
    Layout,
    Loop,
    batch_strides,
    increment,
    layout,
    merged,
)


def of(array):
    return layout(*array.shape, *array.strides, array.itemsize)


BASE = np.zeros((8, 10), np.float32)


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        (BASE, Layout(False, 10)),
        (BASE.T, Layout(True, 10)),
        (BASE[::2], Layout(False, 20)),
        (BASE[1:3, 2:5], Layout(False, 10)),
        (BASE[:3, :5].T, Layout(True, 10)),
        (BASE[:, ::2], None),
        (BASE[:, :1], Layout(False, 10)),
        (BASE[:1], Layout(False, 10)),
        (BASE[:1, ::2], Layout(True, 2)),
        (BASE[:1, :1], Layout(False, 1)),
        (np.broadcast_to(BASE[:1], (4, 10)), None),
        (np.broadcast_to(BASE[:, :1], (8, 4)), None),
        (np.zeros((3, 4), "f4,f4")["f0"], None),
    ],
)
def test_layout_names_what_blas_can_take(matrix, expected):
    assert of(matrix) == expected


def test_overlapping_rows_are_not_a_matrix_for_blas():
    windows = np.lib.stride_tricks.sliding_window_view(np.zeros(10, np.float32), 4)
    assert of(windows) is None


def test_too_long_a_leading_dimension_is_refused():
    assert layout(2, 2, 2**34, 4, 4) is None
    assert layout(2, 2, 2**32, 4, 4) == Layout(False, 2**30)


def test_increment_of_a_vector():
    assert increment(5, 8, 4) == 2
    assert increment(1, 3, 4) == 1
    assert increment(5, 6, 4) == 0
    assert increment(5, 0, 4) == 0


def test_batch_strides_repeat_what_is_missing_or_of_size_one():
    assert batch_strides((2, 3, 4), (3, 1), (40, 8)) == (0, 40, 0)


def test_adjacent_batch_dimensions_become_one_loop():
    loops = merged((2, 3), (30, 10), (0, 0), (60, 20))
    assert loops == [Loop(6, 10, 0, 20)]


def test_batch_dimensions_that_do_not_continue_stay_apart():
    loops = merged((2, 1, 3), (0, 7, 10), (30, 7, 10), (60, 7, 20))
    assert loops == [Loop(2, 0, 30, 60), Loop(3, 10, 10, 20)]
