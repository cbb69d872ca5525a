# SPDX-License-Identifier: MIT
"""The notebooks of the tutorials: made from the pages, and run by Jupyter's kernel."""

import importlib
from pathlib import Path

import nbclient
import nbformat
import pytest
from tests.pages import blocks, compare

ROOT = Path(__file__).parent.parent
TUTORIALS = sorted((ROOT / "docs/tutorials").glob("*.md"))

PAGE = """\
# Two

{download}`Download this page <../two.ipynb>`

See {doc}`mlp`, {doc}`a page <mlp>`, {term}`kernels <kernel>` and `code`.

```python
print(1 + 1)
```

```text
2
```
"""


@pytest.fixture
def notebooks(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs/_ext"))
    return importlib.import_module("notebooks")


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_notebook_prints_what_its_page_says(page, notebooks, tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    if page.stem == "tabular":
        pytest.importorskip("pandas", reason="an optional part of the tests")
    made = notebooks.notebook(page)
    place = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(made, timeout=600, resources=place).execute()
    code = [cell for cell in made.cells if cell.cell_type == "code"]
    found = blocks(page.read_text(encoding="utf-8"))
    for block, cell in zip(found, code, strict=True):
        printed = [out.text for out in cell.outputs if out.get("name") == "stdout"]
        compare(block, "".join(printed), f"the notebook of {page.stem}")


def test_a_notebook_is_valid_and_the_same_each_time(notebooks):
    for page in TUTORIALS:
        made = notebooks.notebook(page)
        nbformat.validate(made)
        assert made == notebooks.notebook(page)


def test_a_notebook_has_the_words_without_what_sphinx_alone_knows(notebooks, tmp_path):
    page = tmp_path / "two.md"
    page.write_text(PAGE, encoding="utf-8")
    (tmp_path / "mlp.md").write_text("# A network\n", encoding="utf-8")
    words, code = notebooks.notebook(page).cells
    assert words.source == "# Two\n\nSee *A network*, a page, kernels and `code`."
    assert code.source == "print(1 + 1)"
    assert [out.text for out in code.outputs] == ["2\n"]
