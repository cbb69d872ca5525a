# SPDX-License-Identifier: MIT
"""When kernel sets from elsewhere are tested, and what is kept of it.

The tests here pretend that the child ran; `tests/plugins/test_guard.py` lets it run.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys

import numpy as np
import pytest
from tests.dispatcher import Plugin, Registry, records, trial, trust

import autocalc as ac
from autocalc.errors import PluginError, PluginWarning
from autocalc.plugin import KernelSet, hookimpl

WRONG = {"neg": "neg (float32) on 'n=3': off"}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two files that is imported."""
    folder = tmp_path / "some_kernels"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "_plugin.py").write_text("x = 1\n")
    (folder / "_native.so.1").write_text("code")
    (folder / "notes.txt").write_text("no code")
    for name in ("some_kernels", "some_kernels._plugin"):
        file = "_plugin.py" if "." in name else "__init__.py"
        spec = importlib.util.spec_from_file_location(name, folder / file)
        monkeypatch.setitem(sys.modules, name, importlib.util.module_from_spec(spec))
    return folder


@pytest.fixture
def tested(tmp_path, monkeypatch, environment):
    """Pretend self-tests; return which sets were tested, and let the outcome be set."""
    environment(AUTOCALC_CACHE_DIR=str(tmp_path / "cache"))

    class Tested(list):
        outcome = records.TrialRecord("", "", "passed", calls=3, kernels=1)

        def __call__(self, name, package, task):
            if task == "import":
                return records.TrialRecord(name, package, "passed"), []
            self.append(name)
            fields = {**vars(self.outcome), "set": name, "package": package}
            return records.TrialRecord(**fields), []

    found = Tested()
    monkeypatch.setattr(trial, "run_trial", found)
    monkeypatch.setattr(records, "_kept", {})
    return found


def examined(name="mine", again=False):
    records._kept.clear()  # as another process has it
    return trust.examined(name, "some 1.0", "some_kernels._plugin", again=again)


def test_the_code_of_a_package(package):
    names = [path.name for path in records.code_files("some_kernels._plugin")]
    assert names == ["__init__.py", "_native.so.1", "_plugin.py"]
    assert records.code_files("no_such_module") == []


def test_a_module_without_a_package_is_one_file(package, monkeypatch):
    (package / "__init__.py").unlink()
    assert records.code_files("some_kernels._plugin") == [package / "_plugin.py"]


def test_once(package, tested):
    for _ in range(3):
        assert examined().text.startswith("passed: 3 calls of 1 kernels, 0.0 s")
    assert tested == ["mine"]
    assert examined("other").verdict == "passed"
    assert tested == ["mine", "other"]


def test_times_are_looked_at_before_contents(package, tested, monkeypatch):
    examined()
    hashes = []
    plain = records._hash
    monkeypatch.setattr(records, "_hash", lambda p: hashes.append(p) or plain(p))
    examined()
    assert hashes == []
    os.utime(package / "_plugin.py", (1, 1))
    examined()
    assert hashes == [str(package / "_plugin.py")]
    examined()  # the new time was written down
    assert len(hashes) == 1
    assert tested == ["mine"]


@pytest.mark.parametrize("change", ["contents", "gone"])
def test_other_files_are_tested_again(package, tested, change):
    examined()
    file = package / "_native.so.1"
    if change == "gone":
        file.unlink()
    else:
        file.write_text("edoc")  # of the same size
        os.utime(file, (1, 1))
    examined()
    assert tested == ["mine", "mine"]


def test_another_cpu_is_another_test(package, tested, monkeypatch):
    examined()
    monkeypatch.setattr(records, "cpu_features", lambda: frozenset({"sse2"}))
    examined()
    examined()
    assert tested == ["mine", "mine"]


def test_a_cache_that_cannot_be_written(package, tested, tmp_path, environment, caplog):
    (tmp_path / "file").write_text("")  # no folder can be in it, not even root's
    environment(AUTOCALC_CACHE_DIR=str(tmp_path / "file"))
    assert examined().verdict == "passed"
    assert "the self-test of mine cannot be recorded" in caplog.text
    assert "let AUTOCALC_CACHE_DIR name a folder that can be written to" in caplog.text
    trust.examined("mine", "some 1.0", "some_kernels._plugin")  # in this process
    assert tested == ["mine"]


@pytest.mark.parametrize("text", ["{", "[]", '{"format": 0}', '{"format": 1}'])
def test_a_record_that_cannot_be_read(package, tested, text):
    examined()
    ((path, _),) = records.all_records()
    path.write_text(text)
    assert examined().verdict == "passed"
    assert tested == ["mine", "mine"]


def test_trust(package, tested, environment):
    with trust.trusting():
        assert examined().verdict == "trusted"
    assert examined().verdict == "passed"
    environment(AUTOCALC_GUARD="off")
    assert examined().text == "none (AUTOCALC_GUARD)"
    assert tested == ["mine"]


def test_files_are_found_without_an_import(tmp_path, monkeypatch):
    """Of a module, of a package, and of a part of a folder that packages share."""
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("single.py", "whole/__init__.py", "whole/part.py", "shared/one.py",
                 "shared/two/__init__.py"):  # fmt: skip
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text("raise SystemExit\n")

    def names(module):
        return [str(p.relative_to(tmp_path)) for p in records.code_files(module)]

    assert names("single") == ["single.py"]
    assert names("whole.part") == ["whole/__init__.py", "whole/part.py"]
    assert names("shared.one") == ["shared/one.py"]
    assert names("shared.two") == ["shared/two/__init__.py"]
    assert names("shared.three") == []


def test_own_packages():
    assert trust.is_own("autocalc-kernels-simd")
    assert trust.is_own("Autocalc_Kernels.BLAS")
    assert not trust.is_own("autocalc-kernels-example")


def test_forgetting(package, tested):
    examined()
    examined("other")
    assert records.forget("mine") == 1
    assert records.forget("mine") == 0
    examined("other")
    examined()
    assert tested == ["mine", "other", "mine"]


def test_untested_is_not_recorded(package, tested):
    tested.outcome = records.TrialRecord(
        "", "", "untested", "its self-test could not start: no"
    )
    assert "no. AUTOCALC_GUARD=off trusts it untested" in trust.refusal_reason(
        examined()
    )
    examined()
    assert tested == ["mine", "mine"]


def test_a_program_without_an_interpreter(monkeypatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    record, _ = trial.run_trial("mine", "some 1.0")
    assert record.verdict == "untested"
    assert "this program has no Python interpreter to start" in record.reason


# ---- in the registry -----------------------------------------------------------------


def registry_with(load, rank=150):
    @hookimpl
    def autocalc_kernel_sets():
        return [KernelSet("mine", family="mine", load=load, rank=rank)]

    module = type(sys)("some_kernels._plugin")
    module.autocalc_kernel_sets = autocalc_kernel_sets
    registry = Registry()
    registry.add_plugin(
        Plugin("some", "some", "1.0"), lambda: module, "some_kernels._plugin"
    )
    return registry


def neg(out, a):
    np.negative(a, out=out)


def test_a_quarantined_set_is_never_loaded(package, tested):
    tested.outcome = records.TrialRecord(
        "", "", "quarantined", "it aborted", "Fatal error"
    )
    registry = registry_with(lambda: pytest.fail("it was loaded"))
    with pytest.warns(PluginWarning, match=r"mine \(some 1\.0\) is not used: quarant"):
        assert registry.kernels("mine") is None
    (refusal,) = registry.refusals
    assert refusal.traceback == "Fatal error"
    assert refusal.reason == (
        "quarantined by its self-test: it aborted. `autocalc kernels --forget mine` "
        "lifts this and tests it once more; AUTOCALC_GUARD=off trusts it"
    )


def test_nothing_is_tested_before_the_first_use(package, tested):
    registry = registry_with(lambda: {"neg": neg})
    assert tested == []
    assert list(registry.kernels("mine")) == ["neg"]
    assert tested == ["mine"]


def test_a_wrong_kernel_is_left_out(package, tested):
    tested.outcome = records.TrialRecord("", "", "passed", wrong=WRONG)
    registry = registry_with(lambda: {"neg": neg, "abs": neg})
    with pytest.warns(PluginWarning, match=r"mine: neg .* wrong in the set's self-t"):
        assert list(registry.kernels("mine")) == ["abs"]


def test_a_set_that_can_be_loaded_later_is_tested_then(package, tested):
    tested.outcome = records.TrialRecord("", "", "unloadable", "no library")

    def fails():
        raise PluginError("no library")

    registry = registry_with(fails)
    assert registry.kernels("mine") is None
    assert registry.reason("mine") == "no library"  # in its own words
    assert tested == ["mine"]
    assert registry_with(fails).kernels("mine") is None
    assert tested == ["mine"]
    tested.outcome = records.TrialRecord("", "", "passed")
    assert registry_with(lambda: {"neg": neg}).kernels("mine")
    assert tested == ["mine", "mine"]


def test_a_set_that_loads_here_alone_is_refused(package, tested):
    tested.outcome = records.TrialRecord("", "", "unloadable", "no licence")
    registry = registry_with(lambda: {"neg": neg})
    match = "no licence in the process of its self-test, but not here"
    with pytest.warns(PluginWarning, match=match):
        assert registry.kernels("mine") is None


def test_the_command_lifts_a_quarantine(package, tested):
    from click.testing import CliRunner

    from autocalc.cli import cli

    tested.outcome = records.TrialRecord("", "", "quarantined", "it aborted")
    examined()
    done = CliRunner().invoke(cli, ["kernels", "--forget", "mine"])
    assert done.exit_code == 0
    assert "The self-test of mine is forgotten: its next use tests it" in done.output
    examined()
    assert tested == ["mine", "mine"]
    done = CliRunner().invoke(cli, ["kernels", "--forget", "yours"])
    assert done.exit_code == 2
    assert "Recorded self-tests: mine" in " ".join(done.output.split())


def test_a_record_is_readable(package, tested):
    examined()
    ((path, record),) = records.all_records()
    content = json.loads(path.read_text())
    assert content["verdict"] == "passed"
    assert [file[0] for file in content["files"]] == [f.path for f in record.files]
    assert path.parent == ac._config.cache_folder() / "self-tests"
