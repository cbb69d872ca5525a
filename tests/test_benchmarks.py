# SPDX-License-Identifier: MIT
"""The benchmarks measure what they say: rows run, peers answer, medians are right."""

import ctypes
import math
import os
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks import passes
from benchmarks.ablation.__main__ import plain_forms
from benchmarks.ablation.convolution import convolutions
from benchmarks.ablation.item import pointer
from benchmarks.ablation.items import GEMM_ITEMS
from benchmarks.kernels.cases import ROWS, arguments
from benchmarks.kernels.run import converted, prepare
from benchmarks.peers import ROOT, started, worker
from benchmarks.shares import ours
from benchmarks.side_by_side import cases, images, language, with_jax

import autocalc as ac

SMALL = [name for name in ROWS if "4 Ki" in name or name == "gemm 17x33x65"]


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    """Return the compiled forms of what was before."""
    return plain_forms(str(tmp_path_factory.mktemp("before")))


def plain(result):
    return result.numpy() if hasattr(result, "numpy") else np.asarray(result)


@pytest.mark.parametrize("name", SMALL)
def test_autocalc_and_numpy_compute_the_same(name):
    theirs = prepare("numpy", name)
    if theirs is None:
        pytest.skip("NumPy has no such function")
    ours = plain(prepare("autocalc", name)())
    np.testing.assert_allclose(ours, theirs(), rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize(
    "name", ["cross_entropy 256x10, gradient", "sum 1024x1024 over 0", "sgd"]
)
def test_rows_of_the_kernel_table_run(name):
    (full,) = [row for row in ROWS if row.startswith(name)]
    prepare("autocalc", full)()


def test_operands_are_the_same_numbers_for_each_peer():
    row = ROWS["add 4 Ki"]
    for a, b in zip(arguments(row), arguments(row), strict=True):
        np.testing.assert_array_equal(a, b)


def test_absent_operands_and_lists_are_converted():
    assert converted(float, None) is None
    assert converted(float, [1, 2]) == [1.0, 2.0]


def test_a_worker_answers_seconds_and_nan_for_what_its_peer_lacks():
    command = worker(sys.executable, "benchmarks.kernels.run", "numpy", 1)
    with started(command, os.environ) as peer:
        assert peer.title.startswith("numpy ")
        assert 0 < peer.seconds("add 4 Ki", 2) < 1
        assert math.isnan(peer.seconds("layer_norm 4096x768", 1))


SMALL_LAYER = images.Layer(batch=2, ins=4, outs=4, kernel=3, size=8, stride=2)


@pytest.mark.parametrize(
    ("prepare_case", "shapes"),
    [
        (language.attention(seq=8, heads=2, features=4), [(1, 2, 8, 4)] * 3),
        (images.layer(SMALL_LAYER, "forward"), [(2, 4, 4, 4)]),
        (images.layer(SMALL_LAYER, "dx"), [(2, 4, 8, 8)]),
        (images.layer(SMALL_LAYER, "dweight"), [(4, 4, 3, 3)]),
        (images.resnet_step(2), [()]),
    ],
)
def test_cases_beside_pytorch_compute_what_they_say(prepare_case, shapes):
    found = prepare_case(ac)()
    results = found if isinstance(found, tuple) else [found]
    assert [result.shape for result in results] == shapes


def test_a_peer_runs_in_the_layout_that_a_trial_finds_faster():
    slow = dict.fromkeys(("usual", "last"), 0.0) | {"usual": 2e-3}
    peer = SimpleNamespace(contiguous_format="usual", channels_last="last")

    def make(lay):
        kind = lay(SimpleNamespace(to=lambda memory_format: memory_format))
        return lambda: time.sleep(slow[kind]) or kind

    assert images.fastest(peer, make)() == "last"


def test_a_worker_that_dies_is_an_error():
    command = [sys.executable, "-c", "pass"]
    with (
        pytest.raises(SystemExit, match="a worker ended before it answered"),
        started(command, os.environ),
    ):
        pass


def test_the_table_of_kernels_names_rate_share_and_rivals():
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.kernels", "--rounds", "1", "add 4 Ki"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "GB/s" in run.stdout
    assert "x numpy" in run.stdout
    assert "of peak" in run.stdout
    if sys.platform == "linux":
        assert "threads bound to processors " in run.stdout


def test_an_unknown_row_is_an_error_that_names_all():
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.kernels", "nothing like it"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2
    assert "no row matches; there are: abs 1 Mi" in run.stderr


def test_rows_are_run_by_the_set_that_is_named_or_not_at_all():
    narrow = [name for name in ac.kernels.available() if name.startswith("blas-")]
    if not narrow:
        pytest.skip("no set here lacks additions")
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "benchmarks.kernels",
            "--kernels",
            narrow[0],
            "add 4 Ki",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2
    assert f"{narrow[0]} takes none of 1 rows" in run.stderr


def test_the_ablation_names_each_item_with_its_gain(tmp_path):
    page = tmp_path / "ablation.md"
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "benchmarks.ablation",
            "--rounds=1",
            f"--markdown={page}",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    rows = page.read_text(encoding="utf-8").splitlines()[2:]
    items = range(1, 21)
    assert [row.split(" | ")[0] for row in rows] == [f"| O-{i}" for i in items]
    assert all(float(row.split(" | ")[-1].rstrip("x |")) > 0 for row in rows)


def test_convolutions_of_the_ablation_give_the_same_before_and_after(before):
    items = list(convolutions(before))
    assert [item.number for item in items] == [3, 4, 6, 7, 9, 16, 18]
    for item in items:
        pairs = zip(all_of(item.before()), all_of(item.after()), strict=True)
        for a, b in pairs:
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-2, err_msg=item.change)


def all_of(result):
    """Return every array of a result."""
    if isinstance(result, tuple):
        return [a for one in result for a in all_of(one)]
    return [plain(result.detach() if hasattr(result, "detach") else result)]


@pytest.mark.parametrize("done", range(1 << 6))
def test_the_product_of_the_ablation_is_right_whatever_is_left_out(before, done):
    bits = sum(1 << item for i, item in enumerate(GEMM_ITEMS) if done >> i & 1)
    rng = np.random.default_rng(done)
    m, n, k = 65, 70, 300
    a, b = (
        rng.standard_normal((m, k), np.float32),
        rng.standard_normal((k, n), np.float32),
    )
    c = np.full((m, n), np.nan, np.float32)
    sizes = map(ctypes.c_long, (m, n, k))
    before.ablation_gemm(bits, *sizes, *map(pointer, (a, b, c)))
    np.testing.assert_allclose(c, a @ b, rtol=1e-3, atol=1e-3)


DISCOVERED = """
import importlib, pkgutil, sys
sys.modules.update(torch=None, jax=None)
import benchmarks
for module in pkgutil.walk_packages(benchmarks.__path__, "benchmarks."):
    importlib.import_module(module.name)
    print(module.name)
"""


def test_asv_can_import_all_modules_of_the_package_without_the_peers():
    done = subprocess.run(
        [sys.executable, "-c", DISCOVERED],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "benchmarks.bench_steps" in done.stdout


def test_shares_of_a_step_are_its_kernels_and_the_rest():
    def run():
        time.sleep(0.02)
        return x @ x + x

    x = ac.ones(64, 64)
    run()
    calls = [
        dict(table) for table in ac._dispatch.selection.state.current().selection.tables
    ]
    seconds = ours(run, 3)
    assert set(seconds) == {"step", "products", "else", "rest"}
    assert seconds["rest"] > 0.01 > seconds["products"] > 0
    after = [
        dict(table) for table in ac._dispatch.selection.state.current().selection.tables
    ]
    assert after == calls


@pytest.mark.parametrize("name", ["MLP step 64-128-10", "LM 8x32", "BERT d 128, 1x64"])
def test_a_compiled_case_does_what_the_eager_one_does(name):
    (full,) = [case for case in cases.CASES if case.startswith(name)]
    losses = []
    for peer in ("autocalc", "autocalc" + cases.COMPILED):
        ac.manual_seed(0)
        run = cases.prepare(peer, full)
        done = cases.WARM_UP if peer.endswith(cases.COMPILED) else 0
        calls = 4 + cases.WARM_UP - done
        losses.append([np.asarray(run().detach()).copy() for _ in range(calls)][-1])
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-4, atol=1e-5)


def test_a_case_under_autocast_computes_in_bfloat16():
    (full,) = [case for case in cases.CASES if case.startswith("MLP step 64-128-10")]
    losses = []
    for peer in ("autocalc", "autocalc" + cases.AUTOCAST):
        ac.manual_seed(0)
        losses.append(cases.prepare(peer, full)().item())
    assert losses[0] != losses[1] == pytest.approx(losses[0], rel=0.01)


def test_passes_are_compared_where_they_change_a_program(capsys, monkeypatch):
    name = "MLP step 64-128-10, batch 64"
    few = passes.CASES[name]._replace(calls=3)
    monkeypatch.setitem(passes.CASES, name, few)
    passes.compare(name, rounds=2)
    first, *rows = capsys.readouterr().out.splitlines()
    assert first.endswith("instructions")
    assert any("without epilogues" in row for row in rows)


def test_jax_has_steps_but_no_products():
    assert cases.prepare(with_jax.PEER, "gemm 64x64x64") is None


def test_steps_of_jax_learn():
    pytest.importorskip("jax")
    with_jax.start(1)
    for run in (
        with_jax.mlp(8, 16, 4),
        with_jax.language(language.Sizes(2, 5, 8, 2, 1, 16)),
    ):
        losses = [float(run()) for _ in range(30)]
        assert losses[-1] < losses[0]
