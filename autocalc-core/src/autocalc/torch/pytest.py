# SPDX-License-Identifier: MIT
"""A plugin of pytest: ``pytest -p autocalc.torch.pytest`` tests programs of PyTorch."""

from __future__ import annotations

from autocalc.torch import install


def pytest_plugin_registered() -> None:
    """Make ``import torch`` import AutoCalc, before pytest loads other plugins.

    Pytest calls it as soon as this plugin is registered. Importing the file alone has
    no effect.
    """
    install()
