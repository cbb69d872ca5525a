# SPDX-License-Identifier: MIT
"""Rules of the repository that no linter knows."""

import ast
import importlib
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CODE = {".py", ".pyi", ".cpp", ".hpp", ".h", ".c"}
MAX_LINES = 600  # 400 is the aim; a table of data may be longer
LONG = {
    # Made by a program: the types of one class.
    "autocalc-core/src/autocalc/_tensor/interface.py"
}


def tracked() -> list[Path]:
    run = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in run.stdout.splitlines() if (ROOT / name).is_file()]


def code() -> list[Path]:
    return [path for path in tracked() if path.suffix in CODE]


def test_every_source_file_names_its_licence_in_its_first_lines():
    without = [
        str(path.relative_to(ROOT))
        for path in code()
        if not any(
            "SPDX-License-Identifier: MIT" in line
            for line in path.read_text(encoding="utf-8").splitlines()[:2]
        )
    ]
    assert not without, f"these files have no SPDX line: {without}"


def test_no_source_file_is_too_long():
    long = {
        str(path.relative_to(ROOT)): count
        for path in code()
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > MAX_LINES
    }
    over = {name: count for name, count in long.items() if name not in LONG}
    assert not over, (
        f"split these files by idea, they are over {MAX_LINES} lines: {over}"
    )


#: What code above the kernels may take from NumPy: names of types, and nothing that
#: computes.  `ops`, `nn` and `optim` compute by kernels alone, so that a step can be
#: recorded and replayed.
NUMPY_TYPES = {"ndarray", "generic", "number", "bool_", "dtype", "integer", "floating"}

#: Where values enter from Python and NumPy, and where tensors are first filled.
ENTRANCES = {
    "_ops/creation/constants.py",
    "_ops/creation/ranges.py",
    "_ops/creation/window_functions.py",
    "_ops/creation/from_data.py",
}


def numpy_names(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in {"np", "numpy"}
    }


@pytest.mark.parametrize("layer", ["_ops", "nn", "optim"])
def test_no_numpy_arithmetic_above_the_kernels(layer):
    folder = ROOT / "autocalc-core/src/autocalc" / layer
    computing = {
        str(path.relative_to(ROOT)): names
        for path in sorted(folder.rglob("*.py"))
        if path.relative_to(folder.parent).as_posix() not in ENTRANCES
        and (names := numpy_names(path) - NUMPY_TYPES)
    }
    assert not computing, f"call kernels in place of NumPy: {computing}"


VERSION = re.search(
    r'__version__ = "((\d+\.\d+)\..+)"',
    (ROOT / "autocalc-core/src/autocalc/_version.py").read_text(encoding="utf-8"),
)
PACKAGES = sorted(path.parent for path in ROOT.glob("autocalc-*/pyproject.toml"))


def test_the_packages_have_one_version():
    for path in sorted(ROOT.glob("autocalc-kernels-*/pyproject.toml")):
        text = path.read_text(encoding="utf-8")
        assert f'version = "{VERSION[1]}"' in text, path


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_a_package_asks_for_others_of_its_series(package):
    text = (package / "pyproject.toml").read_text(encoding="utf-8")
    asked = re.findall(r'"(autocalc-(?:core|kernels-\w+)(?:\[.+?\])?)(==[^"]*)?"', text)
    others = {pin for name, pin in asked if name.partition("[")[0] != package.name}
    assert others == {f"=={VERSION[2]}.*"}


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_a_package_brings_its_licence_and_what_changed(package):
    assert (package / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert f"## {VERSION[1]}" in (package / "CHANGELOG.md").read_text(encoding="utf-8")
    readme = (package / "README.md").read_text(encoding="utf-8")
    assert "](../" not in readme, "PyPI shows the README without the repository"


@pytest.mark.parametrize("tool", ["package_map", "public_names"])
def test_what_a_tool_writes_is_up_to_date(tool, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    written = importlib.import_module(tool)
    text = written.PAGE.read_text(encoding="utf-8")
    assert written.page() == text, "run `make interface`"
