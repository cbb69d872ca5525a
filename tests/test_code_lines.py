# SPDX-License-Identifier: MIT
"""`make lines` counts code: no comment, docstring, blank line or generated file."""

from __future__ import annotations

from tools import code_lines

PYTHON = '''"""What the module does.

More of it.
"""

# A comment.
X = "# no comment"  # but this is one
Y = """a text of
two lines"""


def f():
    """What the function does."""
    return (
        X
    )
'''
CPP = """// A comment.
/* Another one,
   of two lines. */
#include "a.hpp"

const char* url = "https://a//b";  // the end
"""


def test_lines_of_python():
    assert code_lines.python_lines(PYTHON) == 7


def test_lines_of_cpp():
    assert code_lines.cpp_lines(CPP) == 2


def test_generated_files_are_counted_apart(tmp_path, monkeypatch):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("X = 1\nY = 2\n")
    (tmp_path / "src" / "b.py").write_text("# Made by a tool; do not edit.\nZ = 3\n")
    monkeypatch.setattr(code_lines, "ROOT", tmp_path)
    assert code_lines.count(("src",), (".py",)) == (1, 2, 1)


def test_every_part_is_found():
    for folders, _ in code_lines.PARTS.values():
        for folder in folders:
            assert (code_lines.ROOT / folder).is_dir(), folder
