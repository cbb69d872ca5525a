# SPDX-License-Identifier: MIT
"""Switches of backends that AutoCalc does not have, so that programs can set them.

What they mean for CPUs has other names: `autocalc.use_deterministic_algorithms` and
`autocalc.kernels`.
"""

from __future__ import annotations

__all__ = ["cudnn", "mps"]


class _Cudnn:
    """Takes the settings of cuDNN, which have no effect."""

    def __init__(self) -> None:
        self.benchmark = False
        self.deterministic = False
        self.enabled = False

    def is_available(self) -> bool:
        """Return False."""
        return False


class _Mps:
    """Apple's graphics processors."""

    def is_available(self) -> bool:
        """Return False."""
        return False

    def is_built(self) -> bool:
        """Return False."""
        return False


#: ``backends.cudnn.deterministic = True`` and the like have no effect.
cudnn = _Cudnn()
#: ``backends.mps.is_available()`` is False.
mps = _Mps()
