# SPDX-License-Identifier: MIT
"""What importing the data package costs, and where else its names are."""

from __future__ import annotations

import subprocess
import sys

import autocalc as ac
from autocalc.utils.data import DataLoader

#: Modules that only reading, downloading, prefetching and saving need.
LATE = ("gzip", "urllib.request", "multiprocessing", "hashlib", "safetensors", "ssl")


def test_slow_modules_are_imported_when_they_are_needed():
    program = (
        "import sys, numpy; before = set(sys.modules); import autocalc.data; "
        f"print(sorted(set({LATE}) & (set(sys.modules) - before)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


def test_everything_public_is_there():
    for name in ac.data.__all__:
        assert hasattr(ac.data, name)


def test_pytorchs_place_leads_to_the_same_names():
    assert DataLoader is ac.data.DataLoader
    assert ac.utils.data.__all__ == ac.data.__all__
