# SPDX-License-Identifier: MIT
"""`autocalc new-kernel-package`: what it writes installs, runs and passes the kit."""

from __future__ import annotations

import errno
import importlib.util
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.kernel_table import TABLE
from tests.plugins.conftest import run

from autocalc import __version__
from autocalc.cli import cli
from autocalc.cli._new_kernel_package import INSTALL, KINDS
from autocalc.plugin import KERNEL_API_VERSION

pytestmark = pytest.mark.core

BACKENDS = {"python": "hatchling", "numba": "hatchling", "c": "scikit_build_core"}
_installed = {}


def new(*words, code=0):
    """Run the command; return what it printed."""
    result = CliRunner().invoke(cli, ["new-kernel-package", *map(str, words)])
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture
def installed(request, tmp_path_factory):
    """Write and install the package of a kind, once; return its two folders."""
    kind = request.param
    for module in {BACKENDS[kind], "numba" if kind == "numba" else BACKENDS[kind]}:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed: a package of this kind needs it")
    if kind == "c" and not any(map(shutil.which, ("cc", "gcc", "clang", "cl"))):
        pytest.skip("there is no C compiler")
    if kind not in _installed:
        folder = tmp_path_factory.mktemp(kind)
        package, target = folder / "package", folder / "target"
        new(f"own-{kind}", f"--{kind}", "--folder", package)
        finished = run(
            *(sys.executable, "-m", "pip", "install", "--quiet"),
            *("--disable-pip-version-check", "--no-index"),
            *("--no-deps", "--no-build-isolation", "--target", target, package),
        )
        assert finished.returncode == 0, finished.stdout + finished.stderr
        _installed[kind] = package, target
    return _installed[kind]


@pytest.mark.parametrize("installed", KINDS, indirect=True)
def test_it_passes_the_kit_at_once(request, installed, conformance):
    _, target = installed
    name = f"own-{request.node.callspec.params['installed']}"
    finished = conformance(name, target)
    assert finished.returncode == 0, finished.stdout[-3000:]
    assert f"{name}: 2 of {len(TABLE)} kernels" in finished.stdout
    assert re.search(r"relu +float32 +\d+ calls +0\.00 ULP", finished.stdout)
    assert re.search(r"rms_norm +float32 +\d+ calls", finished.stdout)


@pytest.mark.parametrize("installed", KINDS, indirect=True)
def test_its_readme_runs_and_it_passes_the_self_test(request, installed, python):
    package, target = installed
    name = f"own-{request.node.callspec.params['installed']}"
    (block,) = re.findall(
        r"```python\n(.*?)```", (package / "README.md").read_text(), re.DOTALL
    )
    program = block + (
        f"import json\nname = {name!r}\n"
        "with ac.kernels.use(name), ac.kernels.count() as calls:\n"
        "    ac.nn.functional.rms_norm(y, (4,))\n"
        "(mine,) = [s for s in ac.kernels.show().sets if s.name == name]\n"
        "print(json.dumps([y.min().item(), sorted(calls), mine.info]))\n"
    )
    least, calls, info = python(program, target)
    assert least >= 0
    assert ["rms_norm", name] in calls
    assert re.match(r"passed: \d+ calls of 2 kernels", info["self-test"])


@pytest.mark.parametrize("installed", ["python"], indirect=True)
@pytest.mark.parametrize("maximum", ["maximum", "fmax"])  # fmax loses NaN
def test_its_own_tests_pass_and_can_fail(maximum, installed, tmp_path):
    package, target = installed
    shutil.copytree(target, tmp_path / "target")
    kernels = tmp_path / "target" / "autocalc_kernels_own_python" / "_kernels.py"
    text = kernels.read_text()
    assert "np.maximum(a, 0, out=out)" in text
    kernels.write_text(text.replace("np.maximum(", f"np.{maximum}("))
    finished = run(
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
        path=[tmp_path / "target"],
        cwd=package,
        AUTOCALC_GUARD="off",
        PYTEST_ADDOPTS="-k 'relu-float32-values or test_it'",  # the kit obeys it, too
    )
    fails = maximum == "fmax"
    assert finished.returncode == fails, finished.stdout + finished.stderr
    assert ("1 failed, 1 passed" if fails else "2 passed") in finished.stdout
    assert ("FAILED" in finished.stdout and "relu-float32" in finished.stdout) == fails


# ---- what is written -----------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_every_placeholder_is_filled(kind, tmp_path):
    out = new("fast.Math_2", f"--{kind}", "--folder", tmp_path / "made")
    files = [path for path in (tmp_path / "made").rglob("*") if path.is_file()]
    for path in files:
        assert not re.search(r"@[A-Z]+@|/MODULE", str(path) + path.read_text()), path
    names = {path.relative_to(tmp_path / "made").as_posix() for path in files}
    module = "autocalc_kernels_fast_math_2"
    always = "README.md", "pyproject.toml", "tests/test_kernels.py", ".gitignore"
    assert {*always, f"src/{module}/_plugin.py", f"src/{module}/py.typed"} <= names
    assert ("csrc/kernels.c" in names) == (kind == "c")
    project = (tmp_path / "made" / "pyproject.toml").read_text()
    assert '\nname = "autocalc-kernels-fast-math-2"\n' in project
    assert f'\nfast-math-2 = "{module}._plugin"\n' in project
    assert f'"autocalc-core>={__version__}"' in project
    plugin = (tmp_path / "made" / "src" / module / "_plugin.py").read_text()
    assert f"api={KERNEL_API_VERSION}," in plugin  # a number: it is to stay
    readme = (tmp_path / "made" / "README.md").read_text()
    step, *commands = re.findall(r"^  (.+)$", out, re.MULTILINE)
    assert step == f"cd {tmp_path / 'made'}"
    assert len(commands) == len(INSTALL[kind]) + 2
    assert "\n".join(commands) in readme
    for path in files:
        if path.suffix == ".py":
            compile(path.read_text(), path, "exec")


def test_the_folder_follows_from_the_name_and_python_is_the_default(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    new("autocalc-kernels-mine")
    project = Path("autocalc-kernels-mine", "pyproject.toml").read_text()
    assert 'name = "autocalc-kernels-mine"' in project
    assert "Kernels in NumPy" in project


@pytest.mark.parametrize(
    "name", ["", " ", "a b", "-a", "a-", "a/b", "../a", "é", "a\n", "x" * 65, ".", "@"]
)
def test_impossible_names_are_refused(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = new("--", name, code=2)
    assert re.search(
        r"is not a valid name of a package; use up to 64 ASCII letters", out
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["reference", "SIMD", "autocalc-kernels-simd", "autocalc.kernels_blas"]
)
def test_names_that_are_taken_are_refused(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = new(name, code=2)
    assert re.search(r"is already the name of a kernel set or family.*reference", out)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_exists_is_left_as_it_is(tmp_path):
    (tmp_path / "file").write_text("mine")
    out = new("fast", "--folder", tmp_path, code=1)
    assert f"{tmp_path} already exists and was not changed" in out
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert "already exists" in new("fast", "--folder", tmp_path / "file", code=1)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("name", ["fast", "fast-kernels"])
def test_what_fails_half_way_leaves_nothing(name, tmp_path, monkeypatch):
    """A disk that is full after some files, made by a file that cannot be written."""
    plain, left = Path.write_text, [4]

    def write_text(self, *args, **words):
        left[0] -= 1
        if left[0] == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return plain(self, *args, **words)

    monkeypatch.setattr(Path, "write_text", write_text)
    out = new(name, "--folder", tmp_path / "made", code=1)
    assert "made cannot be written: No space left on device" in out
    assert "Free some space there, or name another folder with --folder" in out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_a_folder_that_cannot_be_written_to_is_named(tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    tmp_path.chmod(0o500)
    out = new("fast", "--folder", tmp_path / "made", code=2)
    tmp_path.chmod(0o700)
    assert "cannot be written to: Permission denied. Free some" in out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="limits of POSIX")
def test_a_limit_of_the_system_leaves_nothing(tmp_path):
    """For real: no file may have more than 300 bytes."""
    program = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "import autocalc.cli as c, sys; "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300)); c.main()"
    )
    command = (sys.executable, "-c", program, "new-kernel-package", "fast")
    finished = run(*command, cwd=tmp_path)
    assert finished.returncode == 2, finished.stdout
    assert "cannot be written to: File too large. Free some" in finished.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_printed_commands_install_a_package_in_c_from_a_clone(tmp_path):
    """Where AutoCalc is on no index, no build environment can have its headers."""
    if importlib.util.find_spec(BACKENDS["c"]) is None or not any(
        map(shutil.which, ("cc", "gcc", "clang", "cl"))
    ):
        pytest.skip("a package in C cannot be built here")
    folder = tmp_path / "a package"
    out = new("printed", "--c", "--folder", folder)
    cd, tools, install, *_ = re.findall(r"^  (.+)$", out, re.MULTILINE)
    assert tools == "pip install scikit-build-core cmake ninja"
    pip = f"{shlex.quote(sys.executable)} -m pip"
    line = f"{cd} && {install.replace('pip', pip, 1)}"
    target = tmp_path / "target"
    offline = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_TARGET": str(target)}
    finished = run("sh", "-c", line, **offline)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert list(target.glob("autocalc_kernels_printed/_native*"))


def test_the_folder_around_it_has_to_exist(tmp_path):
    out = new("fast", "--folder", tmp_path / "a" / "b", code=2)
    assert re.search(r"the folder \S+ does not exist; create it first", out)
    assert list(tmp_path.iterdir()) == []
