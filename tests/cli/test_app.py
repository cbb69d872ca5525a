# SPDX-License-Identifier: MIT
"""The program as a whole: help, version, exit codes."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest
from click.shell_completion import get_completion_class

import autocalc as ac
from autocalc.cli import cli


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
    out = run("trian", code=2).output
    assert "No such command 'trian'. Did you mean 'train'?" in out
    out = run("bench", "kernel", code=2).output
    assert "No such command 'kernel'. Did you mean 'kernels'?" in out
    assert "Did you mean" not in run("xyzzy", code=2).output


def commands(command, path=()):
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from commands(child, (*path, name))


COMMANDS = list(commands(cli))


@pytest.mark.parametrize(
    ("path", "command"), COMMANDS, ids=[" ".join(path) or "all" for path, _ in COMMANDS]
)
def test_every_default_is_in_the_help(run, path, command):
    out = " ".join(run(*path, "--help").output.split())
    for param in command.params:
        if isinstance(param, click.Option) and not param.is_flag:
            names = isinstance(param.type, (click.Path, click.types.StringParamType))
            optional = names or param.multiple  # what is not given is not done
            text = " ".join((param.help or "").split())
            assert optional or param.show_default or "[default: " in text, param.name
            assert text in out


def completion(shell):
    return get_completion_class(shell)(cli, {}, "autocalc", "_AUTOCALC_COMPLETE")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_shells_can_complete(shell):
    assert f"_AUTOCALC_COMPLETE={shell}_complete" in completion(shell).source()


def test_completions_are_commands_and_options():
    def found(args, start):
        return [one.value for one in completion("zsh").get_completions(args, start)]

    assert found([], "re") == ["report"]
    assert found(["train"], "fa") == ["fashion-mnist"]
    assert found(["train", "digits"], "--save") == ["--save", "--save-best"]
    assert found(["train", "digits", "--model"], "l") == ["lenet", "lstm"]


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


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError(), "there is not enough memory. Use"),
        (MemoryError("Unable to allocate 9 TiB."), "memory: Unable to allocate 9 TiB."),
    ],
)
def test_a_lack_of_memory_is_a_sentence(run, monkeypatch, error, message):
    from autocalc.cli import _kernels as command

    def fail():
        raise error

    monkeypatch.setattr(command.kernels, "show", fail)
    out = run("kernels", code=1).output
    assert out.startswith("Error: there is not enough memory")
    assert message in out


@pytest.mark.parametrize("module", ["click", "rich", "autocalc.cli"])
def test_the_library_does_not_import_the_command_line(module):
    code = f"import sys, autocalc; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
