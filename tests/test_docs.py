# SPDX-License-Identifier: MIT
"""The Python in the README, in the guide and in docstrings runs."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import autocalc as ac

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs/guide").glob("*.md")),
    # The changes of this page are held by `test_recipes`.
    *sorted(
        {*(ROOT / "docs/howto").glob("*.md")} - {ROOT / "docs/howto/add-to-autocalc.md"}
    ),
]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(ac.__path__, "autocalc.")
    if not module.name.endswith("__main__")
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_python_blocks_of_a_page_run_one_after_the_other(
    page, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    assert blocks, f"{page} has no Python block"
    if any("ac.onnx" in block for block in blocks):
        pytest.importorskip("onnxruntime", reason="an optional part of the tests")
    names = {"__name__": page.stem}
    for block in blocks:
        exec(compile(block, str(page), "exec"), names)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_docstrings_give_what_they_say(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    if name.startswith("autocalc.onnx."):
        pytest.importorskip("onnx", reason="autocalc-core[onnx] is not installed")
    ac.manual_seed(0)
    assert doctest.testmod(module).failed == 0


def _public_names():
    """Yield the public names of all public modules, with what they are."""
    modules = [n for n in MODULES if "._" not in n and not n.endswith(".cli")]
    for place in ["autocalc", *modules]:
        module = importlib.import_module(place)
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if callable(value):
                yield f"{place}.{name}", value


def test_each_public_name_has_a_page(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    pages = importlib.import_module("api_pages").all_pages()
    lines = [line for page in pages.values() for line in page]
    paths = {line.rpartition(":: ")[2] for line in lines if line.startswith(".. auto")}
    described = set()
    for path in paths:
        place, _, name = path.rpartition(".")
        if place == "autocalc.Tensor":
            continue
        described.add(id(getattr(importlib.import_module(place), name)))
    assert [path for path, value in _public_names() if id(value) not in described] == []
    members = {name for name in dir(ac.Tensor) if not name.startswith("_")}
    absent = {name for name in members if not hasattr(ac.Tensor, name)}
    missing = {f"autocalc.Tensor.{name}" for name in members - absent} - paths
    assert missing == set()
