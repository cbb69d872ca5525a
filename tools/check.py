# SPDX-License-Identifier: MIT
"""Check the differences from `main`: linters and fast tests of changed files.

`make check` runs it.  It chooses tests by their names and imports:

- changed test files, and test files that import a changed test helper;
- test files that import a changed module, or have its name in theirs;
- tests whose name or parameters contain the name of a changed function or kernel.

Tests marked `slow` are left out, and so are tests that would begin after SECONDS of
tests. The program prints what is left out.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
SECONDS = 60
CPP = (".c", ".cpp", ".h", ".hpp")
LEFT_OUT = (
    "clang-tidy, stubtest, types of unchanged files (make lint), C++ tests (make "
    "test-native), slow tests, other instruction sets (make test), documentation (make "
    "look), wheels (make test-wheels)"
)


# ---- what changed --------------------------------------------------------------------


def git(*words: str) -> str:
    """Return the output of git."""
    done = subprocess.run(
        ["git", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"check: git {' '.join(words)} failed: {done.stderr.strip()}")
    return done.stdout


def changed_lines(base: str) -> dict[Path, set[int]]:
    """Return a dict from each file that differs from `base` to its changed lines."""
    found: dict[Path, set[int]] = {}
    lines: set[int] = set()
    for line in git("diff", "--unified=0", "--no-color", "--no-prefix", base).split(
        "\n"
    ):
        if line.startswith("+++ "):
            lines = found.setdefault(Path(line[4:]), set())
        elif place := re.match(r"@@ .* \+(\d+)(?:,(\d+))? @@", line):
            first = int(place[1])
            lines.update(range(first, first + max(int(place[2] or 1), 1)))
    for name in git("ls-files", "--others", "--exclude-standard").splitlines():
        found[Path(name)] = set(range(1, 10**6))
    return {path: held for path, held in found.items() if (ROOT / path).is_file()}


def changed_names(path: Path, lines: set[int]) -> Iterator[str]:
    """Yield the public functions and classes of a module that its changed lines touch.

    A change of private code, or outside of functions, concerns all of them.
    """
    public, touched = [], []
    for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        assert node.end_lineno is not None
        first = min(one.lineno for one in (node, *node.decorator_list))
        inside = not lines.isdisjoint(range(first, node.end_lineno + 1))
        if not node.name.startswith("_"):
            public.append(node.name)
        touched += [node.name] if inside else []
    private = not touched or any(name.startswith("_") for name in touched)
    yield from public if private else touched


# ---- linters -------------------------------------------------------------------------


def lint(files: list[Path]) -> list[str]:
    """Run the linters over files; return the linters that found something."""
    python = [str(f) for f in files if f.suffix in {".py", ".pyi"}]
    typed = [f for f in python if re.match(r"autocalc-[\w-]+/src/", f)]
    cpp = [str(f) for f in files if f.suffix in CPP]
    commands = [
        (["ruff", "check", "--quiet", *python], python),
        (["ruff", "format", "--quiet", "--check", *python], python),
        (["mypy", *typed], typed),
        (["lint-imports", "--no-logo"], typed),
        (["clang-format", "--dry-run", "-Werror", *cpp], cpp),
    ]
    failed = []
    for command, needed in commands:
        if needed:
            say(f"{' '.join(command[:2])}: {len(needed)} files")
            words = [str(BIN / command[0]), *command[1:]]
            if subprocess.run(words, cwd=ROOT, check=False).returncode:
                failed.append(command[0])
    return failed


# ---- tests ---------------------------------------------------------------------------


@dataclass
class Choice:
    """The tests to run: whole files, and names that test names contain."""

    files: set[Path] = field(default_factory=set)
    names: set[str] = field(default_factory=set)


def choose(changed: dict[Path, set[int]]) -> Choice:
    """Choose the tests for the changes."""
    choice = Choice()
    texts = {
        path.relative_to(ROOT): path.read_text(encoding="utf-8")
        for path in sorted((ROOT / "tests").rglob("*.py"))
    }
    for path, lines in changed.items():
        if path in texts and path.name.startswith("test_"):
            choice.files.add(path)
        elif path.suffix == ".py" and path.parts[0] in {"tests", "tools"}:
            choice.files.update(importers(path, texts))
        elif path.suffix == ".py" and "src" in path.parts:
            choice.files.update(importers(path, texts), namesakes(path, texts))
            choice.names.update(changed_names(path, lines))
            choice.names |= {path.stem} if "_kernels" in path.parts else set()
        elif path.suffix in CPP and "csrc" in path.parts:
            choice.names.update(kernels_in(path))
        elif path.suffix in CPP:
            choice.files.update(namesakes(path, texts))
    return choice


def importers(path: Path, texts: dict[Path, str]) -> Iterator[Path]:
    """Yield test files that import a module, or load a tool by its name."""
    inside = path.with_suffix("").parts
    inside = inside[inside.index("src") + 1 :] if "src" in inside else inside
    *parents, name = inside[:-1] if inside[-1] == "__init__" else inside
    parent = re.escape(".".join(parents))
    pattern = rf"{parent}\.{name}\b|from {parent} import .*\b{name}\b|\"{name}\.py\""
    for test, text in texts.items():
        if test.name.startswith("test_") and re.search(pattern, text):
            yield test


def namesakes(path: Path, texts: dict[Path, str]) -> Iterator[Path]:
    """Yield test files whose names contain the name of a source file, or its plural."""
    name = path.stem.strip("_")
    for test in texts:
        if re.search(rf"test_(.*_)?{re.escape(name)}s?(_|$)", test.stem):
            yield test


def kernels_in(path: Path) -> set[str]:
    """Return the kernels that a C++ file, or a file next to it, names in quotes."""
    from autocalc._kernels.table import TABLE

    for files in ([ROOT / path], (ROOT / path).parent.glob("*.cpp")):
        texts = (file.read_text(encoding="utf-8") for file in files)
        named = {name for text in texts for name in re.findall(r'"(\w+)"', text)}
        if found := named & set(TABLE):
            return found
    return set()


class Chosen:
    """A pytest plugin that keeps the chosen tests and stops when the time is over."""

    def __init__(self, choice: Choice) -> None:
        self.files = {str(ROOT / path) for path in choice.files}
        names = "|".join(map(re.escape, sorted(choice.names))) or "(?!)"
        self.name = re.compile(rf"(?<![a-z0-9])({names})(?![a-z0-9])")
        self.ends = time.monotonic() + SECONDS
        self.chosen = self.ran = 0
        self.late = False

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        """Keep the chosen tests: whole files first, then tests chosen by name."""
        whole = [item for item in items if str(item.path) in self.files]
        held = set(whole)
        named = [i for i in items if i not in held and self.name.search(i.name)]
        config.hook.pytest_deselected(items=set(items) - held - set(named))
        items[:] = [*whole, *named]
        self.chosen = len(items)
        say(f"{len(whole)} tests of {len(self.files)} files, {len(named)} by name")

    def pytest_runtest_logfinish(self) -> None:
        """Count the tests that ran."""
        self.ran += 1

    def pytest_runtest_protocol(self, item: Any) -> None:
        """Stop before a test that would begin too late."""
        if time.monotonic() > self.ends:
            self.late = True
            item.session.shouldstop = f"{SECONDS} s of tests are over"


def test(choice: Choice) -> list[str]:
    """Run the chosen tests; return those that failed."""
    if not (choice.files or choice.names):
        say("no test is named or imports like what changed")
        return []
    for what, held in (("files", choice.files), ("names", choice.names)):
        say(f"tests by {what}: {' '.join(map(str, sorted(held))) or 'none'}")
    chosen = Chosen(choice)
    whole = [] if choice.names else sorted(map(str, choice.files))
    status = pytest.main(
        ["-q", "-x", "-rf", "-m", "not slow and not long", *whole], plugins=[chosen]
    )
    if left := chosen.chosen - chosen.ran:
        say(f"LEFT OUT for time: {left} of {chosen.chosen} chosen tests")
    nothing = status == pytest.ExitCode.NO_TESTS_COLLECTED
    late = status == pytest.ExitCode.INTERRUPTED and chosen.late
    return [] if status == pytest.ExitCode.OK or nothing or late else ["tests"]


def say(text: str) -> None:
    """Print a line of this program."""
    print(f"check: {text}", flush=True)


def main() -> None:
    """Run all checks; exit with 1 if one of them fails."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--base", default="main", help="the branch to compare with")
    base = git("merge-base", parser.parse_args().base, "HEAD").strip()
    changed = changed_lines(base)
    say(f"{len(changed)} files differ from {base[:10]}")
    failed = lint(list(changed)) if changed else []
    failed += test(choose(changed))
    say(f"left out: {LEFT_OUT}")
    if failed:
        sys.exit(f"check: failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
