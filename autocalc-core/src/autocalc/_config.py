# SPDX-License-Identifier: MIT
"""Every environment variable that AutoCalc reads, and what it means.

This is the only module that looks at the environment.  Variables are read when they
are first needed, once; `reload()` makes the next look read them again.
"""

from __future__ import annotations

import functools
import os
import sys
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autocalc.errors import ConfigError, ConfigWarning

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from logging import Logger
    from pathlib import Path

PREFIX = "AUTOCALC_"

#: Name -> meaning; `autocalc kernels` prints this table.
VARIABLES = {
    "AUTOCALC_KERNELS": "kernel sets or families to prefer, best first: simd,blas",
    "AUTOCALC_DISABLE_KERNELS": "kernel sets or families that are never used",
    "AUTOCALC_CPU_FEATURES": "CPU features to hide, for tests: -avx512f,-avx2",
    "AUTOCALC_NUM_THREADS": "threads; default OMP_NUM_THREADS or the usable cores",
    "AUTOCALC_DETERMINISTIC": "1: refuse kernels without reproducible results",
    "AUTOCALC_EAGER": "python: run operators in Python, without the C++ engine",
    "AUTOCALC_TUNE": "read or off: use or ignore the times of `autocalc tune`",
    "AUTOCALC_CACHE_DIR": "folder for tuning records and downloads",
    "AUTOCALC_DATA_DIR": "folder in which data sets are searched",
    "AUTOCALC_STRICT": "calls that fall back: 1 raises an error, list prints them",
    "AUTOCALC_SHADOW": "set:share, run that share of calls again and compare",
    "AUTOCALC_GUARD": "off: use third-party kernel sets without a self-test",
    "AUTOCALC_DISTRIBUTED_DEBUG": "detail: ranks compare calls, shapes and dtypes",
    "AUTOCALC_DISTRIBUTED_TIMEOUT": "seconds that a rank waits for others (1800)",
    "AUTOCALC_TORCH_REPORT": "file to which `autocalc.torch` writes absent names, or -",
    "AUTOCALC_LOG": "logging level: debug, info, warning",
}

#: Names of earlier documents, accepted with a notice.
OLD_NAMES = {
    "AG_THREADS": "AUTOCALC_NUM_THREADS",
    "AG_NUM_THREADS": "AUTOCALC_NUM_THREADS",
    "AG_DETERMINISTIC": "AUTOCALC_DETERMINISTIC",
}

#: More threads than any machine has cores: such a number is a mistake.
MOST_THREADS = 4096
#: About 30 years; a longer time does not fit into what waits.
_MOST_SECONDS = 1e9

_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"", "0", "false", "no", "off"}


def _read() -> dict[str, str]:
    """Return the variables that are set, old names translated."""
    found = {name: os.environ[name] for name in VARIABLES if name in os.environ}
    for old, new in OLD_NAMES.items():
        if old in os.environ and new not in found:
            found[new] = os.environ[old]
            _warn(f"{old} is the old name of {new}; please use the new name.")
    return found


def launched(name: str) -> str | None:
    """Return what a launcher of several processes wrote, ``WORLD_SIZE`` for example."""
    return os.environ.get(name)


#: What a child process keeps of this one's variables: what the machine is to it.
_KEPT = ("AUTOCALC_CPU_FEATURES", "AUTOCALC_NUM_THREADS")


def child_environment() -> dict[str, str]:
    """Return the environment of a process that tests kernels for this one.

    It finds the same modules, and trusts what it finds: testing it is its purpose.
    """
    found = _read()
    kept = {name: found[name] for name in _KEPT if name in found}
    others = {k: v for k, v in os.environ.items() if not k.startswith(PREFIX)}
    folders = [os.path.abspath(folder) for folder in sys.path]  # noqa: PTH100  "" too
    return {
        **others,
        **kept,
        "AUTOCALC_GUARD": "off",
        "PYTHONPATH": os.pathsep.join(folders),
        "PYTHONSAFEPATH": "1",  # files of the working folder are no modules
    }


def share_folder(folder: str, report: str | None) -> None:
    """Let processes started from here import from `folder` first, and report alike."""
    given = os.environ.get("PYTHONPATH")
    folders = given.split(os.pathsep) if given else []
    if folder not in folders:
        os.environ["PYTHONPATH"] = os.pathsep.join([folder, *folders])
    if report is not None:
        os.environ["AUTOCALC_TORCH_REPORT"] = report
        reload()


def of_library(name: str) -> str | None:
    """Return a variable that a library reads, ``OPENBLAS_CORETYPE`` for example."""
    return os.environ.get(name)


def _warn(message: str) -> None:
    warnings.warn(message, ConfigWarning, stacklevel=2)


def _nearest(name: str, names: Iterable[str]) -> str:
    from difflib import get_close_matches  # late, as only a mistake needs it

    return get_close_matches(name, list(names), n=1, cutoff=0.0)[0]


def _warn_about_misspelt() -> None:
    for name in sorted(os.environ):
        if name.startswith(PREFIX) and name not in VARIABLES:
            _warn(
                f"the environment variable {name} is unknown and has no effect; "
                f"did you mean {_nearest(name, VARIABLES)}?"
            )


def warn_about_unknown(
    variable: str, given: Iterable[str], known: Collection[str], what: str
) -> None:
    """Warn of each unknown name in a variable, and suggest the nearest known one."""
    for name in sorted(set(given) - set(known)):
        _warn(
            f"{variable} names {name!r}, which is not a {what} and has no effect; did "
            f"you mean {_nearest(name, sorted(known))!r}?"
        )


def _shown(value: str) -> str:
    """Return a value for a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _flag(name: str, value: str) -> bool:
    word = value.strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise ConfigError(f"{name}={_shown(value)} is not valid: use 1 or 0.")


def _strict(name: str, value: str) -> tuple[bool, bool]:
    """Return whether falls to the reference are errors, and whether they are listed."""
    if value.strip().lower() == "list":
        return False, True
    try:
        return _flag(name, value), False
    except ConfigError:
        message = f"{name}={_shown(value)} is not valid: use 1, 0 or list."
        raise ConfigError(message) from None


def _words(value: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in value.split(",") if word.strip())


def _count_of_threads(value: str) -> int | None:
    """Return a number of threads; None if it is none, or more than there can be."""
    text = value.strip()
    plain = text.isascii() and text.isdecimal() and len(text) < 20
    return int(text) if plain and 1 <= int(text) <= MOST_THREADS else None


def _threads(name: str, value: str) -> int:
    count = _count_of_threads(value)
    if count is None:
        raise ConfigError(
            f"{name}={_shown(value)} is not a number of threads: use 1 or more, up to "
            f"{MOST_THREADS}."
        )
    return count


def _omp_threads() -> int | None:
    """Return OpenMP's number of threads, which all numerical libraries take.

    It may be a list, of which the first is meant; as OpenMP does, a wrong one is passed
    over with a warning.
    """
    value = os.environ.get("OMP_NUM_THREADS", "")
    if not value.strip():
        return None
    count = _count_of_threads(value.partition(",")[0])
    if count is None:
        _warn(
            f"OMP_NUM_THREADS={_shown(value)} is not a number of threads and has no "
            f"effect on AutoCalc; use 1 to {MOST_THREADS}, or AUTOCALC_NUM_THREADS."
        )
    return count


def _hidden_features(name: str, value: str) -> frozenset[str]:
    words = _words(value)
    wrong = [word for word in words if not word.startswith("-") or word == "-"]
    if wrong:
        raise ConfigError(
            f"{name}={_shown(value)}: {_shown(wrong[0])} does not start with '-'. "
            f"Features can only be hidden, as in {name}=-avx512f,-avx2."
        )
    return frozenset(word[1:] for word in words)


def _shadow(name: str, value: str) -> tuple[str, float] | None:
    if not value.strip():
        return None
    set_name, _, share = value.partition(":")
    try:
        fraction = float(share)
    except ValueError:
        fraction = -1.0
    if not (set_name.strip() and 0.0 < fraction <= 1.0):
        raise ConfigError(
            f"{name}={_shown(value)}: write set:share, as in reference:0.01; the share "
            "of calls must be above 0 and at most 1."
        )
    return set_name.strip(), fraction


_DEBUG_LEVELS = ("off", "info", "detail")


def _distributed_debug(name: str, value: str) -> str:
    level = value.strip().lower() or "off"
    if level not in _DEBUG_LEVELS:
        message = f"{name}={_shown(value)} is unknown: use {', '.join(_DEBUG_LEVELS)}."
        raise ConfigError(message)
    return level


def _seconds(name: str, value: str) -> float | None:
    if not value.strip():
        return None
    try:
        found = float(value)
    except ValueError:
        found = 0.0
    if not 0 < found <= _MOST_SECONDS:
        raise ConfigError(
            f"{name}={_shown(value)} is not a time: use seconds, above 0 and up to "
            f"{_MOST_SECONDS:.0f}."
        )
    return found


_LEVELS = ("debug", "info", "warning", "error", "critical")


def _log_level(name: str, value: str) -> str:
    level = value.strip().lower()
    if level and level not in _LEVELS:
        raise ConfigError(
            f"{name}={_shown(value)} is not a logging level: use {', '.join(_LEVELS)}."
        )
    return level


def _start_logging(level: str) -> None:
    """Let the logger of the package speak at `level`, to stderr if nobody listens."""
    if not level:
        return
    import logging

    own = logging.getLogger("autocalc")
    own.setLevel(level.upper())
    if not own.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(name)s: %(levelname)s: %(message)s"))
        own.addHandler(handler)


def logger(area: str) -> Logger:
    """Return the logger of a part of AutoCalc."""
    import logging  # 9 ms, with the first message and not with AutoCalc

    return logging.getLogger(f"autocalc.{area}")


@dataclass(frozen=True)
class Settings:
    """The environment as AutoCalc understands it; `found` holds what was set."""

    found: dict[str, str]
    kernels: tuple[str, ...]
    disabled: tuple[str, ...]
    hidden_features: frozenset[str]
    num_threads: int | None
    omp_num_threads: int | None
    deterministic: bool
    eager: str
    tune: str
    cache_dir: Path | None
    data_dir: Path | None
    strict: bool
    lists_falls: bool
    shadow: tuple[str, float] | None
    guard: bool
    distributed_debug: str
    distributed_timeout: float | None
    torch_report: str
    log: str


def _parse(found: dict[str, str]) -> Settings:
    def text(name: str) -> str:
        value = found.get(PREFIX + name, "")
        return value if value.strip() else ""

    from pathlib import Path  # 5 ms, with the first kernel and not with AutoCalc

    def path(name: str) -> Path | None:
        try:
            return Path(text(name)).expanduser() if text(name) else None
        except RuntimeError as error:  # ~somebody
            message = f"{PREFIX}{name}={_shown(text(name))} is not a folder: {error}"
            raise ConfigError(message) from None

    tune = text("TUNE") or "read"
    if tune not in {"read", "off"}:
        raise ConfigError(
            f"AUTOCALC_TUNE={_shown(tune)} is not a known value: use read or off."
        )
    eager = text("EAGER") or "auto"
    if eager not in {"auto", "python"}:
        raise ConfigError(
            f"AUTOCALC_EAGER={_shown(eager)} is not a known value: use python, or "
            "unset the variable."
        )
    threads = text("NUM_THREADS")
    strict, lists_falls = _strict("AUTOCALC_STRICT", text("STRICT"))
    return Settings(
        found=found,
        kernels=_words(text("KERNELS")),
        disabled=_words(text("DISABLE_KERNELS")),
        hidden_features=_hidden_features("AUTOCALC_CPU_FEATURES", text("CPU_FEATURES")),
        num_threads=_threads("AUTOCALC_NUM_THREADS", threads) if threads else None,
        omp_num_threads=_omp_threads() if not threads else None,
        deterministic=_flag("AUTOCALC_DETERMINISTIC", text("DETERMINISTIC")),
        eager=eager,
        tune=tune,
        cache_dir=path("CACHE_DIR"),
        data_dir=path("DATA_DIR"),
        strict=strict,
        lists_falls=lists_falls,
        shadow=_shadow("AUTOCALC_SHADOW", text("SHADOW")),
        guard=_flag("AUTOCALC_GUARD", text("GUARD") or "on"),
        distributed_debug=_distributed_debug(
            "AUTOCALC_DISTRIBUTED_DEBUG", text("DISTRIBUTED_DEBUG")
        ),
        distributed_timeout=_seconds(
            "AUTOCALC_DISTRIBUTED_TIMEOUT", text("DISTRIBUTED_TIMEOUT")
        ),
        torch_report=text("TORCH_REPORT"),
        log=_log_level("AUTOCALC_LOG", text("LOG")),
    )


@functools.lru_cache(maxsize=1)
def settings() -> Settings:
    """Return the settings of this process, read at the first call."""
    _warn_about_misspelt()
    result = _parse(_read())
    _start_logging(result.log)
    return result


def cache_folder() -> Path:
    """Return where downloads and records are kept; it need not be there yet."""
    given = settings().cache_dir
    if given is not None:
        return given
    import platformdirs  # only loading and keeping files need it

    return platformdirs.user_cache_path("autocalc", appauthor=False)


def reload() -> None:
    """Forget what was read; the next look reads the environment again."""
    settings.cache_clear()
