# SPDX-License-Identifier: MIT
"""The kernel sets as core sees them, and as they behave in a fresh process."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from autocalc.errors import PluginError
from autocalc_kernels_blas import _blis, _features, _mkl
from autocalc_kernels_blas._core_type import openblas_core_type
from autocalc_kernels_blas._openblas import candidates
from autocalc_kernels_blas._plugin import LazyBlas, autocalc_kernel_sets

needs_openblas = pytest.mark.skipif(
    not list(candidates()), reason="OpenBLAS is not installed"
)


def fresh(code, **variables):
    """Run `code` in a new process and return what it prints as JSON."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS")}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**env, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


LOAD = """
import json, os
from autocalc_kernels_blas._plugin import LazyBlas
before = dict(os.environ)
blas = LazyBlas("openblas")
unopened = dict(blas.info())
blas.load()
threads = []
for count in (1, 2, 1):
    blas.set_num_threads(count)
    threads.append(blas.info()["threads"])
print(json.dumps({"info": dict(blas.info()), "unopened": unopened, "threads": threads,
                  "environment is back": dict(os.environ) == before}))
"""


def test_sets_are_cheap_descriptions_of_one_family():
    sets = autocalc_kernel_sets()
    names = ["blas-accelerate", "blas-openblas", "blas-mkl", "blas-blis"]
    assert [s.name for s in sets] == names
    assert {s.family for s in sets} == {"blas"}
    assert [s.rank for s in sets] == [103, 102, 101, 100]
    assert all(s.info() == {"library": "not opened yet"} for s in sets)
    assert all(s.determinism is None for s in sets)


@needs_openblas
def test_opening_openblas_in_a_fresh_process():
    seen = fresh(LOAD)
    assert seen["environment is back"]
    assert seen["unopened"] == {"library": "not opened yet"}
    assert seen["threads"] == ["1", "2", "1"]
    assert seen["info"]["vendor"] == "OpenBLAS"
    asked = openblas_core_type(_features.usable_features())
    if asked is not None:
        assert seen["info"]["core"].lower().startswith(asked.name.lower())
        assert asked.reason in seen["info"]["core"]


@needs_openblas
@pytest.mark.skipif("avx2" not in _features.usable_features(), reason="needs AVX2")
def test_hidden_features_lower_the_core_type():
    core = fresh(LOAD, AUTOCALC_CPU_FEATURES="-avx512f")["info"]["core"]
    assert core.startswith("Haswell (the CPU features include avx2, fma")


@needs_openblas
@pytest.mark.skipif("sse4_2" not in _features.usable_features(), reason="needs SSE4.2")
def test_the_users_own_core_type_stays():
    core = fresh(LOAD, OPENBLAS_CORETYPE="Nehalem")["info"]["core"]
    assert core == "Nehalem (the environment sets OPENBLAS_CORETYPE)"


@needs_openblas
def test_a_core_type_that_openblas_lacks_is_reported():
    core = fresh(LOAD, OPENBLAS_CORETYPE="nonsense")["info"]["core"]
    assert "nonsense was asked for" in core


@needs_openblas
def test_a_missing_library_is_a_refusal_with_advice_and_no_warning():
    code = """
import json
from autocalc_kernels_blas import _mkl
_mkl.candidates = lambda: iter(())
import numpy as np
import autocalc as ac
x = np.ones((2, 2), "f4")
with ac.kernels.use("blas-openblas"):
    text = str(ac.kernels.explain("gemm", x, x, None))
print(json.dumps(text))
"""
    text = fresh(code)
    assert "runs on blas-openblas" in text
    assert "refused: MKL is not usable: found none. Run `pip install mkl`." in text


@needs_openblas
def test_choosing_a_set_whose_library_is_missing_is_an_error():
    code = """
import json
from autocalc_kernels_blas import _mkl
_mkl.candidates = lambda: iter(())
import autocalc as ac
try:
    ac.kernels.use("blas-mkl")
except ac.errors.ConfigError as error:
    print(json.dumps(str(error)))
"""
    assert "blas-mkl is refused: MKL is not usable: found none" in fresh(code)


@needs_openblas
def test_choosing_the_family_opens_the_best_library_alone():
    code = """
import json
import autocalc as ac
from autocalc_kernels_blas import _blis, _mkl
opened = []
_blis.open_blis = lambda: opened.append("blis")
_mkl.open_mkl = lambda: opened.append("mkl")
ac.kernels.use("blas")
print(json.dumps(opened))
"""
    assert fresh(code) == []


def test_accelerate_elsewhere_than_on_macos():
    if sys.platform == "darwin":
        pytest.skip("this is macOS")
    with pytest.raises(PluginError, match="is part of macOS; this system is"):
        LazyBlas("accelerate").load()


def test_libraries_that_cannot_obey_hidden_features_are_refused(monkeypatch):
    hidden = frozenset({"avx512f"})
    monkeypatch.setattr(_blis, "hidden_features", lambda: hidden)
    with pytest.raises(PluginError, match="BLIS cannot be set to do without avx512f"):
        LazyBlas("blis").load()


class _Obeys:
    """Stands for MKL: `MKL_Enable_Instructions` answers as the test sets it."""

    def __init__(self, answer):
        self.answer, self.levels = answer, []

    def function(self, name, *types):
        def enable(level):
            self.levels.append(level)
            return self.answer

        return enable


def test_mkl_is_limited_to_what_the_user_leaves(monkeypatch):
    monkeypatch.setattr(_mkl, "hidden_features", lambda: frozenset({"avx512f"}))
    left = frozenset({"sse4_2", "avx", "avx2", "fma"})
    monkeypatch.setattr(_mkl, "usable_features", lambda: left)
    library = _Obeys(1)
    assert _mkl._obey_hidden_features(library).name == "AVX2"
    assert library.levels == [2]
    with pytest.raises(PluginError, match="MKL cannot be limited to the CPU features"):
        _mkl._obey_hidden_features(_Obeys(0))


def test_nothing_hidden_leaves_mkl_its_choice(monkeypatch):
    monkeypatch.setattr(_mkl, "hidden_features", frozenset)
    assert _mkl._obey_hidden_features(_Obeys(0)) is None


def test_each_library_reports_itself_and_obeys_the_budget(any_library):
    blas, _ = any_library
    info = blas.info()
    assert set(info) == {"vendor", "version", "core", "threads", "library"}
    assert all(info.values())
    if info["vendor"] != "Accelerate":
        for count in (1, 2):
            blas.set_num_threads(count)
            assert blas.info()["threads"] == str(count)
