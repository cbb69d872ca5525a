# SPDX-License-Identifier: MIT
"""The base of activations that can write their result into the input."""

from __future__ import annotations

from typing import ClassVar

from autocalc._tensor.checks import check_switches
from autocalc.nn._module.module import Module


class InPlace(Module):
    """The base of activations that can write their result into the input.

    Parameters
    ----------
    inplace
        True to write the result into the input.
    """

    #: The attributes that `repr` shows.
    _settings: ClassVar[tuple[str, ...]] = ()

    def __init__(self, inplace: bool = False) -> None:
        check_switches(type(self).__name__, inplace=inplace)
        super().__init__()
        self.inplace = bool(inplace)

    def extra_repr(self) -> str:
        """Return the settings as text for `repr`."""
        said = [f"{name}={getattr(self, name)}" for name in self._settings]
        return ", ".join(said + ["inplace=True"] * self.inplace)
