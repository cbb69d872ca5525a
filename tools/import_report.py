# SPDX-License-Identifier: MIT
"""Print figures about the structure of core; fail if one exceeds its limit.

The figures are the import cycles (including those only for types), private modules at
the top level, and files in the largest folder of `_kernels`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import grimp

PACKAGE = Path(__file__).resolve().parents[1] / "autocalc-core" / "src" / "autocalc"
LIMITS = {
    "import circles": 0,
    "loose private modules": 6,
    "files in a kernel folder": 20,
}


def circles() -> list[list[str]]:
    """Return the groups of modules that import each other, directly or indirectly."""
    sys.path.insert(0, str(PACKAGE.parent))
    graph = grimp.build_graph("autocalc", cache_dir=None)
    reach = {module: graph.find_upstream_modules(module) for module in graph.modules}
    groups = {
        tuple(sorted({one, *(m for m in reach[one] if one in reach[m])}))
        for one in reach
    }
    return [list(group) for group in sorted(groups) if len(group) > 1]


def figures() -> Iterator[tuple[str, int]]:
    """Yield each figure with its name."""
    found = circles()
    for circle in found:
        print("circle:", ", ".join(circle))
    yield "import circles", len(found)
    loose = [p for p in PACKAGE.glob("_*.py") if not p.name.startswith("__")]
    yield "loose private modules", len(loose)
    folders = [PACKAGE / "_kernels", *(PACKAGE / "_kernels").glob("*/")]
    yield "files in a kernel folder", max(len(list(f.glob("*.py"))) for f in folders)


def main() -> None:
    """Print the figures; exit with 1 if one exceeds its limit."""
    failed = False
    for name, value in figures():
        print(f"{name}: {value} (limit {LIMITS[name]})")
        failed |= value > LIMITS[name]
    sys.exit(failed)


if __name__ == "__main__":
    main()
