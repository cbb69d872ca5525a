# SPDX-License-Identifier: MIT
"""Anomaly mode: backward passes that say where what went wrong was recorded."""

from __future__ import annotations

import warnings

from autocalc._graph._lines import trace
from autocalc._tensor.checks import check_flags
from autocalc.errors import AutocalcWarning


class _Mode:
    """The setting of the process."""

    enabled = False
    check_nan = True

    def set(self, enabled: bool, check_nan: bool) -> tuple[bool, bool]:
        """Change the mode; return what held before."""
        before = self.enabled, self.check_nan
        if enabled != self.enabled:
            trace(enabled)
        self.enabled, self.check_nan = enabled, check_nan
        return before


mode = _Mode()


def is_anomaly_enabled() -> bool:
    """Return whether anomaly mode is on.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.is_anomaly_enabled()
    False
    """
    return mode.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Return whether anomaly mode, if it is on, checks gradients for NaN.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.autograd.set_detect_anomaly(True, check_nan=False):
    ...     ac.is_anomaly_check_nan_enabled()
    False
    """
    return mode.check_nan


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Switch anomaly mode on or off for the whole process; see `set_detect_anomaly`.

    Parameters
    ----------
    enabled
        True to switch anomaly mode on, False to switch it off.
    check_nan
        True to stop with an error if a gradient contains NaN.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.set_anomaly_enabled(False)
    >>> ac.is_anomaly_enabled()
    False
    """
    check_flags("set_anomaly_enabled", enabled=enabled, check_nan=check_nan)
    _switch(enabled, check_nan)


class set_detect_anomaly:
    """Switch anomaly mode on or off, for the process or for a ``with`` block.

    In anomaly mode, each recorded operation and each in-place change stores the line of
    the user's program.  A backward pass then stops at the first operator whose gradient
    contains NaN, and each error of a backward pass names the operator and that line.
    Each operator takes about 2 microseconds longer.

    Parameters
    ----------
    mode
        True to switch anomaly mode on, False to switch it off.
    check_nan
        True to stop with an error if a gradient contains NaN.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.autograd.set_detect_anomaly(True):
    ...     ac.autograd.is_anomaly_enabled()
    True
    >>> ac.autograd.is_anomaly_enabled()
    False
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        check_flags("set_detect_anomaly", mode=mode, check_nan=check_nan)
        self._before = _switch(mode, check_nan)

    def __enter__(self) -> None:
        """Keep the mode until the end of the block."""

    def __exit__(self, *error: object) -> None:
        """Go back to what held before."""
        mode.set(*self._before)


def _switch(on: bool, check_nan: bool) -> tuple[bool, bool]:
    return mode.set(bool(on), bool(check_nan))


class detect_anomaly:
    """Switch anomaly mode on for a ``with`` block, with a warning.

    See `set_detect_anomaly`.

    Parameters
    ----------
    check_nan
        True to stop with an error if a gradient contains NaN.

    Examples
    --------
    >>> import autocalc as ac
    >>> import warnings
    >>> warnings.simplefilter("ignore", ac.errors.AutocalcWarning)
    >>> x = ac.tensor(0.0, requires_grad=True)
    >>> with ac.autograd.detect_anomaly():
    ...     try:
    ...         (x.sqrt() * 0).backward()
    ...     except ac.errors.GradError as error:
    ...         print(str(error)[:56])
    backward: Function 'sqrtBackward' returned nan values in
    """

    def __init__(self, check_nan: bool = True) -> None:
        check_flags("detect_anomaly", check_nan=check_nan)
        message = (
            "detect_anomaly: anomaly mode is on, which makes every operator slower; it "
            "is for finding mistakes. set_detect_anomaly(True) switches it on without "
            "this warning."
        )
        warnings.warn(message, AutocalcWarning, stacklevel=2)
        self._check_nan = check_nan
        self._before: list[tuple[bool, bool]] = []

    def __enter__(self) -> None:
        """Switch the mode on."""
        self._before.append(_switch(True, self._check_nan))

    def __exit__(self, *error: object) -> None:
        """Go back to what held before."""
        mode.set(*self._before.pop())
