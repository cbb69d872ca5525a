# SPDX-License-Identifier: MIT
"""Checks that an installed package fits this AutoCalc, or says what to install.

AutoCalc's own packages share more than the plugin API.  They fit if the first two
numbers of their versions, the *series*, are equal: 0.1.3 fits 0.1.0.  Other packages
state the API for which they were written.  Both checks happen before a package's code
runs.
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

    `distribution` is empty if the set does not come from an installed package.
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
    """Return the first two numbers of a version; empty if it is no version."""
    found = re.match(r"(\d+)\.(\d+)", version)
    return () if found is None else (int(found[1]), int(found[2]))
