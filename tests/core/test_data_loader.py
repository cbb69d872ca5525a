# SPDX-License-Identifier: MIT
"""The loader: order, worker threads, failures, and resuming."""

from __future__ import annotations

import gc
import json
import threading
import time
import traceback

import numpy as np
import pytest

import autocalc as ac
from autocalc.data import DataLoader, TensorDataset
from autocalc.errors import DataError


class Slow(ac.data.Dataset):
    """Later samples are ready earlier, and each call leaves a trace."""

    def __init__(self, length=12, bad=None):
        self.length, self.bad, self.asked = length, bad, []

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        self.asked.append(index)
        time.sleep(0.004 if index % 2 == 0 else 0.0)
        if index == self.bad:
            raise LookupError(self.describe(index))
        return index

    def describe(self, index):
        return f"sample {index} is broken"


def numbers(count):
    return TensorDataset(ac.from_numpy(np.arange(count)))


def order_of(loader):
    return [batch[0].numpy().tolist() for batch in loader]


def worker_threads():
    return [t for t in threading.enumerate() if t.name.startswith("autocalc-data")]


@pytest.fixture(autouse=True)
def no_thread_is_left():
    yield
    gc.collect()
    assert worker_threads() == []


def test_batches_come_in_order():
    loader = DataLoader(numbers(5), batch_size=2)
    assert order_of(loader) == [[0, 1], [2, 3], [4]]
    assert len(loader) == 3


def test_drop_last_leaves_out_the_smaller_batch():
    loader = DataLoader(numbers(5), batch_size=2, drop_last=True)
    assert order_of(loader) == [[0, 1], [2, 3]]
    assert len(loader) == 2


@pytest.mark.parametrize("workers", [0, 2])
def test_an_empty_data_set_gives_no_batch(workers):
    loader = DataLoader(numbers(0), batch_size=2, shuffle=True, num_workers=workers)
    assert order_of(loader) == []


def test_shuffle_is_another_order_each_epoch_and_follows_the_seed():
    loader = DataLoader(numbers(30), 10, shuffle=True, generator=4)
    first, second = order_of(loader), order_of(loader)
    assert sorted(np.concatenate(first)) == list(range(30))
    assert first != second
    again = DataLoader(numbers(30), 10, shuffle=True, generator=4)
    assert [order_of(again), order_of(again)] == [first, second]


def test_shuffle_follows_manual_seed():
    def order():
        ac.manual_seed(9)
        return order_of(DataLoader(numbers(30), 10, shuffle=True))

    assert order() == order()


@pytest.mark.parametrize("workers", [1, 3])
def test_workers_change_nothing_but_the_time(workers):
    expected = order_of(DataLoader(numbers(100), 7, shuffle=True, generator=1))
    loader = DataLoader(numbers(100), 7, shuffle=True, generator=1, num_workers=workers)
    assert order_of(loader) == expected


def test_batches_keep_their_order_whichever_worker_is_faster():
    loader = DataLoader(Slow(), num_workers=4)
    assert [batch.item() for batch in loader] == list(range(12))


def test_workers_run_ahead_no_further_than_asked():
    data = Slow(length=40)
    loader = DataLoader(data, num_workers=2, prefetch_factor=3)
    batches = iter(loader)
    next(batches)
    time.sleep(0.05)
    assert 1 < len(data.asked) <= 6
    batches.close()


def test_workers_see_the_context_of_the_loop():
    class Asks(Slow):
        def __getitem__(self, index):
            return ac.is_grad_enabled()

    with ac.no_grad():
        seen = [batch.item() for batch in DataLoader(Asks(4), num_workers=2)]
    assert seen == [False] * 4


def test_leaving_the_loop_early_ends_the_threads_and_drops_what_waits():
    data = Slow(length=1000)
    for _ in DataLoader(data, num_workers=2):
        assert worker_threads()
        break
    assert worker_threads() == []
    assert len(data.asked) <= 6


def test_an_error_in_the_loop_ends_the_threads():
    def loop():
        for _ in DataLoader(Slow(), num_workers=2):
            raise KeyError(threading.active_count())

    with pytest.raises(KeyError):
        loop()
    assert worker_threads() == []


@pytest.mark.parametrize("workers", [0, 2])
def test_an_error_in_a_sample_keeps_its_traceback(workers):
    got = []
    loader = DataLoader(Slow(bad=5), num_workers=workers)
    with pytest.raises(LookupError, match="sample 5 is broken") as caught:
        got.extend(batch.item() for batch in loader)
    assert got == [0, 1, 2, 3, 4]
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert "__getitem__" in names


def test_collate_fn_gets_the_samples():
    loader = DataLoader(["a", "bb", "ccc"], batch_size=2, collate_fn="+".join)
    assert list(loader) == ["a+bb", "ccc"]


def test_a_sampler_of_the_users_own():
    loader = DataLoader(numbers(5), batch_size=2, sampler=[4, 3, 2])
    assert order_of(loader) == [[4, 3], [2]]
    assert len(loader) == 2


def test_a_sampler_may_give_keys():
    loader = DataLoader({"x": 1, "y": 2}, batch_size=2, sampler=["y", "x"])
    assert [batch.numpy().tolist() for batch in loader] == [[2, 1]]


def test_a_sampler_that_is_derived_is_asked_itself():
    class Backwards(ac.data.SequentialSampler):
        def __iter__(self):
            return iter(range(len(self) - 1, -1, -1))

    data = numbers(3)
    assert order_of(DataLoader(data, sampler=Backwards(data))) == [[2], [1], [0]]


def test_a_batch_sampler_gives_whole_batches():
    loader = DataLoader(numbers(5), batch_sampler=[[0], [4, 1]])
    assert order_of(loader) == [[0], [4, 1]]
    assert len(loader) == 2


def test_two_loops_at_once_are_two_epochs():
    loader = DataLoader(numbers(6), 2, shuffle=True, generator=0)
    pairs = list(zip(loader, loader, strict=True))
    other = DataLoader(numbers(6), 2, shuffle=True, generator=0)
    for epoch in range(2):
        seen = [pair[epoch][0].numpy().tolist() for pair in pairs]
        assert seen == order_of(other)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("stop", [0, 1, 3, 5])
def test_a_resumed_loader_goes_on_with_the_same_batches(workers, stop):
    def make(seed):
        return DataLoader(
            numbers(50), 10, shuffle=True, generator=seed, num_workers=workers
        )

    loader = make(7)
    order_of(loader)
    state, rest = loader.state_dict(), []
    for count, batch in enumerate(loader, start=1):
        if count <= stop:
            state = json.loads(json.dumps(loader.state_dict()))
        else:
            rest.append(batch[0].numpy().tolist())
    rest += order_of(loader)

    other = make(99)
    other.load_state_dict(state)
    assert order_of(other) + order_of(other) == rest


def test_leaving_early_starts_the_next_epoch_from_its_beginning():
    loader = DataLoader(numbers(6), 2, shuffle=True, generator=3)
    next(iter(loader))
    assert loader.state_dict()["position"] == 1
    rest = order_of(loader)
    whole = DataLoader(numbers(6), 2, shuffle=True, generator=3)
    order_of(whole)
    assert rest == order_of(whole)


def test_a_users_sampler_is_skipped_forward():
    loader = DataLoader(numbers(5), batch_size=2, sampler=[4, 3, 2, 1, 0])
    loader.load_state_dict({"epoch": 0, "position": 1, "batch_size": 2})
    assert order_of(loader) == [[2, 1], [0]]


def test_a_state_of_other_batches_is_refused():
    state = {"epoch": 0, "position": 3, "batch_size": 4}
    with pytest.raises(ac.errors.CheckpointError, match=r"batches of 4.*batches of 2"):
        DataLoader(numbers(5), batch_size=2).load_state_dict(state)


def test_a_state_that_lacks_something_is_refused():
    with pytest.raises(ac.errors.CheckpointError, match=r"\['position'\] missing"):
        DataLoader(numbers(5)).load_state_dict({"epoch": 0, "batch_size": 1})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batch_size": 0}, "`batch_size` is 0; use an int of at least 1"),
        ({"num_workers": -1}, "`num_workers` is -1; it must be at least 0"),
        ({"prefetch_factor": 0}, "`prefetch_factor` is 0; it must be at least 1"),
        ({"sampler": [0], "shuffle": True}, "DataLoader: `sampler` and"),
        ({"batch_sampler": [[0]], "batch_size": 2}, "DataLoader: `batch_sampler`"),
        ({"batch_sampler": [[0]], "drop_last": True}, "DataLoader:"),
    ],
)
def test_impossible_arguments_are_refused(arguments, message):
    with pytest.raises(ac.errors.ArgumentError, match=message):
        DataLoader(numbers(5), **arguments)


class Faulty(ac.data.Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        if index == 2:
            raise ValueError("sample 2 is broken")
        return index


def batches_and_errors(loader):
    batches = iter(loader)
    return list(iter(lambda: next_or_error(batches), "end"))


def next_or_error(batches):
    try:
        batch = next(batches, None)
    except (ValueError, DataError) as error:
        return str(error).partition("ValueError: ")[2].split("\n")[0] or str(error)
    return "end" if batch is None else batch.tolist()


@pytest.mark.parametrize(
    "workers",
    [
        {},
        {"num_workers": 2},
        {"num_workers": 2, "persistent_workers": True},
        {"num_workers": 1, "multiprocessing_context": "fork"},
    ],
    ids=["here", "threads", "lasting", "process"],
)
def test_a_loop_goes_on_after_the_error_of_one_batch(workers):
    loader = ac.data.DataLoader(Faulty(), batch_size=2, **workers)
    for _ in range(2):
        assert batches_and_errors(loader) == [[0, 1], "sample 2 is broken", [4, 5]]


def test_a_batch_with_an_error_counts_when_a_state_is_loaded():
    loader = ac.data.DataLoader(Faulty(), batch_size=2)
    batches = iter(loader)
    next(batches)
    with pytest.raises(ValueError, match="sample 2 is broken"):
        next(batches)
    state = loader.state_dict()
    again = ac.data.DataLoader(Faulty(), batch_size=2)
    again.load_state_dict(state)
    assert batches_and_errors(again) == [[4, 5]]
