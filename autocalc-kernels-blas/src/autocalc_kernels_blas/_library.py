# SPDX-License-Identifier: MIT
"""An opened BLAS library, and the spelling of its function names."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from autocalc.errors import PluginError


class Spelling(NamedTuple):
    """The prefix and suffix of function names, and the width of integers."""

    prefix: str = ""
    suffix: str = ""
    long: bool = False


#: Builds for a single program rename their functions, so that two can be in one
#: process.
SPELLINGS = (
    Spelling(),
    Spelling(prefix="scipy_"),
    Spelling(suffix="64_", long=True),
    Spelling(suffix="_64", long=True),
    Spelling(prefix="scipy_", suffix="64_", long=True),
)


@dataclass(frozen=True)
class Library:
    """An open library; `function` finds its functions by their plain names."""

    path: str
    handle: ctypes.CDLL
    spelling: Spelling

    def function(
        self, name: str, result: Any = None, *arguments: Any
    ) -> Callable[..., Any] | None:
        """Return the function `name`, prepared for its types; None if it is absent."""
        try:
            found = self.handle[self.spelled(name)]
        except AttributeError:
            return None
        found.restype, found.argtypes = result, arguments
        return found

    def call(self, name: str, result: Any = None) -> Any:
        """Call a function without arguments; return None if it is absent."""
        found = self.function(name, result)
        return None if found is None else found()

    def text(self, name: str) -> str:
        """Call a function that returns a string; return "" if it is absent."""
        found = self.call(name, ctypes.c_char_p)
        return (found or b"").decode(errors="replace")

    def pointer(self, name: str) -> int | None:
        """Return the address of the function `name`, or None if it is absent."""
        try:
            found = self.handle[self.spelled(name)]
        except AttributeError:
            return None
        return ctypes.cast(found, ctypes.c_void_p).value

    def spelled(self, name: str) -> str:
        """Return the name in the spelling of this library."""
        return f"{self.spelling.prefix}{name}{self.spelling.suffix}"

    def with_long_integers(self, long: bool) -> Library:
        """Return the same library with BLAS integers of 64 or 32 bits."""
        return Library(self.path, self.handle, self.spelling._replace(long=long))


class Blas(Protocol):
    """A library with functions that control it."""

    library: Library

    def set_num_threads(self, count: int) -> None:
        """Use up to `count` threads for each product."""

    def info(self) -> Mapping[str, str]:
        """Return vendor, version, core type, threads and file."""


def open_first(what: str, candidates: Iterable[str | Path], advice: str) -> Library:
    """Open the first candidate that has CBLAS, with private symbols.

    Parameters
    ----------
    what
        The name of the library, for the error.
    candidates
        Paths, or names that the system's loader knows.
    advice
        A sentence that says how to install the library.

    Raises
    ------
    PluginError
        If there is no candidate, or none can be used; the error states each reason.
    """
    tried = []
    for path in candidates:
        try:
            return open_library(str(path))
        except (OSError, PluginError) as error:  # noqa: PERF203  one or two files
            tried.append(f"{path} ({error})")
    found = f"none of these can be used: {'; '.join(tried)}" if tried else "found none"
    raise PluginError(f"{what} is not usable: {found}. {advice}")


def open_library(path: str) -> Library:
    """Open `path` with private symbols, and find the spelling of its functions.

    Raises
    ------
    PluginError
        If the library has no ``cblas_sgemm`` in any known spelling.
    """
    # RTLD_LOCAL: the BLAS of another library never replaces this one.
    mode = 0 if sys.platform == "win32" else ctypes.RTLD_LOCAL
    handle = ctypes.CDLL(path, mode=mode)
    for spelling in SPELLINGS:
        library = Library(path, handle, spelling)
        if library.pointer("cblas_sgemm") is not None:
            return library
    raise PluginError("it has no `cblas_sgemm`; CBLAS functions are needed")
