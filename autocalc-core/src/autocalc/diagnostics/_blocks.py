# SPDX-License-Identifier: MIT
"""Blocks that examine kernel calls, and know the line and layer of each."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any

from autocalc.diagnostics._calls import Seen, calls_seen, lines_noted
from autocalc.diagnostics._layers import Layers

if TYPE_CHECKING:
    from typing_extensions import Self


class Block:
    """A ``with`` block that can be entered several times, even inside itself.

    Parameters
    ----------
    name
        The name of the block in error messages.
    layers
        The layers of the model.
    """

    def __init__(self, name: str, layers: Layers) -> None:
        self._name = name
        self._layers = layers
        self._stacks: list[ExitStack] = []

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(calls_seen(self._name, self._look))
            stack.enter_context(lines_noted(self._layers))
            self._begin(stack)
            self._stacks.append(stack.pop_all())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stacks.pop().close()

    def _begin(self, stack: ExitStack) -> None:
        """Enter the other contexts that end with the block."""

    def _look(self, seen: Seen, run: Callable[[], Any]) -> None:
        """Run a call and examine it."""
        raise NotImplementedError
