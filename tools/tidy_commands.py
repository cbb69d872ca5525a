# SPDX-License-Identifier: MIT
"""Keep one command for each source file in a compilation database.

clang-tidy runs once for each command, and a generic source has one command for each
instruction set: 189 runs for 71 files.  The instruction sets alternate, so that the
headers of each set are checked.

    python tools/tidy_commands.py build/tidy/compile_commands.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def one_each(commands: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return one command for each file: the first, the second, and so on in turn."""
    by_file: dict[str, list[dict[str, str]]] = {}
    for command in commands:
        by_file.setdefault(command["file"], []).append(command)
    return [
        by_file[file][turn % len(by_file[file])]
        for turn, file in enumerate(sorted(by_file))
    ]


if __name__ == "__main__":
    database = Path(sys.argv[1])
    commands = json.loads(database.read_text("utf-8"))
    database.write_text(json.dumps(one_each(commands), indent=1), "utf-8")
