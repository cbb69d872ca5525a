# SPDX-License-Identifier: MIT
"""Write what the examples in docstrings print again, after a change of printing.

``python tools/docstring_examples.py`` runs every docstring of the core package and puts
what came out in the place of the old output.  Read the difference before it is
committed: an example that printed something else for another reason shows here, too.
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
    """Runs examples and keeps those that print something else than they say."""

    def __init__(self) -> None:
        super().__init__(verbose=False)
        self.found: list[Failure] = []

    def report_failure(self, *failed: Any) -> None:
        """Keep the file, the line of the first word, the example, and what it gave."""
        _, test, example, got = failed
        self.found.append((test.filename, test.lineno + example.lineno, example, got))

    def report_unexpected_exception(self, *failed: Any) -> None:
        """Show the example: an error is no result to write down."""
        _, test, example, (_, error, _) = failed
        print(f"{test.filename}:{test.lineno + example.lineno + 1}: {error!r}")


def failures() -> list[Failure]:
    """Return the examples of all modules that print something else."""
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
    """Put what examples gave in the place of what they say, from the last one up."""
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
    """Rewrite all files with examples that print something else."""
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
