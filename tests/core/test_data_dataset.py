# SPDX-License-Identifier: MIT
"""Data sets, subsets and splits."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc.data._dataset import take
from autocalc.errors import ArgumentError


class Squares(ac.data.Dataset):
    def __len__(self):
        return 5

    def __getitem__(self, index):
        return index, float(index * index)


def make_tensors():
    x = np.arange(12, dtype=np.float32).reshape(6, 2)
    return ac.from_numpy(x), ac.from_numpy(np.arange(6))


def test_tensor_dataset_gives_rows_as_a_tuple():
    data = ac.data.TensorDataset(*make_tensors())
    x, y = data[-1]
    assert len(data) == 6
    assert x.numpy().tolist() == [10.0, 11.0]
    assert y.item() == 5


@pytest.mark.parametrize("make", [list, ac.tensor, np.array])
def test_tensor_dataset_gives_the_rows_of_a_list(make):
    x, y = ac.data.TensorDataset(*make_tensors())[make([4, 0])]
    assert (x.tolist(), y.tolist()) == ([[8.0, 9.0], [0.0, 1.0]], [4, 0])


def test_tensor_dataset_takes_a_batch_in_the_order_asked_for():
    data = ac.data.TensorDataset(*make_tensors())
    x, y = data.take(np.array([4, 0, 4]))
    assert x.numpy().tolist() == [[8.0, 9.0], [0.0, 1.0], [8.0, 9.0]]
    assert y.numpy().tolist() == [4, 0, 4]


def test_tensor_dataset_shares_memory_and_accepts_arrays():
    x = np.zeros((3, 2), np.float32)
    data = ac.data.TensorDataset(x)
    x[1] = 7
    assert data[1][0].numpy().tolist() == [7.0, 7.0]
    assert data.take(np.array([1]))[0].numpy().tolist() == [[7.0, 7.0]]


def test_a_batch_is_a_copy():
    x, _ = make_tensors()
    batch = ac.data.TensorDataset(x).take(np.array([0]))[0]
    batch.numpy()[:] = -1
    assert x.numpy()[0].tolist() == [0.0, 1.0]


def test_rows_of_a_tensor_that_requires_a_gradient_stay_connected():
    x = ac.tensor([[1.0], [2.0]], requires_grad=True)
    assert ac.data.TensorDataset(x).take(np.array([1]))[0].requires_grad


def test_tensor_dataset_refuses_unequal_lengths():
    with pytest.raises(ac.errors.ShapeError, match=r"\(3,\), \(4,\) were given; all"):
        ac.data.TensorDataset(ac.zeros(3), ac.zeros(4))


def test_tensor_dataset_refuses_scalars():
    with pytest.raises(ac.errors.ShapeError, match=r"shapes \(\) were given"):
        ac.data.TensorDataset(ac.tensor(1.0))


def test_tensor_dataset_needs_a_tensor():
    with pytest.raises(ac.errors.ArgumentError, match="at least one is needed"):
        ac.data.TensorDataset()


def test_an_index_out_of_range_names_the_range():
    data = ac.data.TensorDataset(ac.zeros(3))
    with pytest.raises(IndexError, match=r"index 3 .* 3 samples; use -3 to 2"):
        data[3]


def test_subset_maps_indices_singly_and_in_batches():
    subset = ac.data.Subset(Squares(), [4, 2])
    assert len(subset) == 2
    assert subset[0] == (4, 16.0)
    assert subset[-1] == (2, 4.0)
    index, square = subset.take(np.array([1, 0]))
    assert index.numpy().tolist() == [2, 4]
    assert square.numpy().tolist() == [4.0, 16.0]


def test_subset_of_a_tensor_dataset_is_one_gather():
    subset = ac.data.Subset(ac.data.TensorDataset(*make_tensors()), [5, 3])
    assert subset.take(np.array([1, 0]))[1].numpy().tolist() == [3, 5]


def test_an_overridden_getitem_is_not_passed_over_by_the_inherited_take():
    class Negated(ac.data.TensorDataset):
        def __getitem__(self, index):
            return (super().__getitem__(index)[0] * -1,)

    data = Negated(ac.from_numpy(np.array([1.0, 2.0], np.float32)))
    assert take(data, np.array([0, 1]))[0].numpy().tolist() == [-1.0, -2.0]


def test_take_works_on_a_plain_list_and_on_an_array():
    assert take([3, 4, 5], np.array([2, 0])).numpy().tolist() == [5, 3]
    rows = np.arange(6.0).reshape(3, 2)
    assert take(rows, np.array([2])).numpy().tolist() == [[4.0, 5.0]]


@pytest.mark.parametrize(
    ("lengths", "counts"),
    [([3, 2], [3, 2]), ([0.6, 0.4], [3, 2]), ([0.5, 0.5], [3, 2]), ([5, 0], [5, 0])],
)
def test_random_split_covers_everything_once(lengths, counts):
    parts = ac.data.random_split(Squares(), lengths, generator=3)
    assert [len(part) for part in parts] == counts
    chosen = np.concatenate([part.indices for part in parts])
    assert sorted(chosen.tolist()) == [0, 1, 2, 3, 4]


def test_random_split_follows_the_seed():
    def split(seed):
        return ac.data.random_split(range(100), [50, 50], seed)[0].indices.tolist()

    assert split(1) == split(1)
    assert split(1) != split(2)


def test_random_split_follows_manual_seed():
    def split():
        ac.manual_seed(11)
        return ac.data.random_split(range(50), [25, 25])[0].indices.tolist()

    assert split() == split()


def test_random_split_refuses_lengths_that_do_not_add_up():
    with pytest.raises(ValueError, match="is 4; it must be 5, the number of"):
        ac.data.random_split(Squares(), [3, 1])


def test_random_split_refuses_negative_lengths():
    with pytest.raises(ValueError, match="must not be negative"):
        ac.data.random_split(Squares(), [6, -1])


@pytest.mark.parametrize("call", [len, lambda data: data[0]])
def test_the_base_class_says_which_method_is_missing(call):
    with pytest.raises(NotImplementedError, match=r"a data set needs a `__\w+__`"):
        call(ac.data.Dataset())


def test_a_concatenation_finds_its_samples_by_one_index():
    both = ac.data.ConcatDataset([Squares(), [], "ab"])
    assert both.cumulative_sizes == [5, 5, 7]
    assert [both[i] for i in (0, 4, 5, -1, -7)] == [(0, 0), (4, 16), "a", "b", (0, 0)]
    for index in (7, -8):
        with pytest.raises(IndexError, match=f"ConcatDataset: index {index} is out of"):
            both[index]


def test_data_sets_are_added():
    both = Squares() + ac.data.Subset(Squares(), [4, 3])
    loader = ac.data.DataLoader(both, batch_size=4)
    assert [x.tolist() for x, _ in loader] == [[0, 1, 2, 3], [4, 4, 3]]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([], "ConcatDataset: no data sets were given"),
        ([ac.data.IterableDataset()], "ConcatDataset: an IterableDataset cannot"),
    ],
)
def test_what_cannot_be_concatenated(parts, message):
    with pytest.raises(ac.errors.ArgumentError, match=message):
        ac.data.ConcatDataset(parts)


# ---- data sets side by side ----------------------------------------------------------


def test_stacked_data_sets_give_tuples_or_dicts():
    data = ac.data.TensorDataset(*make_tensors())
    pairs = ac.data.StackDataset(data, "abcdef")
    x, letter = pairs[-1]
    assert len(pairs) == 6
    assert (x[0].tolist(), letter) == ([10, 11], "f")
    named = ac.data.StackDataset(row=data, letter="abcdef")
    assert named[1]["row"][1].item() == 1
    assert list(named[1]) == list(named.datasets) == ["row", "letter"]


def test_stacked_data_sets_are_taken_each_by_its_own_way():
    class Counted(ac.data.TensorDataset):
        calls = 0

        def take(self, indices):
            Counted.calls += 1
            return super().take(indices)

    named = ac.data.StackDataset(row=Counted(*make_tensors()), square=list(range(6)))
    batches = list(ac.data.DataLoader(named, batch_size=4))
    assert Counted.calls == 2
    assert batches[1]["row"][0].tolist() == [[8, 9], [10, 11]]
    assert batches[0]["square"].tolist() == [0, 1, 2, 3]
    pairs = ac.data.StackDataset([5, 6, 7], "abc")
    assert pairs.take(np.array([2, 0]))[1] == ["c", "a"]


@pytest.mark.parametrize(
    ("args", "kwargs", "match"),
    [
        ((), {}, "At least one dataset should be passed"),
        (("ab",), {"x": "ab"}, "Supported either .* 1 were given by position and 1 by"),
        (("ab", "abc"), {}, r"Size mismatch between datasets: lengths \[2, 3\]"),
        ((3,), {}, "StackDataset: a int cannot return a sample by its index, or"),
        (
            (),
            {"x": ac.data.ChainDataset([])},
            "StackDataset: a ChainDataset cannot return a sample by its index, or",
        ),
    ],
)
def test_what_cannot_be_stacked(args, kwargs, match):
    with pytest.raises(ac.errors.ArgumentError, match=match):
        ac.data.StackDataset(*args, **kwargs)


def test_stacked_data_sets_name_an_index_out_of_range():
    with pytest.raises(
        ac.errors.DimensionError, match="StackDataset: index 2 is out o"
    ):
        ac.data.StackDataset("ab")[2]


def test_slices_of_tensors_are_rows_of_each():
    data = ac.data.TensorDataset(ac.arange(5), ac.arange(10).reshape(5, 2))
    first, second = data[1:3]
    assert (first.tolist(), second.tolist()) == ([1, 2], [[2, 3], [4, 5]])
    assert data[-1:][0].tolist() == [4]


def test_a_slice_of_a_subset():
    data = ac.data.TensorDataset(ac.arange(6.0))
    part = ac.data.Subset(data, [5, 0, 3])
    assert part[:][0].tolist() == [5, 0, 3]
    assert part[1:][0].tolist() == [0, 3]
    assert part[0:-1:2][0].tolist() == [5]
    assert ac.data.Subset(part, [2, 0])[:][0].tolist() == [3, 5]


class Several:
    """A data set that returns several samples at once; `short` leaves one out."""

    def __init__(self, short=False):
        self.short, self.asked = short, []

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return 10 * index

    def __getitems__(self, indices):
        self.asked.append(indices)
        return [10 * i for i in indices][self.short :]


def test_stacked_data_sets_are_asked_for_several_samples():
    several = Several()
    assert ac.data.StackDataset(several, "abcd").__getitems__([0, -1]) == [
        (0, "a"),
        (30, "d"),
    ]
    assert several.asked == [[0, 3]]
    named = ac.data.StackDataset(x=several, y="abcd")
    assert named.__getitems__([1]) == [{"x": 10, "y": "b"}]
    with pytest.raises(ArgumentError, match=r"output size mismatch. Expected 2, got 1"):
        ac.data.StackDataset(Several(short=True), "abcd").__getitems__([0, 1])
