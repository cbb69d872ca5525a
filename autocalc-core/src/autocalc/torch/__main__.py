# SPDX-License-Identifier: MIT
"""``python -m autocalc.torch``: run a program of PyTorch without changes."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from autocalc.torch import VERSION, install

HELP = f"""\
usage: python -m autocalc.torch [--report[=FILE]] SCRIPT [ARGS ...]
       python -m autocalc.torch [--report[=FILE]] -m MODULE [ARGS ...]

Run a program that was written for PyTorch with AutoCalc. No line of it changes:
`import torch`, in the program, in the libraries that it imports and in the processes
that it starts, means AutoCalc. A program that asks for the version gets {VERSION}.

    python -m autocalc.torch train.py --epochs 3
    python -m autocalc.torch -m pytest tests
    python -m autocalc.torch --report train.py

PyTorch need not be installed; where it is, its files are not looked at. To install a
library without PyTorch, which it asks for:  pip install --no-deps transformers

options:
  --report[=FILE]  when the program ends, list each name of PyTorch that it asked for
                   and that is not there, with the line; FILE is appended to
  -h, --help       show this text

In a program:    import autocalc.torch; autocalc.torch.install()   # before import torch
In its tests:    pytest -p autocalc.torch.pytest
"""


def _fail(message: str) -> int:
    sys.stderr.write(f"autocalc.torch: {message}\n\n{HELP}")
    return 2


def main(args: list[str]) -> int:
    """Run the program given on the command line; its exit code becomes ours."""
    report = None
    while args and args[0].startswith("-") and args[0] != "-m":
        option = args.pop(0)
        if option in {"-h", "--help"}:
            sys.stdout.write(HELP)
            return 0
        name, _, value = option.partition("=")
        if name != "--report":
            return _fail(f"{option} is no option. Options of a program come after it.")
        report = value or "-"
    if not args or args == ["-m"]:
        return _fail("no program is named.")
    if args[0] != "-m" and not Path(args[0]).exists():
        return _fail(f"there is no file {args[0]!r}.")
    install(report)
    _run(args)
    return 0


def _run(args: list[str]) -> None:
    """Run a file or a module as Python does: as `__main__`, with its arguments."""
    if args[0] == "-m":
        sys.argv = args[1:]
        runpy.run_module(args[1], run_name="__main__", alter_sys=True)
        return
    sys.argv = args
    sys.path[:] = [path for path in sys.path if path != str(Path.cwd())]
    sys.path.insert(0, str(Path(args[0]).resolve().parent))
    runpy.run_path(args[0], run_name="__main__")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
