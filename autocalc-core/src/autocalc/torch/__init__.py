# SPDX-License-Identifier: MIT
"""Programs of PyTorch as they are: in them, ``import torch`` means AutoCalc.

``python -m autocalc.torch script.py`` runs a program.  `install` does the same from
inside of a program.  ``pytest -p autocalc.torch.pytest`` runs the tests of a program.
"""

from __future__ import annotations

import sys
from typing import Any

import autocalc
from autocalc import _config
from autocalc.torch import _checks, _files, _finder, _gates, _integer_products, _report

__all__ = ["VERSION", "install"]

#: The version of PyTorch that AutoCalc reports.
VERSION = "2.13.0"


def install(report: str | None = None) -> None:
    """Make ``import torch`` import AutoCalc, in this process and in child processes.

    An installed PyTorch is not used. A second call has no effect.

    Parameters
    ----------
    report
        The path of a file, or "-" for the terminal. When the process ends, the report
        lists each missing name that was used, with its line. An existing file is
        extended.

    Raises
    ------
    AutocalcError
        If PyTorch has already been imported.

    Examples
    --------
    The first lines of an unchanged program:

    >>> import autocalc.torch
    >>> autocalc.torch.install()  # doctest: +SKIP
    >>> import torch  # doctest: +SKIP
    """
    _finder.install()
    _config.share_folder(str(_finder.FOLDER), report)
    _report.start()


def fill(names: dict[str, Any]) -> None:
    """Add AutoCalc's names and PyTorch's version number to the module `torch`."""

    def __getattr__(name: str) -> Any:
        names[name] = value = getattr(autocalc, name)
        return value

    own = {key: value for key, value in names.items() if key.startswith("__")}
    names.update(vars(autocalc))
    names.update(own, __version__=VERSION, __getattr__=__getattr__)
    names.update(load=_files.load, save=_files.save, **_checks.NAMES)
    names["_int_mm"] = _integer_products._int_mm
    names.update(legacy_contiguous_format=autocalc.contiguous_format)
    names["torch"] = sys.modules["torch"]
    _gates.watch()


def __getattr__(name: str) -> Any:
    return getattr(autocalc, name)
