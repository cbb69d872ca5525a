# SPDX-License-Identifier: MIT
"""The features of this CPU, and the number of cores that may be used."""

from __future__ import annotations

import functools
import os

from autocalc._config import settings, warn_about_unknown
from autocalc._dispatch.machine.cgroup import cpu_quota


@functools.lru_cache(maxsize=1)
def detected_features() -> frozenset[str]:
    """Return the features that the CPU and the operating system offer."""
    import archspec.cpu  # imported late: it reads a large JSON table

    host = archspec.cpu.host()
    family = str(host.family)
    always = _ALWAYS.get(family, frozenset())
    return frozenset(host.features) | _reported(family) | always


def _reported(family: str) -> frozenset[str]:
    """Return the features that the system reports and that archspec knows.

    `host` returns the newest microarchitecture whose features are all present.  If a
    virtual machine hides one feature (``waitpkg``), a Sapphire Rapids appears as an Ice
    Lake, without AMX.
    """
    from archspec.cpu import TARGETS
    from archspec.cpu.detect import detected_info

    of_family = [t.features for t in TARGETS.values() if str(t.family) == family]
    return frozenset(detected_info().features).intersection(set().union(*of_family))


#: The features that every CPU of a family has. They are needed for CPUs that archspec
#: does not know: its generic entries, such as ``armv8.2a``, list no features.
_ALWAYS = {"aarch64": frozenset({"fp", "asimd"})}


def cpu_features() -> frozenset[str]:
    """Return the CPU features that kernels may use, by the names of ``archspec``.

    These are the detected features without those that ``AUTOCALC_CPU_FEATURES`` hides.
    Hiding a feature also hides the features that need it: ``-avx2`` hides AVX-512, too.

    Examples
    --------
    >>> from autocalc.plugin import cpu_features
    >>> isinstance(cpu_features(), frozenset)
    True
    """
    hidden = settings().hidden_features
    if hidden:
        _check_names(hidden)
    return without(detected_features(), hidden)


@functools.lru_cache(maxsize=1)
def _check_names(hidden: frozenset[str]) -> None:
    """Warn of hidden features that no CPU has."""
    from archspec.cpu import TARGETS

    known = detected_features().union(*(t.features for t in TARGETS.values()))
    warn_about_unknown("AUTOCALC_CPU_FEATURES", hidden, known, "CPU feature")


#: For each feature, the feature that it needs; hiding the needed one hides both.
_BUILT_ON = {"avx512": "avx2", "fma": "avx", "f16c": "avx", "avx2": "avx"}


def without(features: frozenset[str], hidden: frozenset[str]) -> frozenset[str]:
    """Return `features` without the hidden ones and all that depend on them."""
    gone = set(hidden)
    if "avx512f" in gone:
        gone |= {name for name in features if name.startswith("avx512")}
    for _ in _BUILT_ON:
        for name in features - gone:
            base = _BUILT_ON.get("avx512" if name.startswith("avx512") else name)
            if base in gone:
                gone.add(name)
    return frozenset(features - gone)


@functools.lru_cache(maxsize=1)
def cpu_name() -> str:
    """Return the microarchitecture's name, such as ``zen5``."""
    import archspec.cpu

    return str(archspec.cpu.host().name)


def usable_cores() -> int:
    """Return the number of cores that this process may use by affinity and quota."""
    return max(1, int(min(affine_cores(), cpu_quota())))


def affine_cores() -> int:
    """Return the number of cores on which the system lets this process run."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def limited_by() -> str:
    """Return the limit of `usable_cores`, as words that follow "the 2 cores"."""
    affine, quota = affine_cores(), cpu_quota()
    if quota < affine:
        return f"that its cgroup's quota of {quota:g} allows"
    if affine < (os.cpu_count() or 1):
        return f"of {os.cpu_count()} that its CPU affinity leaves it"
    return "of this machine"
