# SPDX-License-Identifier: MIT
"""The Python blocks of a page, run one after the other, and what they print.

A ```text block below a Python block, with nothing but blank lines between, is what the
Python block prints.  In it `...` stands for anything, as in doctest.  What differs from
run to run is in a ```text varies block, and is not compared.
"""

import contextlib
import doctest
import io
import re
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(
    r"^```python\n(?P<source>.*?)^```$"
    r"(?:\n+^```text(?P<varies> varies)?\n(?P<output>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)
ROOT = Path(__file__).parent.parent


class WrongOutputError(AssertionError):
    """A block prints something else than the page says."""


@dataclass(frozen=True)
class Block:
    """A Python block: its source, its first line's number, and the output below it.

    Of an output that `varies` it is known only that there is one.
    """

    source: str
    line: int
    output: str | None
    varies: bool = False


def blocks(text: str) -> list[Block]:
    return [
        Block(
            match["source"],
            text.count("\n", 0, match.start("source")) + 1,
            match["output"],
            match["varies"] is not None,
        )
        for match in FENCE.finditer(text)
    ]


def printed(block: Block, names: dict[str, object], name: str) -> str:
    """Run a block among these names; return what it prints."""
    # So that a traceback has the lines of the page.
    code = compile("\n" * (block.line - 1) + block.source, name, "exec")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, names)
    return out.getvalue()


def compare(block: Block, got: str, name: str) -> None:
    """Raise where a page's output is not what was printed."""
    if block.output is None:
        return
    wanted = "..." if block.varies and got else block.output
    checker = doctest.OutputChecker()
    if not checker.check_output(wanted, got, doctest.ELLIPSIS):
        example = doctest.Example(block.source, block.output)
        difference = checker.output_difference(example, got, doctest.ELLIPSIS)
        raise WrongOutputError(f"{name}, block of line {block.line}: {difference}")


def run_page(path: Path) -> None:
    """Run the blocks of a page one after the other, and compare what they print."""
    names: dict[str, object] = {"__name__": path.stem}
    found = blocks(path.read_text(encoding="utf-8"))
    assert found, f"{path} has no Python block"
    for block in found:
        compare(block, printed(block, names, str(path)), str(path))


def with_outputs(text: str, name: str = "page") -> str:
    """Return a page whose outputs are what its blocks print now."""
    names: dict[str, object] = {"__name__": name}
    parts, end = [], 0
    for match, block in zip(FENCE.finditer(text), blocks(text), strict=True):
        got = printed(block, names, name)
        parts.append(text[end : match.start()])
        parts.append(f"```python\n{block.source}```")
        if got:
            mark = " varies" if block.varies else ""
            parts.append(f"\n\n```text{mark}\n{got}```")
        end = match.end()
    return "".join([*parts, text[end:]])
