# SPDX-License-Identifier: MIT
"""The changes that pages of `docs/howto` show, applied to a clean clone."""

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


CORE = "autocalc-core/src/autocalc"
QUIET = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist")


def write_names(in_clone):
    """Write what `make interface` writes: public names, and types of methods."""
    for tool in ("tools/public_names.py", "tools/tensor_interface.py"):
        in_clone(tool)


def check_operator(in_clone, name, *tests):
    """Run the tests of an operator among these, and those of what was written."""
    wanted = f"{name} or interface or every_kernel_of or every_function"
    # A test of methods makes in-place forms again, and is the last one.
    usual = ("traced", "gradient_list", "tensor_interface", "ops_method")
    files = [*tests, *[f"tests/core/test_{one}.py" for one in usual]]
    assert "passed" in in_clone(*QUIET, "-k", wanted, *files)


def last_line(in_clone, program):
    """Return the last line that a program prints in the clone."""
    return in_clone("-c", f"import autocalc as ac; {program}").splitlines()[-1]


def test_an_operator(clone, in_clone):
    assert changed("add-an-operator") == [
        f"{CORE}/_kernels/elementwise/exponential.py",
        f"{CORE}/_ops/elementwise/exponential.py",
    ]
    apply("add-an-operator", clone)
    write_names(in_clone)
    in_clone("tests/golden/lists.py")
    assert "passed" in in_clone(*QUIET, "tests/core/test_golden.py")
    tests = ("tests/core/test_derivatives.py", "tests/kernels/test_oracle.py")
    check_operator(in_clone, "cbrt", *tests)
    program = (
        "x = ac.tensor([8.0, -27.0]); y = x.cbrt_();"
        "print(ac.cbrt(ac.tensor(64.0)).item(), y is x, x.tolist())"
    )
    assert last_line(in_clone, program) == "4.0 True [2.0, -3.0]"


def test_an_operator_with_an_attribute(clone, in_clone):
    recipe = "add-an-operator-with-an-attribute"
    assert changed(recipe) == [
        f"{CORE}/_kernels/activations/softcap.py",
        f"{CORE}/_ops/activations/smooth.py",
    ]
    apply(recipe, clone)
    write_names(in_clone)
    kernels = (f"tests/kernels/test_{one}.py" for one in ("table", "conformance"))
    check_operator(in_clone, "softcap", "tests/core/test_derivatives.py", *kernels)
    program = (
        "x = ac.tensor([-100.0, 0.0]); y = x.softcap_(2.0);"
        "print(ac.softcap(ac.tensor(100.0), 0.5).item(), y is x, x.tolist())"
    )
    assert last_line(in_clone, program) == "0.5 True [-2.0, 0.0]"


def test_a_short_program(clone, in_clone):
    assert changed("add-a-short-program") == [f"{CORE}/_ops/activations/smoothstep.py"]
    apply("add-a-short-program", clone)
    write_names(in_clone)
    check_operator(in_clone, "smoothstep")
    program = (
        "from autocalc._ops._operator.short_calls import program_of;"
        "steps = program_of(ac.smoothstep, ac.rand(4)).steps;"
        "print(*[s.function.name for s in steps if hasattr(s, 'function')])"
    )
    assert last_line(in_clone, program) == "clamp mul mul sub mul"


def test_a_kernel(clone, in_clone):
    assert changed("add-a-kernel") == [f"{CORE}/_kernels/elementwise/lerp.py"]
    apply("add-a-kernel", clone)
    in_clone("tests/golden/lists.py")
    tests = ("tests/kernels/test_table.py", "tests/kernels/test_conformance.py")
    printed = in_clone(*QUIET, "-k", "lerp", *tests, "tests/core/test_golden.py")
    assert "passed" in printed


#: Errors of a decomposition where terms cancel: in ULP, and as a share of the budget.
ERRORS = """
import numpy as np
from autocalc._kernels.budgets import ulp
from autocalc._kernels.samples import Make
from autocalc._kernels.table import TABLE

spec = TABLE["difference_of_products"]
eps = float(np.finfo(np.float32).eps)
samples = {s.label: s.inputs for s in spec.samples(Make(np.dtype(np.float32)))}
a, b, c, d = samples["nearly equal products"]
exact = spec.reference(np, *(x.astype(np.float64) for x in (a, b, c, d)))
error = np.abs(a * b - c * d - exact)
(allowed,) = spec.budget.tolerance((a, b, c, d), (), (exact,), eps)
print((error / ulp(exact, eps)).max(), (error / allowed).max())
"""


def test_an_error_budget(clone, in_clone):
    assert changed("add-an-error-budget") == [
        f"{CORE}/_kernels/elementwise/difference_of_products.py"
    ]
    apply("add-an-error-budget", clone)
    tests = ("tests/kernels/test_table.py", "tests/kernels/test_conformance.py")
    assert "passed" in in_clone(*QUIET, "-k", "difference_of_products", *tests)
    in_ulp, share = map(float, in_clone("-c", ERRORS).split())
    assert in_ulp > 1e9
    assert 0.4 < share < 0.5


def configure(source, build, *more):
    """Let CMake prepare a build; skip where the native tests lack doctest."""
    ninja = f"-DCMAKE_MAKE_PROGRAM={CMAKE.with_name('ninja')}"
    options = ("-G", "Ninja", ninja, "-DCMAKE_BUILD_TYPE=Release", *more)
    try:
        run(CMAKE, *options, "-S", source, "-B", build, cwd=source, path="")
    except AssertionError as error:
        if "need doctest" not in str(error):
            raise
        pytest.skip("doctest is not installed; `make test-native` installs it")


def test_a_simd_kernel(clone, tmp_path):
    simd = pytest.importorskip("autocalc_kernels_simd")
    runs = importlib.import_module("autocalc_kernels_simd._loader").cpu_runs
    isa = next((isa for isa in ("avx2", "neon") if runs(isa)), None)
    if isa is None or not CMAKE.exists():
        pytest.skip("this needs cmake, and a CPU with AVX2 or NEON")
    file = "elementwise/interpolation.cpp"
    assert [*changed("add-a-kernel"), *changed("add-a-simd-kernel")] == [
        f"{CORE}/_kernels/elementwise/lerp.py",
        f"autocalc-kernels-simd/csrc/generic/{file}",
    ]
    apply("add-a-kernel", clone)
    apply("add-a-simd-kernel", clone)
    # The installed package with the library of this kernel alone.
    package = clone / CORE / ".." / simd.__name__
    shutil.copytree(Path(simd.__file__).parent, package)
    for library in package.glob("kernels_*"):
        library.unlink()
    only = f"-DAUTOCALC_ONLY_FILES={file}"
    options = ("-DAUTOCALC_PYTHON=OFF", f"-DAUTOCALC_SIMD_SETS={isa}", only)
    build = tmp_path / "build"
    configure(clone / "autocalc-kernels-simd", build, *options)
    run(CMAKE, "--build", build, "--target", f"autocalc_{isa}", cwd=build, path="")
    shutil.copy(next(build.glob(f"kernels_{isa}.*")), package)
    printed = run(
        *(sys.executable, *QUIET, "--pyargs", "autocalc.testing.conformance"),
        *("--kernels", f"simd-{isa}"),
        cwd=tmp_path,
        path=clone / CORE / "..",
    )
    assert f"simd-{isa}: 1 of" in printed
    assert "% of eps * (|a| + 2 * |weight| * (|a| + |b|))" in printed


@pytest.mark.skipif(
    platform.machine() not in {"x86_64", "AMD64"} or not CMAKE.exists(),
    reason="the instruction set is one of x86-64, and cmake builds it",
)
def test_an_instruction_set(clone, tmp_path):
    package = "autocalc-kernels-simd"
    added = ("bytes", "cpu", "microkernel", "tuning", "vec")
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
    isas = ("avx512", "avx2", "sse41", "sse2", "neon")
    for isa in isas:  # what was not built is not offered
        (source / f"autocalc_kernels_simd/kernels_{isa}.so").touch()
    printed = run(sys.executable, "-c", program, cwd=tmp_path, path=source)
    assert printed.split() == [f"simd-{isa}" for isa in isas]


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
