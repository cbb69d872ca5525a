# SPDX-License-Identifier: MIT
"""OpenMP and BLAS libraries, read from a list of mapped files."""

from __future__ import annotations

import ctypes

import pytest
from tests.doctor.checks import libraries as checks

_ACCESS = ("r--p", "r-xp")


def maps(*files):
    """Return what ``/proc/self/maps`` says of files, each mapped twice."""
    lines = [
        "7ffd000-7ffe000 rw-p 00000000 00:00 0 [stack]",
        "7f00-7f01 rw-p 0 00:00 0",
    ]
    for i, file in enumerate(files):
        span = f"7f{i:04x}000-7f{i:04x}fff"
        lines += [f"{span} {access} 00000000 fe:01 12 {file}" for access in _ACCESS]
    return {"proc/self/maps": "\n".join(lines) + "\n"}


@pytest.mark.parametrize(
    ("files", "level", "text"),
    [
        ([], "ok", "no runtime in this process"),
        (["/usr/lib/libgomp.so.1"], "ok", "one runtime: /usr/lib/libgomp.so.1"),
        (
            ["/usr/lib/libgomp.so.1", "/opt/a b/libiomp5.so", "/usr/lib/libm.so.6"],
            "warning",
            "2 runtimes in one process: /usr/lib/libgomp.so.1, /opt/a b/libiomp5.so",
        ),
        (["/x/libgomp-a34b3233.so.1.0.0", "/y/libomp.so"], "warning", "2 runtimes"),
    ],
)
def test_openmp(machine, files, level, text):
    (found,) = checks.openmp(machine(maps(*files)))
    assert (found.level, text in found.text) == (level, True)
    assert ("one source" in found.remedy) is (level == "warning")


def test_blas_libraries_are_named(machine, monkeypatch):
    files = ["/n/libscipy_openblas64_-1.so", "/s/libopenblas.so.0", "/x/libblis.so.4"]
    monkeypatch.setattr(checks, "core_type", lambda file: "Haswell")
    monkeypatch.setattr(checks, "detected_features", lambda: {"avx2", "avx512f"})
    monkeypatch.delenv("OPENBLAS_CORETYPE", raising=False)
    one, two, three, several = checks.blas(machine(maps(*files)))
    for found, file in ((one, files[0]), (two, files[1])):
        assert found.level == "warning"
        assert (
            found.text == f"{file} runs its Haswell kernels, which leave avx512f unused"
        )
        assert found.remedy.startswith("Set OPENBLAS_CORETYPE=SKYLAKEX (for AVX-512)")
    assert (three.level, three.text) == ("ok", files[2])
    assert several.level == "note"
    assert several.text.startswith("2 different libraries in one process: blis, openb")


def test_a_core_type_that_the_environment_sets(machine, monkeypatch):
    monkeypatch.setattr(checks, "core_type", lambda file: "Haswell")
    monkeypatch.setattr(checks, "detected_features", lambda: {"avx512f"})
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    (found,) = checks.blas(machine(maps("/s/libopenblas.so.0")))
    assert found.remedy == "The environment sets OPENBLAS_CORETYPE=Haswell: unset it."


def test_a_core_type_that_fits(machine, monkeypatch):
    monkeypatch.setattr(checks, "core_type", lambda file: "SkylakeX")
    (found,) = checks.blas(machine(maps("/s/libopenblas.so.0")))
    assert (found.level, found.text) == (
        "ok",
        "/s/libopenblas.so.0 runs its SkylakeX kernels",
    )


def test_no_blas(machine):
    assert [f.text for f in checks.blas(machine(maps()))] == [
        "no library in this process"
    ]


@pytest.mark.parametrize(
    ("core", "features", "better"),
    [
        ("Haswell", {"avx2", "avx512f"}, "avx512f"),
        ("Haswell", {"avx2"}, ""),
        ("Zen", {"avx2"}, ""),
        ("SkylakeX", {"avx2", "avx512f"}, ""),
        ("Nehalem", {"sse2", "avx2"}, "avx2"),
        ("Nehalem", {"sse2"}, ""),
        ("NEOVERSEN1", {"asimd"}, ""),
    ],
)
def test_what_a_core_type_misses(core, features, better):
    assert checks.missed(core, features) == better


def test_a_library_says_its_core_type(monkeypatch):
    class Function:
        restype = None

        def __call__(self):
            return b"SkylakeX"

    class Library:
        scipy_openblas_get_corename64_ = Function()

    monkeypatch.setattr(ctypes, "CDLL", lambda file: Library())
    assert checks.core_type("/n/libscipy_openblas64_.so") == "SkylakeX"


def test_a_library_that_says_nothing(tmp_path):
    assert checks.core_type(str(tmp_path / "none.so")) == ""
