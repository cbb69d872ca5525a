# SPDX-License-Identifier: MIT
"""Intel's oneMKL: the wheel ``mkl``, the package of conda, or ``libmkl_rt``."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from pathlib import Path

from autocalc.errors import PluginError
from autocalc_kernels_blas._core_type import CoreType, mkl_level
from autocalc_kernels_blas._environment import environment, users
from autocalc_kernels_blas._features import hidden_features, usable_features
from autocalc_kernels_blas._library import Library, open_first
from autocalc_kernels_blas._search import in_prefix, in_system

LP64 = 0
INTEL_OPENMP = 0
ADVICE = "Run `pip install mkl`."


class _Version(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
        ("update", ctypes.c_int),
        ("status", ctypes.c_char_p),
        ("build", ctypes.c_char_p),
        ("processor", ctypes.c_char_p),
        ("platform", ctypes.c_char_p),
    )


class Mkl:
    """An opened MKL."""

    def __init__(self, library: Library, asked: CoreType | None) -> None:
        self.library = library
        self.asked = asked
        self._set = library.function("MKL_Set_Num_Threads", None, ctypes.c_int)
        self.set_num_threads(1)

    def set_num_threads(self, count: int) -> None:
        if self._set is not None:
            self._set(count)

    def num_threads(self) -> int:
        return int(self.library.call("MKL_Get_Max_Threads", ctypes.c_int) or 1)

    def info(self) -> dict[str, str]:
        version = self._version()
        core = (version.processor or b"unknown").decode(errors="replace")
        why = "MKL chose" if self.asked is None else self.asked.reason
        return {
            "vendor": "oneMKL",
            "version": f"{version.major}.{version.update}",  # the minor one is always 0
            "core": f"{core} ({why})",
            "threads": str(self.num_threads()),
            "library": self.library.path,
        }

    def _version(self) -> _Version:
        version = _Version()
        pointer = ctypes.POINTER(_Version)
        getter = self.library.function("MKL_Get_Version", None, pointer)
        if getter is not None:
            getter(ctypes.byref(version))
        return version


def open_mkl() -> Mkl:
    """Find and open MKL with its LP64 interface and its OpenMP threads."""
    # OpenMP workers spin for 200 ms after each product unless this is changed.  The
    # runtime reads the setting at its first call, which `Mkl` makes.
    variables = {} if users("KMP_BLOCKTIME") else {"KMP_BLOCKTIME": "0"}
    with environment(variables):
        library = open_first("MKL", candidates(), ADVICE)
        library = _with_layers(library)
        return Mkl(library, _obey_hidden_features(library))


def _with_layers(library: Library) -> Library:
    """Choose the interface and the threads; the user's environment takes precedence."""
    integers = ctypes.c_int
    if users("MKL_THREADING_LAYER") is None:
        threading = library.function("MKL_Set_Threading_Layer", integers, integers)
        if threading is not None:
            threading(INTEL_OPENMP)
    interface = library.function("MKL_Set_Interface_Layer", integers, integers)
    if interface is None:
        return library
    # The result is what is in effect: another user of the library may have chosen
    # before.
    return library.with_long_integers(bool(interface(LP64) & 1))


def _obey_hidden_features(library: Library) -> CoreType | None:
    """Lower MKL's instruction set to the visible features; None if none are hidden.

    Raises
    ------
    PluginError
        If MKL cannot be restricted to the features that the user does not hide.
    """
    if not hidden_features():
        return None
    limit = mkl_level(usable_features())
    enable = library.function("MKL_Enable_Instructions", ctypes.c_int, ctypes.c_int)
    if limit is None or enable is None or not enable(limit[0]):
        raise PluginError(
            "MKL cannot be limited to the CPU features that AUTOCALC_CPU_FEATURES "
            "leaves. Use another kernel set, or hide fewer features."
        )
    return CoreType(limit[1].name, f"limited to {limit[1].name}: {limit[1].reason}")


def candidates() -> Iterator[str | Path]:
    """Yield the files to try, best first."""
    patterns = {"win32": ("mkl_rt*.dll",), "darwin": ("libmkl_rt*.dylib",)}.get(
        sys.platform, ("libmkl_rt.so", "libmkl_rt.so.*")
    )
    yield from in_prefix(*patterns)
    yield from in_system("mkl_rt")
