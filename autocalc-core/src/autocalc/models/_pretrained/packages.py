# SPDX-License-Identifier: MIT
"""Optional packages: `tokenizers` for texts, `jinja2` for templates of chats."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from autocalc.errors import ConfigError


def package(name: str, what: str) -> Any:
    """Return an optional package; raise an error that says how to get it."""
    check_package(name, what)
    return import_module(name)


def check_package(name: str, what: str) -> None:
    """Raise unless an optional package is installed."""
    if find_spec(name) is None:
        raise ConfigError(
            f"{what}: the package {name} is not installed. Get it with: pip install "
            "autocalc-core[text]"
        )
