# SPDX-License-Identifier: MIT
"""Notebooks made from the tutorials: Python blocks are cells, with their outputs.

`make docs` writes them for its pages to link; `make notebooks` writes them alone.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from nbformat import v4

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.pages import FENCE, blocks  # noqa: E402  what a block is, they say

if TYPE_CHECKING:
    from sphinx.application import Sphinx

TUTORIALS = ROOT / "docs/tutorials"
MADE = ROOT / "docs/_generated/notebooks"
_DOWNLOAD = re.compile(r"^\{download\}.*?\n\n", re.MULTILINE | re.DOTALL)
_ROLE = re.compile(r"\{(doc|term)\}`([^`<]*?)(?:\s*<[^`>]*>)?`")
_METADATA = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}


def title(page: Path) -> str:
    return page.read_text(encoding="utf-8").partition("# ")[2].partition("\n")[0]


def plain(text: str, page: Path) -> str:
    """Return Markdown without what Sphinx alone knows: links to pages and terms."""

    def words(match: re.Match[str]) -> str:
        target = page.parent / f"{match[2]}.md"
        return f"*{title(target)}*" if target.is_file() else match[2]

    return _ROLE.sub(words, _DOWNLOAD.sub("", text)).strip()


def cells(page: Path) -> Iterator[Any]:
    """Yield the cells of a page: words, and code with what it prints."""
    text, end = page.read_text(encoding="utf-8"), 0
    for match, block in zip(FENCE.finditer(text), blocks(text), strict=True):
        yield v4.new_markdown_cell(plain(text[end : match.start()], page))
        cell = v4.new_code_cell(block.source.rstrip("\n"))
        if block.output is not None:
            cell.outputs.append(v4.new_output("stream", text=block.output))
        yield cell
        end = match.end()
    yield v4.new_markdown_cell(plain(text[end:], page))


def notebook(page: Path) -> Any:
    """Return the notebook of a page; the same page gives the same notebook."""
    found = [cell for cell in cells(page) if cell.source]
    for number, cell in enumerate(found):
        cell.id = f"{page.stem}-{number}"
    return v4.new_notebook(cells=found, metadata=_METADATA)


def write(*_: object) -> None:
    """Write the notebooks of all tutorials."""
    MADE.mkdir(parents=True, exist_ok=True)
    for page in sorted(TUTORIALS.glob("*.md")):
        nbformat.write(notebook(page), MADE / f"{page.stem}.ipynb")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    write()
    print(*sorted(MADE.glob("*.ipynb")), sep="\n")
