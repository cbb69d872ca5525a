# SPDX-License-Identifier: MIT
"""Each instruction set's library exports one function and leaks nothing."""

import shutil
import subprocess
from pathlib import Path

import pytest

_core = pytest.importorskip("autocalc_kernels_simd._core")

LIBRARIES = sorted(Path(_core.__file__).parent.glob("kernels_*.so"))


def symbols(library, *options):
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("nm is not installed")
    run = subprocess.run(
        [nm, *options, str(library)], capture_output=True, text=True, check=True
    )
    return [line.split()[-2:] for line in run.stdout.splitlines()]


def test_there_is_a_library_for_each_instruction_set_of_this_cpu():
    names = {path.stem.removeprefix("kernels_") for path in LIBRARIES}
    assert {isa for isa in ("avx512", "avx2", "sse2") if _core.cpu_runs(isa)} <= names


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda path: path.stem)
def test_one_function_is_exported(library):
    isa = library.stem.removeprefix("kernels_")
    exported = symbols(library, "-D", "--defined-only")
    assert exported == [["T", f"autocalc_kernels_{isa}"]]


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda path: path.stem)
def test_no_weak_symbol_is_defined(library):
    """A weak symbol could be shared with code for a lesser CPU (or from it)."""
    weak = [name for kind, name in symbols(library, "--defined-only") if kind in "WVu"]
    assert not weak


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda path: path.stem)
def test_no_cpp_runtime_is_needed(library):
    undefined = [name for _, name in symbols(library, "-D", "--undefined-only")]
    assert not [
        name for name in undefined if name.startswith(("_Z", "__gxx", "__cxa_t"))
    ]


def test_an_unknown_instruction_set_is_refused():
    assert not _core.cpu_runs("mmx")
    with pytest.raises(ImportError, match="this CPU does not run `mmx` code"):
        _core.load("mmx")
