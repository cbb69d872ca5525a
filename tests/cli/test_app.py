# SPDX-License-Identifier: MIT
"""The program as a whole: help, version, exit codes."""

from __future__ import annotations

import pytest

import autocalc as ac


def test_help_teaches_with_examples(run):
    out = run("--help").output
    assert "Examples:\n    autocalc train digits" in out
    for name in ("train", "predict", "kernels", "explain"):
        assert f"\n  {name} " in out
        assert "Examples:\n    autocalc" in run(name, "--help").output
        assert run(name, "-h").output == run(name, "--help").output


def test_version(run):
    assert run("--version").output == f"autocalc, version {ac.__version__}\n"


def test_unknown_commands_exit_with_2(run):
    assert "No such command 'trian'" in run("trian", code=2).output


def test_it_runs_as_a_module(program, tmp_path):
    process = program("train", "digits", "--epochs", 1, cwd=tmp_path)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert err == ""
    assert out.splitlines()[-1].startswith("test accuracy")


def test_user_errors_have_no_traceback(program, tmp_path):
    process = program("train", "mnist", "--data", tmp_path, cwd=tmp_path)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert err.startswith("Error: MNIST: ")
    assert "Traceback" not in out + err


def test_a_closed_pipe_is_no_error_to_report(program):
    process = program("kernels", "--json")
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 1
    assert "Traceback" not in err


def test_an_interrupt_outside_of_training_exits_with_130(run, monkeypatch):
    from autocalc.cli import _kernels as command

    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr(command.kernels, "show", interrupt)
    assert run("kernels", code=130).output == "Interrupted.\n"


def test_system_errors_are_sentences(run, monkeypatch):
    from autocalc.cli import _kernels as command

    def fail():
        raise PermissionError(13, "Permission denied", "file")

    monkeypatch.setattr(command.kernels, "show", fail)
    out = run("kernels", code=1).output
    assert out == "Error: [Errno 13] Permission denied: 'file'\n"


@pytest.mark.parametrize("module", ["click", "rich", "autocalc.cli"])
def test_the_library_does_not_import_the_command_line(module):
    import subprocess
    import sys

    code = f"import sys, autocalc; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
