# SPDX-License-Identifier: MIT
"""Plain words: what documents, docstrings, comments and texts do not say.

Each word below is good English, and was used here in senses that a reader has to guess:
arrays "lay" in memory, functions were "told" shapes, norms stood "behind" layers.
Names in code are no prose: words in backticks, identifiers and single words in quotes
are not looked at.  A true use is listed in `ALLOWED`, with its reason.
"""

import io
import re
import subprocess
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

#: What is not written -> what is written in its place.
PLAIN = {
    r"lies?|lain": "is, is stored, is between",
    r"(?:stands?|stood)(?!-| (?:in )?for\b)": "is, is in (`stand for` is fine)",
    r"told": "given, reported, distinguished; or name what is known, and from what",
    r"anew": "again",
    r"behind": "after; or say what is called, owned or waited for",
    r"beside": "next to, with, in addition to, against (of measurements)",
    r"what of": "name the thing",
    r"whom?": "name the function, thread or set that does it",
    r"walk(?:s|ed|ing)?": "backward pass, loop, traversal",
    r"to be had": "available",
    r"(?:has|have|had) not(?= (?:a|an|the|one|as|any|its|enough|\d+)\b|[;:.,])": (
        "does not have"
    ),
}

#: (File, word): why the word is right there.
ALLOWED = {
    ("autocalc-core/src/autocalc/autograd/_early.py", "walk"): "a parameter's name",
}

#: Files made of others, or of other people's words.
SKIPPED = ("tests/golden/", "docs/recipes/")

TEXTS = {".md", ".toml", ".txt", ".cmake", ".in", ".yml", ".css", ".js", ""}
SOURCES = {".c", ".h", ".cpp", ".hpp", ".cu", ".cuh"}

_WORDS = re.compile(rf"(?<![\w./-])(?:{'|'.join(PLAIN)})\b(?![\w(/-])", re.IGNORECASE)
_COMMENT = re.compile(r'//.*|/\*.*|^\s*\* .*|(?<!#include )"[^"\n]* [^"\n]*"')
_CODE = re.compile(r"(`+)[^`\n]*\1")


def python_prose(text):
    """Yield (line, prose): comments, and strings of more than one word."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_text = "STRING" in tokenize.tok_name[token.type]
        if token.type == tokenize.COMMENT or (is_text and " " in token.string):
            for i, line in enumerate(token.string.split("\n")):
                yield token.start[0] + i, re.sub(r"\{[^{}]*\}", "", line)


def prose(path, text):
    """Yield (line, prose) of a file."""
    if path.suffix in {".py", ".pyi"}:
        yield from python_prose(text)
    else:
        for i, line in enumerate(text.split("\n"), 1):
            if path.suffix in TEXTS:
                yield i, line
            elif path.suffix in SOURCES:
                yield i, " ".join(_COMMENT.findall(line))


def odd_words(path, text):
    """Return the odd words of a file as "line: word"."""
    if not _WORDS.search(text):  # most files, which need no tokens then
        return []
    return [
        f"{i}: {word}"
        for i, line in prose(path, text)
        for word in _WORDS.findall(_CODE.sub("", line))
    ]


def files():
    """Return the names of the repository's files that hold words."""
    return [
        name
        for name in listed()
        if Path(name).suffix in TEXTS | SOURCES | {".py", ".pyi"}
        and not name.startswith(SKIPPED)
        and Path(name).name != "LICENSE"
        and (ROOT / name).is_file()
    ]


def listed():
    """Return the names of all files that git knows."""
    try:
        found = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, capture_output=True, check=True, text=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is no clone, so that its files are not listed")
    return found.stdout.splitlines()


def test_the_repository_is_written_in_plain_words():
    odd = {}
    for name in files():
        if name == "tests/test_words.py":  # the list itself
            continue
        path = ROOT / name
        for found in odd_words(path, path.read_text(encoding="utf-8")):
            word = found.split(": ")[1].lower()
            if (name, word) not in ALLOWED:
                odd.setdefault(name, []).append(found)
    texts = [f"{name}:{one}" for name, some in odd.items() for one in some]
    assert not texts, "write it in plain words, see PLAIN:\n" + "\n".join(texts)


def test_every_allowed_use_is_still_there():
    for name, word in ALLOWED:
        path = ROOT / name
        found = odd_words(path, path.read_text(encoding="utf-8"))
        assert any(one.endswith(f": {word}") for one in found), (name, word)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.py", 'x = 1  # where it lies\n', ["1: lies"]),
        ("a.py", '"""One.\n\nIt is told twice.\n"""\n', ["3: told"]),
        ("a.py", 'raise E(f"{x}: it stands behind {y}")\n', ["1: stands", "1: behind"]),
        ("a.py", 'told = os.walk(behind)\nkey = "lies"\n', []),
        ("a.py", "# `walk` of `told` stands for more, a stand-in\n", []),
        ("a.cpp", '// Lies there.\nint behind = told("beside it");\n',
         ["1: Lies", "2: beside"]),
        ("a.cpp", '#include "eager/walk behind.hpp"\nwalk();\n', []),
        ("a.md", "A tensor has not a name, who knows `who`.\n",
         ["1: has not", "1: who"]),
        ("a.md", "It has not been read, [see](2026-work-lies-here.md).\n", []),
    ],
)  # fmt: skip
def test_prose_is_found_in_code(name, text, expected):
    assert odd_words(Path(name), text) == expected
