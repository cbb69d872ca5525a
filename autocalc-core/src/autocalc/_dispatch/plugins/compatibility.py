# SPDX-License-Identifier: MIT
"""Whether an installed package and this AutoCalc fit together, and what to install.

AutoCalc's own packages share more than the plugin API, and fit where the first two
numbers of their versions, the *series*, are the same: 0.1.3 fits 0.1.0.  Packages from
elsewhere state the API they were written for.  Both are looked at before a package's
code runs.
"""

from __future__ import annotations

import re

from autocalc._dispatch.plugins.trust import is_own
from autocalc._version import __version__

CORE = "autocalc-core"


def misfit(distribution: str, version: str) -> str:
    """Return why one of AutoCalc's own packages does not fit this core, or ""."""
    if not is_own(distribution):
        return ""
    here, there = _series(__version__), _series(version)
    if here == there:
        return ""
    newer = ".".join(map(str, max(here, there)))
    return (
        f"version {version or 'unknown'} does not fit {CORE} {__version__}. "
        f'Run: pip install --upgrade "{CORE}=={newer}.*" "{distribution}=={newer}.*"'
    )


def api_misfit(kind: str, given: int, needed: int, distribution: str) -> str:
    """Return why a package that was made for another API is not used, or "".

    `distribution` is empty where no installed package brought it.
    """
    if given == needed:
        return ""
    reason = f"it was made for {kind} API {given}, {CORE} {__version__} has {needed}. "
    if given > needed:
        return f"{reason}Run: pip install --upgrade {CORE}"
    if distribution:
        return f"{reason}Run: pip install --upgrade {distribution}"
    return f"{reason}Write it for {kind} API {needed}"


def _series(version: str) -> tuple[int, ...]:
    """Return the first two numbers of a version; none of what is no version."""
    found = re.match(r"(\d+)\.(\d+)", version)
    return () if found is None else (int(found[1]), int(found[2]))
