# SPDX-License-Identifier: MIT
"""Worker processes of a loader: what comes through, how they fail, how they end."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import OrderedDict, defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import autocalc as ac
from autocalc.data import DataLoader, Dataset

pytestmark = [
    pytest.mark.usefixtures("no_worker_left"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]


@dataclass
class Pair:
    """A batch type of the user's own."""

    noise: ac.Tensor
    rows: np.ndarray


class Calls(Dataset):
    """Samples that a function makes."""

    def __init__(self, function, length=8):
        self.function, self.length = function, length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return self.function(index)


def in_processes(function, workers=2, **words):
    words = {"multiprocessing_context": "fork", "num_workers": workers, **words}
    return DataLoader(Calls(function), **words)


def test_batches_of_any_type_come_through():
    def collate(samples):
        rows = np.arange(20.0).reshape(4, 5)[:, ::2]
        empty = np.zeros((0, 3), np.int8)
        pair = Pair(ac.ones(2, 2).requires_grad_(), rows)
        extra = OrderedDict(a=ac.tensor(True), b=np.float32(2.5))
        return samples, pair, extra, defaultdict(int, x=1), empty, None

    for batch in in_processes(lambda i: i, collate_fn=collate, batch_size=4):
        samples, pair, extra, counts, empty, nothing = batch
        assert samples in ([0, 1, 2, 3], [4, 5, 6, 7])
        assert isinstance(pair, Pair)
        assert pair.noise.requires_grad
        assert pair.noise.tolist() == [[1, 1], [1, 1]]
        assert np.array_equal(pair.rows, np.arange(20.0).reshape(4, 5)[:, ::2])
        assert extra["a"].item() is True
        assert extra["b"] == 2.5
        assert counts["missing"] == 0
        assert empty.shape == (0, 3)
        assert nothing is None


def test_batches_that_grow_and_are_kept():
    sizes = [10, 100_000, 3, 500_000, 20, 700_000, 1, 2]
    loader = in_processes(lambda i: np.full(sizes[i], i), batch_size=None)
    batches = list(loader)
    for number, (batch, size) in enumerate(zip(batches, sizes, strict=True)):
        assert batch.shape == (size,)
        assert bool((batch == number).all())


def test_large_requests_do_not_wait_for_large_answers():
    # Either is more than a pipe holds: 208 KiB.
    loader = in_processes(
        lambda index: index,
        workers=1,
        batch_sampler=[[0] * 60_000] * 4,
        collate_fn=lambda samples: "x" * 300_000,
        prefetch_factor=4,
    )
    assert [len(batch) for batch in loader] == [300_000] * 4


def test_a_process_has_one_thread_and_the_callers_grad_mode():
    def look(index):
        return ac.get_num_threads(), ac.is_grad_enabled()

    with ac.no_grad():
        batches = [tuple(x.item() for x in batch) for batch in in_processes(look)]
    assert set(batches) == {(1, False)}
    assert {batch[1].item() for batch in in_processes(look)} == {True}


def test_pythons_and_numpys_random_numbers_follow_the_seed_in_processes():
    def draw(index):
        return random.random(), np.random.rand()  # noqa: NPY002  # what users call

    def epochs():
        loader = in_processes(draw, generator=4)
        return [[[x.item() for x in b] for b in loader] for _ in range(2)]

    state, numpys = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    first, second = epochs()
    assert (random.getstate(), np.random.get_state()[1].tolist()) == (state, numpys)  # noqa: NPY002
    assert len({tuple(sample) for sample in first + second}) == 16
    assert epochs() == [first, second]


def broken(index):
    if index == 5:
        raise LookupError("sample 5 is broken")
    return index


def test_what_a_process_raises_is_told_with_its_traceback():
    got = []
    message = r"(?s)worker process 1 raised LookupError: sample 5 is broken.*in broken"
    with pytest.raises(ac.errors.DataError, match=message):
        got.extend(batch.item() for batch in in_processes(broken))
    assert got == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda i: sys.exit("enough"), "raised SystemExit: enough"),
        (
            lambda i: threading.Lock(),
            "raised DTypeError: collate: samples of type lock",
        ),
        (lambda i: os.kill(os.getpid(), 9), "was ended by SIGKILL before its batch"),
        (lambda i: os._exit(7), "ended with exit code 7 before its batch was ready"),
        (
            lambda i: ac.ones(2).requires_grad_() * 2,
            r"raised GradError: .*a worker process cannot.*return `tensor.detach",
        ),
    ],
)
def test_a_process_that_fails(function, message):
    loader = in_processes(function, collate_fn=None, workers=1)
    with pytest.raises(ac.errors.DataError, match=f"worker process 0 {message}"):
        list(loader)


def test_a_worker_init_fn_that_fails():
    def begin(number):
        raise OSError(f"no file for {number}")

    with pytest.raises(ac.errors.DataError, match="raised OSError: no file for 0"):
        list(in_processes(broken, worker_init_fn=begin))


def test_what_cannot_be_sent_to_a_fresh_process():
    loader = in_processes(lambda i: i, multiprocessing_context="spawn")
    message = r"cannot be sent to a process started by 'spawn'.*top of a module"
    with pytest.raises(ac.errors.ArgumentError, match=message):
        list(loader)


PROGRAM = """
import multiprocessing, signal, time
from autocalc.data import DataLoader, Dataset

signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore it

class Endless(Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, index):
        time.sleep(60 if index > 1 else 0)
        return index

for batch in DataLoader(Endless(), num_workers=2, multiprocessing_context="fork"):
    print(*(child.pid for child in multiprocessing.active_children()), flush=True)
"""


def is_running(pid):
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except OSError:
        return False
    return status.rsplit(")", 1)[1].split()[0] != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_worker_outlives_a_program_that_is_interrupted(how):
    program = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    workers = [int(pid) for pid in program.stdout.readline().split()]
    assert len(workers) == 2
    if how is signal.SIGINT:  # Ctrl-C reaches the whole group
        os.killpg(program.pid, how)
    else:
        program.kill()
    _, errors = program.communicate(timeout=30)
    assert ("KeyboardInterrupt" in errors) == (how is signal.SIGINT)
    deadline = time.monotonic() + 20
    while any(map(is_running, workers)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not [pid for pid in workers if is_running(pid)]
