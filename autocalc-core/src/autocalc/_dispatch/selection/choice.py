# SPDX-License-Identifier: MIT
"""The user's choice of kernels, for a block or for the process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from autocalc import _config
from autocalc._dispatch.plugins import fallbacks
from autocalc._dispatch.plugins.discovery import registry
from autocalc._dispatch.selection import tuning
from autocalc._dispatch.selection.select import Entry, Locked, find_set
from autocalc._dispatch.selection.state import PROCESS, current, enter, leave
from autocalc._kernels.spec import KernelSpec
from autocalc.errors import ArgumentError, ConfigError

if TYPE_CHECKING:
    from typing_extensions import Self


class Ordered:
    """An order of kernel sets, for the process or for the ``with`` block it begins."""

    def __init__(
        self, choices: tuple[str, ...] | None, only: bool, locked: Locked | None = None
    ) -> None:
        selection = current().selection
        self._mine = selection.derive(choices=choices, only=only, locked=locked)
        # The order applies to the process, until `__enter__` shows that only a block is
        # meant.
        self._before = PROCESS.order_of(choices, only, locked)
        self._token: Any = None

    def __enter__(self) -> Self:
        PROCESS.restore(self._before)
        self._token = enter(selection=self._mine)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        leave(self._token)


class use(Ordered):
    """Prefer some kernel sets, in a ``with`` block or from now on in the process.

    Parameters
    ----------
    *choices
        The names of kernel sets (``"simd-avx2"``) or families (``"simd"``, the best set
        of the family on this CPU), the best first.  Without choices, kernel sets are
        ordered by rank again.
    only
        True to allow only these kernel sets and the reference kernels.

    Raises
    ------
    ConfigError
        If a choice is unknown or cannot run here; the message lists the kernel sets and
        the reasons.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.kernels.use("reference"):
    ...     y = ac.ones(2) + 1
    """

    def __init__(self, *choices: str, only: bool = False) -> None:
        found = registry()
        for choice in choices:
            name = find_set(found, choice).name
            if found.kernels(name) is None:
                raise ConfigError(
                    f"kernels: {choice!r} cannot be used here: {found.reason(name)}."
                )
        super().__init__(choices, only)


def available() -> list[str]:
    """Return the names of the kernel sets that can run here, the best first.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.kernels.available()[-1]
    'reference'
    """
    found = registry()
    names = [kernel_set.name for kernel_set, _ in PROCESS.derive(choices=()).order()]
    return [name for name in names if found.kernels(name) is not None]


@contextmanager
def count() -> Iterator[Counter[tuple[str, str]]]:
    """Count the kernels that run in a ``with`` block, for each (kernel, kernel set).

    A composite kernel that runs as its decomposition counts as the kernels in it.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.kernels.use("reference"), ac.kernels.count() as calls:
    ...     y = ac.ones(2) + 1
    >>> calls["add", "reference"]
    1
    """
    calls: Counter[tuple[str, str]] = Counter()
    inner = current().selection.wrap

    def counted(spec: KernelSpec, name: str, function: Entry) -> Callable[..., None]:
        key = (spec.name, name)
        run = function if inner is None else inner(spec, name, function)

        def call(*args: Any) -> None:
            calls[key] += 1
            run(*args)

        return call

    token = enter(selection=current().selection.derive(wrap=counted))
    try:
        yield calls
    finally:
        leave(token)


#: Whether a program asked only for warnings; kernels are refused nevertheless.
_warn_only = [False]

#: Whether a program asked for deterministic algorithms, and whether new memory that a
#: program does not fill is then filled, as `torch.utils.deterministic` says.
FILLING = {"asked": False, "memory": True}


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Allow only kernels that give the same bits in each run.

    Functions such as `empty` then fill new memory with NaN, or with the largest number
    of an integer dtype.

    Parameters
    ----------
    mode
        True to refuse other kernels, False to allow all.
    warn_only
        Stored for `is_deterministic_algorithms_warn_only_enabled`. Every operator has a
        deterministic kernel, so there is nothing to warn of.

    Raises
    ------
    ArgumentError
        If `mode` or `warn_only` is neither True nor False.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.use_deterministic_algorithms(True)
    >>> ac.are_deterministic_algorithms_enabled()
    True
    >>> ac.use_deterministic_algorithms(False)
    """
    for name, flag in (("mode", mode), ("warn_only", warn_only)):
        if not isinstance(flag, (bool, np.bool_)):
            raise ArgumentError(
                f"use_deterministic_algorithms: `{name}` is {flag!r:.60}; it must be "
                f"True or False."
            )
    _warn_only[0] = bool(mode and warn_only)
    FILLING["asked"] = bool(mode)
    for selection in (PROCESS, current().selection):
        selection.deterministic = bool(mode)
        selection.forget()


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Return whether `use_deterministic_algorithms` was called with `warn_only`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.is_deterministic_algorithms_warn_only_enabled()
    False
    """
    return _warn_only[0]


#: PyTorch's names for the three modes.
_MODES = {"default": 0, "warn": 1, "error": 2}


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Call `use_deterministic_algorithms` with PyTorch's name or number of a mode.

    Parameters
    ----------
    debug_mode
        "default" or 0 allows all kernels; "error" or 2 allows only deterministic ones,
        and so does "warn" or 1, because every operator has a deterministic kernel.

    Raises
    ------
    ArgumentError
        If `debug_mode` is none of these values.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.set_deterministic_debug_mode("default")
    >>> ac.get_deterministic_debug_mode()
    0
    """
    mode = _MODES.get(debug_mode, debug_mode) if debug_mode in _MODES else debug_mode
    if mode not in (0, 1, 2):
        raise ArgumentError(
            f"set_deterministic_debug_mode: `debug_mode` is {debug_mode!r}; it must be "
            f"'default', 'warn' or 'error', or 0, 1 or 2."
        )
    use_deterministic_algorithms(mode != 0, warn_only=mode == 1)


def get_deterministic_debug_mode() -> int:
    """Return the mode, as `set_deterministic_debug_mode` numbers it: 0, 1 or 2.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.get_deterministic_debug_mode()
    0
    """
    if not are_deterministic_algorithms_enabled():
        return 0
    return 1 if _warn_only[0] else 2


def are_deterministic_algorithms_enabled() -> bool:
    """Return whether only deterministic kernels may run.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.are_deterministic_algorithms_enabled()
    False
    """
    mode = current().selection.deterministic
    return _config.settings().deterministic if mode is None else mode


def reload() -> None:
    """Read the environment variables and the list of installed packages again.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.kernels.reload()
    >>> ac.kernels.available()[-1]
    'reference'
    """
    _config.reload()
    registry.cache_clear()
    tuning.forget()
    fallbacks.forget()
    for selection in (PROCESS, current().selection):
        selection.forget()
