# SPDX-License-Identifier: MIT
"""The Python in the README, in the guide and in docstrings runs."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest
from tests.pages import (
    Block,
    WrongOutputError,
    blocks,
    compare,
    printed,
    run_page,
    with_outputs,
)

import autocalc as ac

ROOT = Path(__file__).parent.parent
#: Pages on which every block that prints has its output below it.
WITH_OUTPUTS = [
    ROOT / "docs/quickstart.md",
    ROOT / "docs/sharp-bits.md",
    ROOT / "docs/howto/port-a-pytorch-script.md",
    ROOT / "docs/howto/reproduce-a-run.md",
    *sorted((ROOT / "docs/tutorials").glob("*.md")),
]
PAGES = [
    ROOT / "README.md",
    ROOT / "autocalc-kernels-cuda/README.md",
    ROOT / "docs/index.md",
    ROOT / "docs/installation.md",
    ROOT / "docs/quickstart.md",
    ROOT / "docs/sharp-bits.md",
    *sorted((ROOT / "docs/tutorials").glob("*.md")),
    *sorted((ROOT / "docs/guide").glob("*.md")),
    ROOT / "docs/reference/ulp.md",
    *sorted((ROOT / "docs/how-it-works").glob("*.md")),
    # Those that show changes alone are held by `test_recipes`.
    *[
        p
        for p in sorted((ROOT / "docs/howto").glob("*.md"))
        if blocks(p.read_text("utf-8"))
    ],
]
#: A file that a page names with its folder.
FILES = re.compile(r"`([\w./-]+/[\w.-]+\.(?:py|[ch]pp|h))`")
_CUDA = "autocalc_kernels_cuda"
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
    found = blocks(page.read_text(encoding="utf-8"))
    for used, module in (
        ("ac.onnx", "onnxruntime"),
        ("import pandas", "pandas"),
        ("import matplotlib", "matplotlib"),
        (_CUDA, _CUDA),
    ):
        if any(used in block.source for block in found):
            pytest.importorskip(module, reason="an optional part of the tests")
    run_page(page)


def test_every_page_with_a_python_block_runs():
    files = [ROOT / "README.md", *ROOT.glob("autocalc-*/README.md")]
    files += [
        page
        for page in (ROOT / "docs").rglob("*.md")
        # What `make docs` writes; and the example, which test_example runs.
        if not {"_build", "_generated", "kernel", "examples"} & {*page.parts}
    ]
    found = {page for page in files if blocks(page.read_text(encoding="utf-8"))}
    assert found - {*PAGES} == set()


@pytest.mark.parametrize("page", WITH_OUTPUTS, ids=lambda page: page.stem)
def test_every_block_that_prints_has_its_output_below_it(page):
    without = [
        block.line
        for block in blocks(page.read_text(encoding="utf-8"))
        if "print(" in block.source and block.output is None
    ]
    assert not without, f"{page}: no output below the blocks of lines {without}"


def test_the_files_that_pages_name_exist():
    files = {
        f"/{path.relative_to(ROOT).as_posix()}"
        for folder in (*ROOT.glob("autocalc-*"), ROOT / "tests", ROOT / "tools")
        for path in folder.rglob("*.*")
    }
    missing = [
        (page.name, name)
        for page in (ROOT / "docs").glob("*/*.md")
        for name in FILES.findall(page.read_text(encoding="utf-8"))
        if not any(file.endswith(f"/{name}") for file in files)
    ]
    assert not missing, f"these files are named, but do not exist: {missing}"


def side_of_the_port(sign):
    """Run one side of the script that is ported; return what it prints."""
    page = ROOT / "docs/howto/port-a-pytorch-script.md"
    text = page.read_text(encoding="utf-8")
    lines = re.search(r"^```diff\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[1]
    source = "".join(
        line[1:] for line in lines.splitlines(keepends=True) if line[0] in {" ", sign}
    )
    return printed(Block(source, 1, None), {"__name__": "script"}, str(page))


def test_the_script_that_is_ported_trains(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert side_of_the_port("+") == "100% are right\n"


@pytest.mark.torch
def test_the_script_that_is_ported_trained_before(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    assert side_of_the_port("-") == "100% are right\n"


PAGE = """\
# Two

```python
print(1 + 1)
```

```text
2
```

Words between a block and a text: no output.

```python
pass
```

Words.

```text
3
```
"""


def test_only_a_text_right_below_a_block_is_its_output():
    assert [block.output for block in blocks(PAGE)] == ["2\n", None]


def test_a_wrong_output_on_a_page_is_an_error_that_names_its_line(tmp_path):
    (tmp_path / "page.md").write_text(PAGE, encoding="utf-8")
    run_page(tmp_path / "page.md")
    wrong = PAGE.replace("\n2\n", "\n4\n")
    (tmp_path / "page.md").write_text(wrong, encoding="utf-8")
    with pytest.raises(WrongOutputError, match=r"page\.md, block of line 4:"):
        run_page(tmp_path / "page.md")


def test_points_in_an_output_stand_for_anything():
    block = blocks(PAGE.replace("\n2\n", "\nit took ... ms\n"))[0]
    compare(block, "it took 3.2 ms\n", "page")
    with pytest.raises(WrongOutputError, match="Got:"):
        compare(block, "it took 3.2 s\n", "page")


def test_an_output_that_varies_is_not_compared_but_has_to_be_there(tmp_path):
    page = PAGE.replace("```text\n2", "```text varies\n3")
    (tmp_path / "page.md").write_text(page, encoding="utf-8")
    run_page(tmp_path / "page.md")
    silent = page.replace("print(1 + 1)", "1 + 1")
    (tmp_path / "page.md").write_text(silent, encoding="utf-8")
    with pytest.raises(WrongOutputError, match="Got nothing"):
        run_page(tmp_path / "page.md")
    assert with_outputs(page) == page.replace("\n3\n", "\n2\n", 1)


def test_outputs_can_be_written_anew():
    assert with_outputs(PAGE.replace("\n2\n", "\n4\n")) == PAGE


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


def test_functions_and_classes_name_their_source(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    pages = importlib.import_module("api_pages")
    folder = Path(ac.__file__).parent.parent
    for place, name in (("autocalc", "relu"), ("autocalc.nn", "Linear")):
        value = getattr(importlib.import_module(place), name)
        one = pages.Name(place, name, value)
        monkeypatch.setattr(pages, "ADDRESS", None)
        path = re.fullmatch(r" +Source: ``(.+)``", next(pages.source(one)))[1]
        assert re.search(rf"(def|class) {name}\b", (folder / path).read_text("utf-8"))
        monkeypatch.setattr(pages, "ADDRESS", "https://example.org/autocalc")
        assert f"<https://example.org/autocalc/blob/main/autocalc-core/src/{path}>" in (
            next(pages.source(one))
        )


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


def test_each_operator_has_a_heading_among_the_functions(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    pages = importlib.import_module("api_pages")
    without = [
        name.path
        for name in pages.names("autocalc", ac)
        if "._ops." in (getattr(name.value, "__module__", None) or "")
        and not name.is_class
        and pages.heading_of(name) is None
    ]
    assert not without, f"name their files in HEADINGS of api_pages.py: {without}"


def test_pages_that_are_the_same_are_not_written_again(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    write_pages = importlib.import_module("api_pages").write_pages
    write_pages(tmp_path, {"same.rst": "a", "other.rst": "b", "gone.rst": "c"})
    before = (tmp_path / "same.rst").stat().st_mtime_ns
    write_pages(tmp_path, {"same.rst": "a", "other.rst": "d"})
    assert (tmp_path / "same.rst").stat().st_mtime_ns == before
    assert {f.name: f.read_text() for f in tmp_path.iterdir()} == {
        "same.rst": "a",
        "other.rst": "d",
    }
