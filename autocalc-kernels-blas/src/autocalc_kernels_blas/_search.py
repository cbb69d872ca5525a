# SPDX-License-Identifier: MIT
"""Search for library files without opening them."""

from __future__ import annotations

import ctypes.util
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path


def in_package(package: str, *patterns: str) -> Iterator[Path]:
    """Yield matching files of an installed package, which stays unimported.

    Importing ``scipy_openblas32`` would open its library before its core type is set.
    """
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for pattern in patterns:
            yield from sorted(Path(folder).glob(pattern))


def in_prefix(*patterns: str) -> Iterator[Path]:
    """Yield matching files of this Python's environment, where wheels put libraries."""
    for prefix in dict.fromkeys((sys.prefix, sys.base_prefix)):
        for folder in ("lib", "Library/bin", "bin"):
            for pattern in patterns:
                yield from sorted((Path(prefix) / folder).glob(pattern), reverse=True)


def in_system(*names: str) -> Iterator[str]:
    """Yield what the system's loader finds under these names (without ``lib``)."""
    for name in names:
        found = ctypes.util.find_library(name)
        if found:
            yield found
