# SPDX-License-Identifier: MIT
"""What `autocalc tune` measured chooses for like calls, and for no others."""

from __future__ import annotations

import json
import logging

import numpy as np
import pytest
from tests.dispatcher import KernelCall, tuning
from tests.kernel_table import TABLE, adapt

import autocalc as ac
from autocalc.plugin import KernelImpl, KernelSet

GEMM = (1.0, 0.0, "none")


def matrix(rows, columns, dtype=np.float32):
    return np.zeros((rows, columns), dtype)


def key(m=256, n=256, k=256, dtype=np.float32, turned=False, attributes=GEMM):
    b = matrix(n, k, dtype).T if turned else matrix(k, n, dtype)
    return KernelCall(TABLE["gemm"]).key(matrix(m, k, dtype), b, None, *attributes)


def product_set(name, rank):
    impl = KernelImpl(adapt(TABLE["gemm"]))
    return KernelSet(name, family=name, load=lambda: {"gemm": impl}, rank=rank)


@pytest.fixture
def tuned(tmp_path, environment, install):
    """Return a function that keeps times for gemm and lets them count."""
    environment(AUTOCALC_TUNE="read", AUTOCALC_CACHE_DIR=str(tmp_path))
    install(vendor=[product_set("swift", 9000), product_set("plodding", 8000)])

    def keep(*calls):
        return tuning.write(tuning.measured(k, "some", times) for k, times in calls)

    return keep


def choice(m, n, k):
    return ac.kernels.explain("gemm", matrix(m, k), matrix(k, n)).chosen


def test_times_go_before_ranks(tuned):
    assert choice(256, 256, 256) == "swift"
    path = tuned((key(), {"swift": 3e-3, "plodding": 1e-3}))
    assert path.name.endswith("-threads.json")
    why = str(ac.kernels.explain("gemm", matrix(256, 256), matrix(256, 256)))
    assert "gemm(float32, None, float32, float32, None) runs on plodding" in why
    assert "plodding (rank 8000, measured 1000 us at some)" in why
    with ac.kernels.count() as calls:
        ac.ones(256, 256) @ ac.ones(256, 256)
    assert calls["gemm", "plodding"] == 1


def test_the_users_choice_goes_before_times(tuned):
    tuned((key(), {"swift": 3e-3, "plodding": 1e-3}))
    with ac.kernels.use("swift"):
        assert choice(256, 256, 256) == "swift"
    with ac.kernels.use("reference", only=True):
        assert choice(256, 256, 256) == "reference"


def test_ranks_decide_where_times_are_close(tuned):
    tuned((key(), {"swift": 1.02e-3, "plodding": 1e-3}))
    assert choice(256, 256, 256) == "swift"


@pytest.mark.parametrize(
    ("m", "n", "k", "wanted"),
    [
        (512, 128, 256, "plodding"),
        (513, 256, 256, "swift"),
        (256, 127, 256, "swift"),
        (256, 256, 0, "swift"),
        (2048, 2048, 2048, "plodding"),
        (1000, 1000, 1000, "swift"),
        (600, 600, 600, "swift"),
    ],
)
def test_calls_within_a_factor_of_two_are_alike(tuned, m, n, k, wanted):
    slow, quick = {"swift": 1e-3, "plodding": 9e-3}, {"swift": 9e-3, "plodding": 1e-3}
    tuned((key(), quick), (key(2048, 2048, 2048), quick), (key(600, 600, 600), slow))
    assert choice(m, n, k) == wanted


def test_other_dtypes_layouts_and_attributes_are_other_calls(tuned):
    tuned((key(), {"swift": 3e-3, "plodding": 1e-3}))
    assert tuning.nearest(key(attributes=(0.5, 0.0, "none"))) is not None
    assert tuning.nearest(key(attributes=(1.0, 0.0, "relu"))) is None
    assert tuning.nearest(key(turned=True)) is None
    assert tuning.nearest(key(dtype=np.float64)) is None


def test_it_counts_for_these_packages_and_threads_alone(tuned, install):
    tuned((key(), {"swift": 3e-3, "plodding": 1e-3}))
    threads = ac.get_num_threads()
    ac.set_num_threads(threads + 1)
    try:
        assert tuning.nearest(key()) is None
    finally:
        ac.set_num_threads(threads)
    assert "1 calls measured" in str(ac.kernels.show())
    install(other=[product_set("third", 7000)])
    assert tuning.nearest(key()) is None
    assert "not used, made with other packages; run `autocalc tune`" in tuning.state()


def test_it_can_be_switched_off(tuned, environment):
    tuned((key(), {"swift": 3e-3, "plodding": 1e-3}))
    environment(AUTOCALC_TUNE="off")
    assert tuning.nearest(key()) is None
    assert tuning.state() == "off (AUTOCALC_TUNE)"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "cannot be read"),
        ("[]", "not of format 1"),
        (json.dumps({"format": 2}), "not of format 1"),
        (json.dumps({"format": 1, "packages": {}}), "an entry is wrong"),
        (
            json.dumps({"format": 1, "packages": {}, "measured": [{"kernel": "gemm"}]}),
            "an entry is wrong",
        ),
    ],
)
def test_a_broken_record_is_named_and_has_no_say(tuned, caplog, content, reason):
    path = tuned((key(), {"swift": 3e-3, "plodding": 1e-3}))
    path.write_text(content)
    ac.kernels.reload()
    with caplog.at_level(logging.WARNING, "autocalc.kernels"):
        assert choice(256, 256, 256) == "swift"
    assert str(path) in caplog.text
    assert reason in caplog.text
    assert "Run `autocalc tune`" in caplog.text
    assert tuning.state() == "none; `autocalc tune` makes one"


def test_no_half_written_file_is_left(tuned, monkeypatch):
    path = tuned((key(), {"swift": 3e-3, "plodding": 1e-3}))
    before = path.read_text()

    def full(*_):
        raise OSError("no room")

    monkeypatch.setattr(type(path), "replace", full)
    with pytest.raises(OSError, match="no room"):
        tuned()
    assert path.read_text() == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]
