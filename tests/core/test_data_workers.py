# SPDX-License-Identifier: MIT
"""What worker threads and worker processes of a loader have in common."""

from __future__ import annotations

import os
import threading

import pytest

import autocalc as ac
from autocalc.data import (
    ChainDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    get_worker_info,
)

#: Threads, and processes by the quickest way to start them.
KINDS = [None, "fork"]

pytestmark = [
    pytest.mark.usefixtures("no_worker_left"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]


class Augmented(Dataset):
    """Samples with random numbers in them, and something that is no array."""

    def __init__(self):
        self.table = ac.arange(26.0).reshape(2, 13).T

    def __len__(self):
        return 13

    def __getitem__(self, index):
        row = self.table[index] + ac.rand(2)
        return {"row": row, "index": index, "name": f"sample {index}"}


class Numbers(IterableDataset):
    """0 ... count-1, shared out between the workers."""

    def __init__(self, count):
        self.count = count

    def __iter__(self):
        info = get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        return iter(range(first, self.count, step))


class Calls(Dataset):
    """Samples that a function makes."""

    def __init__(self, function, length=8):
        self.function, self.length = function, length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return self.function(index)


def plain(batch):
    return batch["row"].tolist(), batch["index"].tolist(), batch["name"]


def augmented(workers, kind, **words):
    return DataLoader(
        Augmented(),
        batch_size=3,
        shuffle=True,
        num_workers=workers,
        multiprocessing_context=kind,
        generator=5,
        **words,
    )


def test_order_and_random_numbers_do_not_depend_on_the_workers():
    def epochs(workers, kind):
        loader = augmented(workers, kind)
        return [[plain(batch) for batch in loader] for _ in range(2)]

    expected = epochs(0, None)
    assert expected[0] != expected[1]
    for workers, kind in [(1, None), (3, None), (1, "fork"), (3, "fork")]:
        assert epochs(workers, kind) == expected


def test_processes_that_are_started_afresh_give_the_same():
    expected = [plain(batch) for batch in augmented(0, None)]
    loader = augmented(1, "spawn", persistent_workers=True)
    assert [plain(batch) for batch in loader] == expected


@pytest.mark.parametrize("kind", KINDS)
def test_a_resumed_loader_goes_on_with_the_same_batches_and_numbers(kind):
    loader = augmented(2, kind)
    whole = [plain(batch) for batch in loader]
    other = augmented(2, kind)
    batches = iter(other)
    next(batches), next(batches)
    state = other.state_dict()
    batches.close()
    resumed = DataLoader(
        Augmented(), batch_size=3, shuffle=True, num_workers=1, generator=99
    )
    resumed.load_state_dict(state)
    assert [plain(batch) for batch in resumed] == whole[2:]


def test_the_state_of_an_order_without_chance_brings_the_numbers_back():
    def make(seed):
        return DataLoader(Augmented(), 4, num_workers=2, generator=seed)

    loader = make(1)
    state = loader.state_dict()
    whole = [plain(batch) for batch in loader]
    other = make(2)
    other.load_state_dict(state)
    assert [plain(batch) for batch in other] == whole


def test_a_seed_inside_a_sample_stays_there():
    def draw(index):
        ac.manual_seed(index)
        return ac.rand(1).item()

    ac.manual_seed(3)
    first = ac.rand(1).item()
    ac.manual_seed(3)
    loader = DataLoader(Calls(draw), generator=0)
    values = [batch.item() for batch in loader]
    assert ac.rand(1).item() == first
    assert values == [batch.item() for batch in loader]


@pytest.mark.parametrize("kind", KINDS)
def test_each_worker_knows_who_it_is(kind):
    def look(index):
        info = get_worker_info()
        return info.id, info.num_workers, info.seed

    loader = DataLoader(Calls(look), num_workers=2, multiprocessing_context=kind)
    seen = [tuple(x.item() for x in batch) for batch in loader]
    assert [(number, count) for number, count, _ in seen] == [(0, 2), (1, 2)] * 4
    assert len({seed for *_, seed in seen}) == 2
    assert get_worker_info() is None


@pytest.mark.parametrize("kind", KINDS)
def test_worker_init_fn_runs_once_in_each_worker(kind):
    def begin(number):
        get_worker_info().dataset.begun = number + 10

    class Begun(Numbers):
        def __iter__(self):
            yield self.begun

    data = Begun(1)
    loader = DataLoader(
        data, None, num_workers=2, worker_init_fn=begin, multiprocessing_context=kind
    )
    assert list(loader) == [10, 11]
    assert not hasattr(data, "begun")


@pytest.mark.parametrize("kind", KINDS)
def test_an_iterable_data_set_is_shared_out(kind):
    def loader(count, workers, **words):
        return DataLoader(
            Numbers(count),
            num_workers=workers,
            multiprocessing_context=kind if workers else None,
            **words,
        )

    def batches(*arguments, **words):
        return [batch.tolist() for batch in loader(*arguments, **words)]

    assert batches(5, 0, batch_size=2) == [[0, 1], [2, 3], [4]]
    assert batches(5, 0, batch_size=2, drop_last=True) == [[0, 1], [2, 3]]
    # Worker 1 has fewer samples and leaves the turn first.
    assert batches(7, 2, batch_size=2) == [[0, 2], [1, 3], [4, 6], [5]]
    assert batches(0, 2, batch_size=2) == []


def test_an_iterable_data_set_resumes_by_reading_on():
    loader = DataLoader(Numbers(10), batch_size=2, num_workers=2)
    batches = iter(loader)
    next(batches)
    state = loader.state_dict()
    rest = [batch.tolist() for batch in batches]
    other = DataLoader(Numbers(10), batch_size=2, num_workers=2)
    other.load_state_dict(state)
    assert [batch.tolist() for batch in other] == rest
    assert [batch.tolist() for batch in other][1:] == rest


def test_a_chain_of_iterable_data_sets():
    chain = Numbers(2) + Numbers(3)
    assert isinstance(chain, ChainDataset)
    assert list(DataLoader(chain, batch_size=None)) == [0, 1, 0, 1, 2]
    with pytest.raises(ac.errors.ArgumentError, match="ChainDataset: got list; an"):
        ChainDataset([[1]])
    with pytest.raises(NotImplementedError, match="needs `__iter__`"):
        iter(IterableDataset())


def test_the_length_of_a_loader_of_a_stream_is_that_of_the_stream():
    class Known(Numbers):
        def __len__(self):
            return self.count

    assert len(DataLoader(Known(5), batch_size=2)) == 3
    assert len(DataLoader(Known(2) + Known(3), batch_size=None)) == 5
    with pytest.raises(TypeError, match="Numbers"):
        len(DataLoader(Numbers(5)))


@pytest.mark.parametrize("kind", KINDS)
def test_persistent_workers_serve_one_epoch_after_the_other(kind):
    def who(index):
        return threading.get_ident() if kind is None else os.getpid()

    loader = DataLoader(
        Calls(who), num_workers=2, multiprocessing_context=kind, persistent_workers=True
    )
    first = {batch.item() for batch in loader}
    for _ in loader:
        break  # what was made ahead is dropped
    assert {batch.item() for batch in loader} == first
    assert len(first) == 2
    # A loop within a loop has workers of its own.
    pairs = [(a.item(), b.item()) for a, b in zip(loader, loader, strict=True)]
    assert {a for a, _ in pairs} == first
    assert {b for _, b in pairs}.isdisjoint(first)
    loader.load_state_dict(loader.state_dict())  # ends them
    del loader


@pytest.mark.parametrize("kind", KINDS)
def test_a_worker_that_takes_too_long(kind):
    gate = threading.Event()

    def wait(index):
        gate.wait(20)

    loader = DataLoader(
        Calls(wait), num_workers=1, timeout=0.05, multiprocessing_context=kind
    )
    message = r"DataLoader: worker 0 did not return a batch within 0\.05 s; pass a"
    with pytest.raises(ac.errors.DataError, match=message):
        list(loader)
    gate.set()
    for thread in threading.enumerate():
        if thread.name.startswith("autocalc-data"):
            thread.join()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"multiprocessing_context": "fork"},
            ", but `num_workers` is 0; it determines how workers are started, so",
        ),
        (
            {"multiprocessing_context": "teleport", "num_workers": 1},
            "DataLoader: `multiprocessing_context` is 'teleport'; this system has",
        ),
        ({"timeout": -1}, "`timeout` is -1; it must be at least 0"),
        ({"batch_size": None, "drop_last": True}, "DataLoader: with"),
    ],
)
def test_impossible_arguments_are_refused(arguments, message):
    with pytest.raises(ac.errors.ArgumentError, match=message):
        list(DataLoader([1, 2], **arguments))


@pytest.mark.parametrize("words", [{"shuffle": True}, {"sampler": [0]}])
def test_an_iterable_data_set_gives_its_own_order(words):
    with pytest.raises(ac.errors.ArgumentError, match="DataLoader: an"):
        DataLoader(Numbers(3), **words)
