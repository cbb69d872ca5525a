# SPDX-License-Identifier: MIT
"""A plugin for pytest: ``pytest -p autocalc.torch.pytest`` tests PyTorch programs."""

from __future__ import annotations

from autocalc.torch import install


def pytest_plugin_registered() -> None:
    """Make ``import torch`` import AutoCalc, before pytest loads other plugins.

    Pytest calls this function as soon as the plugin is registered. Importing the file
    alone has no effect.
    """
    install()
