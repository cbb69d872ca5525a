# SPDX-License-Identifier: MIT
"""Write stubs for the other import paths of PyTorch, for type checkers.

The paths are rows of `autocalc._aliases.TABLE` and have no files, but a type checker
needs a file for each. `make interface` runs this program, and ruff then sorts and wraps
its output.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import autocalc
from autocalc._aliases import TABLE, names_in

ROOT = Path(autocalc.__file__).parent
HEAD = """# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
"""


def main() -> None:
    """Write every stub, and remove those of paths that are no longer in the table."""
    stubs = {stub_of(path): text_of(path) for path in TABLE}
    for old in set(ROOT.rglob("*.pyi")) - set(stubs):
        if old.read_text(encoding="utf-8").startswith(HEAD):
            old.unlink()
    for file, text in stubs.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def stub_of(path: str) -> Path:
    """Return the stub file of a path."""
    folder = ROOT.joinpath(*path.split("."))
    return folder / "__init__.pyi" if inside(path) else folder.with_suffix(".pyi")


def inside(path: str) -> list[str]:
    """Return the names of the paths below a path."""
    start = f"{path}."
    return [row[len(start) :] for row in TABLE if row.startswith(start)]


def text_of(path: str) -> str:
    """Return the text of the stub of a path."""
    return HEAD + "".join(f"{line}\n" for line in lines_of(path))


def lines_of(path: str) -> Iterator[str]:
    """Yield the imports of the names of a path; "as" makes them public names."""
    parts = inside(path)
    rows = [row for row in names_in(path) if row[2] not in parts]
    for source, original, _ in rows:
        yield f"from {source} import {original} as {original}"
    for part in parts:
        yield f"from autocalc.{path} import {part} as {part}"
    for _, original, new in rows:
        if new != original:
            yield f"{new} = {original}"


if __name__ == "__main__":
    main()
