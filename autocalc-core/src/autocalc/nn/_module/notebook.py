# SPDX-License-Identifier: MIT
"""The display of modules in notebooks: a tree that can be opened and closed."""

from __future__ import annotations

from html import escape
from typing import Any

from autocalc.nn._module.uninitialized import is_lazy


def as_html(module: Any, name: str = "") -> str:
    """Return the HTML of a module: its class, its parameters and its parts."""
    called = f"({name}): " if name else ""
    title = f"{called}{type(module).__name__}({module.extra_repr()})"
    line = f"<code>{escape(title)}</code> <small>{_parameters(module)}</small>"
    children = "".join(
        f"<li>{as_html(child, key)}</li>"
        for key, child in module._modules.items()
        if child is not None
    )
    if not children:
        return line
    return f"<details open><summary>{line}</summary><ul>{children}</ul></details>"


def _parameters(module: Any) -> str:
    """Return ``1,234 parameters, 34 of them frozen``."""
    every = list(module.parameters())
    known = [p for p in every if not is_lazy(p)]
    count = sum(p.numel() for p in known)
    frozen = sum(p.numel() for p in known if not p.requires_grad)
    words = "1 parameter" if count == 1 else f"{count:,} parameters"
    if len(known) < len(every):
        words += f", {len(every) - len(known)} tensors not yet there"
    return words + (f", {frozen:,} of them frozen" if frozen else "")
