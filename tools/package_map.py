# SPDX-License-Identifier: MIT
"""Write the map of core's packages in CONTRIBUTING.md. `make interface` runs this.

The order is that of the import contract in pyproject.toml.  The text of each entry is
the first line of the docstring.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "autocalc-core" / "src" / "autocalc"
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN = "<!-- The map: written by tools/package_map.py. -->\n"
END = "<!-- End of the map. -->\n"


def layers() -> list[list[str]]:
    """Return the names in each layer of the contract, the highest first."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    contract = text[text.index('containers = ["autocalc"]') :]
    found = re.search(r"^layers = \[(.*?)^\]", contract, re.DOTALL | re.MULTILINE)
    assert found is not None, "pyproject.toml has no layers of autocalc"
    return [re.split(r" [|:] ", layer) for layer in re.findall(r'"(.+?)"', found[1])]


def about(name: str) -> str:
    """Return the first line of the docstring of a module or package."""
    folder = CORE / name
    file = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    words = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    assert words is not None, f"{file} has no docstring"
    return words.splitlines()[0]


def lines() -> Iterator[str]:
    """Yield the lines of the map."""
    for names in layers():
        for name in names:
            yield f"    {name:<16}{about(name)}".rstrip()
        yield ""


def page() -> str:
    """Return CONTRIBUTING.md with the current map."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    return "\n".join([before + BEGIN, *lines(), END + after])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
