# SPDX-License-Identifier: MIT
"""Registers tensors with einops as soon as a program imports it.

einops asks the subclasses of its backend class whether they know a tensor.  There is no
other way to register one.  Our backend is such a subclass, so it can only be made once
einops is imported.  An import finder waits for that import.  It also finds
``einops.layers.autocalc``, the counterpart of ``einops.layers.torch``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, cast

_BACKENDS = "einops._backends"
_LAYERS = "einops.layers.autocalc"


def _make_backend() -> None:
    from autocalc._interop import _einops_backend  # noqa: F401  its class is enough


class _ThenBackend:
    """Loads the backend module of einops, then adds our backend."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        _make_backend()


class _Layers:
    """Fills ``einops.layers.autocalc``."""

    def create_module(self, spec: ModuleSpec) -> None:
        """Let Python create the module."""

    def exec_module(self, module: ModuleType) -> None:
        from autocalc._interop import _einops_layers as layers

        module.__doc__ = layers.__doc__
        for name in layers.__all__:
            setattr(module, name, getattr(layers, name))


class _Finder:
    """Finds both modules; for the first one it asks the other finders."""

    _looking = False

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        if fullname == _LAYERS:
            return ModuleSpec(fullname, cast("Any", _Layers()))
        if fullname != _BACKENDS or self._looking:
            return None
        from importlib.util import find_spec  # late: 5 ms of `import autocalc`

        self._looking = True
        try:
            spec = find_spec(fullname)
        finally:
            self._looking = False
        if spec is not None and spec.loader is not None:
            spec.loader = cast("Any", _ThenBackend(spec.loader))
        return spec


def watch() -> None:
    """Add the backend now if einops is imported, otherwise when it is."""
    if _BACKENDS in sys.modules:
        _make_backend()
    sys.meta_path.insert(0, _Finder())
