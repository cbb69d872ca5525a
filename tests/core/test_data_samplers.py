# SPDX-License-Identifier: MIT
"""Samplers and their orders."""

from __future__ import annotations

import copy
from itertools import islice

import numpy as np
import pytest

import autocalc as ac
from autocalc.data import (
    BatchSampler,
    DataLoader,
    RandomSampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from autocalc.data._samplers import SeededSampler
from autocalc.data._shuffle import _words, permutation


def test_sequential_sampler():
    assert list(SequentialSampler("abc")) == [0, 1, 2]
    assert len(SequentialSampler("abc")) == 3


def test_random_sampler_is_a_permutation_that_changes_by_epoch():
    sampler = RandomSampler(range(50), generator=0)
    first, second = list(sampler), list(sampler)
    assert sorted(first) == sorted(second) == list(range(50))
    assert first != second
    assert sampler.indices(0).tolist() == first


def test_the_order_of_a_seed_never_changes():
    # Written down once: a checkpoint of today must go on the same way with any NumPy.
    assert permutation(10, seed=1, epoch=2).tolist() == [4, 2, 0, 6, 1, 5, 9, 8, 7, 3]


@pytest.mark.parametrize("count", [0, 1, 2, 255, 256, 257, 60_000])
def test_an_order_is_the_rank_of_the_words(count):
    expected = np.argsort(_words(count, 3, 4), kind="stable")
    order = permutation(count, seed=3, epoch=4)
    assert order.dtype == np.int64
    assert np.array_equal(order, expected)


@pytest.mark.parametrize("low", [[3, 2, 1, 0], [7, 7, 0, 0]])
def test_words_that_are_nearly_or_wholly_equal_keep_their_order(monkeypatch, low):
    words = np.array([2**63, 2**63, 8, 8], np.uint64) + np.array(low, np.uint64)
    monkeypatch.setattr("autocalc.data._shuffle._words", lambda *_: words)
    expected = np.argsort(words, kind="stable")
    assert np.array_equal(permutation(4, seed=0, epoch=0), expected)


def test_every_first_index_is_about_equally_frequent():
    firsts = [permutation(4, seed, 0)[0] for seed in range(2000)]
    assert np.bincount(firsts).min() > 420


def test_random_sampler_follows_manual_seed():
    def order():
        ac.manual_seed(5)
        return list(RandomSampler(range(20)))

    assert order() == order()


def test_random_sampler_draws_from_a_generator():
    def order():
        return list(RandomSampler(range(20), generator=ac.Generator().manual_seed(3)))

    assert order() == order()


def test_random_sampler_with_replacement():
    drawn = list(RandomSampler(range(3), True, 300, generator=0))
    assert len(drawn) == 300
    assert set(drawn) == {0, 1, 2}


@pytest.mark.parametrize("count", [2, 5, 13])
def test_random_sampler_gives_as_many_as_asked_for(count):
    drawn = list(RandomSampler(range(5), num_samples=count, generator=0))
    assert len(drawn) == count
    assert np.bincount(drawn, minlength=5).max() == -(-count // 5)


def test_random_sampler_of_nothing_is_empty():
    assert list(RandomSampler([], generator=0)) == []


def test_random_sampler_refuses_zero_samples():
    with pytest.raises(ValueError, match="`num_samples` is 0; use 1 or more"):
        RandomSampler(range(3), num_samples=0)
    with pytest.raises(TypeError, match="a boolean value, but got replacement=0"):
        RandomSampler(range(3), replacement=0)


def test_batch_sampler_keeps_or_drops_the_rest():
    assert list(BatchSampler(range(5), 2)) == [[0, 1], [2, 3], [4]]
    assert list(BatchSampler(range(5), 2, drop_last=True)) == [[0, 1], [2, 3]]
    assert len(BatchSampler(range(5), 2)) == 3
    assert len(BatchSampler(range(5), 2, drop_last=True)) == 2


@pytest.mark.parametrize("size", [0, -1, 2.0, None])
def test_batch_sampler_refuses_other_sizes(size):
    with pytest.raises(ValueError, match="use an int of at least 1"):
        BatchSampler(range(5), size)


def test_the_base_class_says_what_is_missing():
    with pytest.raises(NotImplementedError, match="a sampler needs an `__iter__`"):
        iter(ac.data.Sampler())


def test_subset_random_sampler_puts_its_indices_in_another_order_each_epoch():
    sampler = SubsetRandomSampler(range(100, 150), generator=1)
    first, second = list(sampler), list(sampler)
    assert sorted(first) == sorted(second) == list(range(100, 150))
    assert first != second
    assert len(sampler) == 50


def test_weighted_random_sampler_draws_by_weight():
    weights = [1.0, 0.0, 3.0, 6.0]
    drawn = list(WeightedRandomSampler(weights, 20_000, generator=0))
    shares = np.bincount(drawn, minlength=4) / len(drawn)
    assert np.allclose(shares, [0.1, 0.0, 0.3, 0.6], atol=0.01)


def test_weighted_random_sampler_without_replacement():
    weights = ac.tensor([1.0, 0.0, 3.0, 6.0])
    sampler = WeightedRandomSampler(weights, 3, replacement=False, generator=0)
    epochs = np.array([list(sampler) for _ in range(1500)])
    assert set(map(tuple, np.sort(epochs).tolist())) == {(0, 2, 3)}
    # The first of each epoch is drawn as with replacement.
    shares = np.bincount(epochs[:, 0], minlength=4) / len(epochs)
    assert np.allclose(shares, [0.1, 0.0, 0.3, 0.6], atol=0.05)


@pytest.mark.parametrize(
    "sampler",
    [SubsetRandomSampler(range(9), 3), WeightedRandomSampler([1.0] * 9, 9, True, 3)],
)
def test_a_loader_resumes_inside_these_orders(sampler):
    loader = DataLoader(range(9), 2, sampler=sampler)
    batches = iter(loader)
    next(batches)
    state = loader.state_dict()
    rest = [batch.tolist() for batch in batches]
    sampler.seed = 99
    loader.load_state_dict(state)
    assert [batch.tolist() for batch in loader] == rest


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0], 0), "`num_samples` is 0; use 1 or more"),
        (([1.0], 2, False), "different indices are requested, but only 1 have a"),
        (([1.0, -1.0], 1), "finite number of at least 0 for each sample"),
        (([[1.0]], 1), r"`weights` of shape \(1, 1\) were given"),
        (([float("nan")], 1), "finite number of at least 0 for each sample"),
        (([0.0], 1), "no sample has a weight above 0"),
    ],
)
def test_weighted_random_sampler_refuses(arguments, message):
    with pytest.raises(ac.errors.ArgumentError, match=message):
        WeightedRandomSampler(*arguments)


def test_the_base_of_seeded_samplers_says_what_is_missing():
    with pytest.raises(NotImplementedError, match="needs an `indices` method"):
        iter(SeededSampler(0))


# ---- epochs that are longer than memory


ENDLESS = 10**10


@pytest.mark.parametrize(
    "make",
    [
        lambda n: RandomSampler(range(7), replacement=True, num_samples=n, generator=3),
        lambda n: RandomSampler(range(7), num_samples=n, generator=3),
        lambda n: WeightedRandomSampler([1.0, 0.0, 2.0], n, generator=3),
        lambda n: SequentialSampler(range(n)),
    ],
    ids=["random", "rounds", "weighted", "sequential"],
)
def test_as_many_are_drawn_as_are_asked_for(make):
    endless, few = make(ENDLESS), make(200_000)
    assert len(endless) == ENDLESS
    first = few.indices(0)[:150_000]  # more than are drawn at once
    assert list(islice(endless, len(first))) == first.tolist()
    pieces = islice(make(ENDLESS).pieces(0, 7), len(first) // 7)
    assert (
        np.concatenate(list(pieces)).tolist() == first[: len(first) // 7 * 7].tolist()
    )


def test_what_is_drawn_is_what_was_drawn_at_once():
    words = np.random.Philox(key=np.array([3, 5], np.uint64)).random_raw(100_000)
    unit = np.ldexp(words >> 11, -53)
    plain = RandomSampler(range(7), replacement=True, num_samples=100_000, generator=3)
    assert np.array_equal(plain.indices(5), (unit * 7).astype(np.int64))
    weighted = WeightedRandomSampler([1.0, 0.0, 2.0], 100_000, generator=3)
    expected = np.searchsorted([1.0, 1.0, 3.0], unit * 3.0, side="right")
    assert np.array_equal(weighted.indices(5), expected)


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("size", [1, 3, 10, 11])
def test_batches_are_cut_from_the_whole_order(size, drop_last):
    def loader():
        sampler = RandomSampler(range(4), num_samples=10, generator=3)
        return ac.data.DataLoader(
            range(4), batch_size=size, sampler=sampler, drop_last=drop_last
        )

    order = RandomSampler(range(4), num_samples=10, generator=3).indices(0)
    batches = [batch.tolist() for batch in loader()]
    stop = 10 // size * size if drop_last else 10
    assert batches == [order[i : i + size].tolist() for i in range(0, stop, size)]
    assert len(batches) == len(loader())


def test_a_loader_begins_an_endless_epoch_at_once():
    sampler = RandomSampler(range(7), True, ENDLESS, generator=3)
    for size in (4, None):
        loader = ac.data.DataLoader(range(7), batch_size=size, sampler=sampler)
        assert len(list(islice(loader, 3))) == 3


SEEDED = {
    "random": lambda: RandomSampler(range(20)),
    "replaced": lambda: RandomSampler(range(20), replacement=True),
    "weighted": lambda: ac.data.WeightedRandomSampler([1.0] * 20, 20),
    "subset": lambda: ac.data.SubsetRandomSampler(range(20)),
    "loader": lambda: _Listed(ac.data.DataLoader(range(20), shuffle=True)),
    "workers": lambda: _Listed(
        ac.data.DataLoader(
            range(20), shuffle=True, num_workers=2, persistent_workers=True
        )
    ),
    "batches": lambda: _Listed(
        ac.data.BatchSampler(RandomSampler(range(20)), 3, False)
    ),
}


class _Listed:
    def __init__(self, loader):
        self._loader = loader

    def __iter__(self):
        return iter([str(batch) for batch in self._loader])


@pytest.mark.parametrize("name", SEEDED)
def test_a_new_seed_begins_the_orders_again(name):
    sampler, orders = SEEDED[name](), []
    for _ in range(3):
        ac.manual_seed(7)
        orders.append([list(sampler), list(sampler)])
    assert orders[0] == orders[1] == orders[2]
    assert orders[0][0] != orders[0][1]
    ac.manual_seed(8)
    assert list(sampler) not in orders[0]


def test_a_new_seed_of_one_s_own_generator():
    generator = ac.Generator().manual_seed(1)
    sampler = RandomSampler(range(20), generator=generator)
    first = list(sampler)
    ac.manual_seed(1)
    assert list(sampler) != first
    generator.manual_seed(1)
    assert list(sampler) == first


def test_a_seed_that_was_loaded_stays():
    sampler = RandomSampler(range(20))
    sampler.seed = 5
    ac.manual_seed(7)
    assert list(sampler) == list(RandomSampler(range(20), generator=5))


def test_other_draws_and_states_do_not_disturb_the_orders():
    ac.manual_seed(7)
    sampler = RandomSampler(range(20))
    first = [list(sampler), list(sampler)]
    ac.manual_seed(7)
    found = [list(sampler)]
    with ac.random.fork_rng():
        ac.rand(3)
    ac.set_rng_state(ac.get_rng_state())
    assert [*found, list(sampler)] == first


def test_a_copy_has_the_same_orders():
    sampler = RandomSampler(range(20), generator=ac.Generator().manual_seed(1))
    sampler.seed  # noqa: B018  # it is drawn
    copied = copy.deepcopy(sampler)
    assert list(copied) == list(sampler)
