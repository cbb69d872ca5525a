# SPDX-License-Identifier: MIT
"""Check the language of all texts: `make prose`.

It reads pages, docstrings of public names (including the command line's help) and texts
of errors.  It finds:

- words that are in no dictionary and not in `tools/words.txt`;
- correct English words that readers of this field have to guess (`PLAIN`);
- sentences of more than 35 words;
- descriptions of parameters that say too little: "Of the parameters.";
- subjects of commits that are too long or no imperatives.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import io
import itertools
import re
import subprocess
import sys
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORDS = ROOT / "tools/words.txt"
MAX_WORDS = 35
MAX_SUBJECT = 72
#: Folders with internal classes of the engine, which have no pages.
RECORDS = re.compile(r"/autocalc/_(?:compile|dispatch|graph|program)/")
#: Histories, which may have long sentences.
UNLIMITED = {"CHANGELOG.md"}
#: A string in code is prose if it has at least this many words.
PROSE = 4

#: Maps words that are not used to their replacements.
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

#: Pairs (file, word) for which the word is correct.
ALLOWED = {
    ("autocalc-core/src/autocalc/autograd/_early.py", "walk"): "a parameter's name"
}

#: Generated files, and files with texts of other people.
SKIPPED = ("tests/golden/", "docs/recipes/", "docs/reference/tables/")

TEXTS = {".md", ".toml", ".txt", ".cmake", ".in", ".yml", ".css", ".js", ""}
SOURCES = {".c", ".h", ".cpp", ".hpp", ".cu", ".cuh"}

_PLAIN = re.compile(rf"(?<![\w./-])(?:{'|'.join(PLAIN)})\b(?![\w(/-])", re.IGNORECASE)
_COMMENT = re.compile(r'//.*|/\*.*|^\s*\* .*|(?<!#include )"[^"\n]* [^"\n]*"')
_CODE = re.compile(r"(`+)[^`\n]*\1")


def listed() -> list[str]:
    """Return the names of all files in git; raise OSError outside of a clone."""
    run = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=False, text=True,
    )  # fmt: skip
    if run.returncode:
        message = "this is no clone, so that its files are not listed"
        raise OSError(message)
    return [name for name in run.stdout.splitlines() if (ROOT / name).is_file()]


# ------------------------------------------------------- words that are not plain


def python_prose(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line, prose): comments, and strings of several words."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_text = "STRING" in tokenize.tok_name[token.type]
        if token.type == tokenize.COMMENT or (is_text and " " in token.string):
            for i, line in enumerate(token.string.split("\n")):
                yield token.start[0] + i, re.sub(r"\{[^{}]*\}", "", line)


def prose(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Yield (line, prose) of a file."""
    if path.suffix in {".py", ".pyi"}:
        yield from python_prose(text)
    else:
        for i, line in enumerate(text.split("\n"), 1):
            if path.suffix in TEXTS:
                yield i, line
            elif path.suffix in SOURCES:
                yield i, " ".join(_COMMENT.findall(line))


def odd_words(path: Path, text: str) -> list[str]:
    """Return the words of a file that are not plain, as "line: word"."""
    if not _PLAIN.search(text):  # most files, which are not tokenized
        return []
    return [
        f"{i}: {word}"
        for i, line in prose(path, text)
        for word in _PLAIN.findall(_CODE.sub("", line))
    ]


def texts() -> list[str]:
    """Return the names of the files whose words are checked."""
    return [
        name
        for name in listed()
        if Path(name).suffix in TEXTS | SOURCES | {".py", ".pyi"}
        and not name.startswith(SKIPPED)
        and Path(name).name != "LICENSE"
        and name not in {"tools/prose.py", "tools/words.txt", "tests/test_words.py"}
    ]


def all_odd_words() -> list[str]:
    """Return the words of all files that are not plain, as "file:line: word"."""
    return [
        f"{name}:{found}"
        for name in texts()
        for found in odd_words(ROOT / name, (ROOT / name).read_text(encoding="utf-8"))
        if (name, found.split(": ")[1].lower()) not in ALLOWED
    ]


# ------------------------------------------------ sentences, and words of no dictionary

_FENCE = re.compile(r"^ *(`{3,}|~{3,}|:{3,}).*$")
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
#: The placeholder for code and values, which is a word of no language.
CODE = "X0"
_LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
#: Code, formulas, addresses and roles each become one placeholder.
_OPAQUE = re.compile(
    r"\{[\w:-]+\}(?=`)|(`+)(?s:.+?)\1|\$\$?[^$]+\$\$?|https?://\S+|<[^>\s]+>|\w+@\S+"
)
_ITEM = re.compile(r"^\s*(?:[-*+] |\d+\. |: )")
_END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)[.?!][)\"']?(?=\s)|\n\n")
_WORD = re.compile(r"[A-Za-z0-9][\w'./+*=^-]*")
#: Words of a language: without inner capitals, digits or parts of names.
_SPELLED = re.compile(
    r"(?<![\w.'/%=-])[A-Za-z]?[a-z]+(?:['\u2019](?:s|t|re|ll))?(?![\w(=/]|\.\w|-\w)"
)

Text = tuple[int, str]


def plain(text: str) -> str:
    """Return a text in which each piece of code is a placeholder."""
    return _OPAQUE.sub(CODE, text).replace("**", "").replace("__", "")


def page_texts(text: str) -> Iterator[Text]:
    """Yield (line, text) of a page's paragraphs, items, headings and table cells."""
    text = _FRONT.sub(lambda match: "\n" * match[0].count("\n"), text)
    inside, start, lines = "", 1, []
    for i, line in enumerate([*text.split("\n"), ""], 1):
        fence = _FENCE.match(line)
        is_code = fence is not None and not line.lstrip().startswith(":")
        if is_code and not inside:
            inside = fence[1] if fence else ""
        elif is_code and fence and fence[1] == inside:
            inside = ""
        elif not inside and line.lstrip().startswith("|"):
            yield from (
                (i, cell.strip()) for cell in line.strip().strip("|").split(" | ")
            )
            continue
        elif not inside and line.startswith("    ") and not lines:
            continue  # indented code
        elif not inside and line.strip() and not fence and line[0] not in "#<:{(":
            if _ITEM.match(line) and lines:
                yield start, "\n".join(lines)
                lines = []
            start = start if lines else i
            lines.append(_ITEM.sub("", line))
            continue
        elif not inside and line.startswith("#"):
            yield i, line.lstrip("# ")
        if lines:
            yield start, "\n".join(lines)
            lines = []


#: The heading of a numpydoc section, and a line that names parameters.
_HEADING = re.compile(r"\w[\w ]*\n-{3,}")
_NAMES = re.compile(r"[*\w]+(?:, [*\w]+)*(?: : .*)?$")
_LITERAL = (">>>", ".. ", "$ ", "\b", "==", ".. [")


def docstring_texts(text: str, line: int) -> Iterator[Text]:
    """Yield (line, text) of a docstring's paragraphs and descriptions.

    Examples, lists of papers and text indented below a paragraph (formulas, tables) are
    left out.
    """
    depth, text = 0, inspect.cleandoc(text)
    for block in re.finditer(r"(?:[^\n]*\S[^\n]*(?:\n|$))+", text):
        lines = block[0].rstrip("\n").split("\n")
        first, last = (len(one) - len(one.lstrip()) for one in (lines[0], lines[-1]))
        start = line + text.count("\n", 0, block.start())
        if _HEADING.match(block[0]):
            depth, start, lines = 0, start + 2, lines[2:]
        if not lines or first > depth or lines[0].lstrip().startswith(_LITERAL):
            continue
        depth = last
        yield from described(start, lines)


def described(start: int, lines: list[str]) -> Iterator[Text]:
    """Yield (line, text) of the descriptions of a block, separated by indentation."""
    text: list[str] = []
    depth = 0
    for i, (one, after) in enumerate(itertools.pairwise([*lines, ""]), start):
        now = len(one) - len(one.lstrip())
        is_name = _NAMES.match(one.strip()) and len(after) - len(after.lstrip()) > now
        if text and (is_name or now != depth or _ITEM.match(one)):
            yield i - len(text), "\n".join(text)
            text = []
        depth = now + (2 if _ITEM.match(one) else 0)
        if not is_name:
            text.append(_ITEM.sub("", one).strip())
    if text:
        yield start + len(lines) - len(text), "\n".join(text)


_SECTIONS = re.compile(r"\n(?=\w[\w ]*\n-{3,}\n)")
_PARAMETERS = re.compile(r"(?:Parameters|Attributes)\n-+\n")
_DESCRIBED = re.compile(r"^([*\w].*)\n((?:    .*\n?|\n(?=    ))+)", re.MULTILINE)
#: The beginnings of texts that describe nothing, or that are shorter than three words.
_SHORT = re.compile(r"(?:Of|As|What|Which|Where|Those|Likewise)\b|\S+(?: \S+)?$")


def short_descriptions(text: str) -> list[str]:
    """Return the parameter descriptions that say too little, with their names."""
    found = []
    sections = _SECTIONS.split(inspect.cleandoc(text) + "\n")
    for section in filter(_PARAMETERS.match, sections):
        for name, description in _DESCRIBED.findall(section):
            words = " ".join(description.split())
            if _SHORT.match(words) and not words.startswith("See `"):
                found.append(f"{name.partition(' : ')[0]}: {words}")
    return found


def described_shortly(name: str) -> list[str]:
    """Return the descriptions of a file that say too little, as "file:line: ..."."""
    tree = ast.parse((ROOT / name).read_text(encoding="utf-8"))
    return [
        f"{name}:{line}: says too little: {found}"
        for line, string, is_docstring in strings(tree)
        if is_docstring
        for found in short_descriptions(string)
    ]


def is_public(name: str) -> bool:
    return not name.startswith("_") or name == "__init__"


#: Strings of HTML, CSS, JavaScript and SQL are not prose.
_MARKUP = re.compile(r"</|[{};]\s|/>")


def strings(tree: ast.AST) -> Iterator[tuple[int, str, bool]]:
    """Yield (line, string, is a public name's docstring) of the strings of code."""
    documented: dict[int, bool] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                documented[id(first.value)] = is_public(getattr(node, "name", ""))
    parts: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts.update(id(value) for value in node.values)
            yield node.lineno, joined(node), False
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) in documented:
                if documented[id(node)]:
                    yield node.lineno, node.value, True
            elif id(node) not in parts:
                yield node.lineno, node.value, False


def joined(node: ast.JoinedStr) -> str:
    """Return an f-string with `CODE` in place of its values."""
    return "".join(
        str(value.value) if isinstance(value, ast.Constant) else CODE
        for value in node.values
    )


def code_texts(text: str) -> Iterator[Text]:
    """Yield (line, text) of public docstrings and of texts that code prints."""
    for line, string, is_docstring in strings(ast.parse(text)):
        if is_docstring:
            yield from docstring_texts(string, line)
        elif len(string.split()) >= PROSE and not _MARKUP.search(string):
            yield from ((line, one) for one in string.split("\n"))


def read_by_people() -> list[str]:
    """Return the names of pages, and of the files of the packages."""
    return [
        name
        for name in listed()
        if not name.startswith(SKIPPED)
        and (name.endswith(".md") or re.match(r"autocalc-[\w-]+/src/.*\.py$", name))
    ]


def file_texts(name: str) -> list[Text]:
    """Return (line, text) of a file that is a page or Python."""
    text = (ROOT / name).read_text(encoding="utf-8")
    is_page = name.endswith(".md")
    found = page_texts(_LINK.sub(r"\1", text)) if is_page else code_texts(text)
    return [(line, plain(one)) for line, one in found]


def long_sentences(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (line in the text, number of words, sentence) of too long sentences."""
    start = 0
    for end in [*(match.end() for match in _END.finditer(text)), len(text)]:
        sentence = text[start:end].strip()
        count = len(_WORD.findall(sentence))
        if count > MAX_WORDS:
            yield text.count("\n", 0, start), count, " ".join(sentence.split())
        start = end


def spelled(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line in the text, word) of the words that a dictionary could contain."""
    for match in _SPELLED.finditer(text):
        word = re.sub(r"['\u2019](?:s|t|re|ll)$", "", match[0])
        if len(word) > 1:
            yield text.count("\n", 0, match.start()), word


def own_words() -> set[str]:
    """Return the words that are correct here but in no dictionary."""
    return set(WORDS.read_text(encoding="utf-8").split())


def unknown_words(
    name: str, texts: list[Text], knows: Callable[[str], bool]
) -> list[str]:
    """Return the words that are in no dictionary, as "file:line: word"."""
    return [
        f"{name}:{line + i}: {word}"
        for line, text in texts
        for i, word in spelled(text)
        if not knows(word)
    ]


class Dictionary:
    """English and our own words; it records which of our words are used."""

    def __init__(self) -> None:
        from spellchecker import SpellChecker

        self.english = SpellChecker(language="en").word_frequency.dictionary
        self.own = own_words()
        self.used: set[str] = set()

    def __call__(self, word: str) -> bool:
        if word.lower() in self.english:
            return True
        found = {word, word.lower()} & self.own
        self.used |= found
        return bool(found)

    def unused(self) -> list[str]:
        """Return our own words that are English or occur nowhere."""
        return sorted(self.own - self.used)


# ------------------------------------------------------------------ commit subjects


def wrong_subjects(base: str) -> list[str]:
    """Return the subjects since `base` that are too long or no imperatives."""
    run = subprocess.run(
        ["git", "log", "--no-merges", "--format=%h %s", f"{base}..HEAD"],
        cwd=ROOT, capture_output=True, check=False, text=True,
    )  # fmt: skip
    return [
        f"{commit}: {fault}: {subject}"
        for commit, _, subject in (
            line.partition(" ") for line in run.stdout.splitlines()
        )
        if (fault := fault_of(subject))
    ]


#: Verbs that look like other forms.
_IMPERATIVES = frozenset({"Bring", "Embed", "Need"})


def fault_of(subject: str) -> str | None:
    """Return the fault of a commit's subject, or nothing: "Add a loss" is correct."""
    first = subject.split(" ", 1)[0]
    if len(subject) > MAX_SUBJECT:
        return f"{len(subject)} characters, at most {MAX_SUBJECT}"
    if not first[:1].isupper() or subject.endswith("."):
        return "begin with a capital, end without a point"
    if re.search(r"(?:ed|ing|[^su]s):?$", first) and first not in _IMPERATIVES:
        return "begin with an imperative"
    return None


# ----------------------------------------------------------------------- the command


def findings() -> Iterator[str]:
    """Yield what has to be changed, as "file:line: what"."""
    knows = Dictionary()
    for name in read_by_people():
        found = file_texts(name)
        yield from (
            f"{one} is in no dictionary" for one in unknown_words(name, found, knows)
        )
        if name.endswith(".py") and not RECORDS.search(name):
            yield from described_shortly(name)
        for line, text in found if name not in UNLIMITED else []:
            for i, count, sentence in long_sentences(text):
                yield f"{name}:{line + i}: {count} words: {sentence[:100]} ..."
    for word in knows.unused():
        yield f"tools/words.txt: {word} occurs nowhere, or is in the dictionary"
    for one in all_odd_words():
        yield f"{one}: not plain, see PLAIN in tools/prose.py"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", default="main", help="look at subjects since then")
    args = parser.parse_args()
    found = [*findings(), *wrong_subjects(args.base)]
    print("\n".join(found) or "The texts are plain.")
    if found:
        print(f"{len(found)} findings. A word that is right goes into {WORDS.name}.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
