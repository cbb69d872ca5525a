# SPDX-License-Identifier: MIT
"""Samplers and the orders behind them."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc.data import BatchSampler, RandomSampler, SequentialSampler
from autocalc.data._shuffle import permutation


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
