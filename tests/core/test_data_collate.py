# SPDX-License-Identifier: MIT
"""Collating samples into batches."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

import numpy as np
import pytest

import autocalc as ac
from autocalc.data import default_collate, default_convert


class Point(NamedTuple):
    x: int
    y: list[float]


@pytest.mark.parametrize(
    ("samples", "dtype"),
    [
        ([1, 2], np.int64),
        ([1.0, 2.0], np.float64),
        ([True, False], np.bool_),
        ([np.float32(1), np.float32(2)], np.float32),
    ],
)
def test_numbers_become_one_tensor(samples, dtype):
    batch = default_collate(samples)
    assert batch.numpy().dtype == dtype
    assert batch.numpy().tolist() == samples


@pytest.mark.parametrize("make", [ac.from_numpy, lambda array: array])
def test_tensors_and_arrays_are_stacked(make):
    samples = [make(np.full((2, 3), i, np.float32)) for i in range(4)]
    batch = default_collate(samples)
    assert tuple(batch.shape) == (4, 2, 3)
    assert batch.numpy()[3, 0, 0] == 3.0


def test_structures_are_collated_field_by_field():
    batch = default_collate([{"p": Point(1, [2.0]), "n": "a"}] * 2)
    assert type(batch["p"]) is Point
    assert batch["p"].x.numpy().tolist() == [1, 1]
    assert batch["p"].y[0].numpy().tolist() == [2.0, 2.0]
    assert batch["n"] == ["a", "a"]


def test_tuples_become_a_list_in_which_a_program_can_exchange_parts():
    assert type(default_collate([(1, "a"), (2, "b")])) is list
    assert type(default_convert((1, "a"))) is list
    loader = ac.data.DataLoader(ac.data.TensorDataset(ac.ones(4, 2), ac.arange(4)), 2)
    for batch in loader:
        batch[0] = batch[0].double()
        assert batch[0].dtype is ac.float64
    both = ac.data.StackDataset(loader.dataset, range(4))
    assert [type(part) for part in next(iter(ac.data.DataLoader(both)))] == [
        list,
        ac.Tensor,
    ]


def test_tensors_that_require_a_gradient_stay_connected():
    sample = ac.tensor([1.0, 2.0], requires_grad=True)
    assert default_collate([sample, sample]).requires_grad


def test_unequal_shapes_are_refused():
    with pytest.raises(ac.errors.ShapeError, match=r"\(2,\) and \(3,\).*collate_fn"):
        default_collate([np.zeros(3), np.zeros(2)])


def test_no_samples_are_refused():
    with pytest.raises(ac.errors.ArgumentError, match="no samples were given"):
        default_collate([])


def test_unequal_field_counts_are_refused():
    with pytest.raises(ac.errors.ShapeError, match="1 and 2 fields"):
        default_collate([(1,), (1, 2)])


def test_unknown_types_are_refused_by_name():
    with pytest.raises(TypeError, match="type object cannot be joined into a batch"):
        default_collate([object()])


def test_a_mapping_keeps_its_type():
    samples = [OrderedDict(b=1, a=2.0), OrderedDict(b=3, a=4.0)]
    batch = default_collate(samples)
    assert type(batch) is OrderedDict
    assert {key: value.tolist() for key, value in batch.items()} == {
        "b": [1, 3],
        "a": [2.0, 4.0],
    }


def test_unequal_keys_are_refused():
    message = r"keys \['a'\] and \['a', 'b'\] cannot be joined into one batch"
    with pytest.raises(ac.errors.ShapeError, match=message):
        default_collate([{"a": 1}, {"a": 1, "b": 2}])


def test_without_batches_arrays_become_tensors_and_the_rest_stays():
    sample = (Point(np.arange(2), [np.float32(3)]), {"x": np.zeros(1)}, "name", 4)
    point, values, name, number = default_convert(sample)
    assert type(point) is Point
    assert point.x.tolist() == [0, 1]
    assert point.y[0].dtype is ac.float32
    assert values["x"].tolist() == [0.0]
    assert (name, number) == ("name", 4)


def test_ranges_are_joined_like_lists():
    assert [x.tolist() for x in default_collate([range(2), range(2)])] == [
        [0, 0],
        [1, 1],
    ]
