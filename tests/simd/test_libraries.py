# SPDX-License-Identifier: MIT
"""Each instruction set's library exports one function and leaks nothing."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.simd.sets import loader, plugin

from autocalc.errors import PluginError

LIBRARIES = sorted(Path(loader.__file__).parent.glob("kernels_*.so"))
PACKAGE = Path(__file__).parents[2] / "autocalc-kernels-simd"
CHECK = PACKAGE / "tools" / "exports.py"
#: What the libraries were linked from, where they were built in this checkout.
MADE = "build/*/CMakeFiles/autocalc_*.dir/csrc"
OBJECTS = sorted(
    [*PACKAGE.glob(f"{MADE}/generic/*/*.o"), *PACKAGE.glob(f"{MADE}/isa/*/*.o")]
)
#: Those with a library.
ISAS = ("amx", "avx512_bf16", *(isa.name for isa in plugin._ISAS))
COMPILER = shutil.which("c++")

needs_nm = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("nm") is None,
    reason="nm lists the symbols of ELF files",
)


def check(*libraries):
    """Return the exit status and what was printed."""
    done = subprocess.run(
        [sys.executable, str(CHECK), *map(str, libraries)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def test_there_is_a_library_for_each_instruction_set_of_this_cpu():
    names = {path.stem.removeprefix("kernels_") for path in LIBRARIES}
    runs = [i for i in ISAS if loader.cpu_runs(i)]
    products = [i for i in runs if i in ("amx", "avx512_bf16")]
    whole = [i for i in runs if i not in products]
    native = {whole[-1], *products[:1]}
    assert names & set(runs) in (set(runs), native)  # AUTOCALC_SIMD_SETS


@needs_nm
@pytest.mark.parametrize("library", LIBRARIES, ids=lambda path: path.stem)
def test_a_library_exports_its_one_function_and_leaks_nothing(library):
    assert check(library) == (0, "1 files: one function is exported\n")


@needs_nm
@pytest.mark.skipif(not OBJECTS, reason="the package was built elsewhere")
def test_no_object_file_has_a_weak_symbol():
    status, text = check(*OBJECTS)
    assert status == 0, text


SHOWN = 'extern "C" __attribute__((visibility("default"))) '
GOOD = SHOWN + "int autocalc_kernels_mine() "
WEAK = """template <class T> __attribute__((noinline)) T twice(T x) {
    asm volatile("" : "+r"(x));
    return 2 * x;
}
"""
FAULTY = {
    "no function": ("int x;", "does not export the function autocalc_kernels_mine"),
    "a second one": (
        f"{GOOD} {{ return 1; }} {SHOWN} int another() {{ return 2; }}",
        "exports another",
    ),
    "C++": (f"{GOOD} {{ return *new int(3); }}", "needs _Znwm of C++"),
    "weak": (f"{WEAK} {GOOD} {{ return twice(21); }}", "weak symbol _Z5twiceIiET_S0_"),
}


def compile_library(folder, source):
    """Return an object file and the library linked from it."""
    file, made = folder / "mine.cpp", (folder / "mine.o", folder / "kernels_mine.so")
    file.write_text(source)
    flags = ["-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden"]
    for more in (["-c", file, "-o", made[0]], ["-shared", made[0], "-o", made[1]]):
        subprocess.run([COMPILER, *flags, *map(str, more)], check=True)
    return made


@needs_nm
@pytest.mark.skipif(COMPILER is None, reason="a C++ compiler makes these libraries")
@pytest.mark.parametrize(("source", "fault"), FAULTY.values(), ids=list(FAULTY))
def test_a_faulty_library_is_found_out(tmp_path, source, fault):
    status, text = check(*compile_library(tmp_path, source))
    assert status == 1
    assert fault in text
    assert text.count("\n") == 1, text


@needs_nm
@pytest.mark.skipif(COMPILER is None, reason="a C++ compiler makes these libraries")
def test_a_library_without_fault(tmp_path):
    assert check(*compile_library(tmp_path, GOOD + "{ return 1; }"))[0] == 0


def test_an_unknown_instruction_set_is_refused():
    assert not loader.cpu_runs("mmx")
    with pytest.raises(ImportError, match="this CPU does not run `mmx` code"):
        loader.load("mmx")


def test_sets_that_were_not_built_are_not_offered(monkeypatch, tmp_path):
    monkeypatch.setattr(plugin, "__file__", str(tmp_path / "_plugin.py"))
    for isa in ("sse2", "avx512"):
        (tmp_path / f"kernels_{isa}.so").touch()
    assert [one.name for one in plugin.autocalc_kernel_sets()] == [
        "winograd-avx512", "winograd-sse2", "simd-avx512", "simd-sse2",
    ]  # fmt: skip


def test_a_package_without_libraries_offers_what_cannot_be_loaded(
    monkeypatch, tmp_path
):
    monkeypatch.setattr(plugin, "__file__", str(tmp_path / "_plugin.py"))
    assert len(plugin.autocalc_kernel_sets()) == 13


def test_split_products_need_a_system_that_grants_amx(monkeypatch):
    monkeypatch.setattr(loader, "cpu_runs", lambda isa: isa != "amx")
    with pytest.raises(PluginError, match=r"grants no AMX state .* Linux does from 5"):
        plugin._load_amx("split")
