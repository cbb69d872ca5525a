# SPDX-License-Identifier: MIT
"""`explain` of functions, modules and compiled programs; reasons in sentences."""

from __future__ import annotations

import numpy as np
import pytest
from tests.dispatcher import KernelCall, detected_features, tuning
from tests.kernel_table import TABLE, adapt

import autocalc as ac
from autocalc import nn
from autocalc.errors import ConfigError, ShapeError
from autocalc.plugin import KernelImpl, KernelSet

X = ac.ones(4, 6)


def vendor(name, *kernels, rank, **options):
    impls = {kernel: KernelImpl(adapt(TABLE[kernel])) for kernel in kernels}
    family = name.split("-")[0]
    return KernelSet(name, family=family, load=lambda: impls, rank=rank, **options)


@pytest.fixture
def rivals(install):
    """Return a function that installs two makers' products, one by a CPU feature."""
    feature = min(detected_features())

    def start():
        install(
            mine=[
                vendor("fast-2", "gemm", rank=300, requires={feature}),
                vendor("fast-1", "gemm", rank=250),
                vendor("blas-x", "gemm", rank=100),
            ]
        )
        return feature

    return start


def why(*shape):
    a = ac.ones(*(shape or (64, 64)))
    told = ac.kernels.explain("gemm", a, a)
    assert f"   why: {told.why}\n" in str(told)
    return told.chosen, told.why


def test_a_rank_is_a_reason(rivals):
    rivals()
    chosen, reason = why()
    assert chosen == "fast-2"
    assert reason.startswith(
        "its rank of 300 is the highest (fast-1 250, blas-x 100, reference 0)"
    )


def test_so_is_a_feature_that_is_hidden(rivals, environment):
    feature = rivals()
    environment(AUTOCALC_CPU_FEATURES=f"-{feature}")
    rivals()
    chosen, reason = why()
    assert chosen == "fast-1"
    assert "its rank of 250 is the highest" in reason
    hidden = f"{feature} hidden by AUTOCALC_CPU_FEATURES"
    assert f"fast-2 (300) is not used: {hidden}" in reason


def test_and_a_measured_time(rivals, environment, tmp_path):
    environment(AUTOCALC_TUNE="read", AUTOCALC_CACHE_DIR=str(tmp_path))
    rivals()
    a = np.zeros((64, 64), np.float32)
    key = KernelCall(TABLE["gemm"]).key(a, a, None)
    times = {"fast-2": 3e-6, "blas-x": 2e-6}
    tuning.write([tuning.measured(key, "64x64x64", times)])
    ac.kernels.reload()
    chosen, reason = why()
    assert chosen == "blas-x"
    assert reason == (
        "`autocalc tune` found it the fastest: measured 2 us at 64x64x64, "
        "fast-2 measured 3 us at 64x64x64"
    )


def test_and_a_choice(rivals):
    rivals()
    with ac.kernels.use("blas"):
        chosen, reason = why()
    assert chosen == "blas-x"
    assert reason.startswith("it was chosen as 'blas', which goes before")


def test_and_a_refusal(install):
    def small(key):
        return "it is too small" if key.shapes[0][0] < 9 else None

    kernels = {"gemm": KernelImpl(adapt(TABLE["gemm"]), supports=small)}
    install(mine=[KernelSet("mine", family="mine", load=lambda: kernels)])
    chosen, reason = why(4, 4)
    assert chosen == "reference"
    assert (
        reason == "no other set takes this call; mine (150) refuses it: it is too small"
    )


# ---- functions and modules -----------------------------------------------------------


def test_a_function_runs_once_and_each_kind_of_call_is_explained():
    with ac.kernels.use("reference", only=True):
        told = ac.kernels.explain(ac.nn.functional.gelu, X)
        assert [use.kernel for use in told.uses] == ["gelu"]
        assert told.uses[0].calls == 1
        assert told.sets == {"reference": 1}
        assert str(told).startswith("gelu: 1 kernel call\n  gelu float32: 1 x on ref")
        assert told.uses[0].explanation.chosen == "reference"
        twice = ac.kernels.explain(lambda x: (x.exp(), (x * 2).exp()), X)
    assert {use.kernel: use.calls for use in twice.uses} == {"exp": 2, "mul": 1}


def test_counts_agree_with_what_runs():
    model = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 2))
    told = ac.kernels.explain(model, X)
    with ac.kernels.count() as calls:
        model(X)
    explained = {}
    for use in told.uses:
        if use.calls:
            key = use.kernel, use.chosen
            explained[key] = explained.get(key, 0) + use.calls
    assert explained == dict(calls)
    assert told.what == "Sequential"


def test_a_decomposition_is_told_in_parts(install):
    install(mine=[vendor("mine", "gemm", rank=200)])
    model = nn.Linear(6, 3)
    told = ac.kernels.explain(model, X)
    by_name = {use.kernel: use for use in told.uses}
    assert by_name["linear"].calls == 0
    assert ": in parts on mine: " in str(by_name["linear"])
    assert by_name["gemm"].calls == 1
    assert by_name["linear"].operands.startswith("4x6, 3x6, 3")


def test_a_module_and_the_generator_are_as_before():
    model = nn.Sequential(nn.Linear(6, 4), nn.BatchNorm1d(4), nn.Dropout(0.5))
    before = {name: b.clone() for name, b in model.named_buffers()}
    state = ac.get_rng_state()
    ac.kernels.explain(model, X)
    assert all(bool((b == before[name]).all()) for name, b in model.named_buffers())
    assert bool((ac.get_rng_state() == state).all())


def test_an_error_of_the_function_is_the_users():
    with pytest.raises(ShapeError):
        ac.kernels.explain(nn.Linear(5, 2), X)
    with ac.kernels.count() as calls:
        X.exp()
    assert sum(calls.values()) == 1


@pytest.mark.parametrize("wrong", [3, None, X])
def test_what_cannot_be_called_cannot_be_explained(wrong):
    with pytest.raises(ConfigError, match=r"explain: got a \w+; give the name"):
        ac.kernels.explain(wrong)


# ---- compiled programs ---------------------------------------------------------------


def test_a_compiled_function_tells_its_instructions():
    model = nn.Linear(6, 3)

    @ac.compile
    def step(x):
        with ac.no_grad():
            return model(x).exp().sum()

    with pytest.raises(ConfigError, match=r"explain: .*step has no program yet"):
        ac.kernels.explain(step)
    for _ in range(3):
        step(X)
    told = ac.kernels.explain(step)
    assert told.what.endswith("step, 1 program")
    instructions = step.programs[0].instructions
    assert sum(use.calls for use in told.uses) == len(instructions)
    chosen = [i.chosen for i in instructions]
    assert told.sets == {name: chosen.count(name) for name in chosen}
    assert all(use.why for use in told.uses)
    with pytest.raises(ConfigError, match=r"explain: .*step is a compiled function"):
        ac.kernels.explain(step, X)


def test_a_program_keeps_what_was_chosen_then():
    @ac.compile
    def double(x):
        return x * 2

    with ac.kernels.use("reference"):
        for _ in range(3):
            double(X)
    told = ac.kernels.explain(double)
    assert told.sets == {"reference": 1}
    others = [name for name in ac.kernels.available() if name != "reference"]
    if others:
        assert "was chosen when the program was recorded; now" in told.uses[0].why


def test_the_host_is_named():
    total = ac.zeros(1)

    def note():
        pass

    @ac.compile
    def step(x):
        ac.callback(note)
        total.copy_(x.sum().reshape(1))
        return x * 2

    for _ in range(3):
        step(X)
    told = ac.kernels.explain(step)
    (host,) = [use for use in told.uses if use.chosen == "Python"]
    assert str(host).startswith("callback: 1 x on Python: the host runs it")
