# SPDX-License-Identifier: MIT
"""Running the command line within the process, and as a program."""

from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner

from autocalc.cli import cli


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function that runs a command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*words, code=0):
        result = CliRunner().invoke(cli, [str(word) for word in words])
        if result.exception is not None and not isinstance(
            result.exception, SystemExit
        ):
            raise result.exception
        assert result.exit_code == code, result.output
        return result

    return call


@pytest.fixture(scope="session")
def program():
    """Return a function that starts ``python -m autocalc``."""

    def start(*words, **options):
        return subprocess.Popen(
            [sys.executable, "-m", "autocalc", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            **options,
        )

    return start


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """Return the file of a model that was trained for two epochs."""
    path = tmp_path_factory.mktemp("cli") / "digits.safetensors"
    words = ["train", "digits", "--epochs", "2", "--save", str(path)]
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0, result.output
    return path
