# SPDX-License-Identifier: MIT
"""Tests of the GPU's kernels: skipped, with the reason, where there is no GPU."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

HERE = f"{Path(__file__).parent}{os.sep}"


def _why_not() -> str | None:
    """Return why the kernels cannot run here, None if they can."""
    try:
        from autocalc.errors import PluginError
        from autocalc_kernels_cuda._plugin import check_device
    except ImportError as error:
        return f"autocalc-kernels-cuda is not installed ({error})"
    try:
        check_device()
    except PluginError as error:
        return str(error)
    return None


def pytest_collection_modifyitems(items):
    here = [item for item in items if os.fspath(item.path).startswith(HERE)]
    on_device = [item for item in here if "no_gpu" not in item.keywords]
    if not on_device:
        return
    reason = _why_not()
    if reason is not None:
        for item in on_device:
            item.add_marker(pytest.mark.skip(reason=reason))
