# SPDX-License-Identifier: MIT
"""Rewrite the outputs on a page, which follow its Python blocks.

``python tools/page_outputs.py docs/quickstart.md`` runs the page and writes the output
of each block below it.  Review the difference before committing, and restore `...`
where it was.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    sys.path.insert(0, str(ROOT))
    from tests.pages import with_outputs

    for path in [Path(name).resolve() for name in sys.argv[1:]]:
        text = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            written = with_outputs(text, path.stem)
            os.chdir(ROOT)
        path.write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
