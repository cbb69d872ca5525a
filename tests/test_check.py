# SPDX-License-Identifier: MIT
"""`make check` finds the tests of a change, and says what it leaves out."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tools import check

MODULE = """import math


def mean(x):
    return _sum(x) / len(x)


def _sum(x):
    return sum(x)


class Moments:
    pass
"""
TESTS = {
    Path("tests/core/test_means.py"): "import autocalc as ac",
    Path("tests/core/test_meaning.py"): "from autocalc._ops.mean import mean",
    Path("tests/core/test_other.py"): "from autocalc._ops import norms, mean",
    Path("tests/core/helper.py"): "from autocalc._ops import mean",
    Path("tests/core/test_helped.py"): "from tests.core.helper import value",
}
SOURCE = Path("autocalc-core/src/autocalc/_ops/mean.py")


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """Return a repository with one module."""
    monkeypatch.setattr(check, "ROOT", tmp_path)
    (tmp_path / "mean.py").write_text(MODULE)
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for words in (
        ("init", "--quiet", "--initial-branch", "main"),
        ("add", "mean.py"),
        (*who, "commit", "--quiet", "--message", "Add the mean"),
    ):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize(
    ("line", "names"),
    [
        (5, ["mean"]),
        (12, ["Moments"]),
        (9, ["mean", "Moments"]),  # private: it may concern all that is public
        (1, ["mean", "Moments"]),
    ],
)
def test_names_that_a_change_touches(clone, line, names):
    assert list(check.changed_names(Path("mean.py"), {line})) == names


def test_changed_and_new_files_are_found(clone):
    (clone / "mean.py").write_text(MODULE.replace("return sum(x)", "return 0.0"))
    (clone / "new.py").write_text("X = 1\n")
    changed = check.changed_lines("main")
    assert changed[Path("mean.py")] == {9}
    assert 1 in changed[Path("new.py")]


def test_an_unknown_branch_is_refused(clone):
    with pytest.raises(SystemExit, match="check: git merge-base nowhere HEAD failed"):
        check.git("merge-base", "nowhere", "HEAD")


def test_test_files_by_what_they_import_and_by_their_name():
    assert [path.stem for path in check.importers(SOURCE, TESTS)] == [
        "test_meaning", "test_other",
    ]  # fmt: skip
    helper = Path("tests/core/helper.py")
    assert [p.stem for p in check.importers(helper, TESTS)] == ["test_helped"]
    assert [p.stem for p in check.namesakes(SOURCE, TESTS)] == ["test_means"]


def test_kernels_of_cpp_files():
    families = Path("autocalc-kernels-simd/csrc/generic/reduce")
    assert "cumsum" in check.kernels_in(families / "scans.cpp")
    assert "softmax" not in check.kernels_in(families / "scans.cpp")


def test_a_name_is_found_as_a_whole_word():
    name = check.Chosen(check.Choice(names={"exp", "log_softmax"})).name
    assert name.search("test_values[exp-float32]")
    assert name.search("test_gradient_of_log_softmax")
    assert not name.search("test_expand")
    assert not name.search("test_softmax")
