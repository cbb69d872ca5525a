# SPDX-License-Identifier: MIT
"""The changes that `docs/howto/add-to-autocalc.md` shows, applied to a clean clone."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.core

ROOT = Path(__file__).parents[1]
RECIPES = ROOT / "docs" / "recipes"
CMAKE = Path(sys.executable).with_name("cmake")


def run(*command, cwd, path):
    """Run a command with a folder first on Python's path; return what it printed."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("AUTOCALC_")}
    folders = [str(path), *filter(None, [inherited.get("PYTHONPATH")])]
    finished = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**inherited, "PYTHONPATH": os.pathsep.join(folders)},
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


@pytest.fixture
def clone(tmp_path):
    """A copy of the checkout's tracked files, in a repository of its own."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is no git checkout")
    names = run("git", "ls-files", "-z", cwd=ROOT, path="").split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            target = tmp_path / "clone" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, target)
    run("git", "init", "--quiet", cwd=tmp_path / "clone", path="")
    return tmp_path / "clone"


@pytest.fixture
def in_clone(clone):
    """Run a program of Python in the clone, with the clone's core."""
    core = clone / "autocalc-core" / "src"
    return lambda *command: run(sys.executable, *command, cwd=clone, path=core)


def apply(recipe, folder):
    """Apply a recipe."""
    diff = RECIPES / f"{recipe}.diff"
    run("git", "apply", "--whitespace=error", str(diff), cwd=folder, path="")


def changed(recipe):
    """Return the files that a recipe adds or changes, tests apart."""
    lines = (RECIPES / f"{recipe}.diff").read_text(encoding="utf-8").splitlines()
    names = [line[6:] for line in lines if line.startswith("+++ b/")]
    return [name for name in names if not name.startswith("tests/")]


def test_an_operator(clone, in_clone):
    core = "autocalc-core/src/autocalc"
    assert changed("add-an-operator") == [
        f"{core}/__init__.py",  # the public list
        f"{core}/_kernels/elementwise/exponential.py",
        f"{core}/_ops/elementwise/exponential.py",
    ]
    apply("add-an-operator", clone)
    in_clone("tools/tensor_interface.py")
    in_clone("tests/golden/lists.py")
    checks = ("pointwise", "method", "gradient_list", "golden", "tensor_interface")
    tests = [f"tests/core/test_{'ops_' * (i < 2)}{c}.py" for i, c in enumerate(checks)]
    quiet = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist")
    wanted = "cbrt or golden or interface or every_kernel_of"
    printed = in_clone(*quiet, "-k", wanted, *tests, "tests/kernels/test_oracle.py")
    assert "passed" in printed
    program = (
        "import autocalc as ac; x = ac.tensor([8.0, -27.0]); y = x.cbrt_();"
        "print(ac.cbrt(ac.tensor(64.0)).item(), y is x, x.tolist())"
    )
    assert in_clone("-c", program).split("\n")[-2] == "4.0 True [2.0, -3.0]"


def test_a_kernel(clone, in_clone):
    assert changed("add-a-kernel") == [
        "autocalc-core/src/autocalc/_kernels/elementwise/lerp.py"
    ]
    apply("add-a-kernel", clone)
    in_clone("tests/golden/lists.py")
    quiet = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist")
    tests = ("tests/kernels/test_table.py", "tests/kernels/test_conformance.py")
    printed = in_clone(*quiet, "-k", "lerp", *tests, "tests/core/test_golden.py")
    assert "passed" in printed


def configure(source, build):
    """Let CMake prepare the native tests; skip where it lacks doctest."""
    ninja = f"-DCMAKE_MAKE_PROGRAM={CMAKE.with_name('ninja')}"
    options = ("-G", "Ninja", ninja, "-DCMAKE_BUILD_TYPE=Release")
    try:
        run(CMAKE, *options, "-S", source, "-B", build, cwd=source, path="")
    except AssertionError as error:
        if "need doctest" not in str(error):
            raise
        pytest.skip("doctest is not installed; `make test-native` installs it")


@pytest.mark.skipif(
    platform.machine() not in {"x86_64", "AMD64"} or not CMAKE.exists(),
    reason="the instruction set is one of x86-64, and cmake builds it",
)
def test_an_instruction_set(clone, tmp_path):
    package = "autocalc-kernels-simd"
    added = ("cpu", "microkernel", "tuning", "vec")
    assert changed("add-an-instruction-set") == [
        f"{package}/CMakeLists.txt",
        *(f"{package}/csrc/isa/sse41/{name}.hpp" for name in added),
        f"{package}/src/autocalc_kernels_simd/_plugin.py",
    ]
    apply("add-an-instruction-set", clone)
    build = tmp_path / "build"
    configure(clone / package / "ctest", build)
    run(CMAKE, "--build", build, "--target", "sse41_tests", cwd=build, path="")
    assert "SUCCESS" in run(build / "sse41_tests", cwd=build, path="")
    program = (
        "from autocalc_kernels_simd._plugin import autocalc_kernel_sets as sets;"
        "print(*(s.name for s in sets() if s.family == 'simd'))"
    )
    source = clone / package / "src"
    printed = run(sys.executable, "-c", program, cwd=tmp_path, path=source)
    assert printed.split() == [
        f"simd-{isa}" for isa in ("avx512", "avx2", "sse41", "sse2", "neon")
    ]


def test_a_kernel_package(tmp_path):
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("hatchling is not installed: nothing can be built here")
    run("git", "init", "--quiet", cwd=tmp_path, path="")
    apply("add-a-kernel-package", tmp_path)
    installed = tmp_path / "installed"
    run(
        *(sys.executable, "-m", "pip", "install", "--quiet", "--no-index"),
        *("--disable-pip-version-check", "--no-deps", "--no-build-isolation"),
        *("--target", str(installed), "./my-kernels"),
        cwd=tmp_path,
        path="",
    )
    printed = run(
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
        *("--pyargs", "autocalc.testing.conformance", "--kernels", "mine"),
        cwd=tmp_path,
        path=installed,
    )
    assert "mine: 1 of" in printed
