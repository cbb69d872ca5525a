# SPDX-License-Identifier: MIT
"""Locks: the same kernels again, or a refusal with the difference."""

from __future__ import annotations

import dataclasses
import json
import sys
import types

import numpy as np
import pytest
from safetensors import safe_open
from tests.dispatcher import PROCESS, KernelCall, lock_files, tuning
from tests.dispatcher import lock as locks
from tests.kernel_table import TABLE, adapt

import autocalc as ac
from autocalc.errors import ArgumentError, CheckpointError, ConfigError, KernelError
from autocalc.plugin import DispatchKey, KernelImpl, KernelSet

A, B = ac.ones(2, 2), ac.ones(2, 2)

#: All Python files of the folder that this file is in.
PART = "core (Python)"


def sets_of(*names, determinism="threads", refuses=lambda key: None):
    """Return sets that multiply, the first of the highest rank."""
    kernels = {"gemm": KernelImpl(adapt(TABLE["gemm"]), supports=refuses)}
    return [
        KernelSet(
            name, family=name, load=lambda: kernels, rank=900 - i,
            determinism=determinism,
        )
        for i, name in enumerate(names)
    ]  # fmt: skip


def ran(function=lambda: A @ B):
    with ac.kernels.count() as calls:
        function()
    return {name for kernel, name in calls if kernel == "gemm"}


@pytest.fixture
def two(install):
    return install(pair=sets_of("first", "second"))


def test_a_lock_holds_decisions_versions_and_files(two):
    with ac.kernels.use("second"):
        A @ B
        made = ac.kernels.lock()
    assert set(made.decisions.values()) == {"second"}
    assert made.choices == ("second",)
    assert made.versions == {"autocalc-core": ac.__version__, "numpy": np.__version__}
    assert made.sets["second"].package == "pair_plugin"
    assert list(made.sets["second"].files) == [PART]
    assert "second: 1, pair_plugin" in str(made)
    assert repr(made) == "<lock of 1 decisions>"


def test_the_process_and_a_block_have_locks_of_their_own(two):
    A @ B
    with ac.kernels.use("second"):
        assert ac.kernels.lock().decisions == {}
    assert "first" in ac.kernels.lock().sets
    with ac.kernels.count():
        A @ A.t()
    assert len(ac.kernels.lock().decisions) == 2  # what is only counted is decided too


def test_what_was_written_is_read(two, tmp_path):
    A @ B
    path = tmp_path / "kernels.json"
    made = ac.kernels.lock(path)
    assert json.loads(path.read_text())["autocalc_lock"] == 1
    assert ac.kernels.use_lock(path).lock == made
    assert [p.name for p in tmp_path.iterdir()] == ["kernels.json"]


def test_a_lock_goes_before_rank(two):
    with ac.kernels.use("second"):
        A @ B
        made = ac.kernels.lock()
    made = dataclasses.replace(made, choices=())
    assert ran() == {"first"}
    with ac.kernels.use_lock(made):
        assert ran() == {"second"}
        (told,) = ac.kernels.explain(ac.matmul, A, B).uses
        assert told.chosen == told.explanation.chosen == "second"
        assert told.why == "the lock in force names it"
        assert ran(lambda: ac.ones(3, 3) @ ac.ones(3, 3)) == {"first"}  # not known
    assert ran() == {"first"}


def test_a_lock_goes_before_measured_times(two, tmp_path, environment, install):
    environment(AUTOCALC_TUNE="read", AUTOCALC_CACHE_DIR=str(tmp_path))
    install(pair=sets_of("first", "second"))
    A @ B
    made = ac.kernels.lock()
    key = KernelCall(TABLE["gemm"]).key(A._array, B._array, None)
    tuning.write([tuning.measured(key, "2x2", {"first": 2.0, "second": 1.0})])
    ac.kernels.reload()
    assert ran() == {"second"}
    with ac.kernels.use_lock(made):
        assert ran() == {"first"}


def test_without_a_block_it_holds_for_the_process(two):
    with ac.kernels.use("second"):
        A @ B
        made = ac.kernels.lock()
    ac.kernels.use_lock(made)
    try:
        assert ran() == {"second"}
        assert PROCESS.choices == ("second",)
    finally:
        ac.kernels.use()
    assert ran() == {"first"}
    assert PROCESS.locked is None


def test_use_sets_a_lock_aside(two):
    A @ B
    with ac.kernels.use_lock(ac.kernels.lock()), ac.kernels.use("second"):
        assert ran() == {"second"}


def test_what_is_missing_is_refused_with_every_difference(install, two):
    A @ B
    with ac.kernels.use("second"):
        A @ B
        other = ac.kernels.lock()
    first = ac.kernels.lock()
    both = dataclasses.replace(first, sets={**first.sets, **other.sets})
    install(single=sets_of("first"))
    message = (
        r"use_lock: the lock cannot be used on this machine: first was of pair_plugin "
        r"and is of single_plugin; second \(pair_plugin\) cannot be used: no installed"
    )
    with pytest.raises(ConfigError, match=message):
        ac.kernels.use_lock(both)
    assert PROCESS.locked is None


def test_a_hidden_feature_is_named(environment, install):
    from tests.dispatcher import detected_features

    feature = min(detected_features())
    needy = [dataclasses.replace(sets_of("needy")[0], requires={feature})]
    install(mine=needy)
    A @ B
    made = ac.kernels.lock()
    environment(AUTOCALC_CPU_FEATURES=f"-{feature}")
    message = rf"needy .* cannot be used: {feature} hidden by AUTOCALC_CPU_FEATURES"
    with pytest.raises(ConfigError, match=message):
        ac.kernels.use_lock(made)


def test_versions_and_files_are_compared(two):
    A @ B
    C = A + B
    assert C.shape == (2, 2)
    made = ac.kernels.lock()
    older = dataclasses.replace(
        made, versions={"autocalc-core": "0.0.1", "numpy": "0.9"}
    )
    message = rf"autocalc-core was 0\.0\.1 and is {ac.__version__}; numpy was 0\.9"
    with pytest.raises(ConfigError, match=message):
        ac.kernels.use_lock(older)
    first = dataclasses.replace(made.sets["first"], files={PART: "0", "x.so": "1"})
    changed = dataclasses.replace(made, sets={**made.sets, "first": first})
    message = r"first \(pair_plugin\) has other files: core \(Python\), x\.so"
    with pytest.raises(ConfigError, match=message):
        ac.kernels.use_lock(changed)
    orphan = dataclasses.replace(made, decisions={"[]": "nobody"})
    with pytest.raises(ConfigError, match="nobody runs calls and is not described"):
        ac.kernels.use_lock(orphan)


def test_a_set_that_refuses_now_is_an_error(install):
    install(mine=sets_of("mine", determinism=None))
    A @ B
    with ac.kernels.use_lock(ac.kernels.lock()):
        ac.use_deterministic_algorithms(True)
        try:
            message = r"gemm: the active lock says that mine.*it promises none"
            with pytest.raises(KernelError, match=message):
                A @ B
        finally:
            ac.use_deterministic_algorithms(False)


def test_a_set_that_is_gone_is_an_error(install):
    install(mine=sets_of("mine"))
    A @ B
    made = ac.kernels.lock()
    with ac.kernels.use_lock(made):
        install(other=sets_of("other"))
        with pytest.raises(KernelError, match=r"mine runs this call, .* not installed"):
            A @ B


def test_choices_that_cannot_be_made_are_differences(two):
    A @ B
    chosen = dataclasses.replace(ac.kernels.lock(), choices=("nobody",))
    message = r"its choice cannot be made: kernels: there is no kernel set.*'nobody'"
    with pytest.raises(ConfigError, match=message):
        ac.kernels.use_lock(chosen)


# ---- files ---------------------------------------------------------------------------


def test_checkpoints_carry_a_lock(two, tmp_path):
    A @ B
    made, path = ac.kernels.lock(), tmp_path / "model.safetensors"
    ac.save({"w": A}, path, lock=True)
    assert ac.kernels.use_lock(path).lock == made
    assert ac.load(path)["w"].shape == (2, 2)
    with safe_open(path, "np") as file:
        assert file.metadata()[locks.METADATA_KEY] == made.json()


def test_the_lock_of_a_checkpoint_is_verified_with_the_rest(two, tmp_path):
    A @ B
    path = tmp_path / "model.safetensors"
    ac.save({"w": A}, path, lock=True)
    content = path.read_bytes()
    at = content.index(b"autocalc_lock")
    path.write_bytes(content[:at] + b"A" + content[at + 1 :])
    with pytest.raises(CheckpointError, match=r"\. It is incomplete, damaged or"):
        ac.load(path)


def test_a_checkpoint_of_a_block_has_the_lock_of_the_block(two, tmp_path):
    A @ B
    path = tmp_path / "model.safetensors"
    with ac.kernels.use("second"):
        A @ B
        ac.save({"w": A}, path, lock=True)
    with ac.kernels.use_lock(path) as held, ac.kernels.count() as calls:
        A @ B
    assert set(held.lock.decisions.values()) == {"second"}
    assert calls["gemm", "second"] == 1


@pytest.mark.parametrize("wrong", [1, None, "yes"])
def test_a_lock_is_asked_for_or_not(tmp_path, wrong):
    with pytest.raises(ArgumentError, match=r"save: `lock` is .*; it must be True or"):
        ac.save({"w": A}, tmp_path / "model.safetensors", lock=wrong)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read: No such file"),
        (b"", r"does not contain a lock \("),
        (b"[1, 2]", r"does not contain a lock \("),
        (b'{"autocalc_lock": 2}', "has format 2, but this version of AutoCalc"),
        (b'{"autocalc_lock": 1}', r"does not contain a lock \("),
        (b"\xff\xfe", "cannot be read"),
        (b"\x15" + b"\0" * 7 + b'{"__metadata__": null}', "cannot be read"),
    ],
)
def test_other_files_are_no_locks(tmp_path, content, message):
    path = tmp_path / "lock.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=f"use_lock: .*{message}"):
        ac.kernels.use_lock(path)


def test_a_checkpoint_without_one(tmp_path):
    ac.save({"w": A}, tmp_path / "plain.safetensors")
    message = r"contains no lock\. .*`ac\.save\(\.\.\., lock=True\)` and"
    with pytest.raises(ConfigError, match=message):
        ac.kernels.use_lock(tmp_path / "plain.safetensors")


@pytest.mark.parametrize("wrong", [None, 3, A])
def test_a_lock_is_a_path(wrong):
    with pytest.raises(ConfigError, match=r"use_lock: got a \w+; give the path"):
        ac.kernels.use_lock(wrong)
    if wrong is not None:
        with pytest.raises(ConfigError, match=r"lock: got a \w+; give the path"):
            ac.kernels.lock(wrong)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(ConfigError, match=r"lock: .* cannot be written: No such file"):
        ac.kernels.lock(tmp_path / "none" / "lock.json")


def test_keys_are_texts_that_are_the_same_elsewhere():
    key = DispatchKey(
        "gemm",
        (np.dtype(np.float32), None),
        (1.5, float("inf"), np.float32(2), "none", (1, (2, True)), None),
        1,
        ((2, 3), None),
        ((12, 4), None),
    )
    text = locks.text_of(key)
    assert json.loads(text) == [
        "gemm", ["float32", None], [1.5, "inf", 2.0, "none", [1, [2, True]], None], 1,
        [[2, 3], None], [[12, 4], None],
    ]  # fmt: skip
    assert json.dumps(json.loads(text)) == text


def test_a_package_is_all_its_files(tmp_path, monkeypatch):
    package = tmp_path / "acme"
    package.mkdir()
    (package / "__init__.py").write_text("def load(): return {}\n")
    (package / "core.so").write_bytes(b"one")
    module = types.ModuleType("acme")
    module.__package__, module.__file__ = "acme", str(package / "__init__.py")
    monkeypatch.setitem(sys.modules, "acme", module)
    exec("def load(): return {}", vars(module))
    made = KernelSet("acme", family="acme", load=module.load)
    before = lock_files.files_of(made)
    assert set(before) == {"acme (Python)", "acme/core.so"}
    (package / "core.so").write_bytes(b"other")
    (package / "more.py").write_text("x = 1\n")
    after = lock_files.files_of(made)
    assert all(before[name] != after[name] for name in before)


def test_a_library_counts(tmp_path):
    library = tmp_path / "libblas.so.3"
    library.write_bytes(b"library")
    made = dataclasses.replace(
        sets_of("mine")[0], info=lambda: {"library": str(library)}
    )
    assert lock_files.files_of(made)["libblas.so.3"]
    broken = dataclasses.replace(made, info=lambda: 1 / 0)
    assert "libblas.so.3" not in lock_files.files_of(broken)
