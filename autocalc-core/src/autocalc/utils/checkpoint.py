# SPDX-License-Identifier: MIT
"""Checkpoints of activations: less memory, because activations are computed twice."""

from __future__ import annotations

from collections.abc import Iterator as _Iterator
from contextlib import contextmanager as _contextmanager
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any

from autocalc._aliases import lookup as _lookup
from autocalc._tensor.checks import check_flag as _check_flag
from autocalc.autograd._checkpoint import checkpoint, checkpoint_sequential

__all__ = ["checkpoint", "checkpoint_sequential", "get_device_states"]
__all__ += ["set_checkpoint_early_stop", "set_device_states"]


def get_device_states(*_: Any) -> tuple[list[int], list[Any]]:
    """Return empty lists, as there are no devices with a state of their own.

    `get_rng_state` returns the state of the only random number generator.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.utils.checkpoint.get_device_states(ac.ones(2))
    ([], [])
    """
    return [], []


def set_device_states(devices: list[int], states: list[Any], **settings: Any) -> None:
    """Do nothing, as there are no devices with a state of their own.

    `set_rng_state` sets the state of the only random number generator.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.utils.checkpoint.set_device_states([], [])
    """


@_contextmanager
def set_checkpoint_early_stop(enable: bool) -> _Iterator[None]:
    """Accept PyTorch's setting, which has no effect here.

    A checkpointed function is always computed again as a whole.

    Parameters
    ----------
    enable
        In PyTorch, True to stop the recomputation after the last value that is needed.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.utils.checkpoint.set_checkpoint_early_stop(False):
    ...     pass
    """
    _check_flag("set_checkpoint_early_stop", "enable", enable)
    yield


if not _TYPE_CHECKING:  # type checkers know the names that exist
    __getattr__ = _lookup(__name__)
