# SPDX-License-Identifier: MIT
"""Contexts that override every function call: `TorchFunctionMode`."""

from __future__ import annotations

from typing import Any

from autocalc.torch import _gates
from autocalc.torch._overrides import state


class TorchFunctionMode:
    """A ``with`` block in which the mode's `__torch_function__` takes calls over."""

    def __enter__(self) -> TorchFunctionMode:
        _gates.shut()
        state.modes.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        state.modes.pop()

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        raise NotImplementedError


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that runs each function unchanged."""

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return func(*args, **(kwargs or {}))
