# SPDX-License-Identifier: MIT
"""What holds for all tests: nothing measured chooses, names are always the same."""

from __future__ import annotations

import os
import re

import pytest

_ADDRESS = re.compile(r" at 0x[0-9a-f]{6,}")


def pytest_configure():
    """Let no record of `autocalc tune` on this machine choose the tests' kernels."""
    os.environ["AUTOCALC_TUNE"] = "off"


def pytest_collection_modifyitems(items):
    """Refuse names with an address: workers must agree on what there is to run."""
    for item in items:
        if _ADDRESS.search(item.nodeid):
            message = f"{item.nodeid}: an address is in the name; give `ids`."
            raise pytest.UsageError(message)
