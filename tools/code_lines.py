# SPDX-License-Identifier: MIT
"""Print the lines of code of each part, without comments, docstrings, blank lines.

Generated files are counted separately; their first lines say not to edit them.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ENGINE, SIMD = "autocalc-core/native", "autocalc-kernels-simd"
#: Maps what is counted to its folders and file extensions.
PARTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "core": (("autocalc-core/src",), (".py", ".pyi")),
    "kernel packages": (
        tuple(f"autocalc-kernels-{name}/src" for name in ("blas", "cuda", "simd")),
        (".py", ".pyi"),
    ),
    "tests": (("tests",), (".py",)),
    "C++ for Python": (
        (*(f"{ENGINE}/{room}" for room in ("bindings", "eager", "program")),),
        (".cpp", ".hpp"),
    ),
    "C++ engine": ((f"{ENGINE}/memory", f"{ENGINE}/pool"), (".cpp", ".hpp")),
    "C++ kernels": ((f"{SIMD}/csrc",), (".cpp", ".hpp")),
    "C++ tests": ((f"{ENGINE}/tests", f"{SIMD}/ctest"), (".cpp", ".hpp")),
}
_LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
#: Matches a comment, or a string, which may contain what looks like a comment.
_CPP = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


def python_lines(text: str) -> int:
    """Return the number of lines with code: tokens that are no layout or docstring."""
    lines = set[int]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False):
            docstring = node.body[0]
            assert docstring.end_lineno is not None
            lines -= set(range(docstring.lineno, docstring.end_lineno + 1))
    return len(lines)


def cpp_lines(text: str) -> int:
    """Return the number of non-blank lines of C or C++ without comments."""
    code = _CPP.sub(lambda found: found[0] if found[0][0] == '"' else "", text)
    return sum(bool(line.strip()) for line in code.splitlines())


def generated(text: str) -> bool:
    """Return whether a program writes this file."""
    return re.search(r"not to be edited|do not edit", text[:400]) is not None


def count(folders: tuple[str, ...], endings: tuple[str, ...]) -> tuple[int, int, int]:
    """Return the number of files, of lines of code, and of lines in generated files."""
    files = code = made = 0
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.*")):
            if path.suffix not in endings:
                continue
            text = path.read_text(encoding="utf-8")
            lines = (python_lines if path.suffix.startswith(".py") else cpp_lines)(text)
            if generated(text):
                made += lines
            else:
                files, code = files + 1, code + lines
    return files, code, made


def main() -> None:
    """Print one line for each part."""
    print(f"{'lines of code':<17}{'files':>6}{'lines':>9}{'generated':>11}")
    for name, (folders, endings) in PARTS.items():
        files, code, made = count(folders, endings)
        print(f"{name:<17}{files:>6}{code:>9,}{made or '':>11}")


if __name__ == "__main__":
    main()
