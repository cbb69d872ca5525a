# SPDX-License-Identifier: MIT
"""The environment variables, one by one."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from tests.dispatcher import config

import autocalc as ac
from autocalc.errors import ConfigError, ConfigWarning


@pytest.mark.parametrize(
    ("variable", "text", "setting", "value"),
    [
        ("KERNELS", "simd, blas", "kernels", ("simd", "blas")),
        ("KERNELS", "", "kernels", ()),
        ("DISABLE_KERNELS", "blas", "disabled", ("blas",)),
        ("CPU_FEATURES", "-avx512f, -avx2", "hidden_features", {"avx512f", "avx2"}),
        ("NUM_THREADS", "3", "num_threads", 3),
        ("DETERMINISTIC", "1", "deterministic", True),
        ("DETERMINISTIC", "off", "deterministic", False),
        ("STRICT", "TRUE", "strict", True),
        ("STRICT", "", "strict", False),
        ("STRICT", "List", "strict", False),
        ("STRICT", "List", "lists_falls", True),
        ("STRICT", "1", "lists_falls", False),
        ("TUNE", "off", "tune", "off"),
        ("TUNE", "", "tune", "read"),
        ("CACHE_DIR", "/tmp/c", "cache_dir", Path("/tmp/c")),
        ("DATA_DIR", "~/d", "data_dir", Path("~/d").expanduser()),
        ("SHADOW", "reference:0.01", "shadow", ("reference", 0.01)),
        ("SHADOW", "reference:1", "shadow", ("reference", 1.0)),
        ("SHADOW", "", "shadow", None),
        ("GUARD", "off", "guard", False),
        ("GUARD", "on", "guard", True),
        ("GUARD", "", "guard", True),
        ("LOG", "Debug", "log", "debug"),
    ],
)
def test_what_is_understood(environment, variable, text, setting, value):
    environment(**{f"AUTOCALC_{variable}": text})
    assert getattr(config.settings(), setting) == value
    assert config.settings().found == {f"AUTOCALC_{variable}": text}


@pytest.mark.parametrize(
    ("variable", "text", "message"),
    [
        ("CPU_FEATURES", "avx2", r"'avx2' does not start with '-'.*=-avx512f,-avx2"),
        ("CPU_FEATURES", "-", "does not start with '-'"),
        (
            "NUM_THREADS",
            "zero",
            "AUTOCALC_NUM_THREADS='zero' is not a number of threads",
        ),
        ("NUM_THREADS", "0", "use 1 or more"),
        ("DETERMINISTIC", "maybe", "AUTOCALC_DETERMINISTIC='maybe' is not valid"),
        ("STRICT", "2", "='2' is not valid: use 1, 0 or list."),
        ("TUNE", "now", "AUTOCALC_TUNE='now' is not a known value: use read or"),
        ("SHADOW", "reference:2", "write set:share, as in reference:0.01"),
        ("SHADOW", "reference:x", "write set:share"),
        (
            "SHADOW",
            "reference",
            "SHADOW='reference': write set:share, as in reference:",
        ),
        ("SHADOW", ":0.5", ": write set:share, as in reference:0.01; the share of"),
        ("NUM_THREADS", "99999999999999", "use 1 or more, up to 4096"),
        ("NUM_THREADS", "4097", "use 1 or more, up to 4096"),
        ("NUM_THREADS", "1_0", "is not a number of threads"),
        ("CACHE_DIR", "~nobody-of-this-name/x", "is not a folder:"),
        ("DISTRIBUTED_TIMEOUT", "1e300", "above 0 and up to 1000000000"),
        ("GUARD", "maybe", "='maybe' is not valid: use 1 or 0."),
        ("LOG", "loud", "AUTOCALC_LOG='loud' is not a logging level: use debug, info"),
    ],
)
def test_what_is_not(environment, variable, text, message):
    environment()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(f"AUTOCALC_{variable}", text)
        config.reload()
        with pytest.raises(ConfigError, match=message):
            config.settings()
    config.reload()


def test_without_any(environment):
    environment()
    settings = config.settings()
    assert settings.found == {}
    assert settings.kernels == ()
    assert settings.num_threads is None
    assert settings.shadow is None
    assert not settings.strict
    assert not settings.deterministic
    assert settings.guard


def test_the_environment_of_a_child(environment, monkeypatch, tmp_path):
    environment(AUTOCALC_STRICT="1", AUTOCALC_NUM_THREADS="2", AUTOCALC_GUARD="on")
    monkeypatch.setenv("OTHER", "kept")
    monkeypatch.syspath_prepend(str(tmp_path))
    child = config.child_environment()
    own = {name: text for name, text in child.items() if name.startswith("AUTOCALC_")}
    assert own == {"AUTOCALC_NUM_THREADS": "2", "AUTOCALC_GUARD": "off"}
    assert child["OTHER"] == "kept"
    assert child["PYTHONPATH"].split(os.pathsep)[0] == str(tmp_path)


def test_a_misspelt_variable_is_reported_with_the_nearest(environment, monkeypatch):
    environment()
    monkeypatch.setenv("AUTOCALC_KERNEL", "simd")
    config.reload()
    message = r"AUTOCALC_KERNEL is unknown .*; did you mean AUTOCALC_KERNELS\?"
    with pytest.warns(ConfigWarning, match=message):
        config.settings()


@pytest.mark.parametrize(
    ("old", "text", "setting", "value"),
    [
        ("AG_THREADS", "2", "num_threads", 2),
        ("AG_NUM_THREADS", "2", "num_threads", 2),
        ("AG_DETERMINISTIC", "1", "deterministic", True),
    ],
)
def test_old_names_are_taken_with_a_notice(
    environment, monkeypatch, old, text, setting, value
):
    environment()
    monkeypatch.setenv(old, text)
    config.reload()
    with pytest.warns(
        ConfigWarning, match=f"{old} is the old name of AUTOCALC_.*use the new"
    ):
        assert getattr(config.settings(), setting) == value
    monkeypatch.delenv(old)


def test_new_names_win(environment, monkeypatch):
    environment(AUTOCALC_NUM_THREADS="3")
    monkeypatch.setenv("AG_THREADS", "2")
    config.reload()
    assert config.settings().num_threads == 3


def test_settings_are_read_once(environment, monkeypatch):
    environment(AUTOCALC_STRICT="1")
    assert config.settings().strict
    monkeypatch.setenv("AUTOCALC_STRICT", "0")
    assert config.settings().strict
    ac.kernels.reload()
    assert not config.settings().strict


def test_each_variable_has_a_meaning():
    for name, meaning in config.VARIABLES.items():
        assert name.startswith("AUTOCALC_")
        assert len(meaning) > 10


def test_the_log_level_reaches_the_logger(environment):
    logger = logging.getLogger("autocalc")
    before = logger.level, list(logger.handlers)
    try:
        environment(AUTOCALC_LOG="debug")
        config.settings()
        assert logger.level == logging.DEBUG
    finally:
        logger.setLevel(before[0])
        logger.handlers[:] = before[1]


def test_the_log_goes_to_stderr_when_nobody_listens():
    program = (
        "import autocalc as ac, logging; ac.ones(1) + 1; "
        "logging.getLogger('autocalc.kernels').debug('here I am')"
    )
    command = [sys.executable, "-c", program]
    quiet = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "here I am" not in quiet.stderr
    loud = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        env={"AUTOCALC_LOG": "debug"},
    )
    assert "autocalc.kernels: DEBUG: here I am" in loud.stderr


#: What nobody means.
ABSURD = {
    "huge": "9" * 30,
    "thousands of digits": "9" * 5000,
    "negative": "-1",
    "zero": "0",
    "fraction": "0.5",
    "exponent": "1e400",
    "NaN": "nan",
    "infinity": "-inf",
    "empty": "",
    "spaces": "   ",
    "a line": "a\nb",
    "other digits": "\N{ARABIC-INDIC DIGIT THREE}",
    "superscript": "\N{SUPERSCRIPT TWO}",
    "emoji": "\N{SNAKE}" * 3,
    "bytes": "\udcff\udcfe",
    "commas": ",,,",
    "colons": ":::",
    "dashes": "-,-",
    "brackets": "[" * 10_000,
    "home of nobody": "~nobody-of-this-name/x",
    "words": "all of them",
    "long": "x" * 100_000,
}


@pytest.mark.parametrize("value", ABSURD)
@pytest.mark.parametrize("name", [*config.VARIABLES, "OMP_NUM_THREADS"])
def test_absurd_values_are_understood_or_refused(name, value, environment):
    environment()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(name, ABSURD[value])
        config.reload()
        found, said = outcome()
        assert found is not None or (name in said and len(said) < 400)
        if found is not None:
            for threads in (found.num_threads, found.omp_num_threads):
                assert threads is None or 1 <= threads <= 4096
            assert found.shadow is None
            assert found.distributed_timeout is None or found.distributed_timeout < 1e9
            needs_form = name in ("AUTOCALC_NUM_THREADS", "AUTOCALC_SHADOW")
            assert not (needs_form and ABSURD[value].strip())
    config.reload()


def outcome():
    """Return the settings and what was said, or None and what the error says."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = config.settings()
        except ConfigError as error:
            return None, str(error)
    return found, " ".join(str(w.message) for w in caught)
