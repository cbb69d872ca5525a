# SPDX-License-Identifier: MIT
"""Rewrite the outputs of examples in docstrings, after a change of printing.

``python tools/docstring_examples.py`` runs every docstring of the core package and
replaces the old outputs by the new ones.  Review the difference before committing: it
also shows examples whose output changed for another reason.
"""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import tempfile
from pathlib import Path
from typing import Any

import autocalc as ac

Failure = tuple[str, int, doctest.Example, str]


class Recorder(doctest.DocTestRunner):
    """Runs examples and keeps those whose output differs from the docstring."""

    def __init__(self) -> None:
        super().__init__(verbose=False)
        self.found: list[Failure] = []

    def report_failure(self, *failed: Any) -> None:
        """Keep the file, the line number, the example and its output."""
        _, test, example, got = failed
        self.found.append((test.filename, test.lineno + example.lineno, example, got))

    def report_unexpected_exception(self, *failed: Any) -> None:
        """Show the example, because an error is no output to write down."""
        _, test, example, (_, error, _) = failed
        print(f"{test.filename}:{test.lineno + example.lineno + 1}: {error!r}")


def failures() -> list[Failure]:
    """Return the examples of all modules whose output differs."""
    runner = Recorder()
    for module in pkgutil.walk_packages(ac.__path__, "autocalc."):
        if module.name.endswith("__main__"):
            continue
        ac.manual_seed(0)
        for test in doctest.DocTestFinder().find(importlib.import_module(module.name)):
            runner.run(test, out=_silent)
    return runner.found


def _silent(_text: str) -> None:
    """Print nothing."""


def rewrite(path: Path, failed: list[Failure]) -> None:
    """Replace the outputs of examples in a file, from the last one to the first."""
    lines = path.read_text(encoding="utf-8").split("\n")
    changes = {line: (example, got) for _, line, example, got in failed}
    for line, (example, got) in sorted(changes.items(), reverse=True):
        first = line + example.source.count("\n")
        last = first + example.want.count("\n")
        indent = " " * example.indent
        said = [text.strip() for text in lines[first:last]]
        if said != [text.strip() for text in example.want.rstrip("\n").split("\n")]:
            print(f"{path}: {example.source.strip()} is in no docstring: change it")
            continue
        new = [f"{indent}{text}".rstrip() for text in got.rstrip("\n").split("\n")]
        lines[first:last] = [text or f"{indent}<BLANKLINE>" for text in new]
    path.write_text("\n".join(lines), encoding="utf-8")


def main() -> None:
    """Rewrite all files with examples whose output differs."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        found = failures()
        os.chdir(here)
    for name in sorted({name for name, *_ in found}):
        rewrite(Path(name), [failed for failed in found if failed[0] == name])
        print(name)


if __name__ == "__main__":
    main()
