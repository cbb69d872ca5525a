# SPDX-License-Identifier: MIT
"""Follow the documentation word for word, with wheels and without a clone.

    python tools/first_steps.py dist

The program works in an empty folder with the wheels in `dist`.  It runs every command
and every Python block of these pages, in the order of the pages: installation, the
quickstart, a kernel package of each kind, and a model as an ONNX file.  At the end it
prints how many there were, and how long they took.  The Python that runs this program
is used as `python3`; the cache of pip is empty.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
#: Runs the Python blocks of a page, and compares their output with the page.
PYTHON = (
    "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[2]); "
    "import pages; del sys.path[0]; pages.run_page(Path(sys.argv[1]))"
)
#: The prefix of the line that announces the next command.
MARK = "@first-steps@ "
#: The number of characters of output that are shown when a command fails.
TAIL = 60

_CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_PYTHON = re.compile(r"^```python$", re.MULTILINE)
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


class Part(NamedTuple):
    """The parts of a page that are followed.

    Attributes
    ----------
    page
        The path of the page below `docs`.
    sections
        The headings of the sections whose commands are run; "" is the text before the
        first heading.
    python
        Whether the Python blocks of the page are run, after the commands.
    words
        Replacements of words, because a page shows only one of several cases.
    """

    page: str
    sections: tuple[str, ...] = ("",)
    python: bool = True
    words: tuple[tuple[str, str], ...] = ()


KERNELS = "howto/write-a-kernel-package.md"
PARTS = (
    Part("installation.md", ("Wheels", "Check it")),
    Part("quickstart.md"),
    Part(KERNELS, python=False),
    *(
        Part(
            KERNELS,
            python=False,
            words=(("new-kernel-package mine", f"new-kernel-package mine --{kind}"),
                   ("mine", f"mine-{kind}")),
        )
        for kind in ("numba", "c")
    ),
    Part("howto/exchange-models.md", ("", "Write a model as an ONNX file")),
)  # fmt: skip


def sections(text: str) -> dict[str, str]:
    """Return the text of a page by heading; "" is the text before the first heading."""
    above, *rest = _HEADING.split(text)
    return {"": above, **dict(zip(rest[::2], rest[1::2], strict=True))}


def commands(part: Part) -> list[str]:
    """Return the commands of a part, in order."""
    path = ROOT / "docs" / part.page
    found = sections(path.read_text(encoding="utf-8"))
    lacking = [name for name in part.sections if name not in found]
    if lacking:
        raise ValueError(f"{path}: no section {', '.join(lacking)}")
    lines = [
        line.removeprefix("$ ").strip()
        for name in part.sections
        for block in _CONSOLE.findall(found[name])
        for line in block.splitlines()
        if line.startswith("$ ")
    ]
    for word, other in part.words:
        lines = [line.replace(word, other) for line in lines]
    return lines


def blocks(part: Part) -> int:
    """Return the number of Python blocks in a part."""
    text = (ROOT / "docs" / part.page).read_text(encoding="utf-8")
    return len(_PYTHON.findall(text)) if part.python else 0


def script(parts: tuple[Part, ...]) -> Iterator[str]:
    """Yield the lines of a bash program that runs the parts."""
    yield "set -e"
    yield "here=$PWD"
    for part in parts:
        yield 'cd "$here"'
        for command in commands(part):
            yield f"echo; echo {shlex.quote(MARK + command)}"
            yield from _told_apart(command)
        if blocks(part):
            told = f"the Python of {part.page}"
            page = shlex.quote(str(ROOT / "docs" / part.page))
            yield f"echo; echo {shlex.quote(MARK + told)}"
            yield f"python -c {shlex.quote(PYTHON)} {page} {shlex.quote(str(TESTS))}"


def _told_apart(command: str) -> tuple[str, ...]:
    """Accept status 3 of `autocalc doctor`, which means warnings about this machine."""
    if not command.startswith("autocalc doctor"):
        return (command,)
    return "{", command, "} || [ $? = 3 ]"


def environment(cache: Path) -> dict[str, str]:
    """Return the environment of a new user: this Python first, and empty caches."""
    left_out = ("PYTHONPATH", "VIRTUAL_ENV", "PIP_FIND_LINKS", "PIP_CACHE_DIR")
    plain = {k: v for k, v in os.environ.items() if k not in left_out}
    plain = {k: v for k, v in plain.items() if not k.startswith("AUTOCALC_")}
    plain["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{plain['PATH']}"
    plain["XDG_CACHE_HOME"] = str(cache)
    plain["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    return plain


def follow(lines: Iterator[str], folder: Path, environ: dict[str, str]) -> str | None:
    """Run a bash program in a folder; return which command failed, or None."""
    with subprocess.Popen(
        ["bash"],
        cwd=folder,
        env=environ,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        # The braces make bash read the program first: commands that read input must not
        # read it.
        program = "{\n" + "\n".join(lines) + "\nexit 0\n} </dev/null\n"
        process.stdin.write(program)
        process.stdin.close()
        command, output = "", []
        started = time.monotonic()
        for line in process.stdout:
            if not line.startswith(MARK):
                output.append(line)
                continue
            if command:
                print(f"{time.monotonic() - started:7.1f} s  {command}", flush=True)
            command, output = line.removeprefix(MARK).strip(), []
            started = time.monotonic()
        status = process.wait()
    print(f"{time.monotonic() - started:7.1f} s  {command}", flush=True)
    if status == 0:
        return None
    print("".join(output[-TAIL:]), end="")
    return f"status {status} of: {command}"


def main() -> None:
    """Follow all pages."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("dist", type=Path, help="the folder of the wheels")
    given = parser.parse_args()
    wheels = sorted(given.dist.glob("*.whl"))
    if not wheels:
        sys.exit(
            f"first steps: no wheels in {given.dist}; `make test-wheels` makes them"
        )
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="autocalc-first-steps-") as temporary:
        folder = Path(temporary, "empty")
        (folder / "dist").mkdir(parents=True)
        for wheel in wheels:
            shutil.copy(wheel, folder / "dist")
        failed = follow(script(PARTS), folder, environment(Path(temporary, "cache")))
    if failed:
        sys.exit(f"first steps: {failed}")
    n = sum(len(commands(part)) for part in PARTS)
    python = sum(map(blocks, PARTS))
    seconds = time.monotonic() - started
    print(f"{n} commands and {python} blocks of Python took {seconds / 60:.1f} minutes")


if __name__ == "__main__":
    main()
