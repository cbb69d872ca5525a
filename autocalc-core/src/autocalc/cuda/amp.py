# SPDX-License-Identifier: MIT
"""PyTorch's older place for mixed precision on CUDA: off, as in `autocalc.amp`."""

from __future__ import annotations

from typing import Any

from autocalc import amp as _amp

__all__ = ["GradScaler", "autocast"]


class autocast(_amp.autocast):
    """A context or a decorator that does nothing, for PyTorch programs.

    Parameters
    ----------
    enabled
        True for lower precision.
    dtype, cache_enabled
        Accepted so that programs for PyTorch run; they have no effect.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.cuda.amp import autocast
    >>> with autocast():
    ...     ac.ones(1).dtype
    autocalc.float32
    """

    def __init__(
        self, enabled: bool = True, dtype: Any = None, cache_enabled: bool | None = None
    ) -> None:
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(_amp.GradScaler):
    """Do nothing: gradients of float32 need no scale.

    It accepts PyTorch's arguments; `scale` returns the loss unchanged, and `step` calls
    the optimizer.

    Examples
    --------
    >>> from autocalc.cuda.amp import GradScaler
    >>> GradScaler(enabled=True).get_scale()
    1.0
    """

    def __init__(self, *args: Any, **words: Any) -> None:
        super().__init__("cuda", *args, **words)
