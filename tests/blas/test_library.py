# SPDX-License-Identifier: MIT
import ctypes.util
import sys

import pytest

from autocalc.errors import PluginError
from autocalc_kernels_blas import _openblas, _search
from autocalc_kernels_blas._library import Library, Spelling, open_first


class Handle:
    """Stands for an open library: it has the functions that it is given."""

    def __init__(self, *names):
        self.names = names

    def __getitem__(self, name):
        if name not in self.names:
            raise AttributeError(name)
        return ctypes.CFUNCTYPE(None)(0x1000)


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        (Spelling(), "cblas_sgemm"),
        (Spelling(prefix="scipy_"), "scipy_cblas_sgemm"),
        (Spelling(suffix="64_", long=True), "cblas_sgemm64_"),
        (Spelling(suffix="_64", long=True), "cblas_sgemm_64"),
        (Spelling(prefix="scipy_", suffix="64_", long=True), "scipy_cblas_sgemm64_"),
    ],
)
def test_functions_are_found_by_their_spelling(monkeypatch, spelling, name):
    monkeypatch.setattr(ctypes, "CDLL", lambda path, mode: Handle(name))
    library = open_first("BLAS", ["somewhere"], "")
    assert library.spelling == spelling
    assert library.pointer("cblas_sgemm") == 0x1000
    assert library.pointer("cblas_dgemm") is None
    assert library.function("cblas_dgemm") is None
    assert library.text("get_config") == ""


def test_no_candidate_says_what_to_install():
    with pytest.raises(PluginError, match=r"MKL is not usable: found none\. Run `pip"):
        open_first("MKL", [], "Run `pip install mkl`.")


def test_candidates_that_cannot_be_used_are_named(tmp_path):
    broken = tmp_path / "libbroken.so"
    broken.write_bytes(b"not a library")
    libc = ctypes.util.find_library("c")
    with pytest.raises(PluginError, match=r"libbroken\.so .*has no `cblas_sgemm`"):
        open_first("BLAS", [broken, libc], "Install another.")


def test_packages_are_searched_without_importing_them():
    sys.modules.pop("scipy_openblas32", None)
    list(_openblas.candidates())
    assert "scipy_openblas32" not in sys.modules
    assert list(_search.in_package("no_such_package", "*")) == []


def test_threads_can_be_lent_where_the_library_has_the_door():
    without = _openblas.OpenBlas(Library("", Handle(), Spelling()), None)
    assert not without.run_jobs_on(0x1000)
