# SPDX-License-Identifier: MIT
"""The names of layers in diagnostics: ``"layers.0 (Linear)"``."""

from __future__ import annotations

from collections.abc import Sequence

from autocalc._dispatch._callers import Paths, running_modules
from autocalc.nn import Module


class Layers:
    """The names of modules, relative to a model or to the outermost running module."""

    def __init__(self, model: Module | None = None) -> None:
        self.model = model
        self._paths = Paths()

    def of(self, modules: Sequence[Module]) -> tuple[str, str]:
        """Return the dotted name and the class of the innermost running module."""
        if not modules:
            return "", ""
        inner = modules[0]
        name = None if self.model is None else self._paths.path(self.model, inner)
        if name is None:
            name = self._paths.path(modules[-1], inner)
        return name or "", type(inner).__name__

    def here(self) -> str:
        """Return the layer that is running, as text; "" outside of modules."""
        return layer_text(*self.of(running_modules()))


def layer_text(name: str, kind: str) -> str:
    """Return the name and class of a module as ``"layers.0 (Linear)"``."""
    return f"{name} ({kind})" if name else kind


def layer_of_text(text: str) -> tuple[str, str]:
    """Return the name and the class in a text from `layer_text`."""
    name, _, kind = text.removesuffix(")").rpartition(" (")
    return name, kind
