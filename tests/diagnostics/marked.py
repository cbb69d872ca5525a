# SPDX-License-Identifier: MIT
"""Lines of a test's own file, found by the comment at their end."""

from __future__ import annotations

from pathlib import Path


def marked(file, comment):
    """Return the number of the line that ends with a comment."""
    lines = Path(file).read_text(encoding="utf-8").splitlines()
    found = [n for n, line in enumerate(lines, 1) if line.endswith(f"# {comment}")]
    assert len(found) == 1, f"{comment!r} ends lines {found}"
    return found[0]
