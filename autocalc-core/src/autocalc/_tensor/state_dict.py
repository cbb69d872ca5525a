# SPDX-License-Identifier: MIT
"""`StateDict`: the state of a module, as it is returned and stored in checkpoints."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any


class StateDict(OrderedDict[str, Any]):
    """The result of `state_dict`: tensors by name, and the versions of the modules.

    ``_metadata`` maps the dotted name of each module to ``{"version": ...}``.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._metadata: dict[str, dict[str, Any]] = {}

    def copy(self) -> StateDict:
        """Return a dict with the same tensors and versions."""
        return self.__copy__()

    def __copy__(self) -> StateDict:
        result = StateDict(self)
        result._metadata = dict(self._metadata)
        return result


def new_state() -> StateDict:
    """Return a state without entries."""
    state = StateDict()
    state._metadata = {}
    return state
