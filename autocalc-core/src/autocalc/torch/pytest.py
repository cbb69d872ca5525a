# SPDX-License-Identifier: MIT
"""A plugin of pytest: ``pytest -p autocalc.torch.pytest`` tests programs of PyTorch."""

from __future__ import annotations

from autocalc.torch import install


def pytest_plugin_registered() -> None:
    """Let ``import torch`` mean AutoCalc, before pytest imports other plugins.

    It is called as soon as this one is registered. To import the file alone changes
    nothing.
    """
    install()
