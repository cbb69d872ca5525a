# SPDX-License-Identifier: MIT
"""``autocalc profile``, and ``--profile`` of the commands that train."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from autocalc.cli._common import FILE, check_folder, choose_machine, machine_options
from autocalc.cli._progress import say
from autocalc.errors import PluginError

#: The value of a profile that is only printed.
_PRINTED = "-"

#: The number of steps that ``--profile`` of a training records.
_STEPS = 100

profile_option = click.option(
    "--profile",
    "profile",
    metavar="[FILE.html]",
    is_flag=False,
    flag_value=_PRINTED,
    help=f"Print what took time in {_STEPS} steps, or write it as an HTML page.",
)


@click.command(
    "profile",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("script", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("arguments", metavar="[ARGUMENT]...", nargs=-1)
@click.option(
    "--by",
    "groups",
    type=click.Choice(["kernel", "operator", "module"]),
    multiple=True,
    help="The rows of the table.  The option can be repeated.  [default: kernel]",
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="The largest number of rows of a table.",
)
@click.option(
    "--steps",
    type=click.IntRange(1),
    help="The number of recorded steps.  [default: all]",
)
@click.option(
    "--warmup",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="The number of steps at the beginning that are not recorded.",
)
@click.option(
    "--html", metavar="FILE", type=FILE, help="Write an HTML page with all results."
)
@click.option(
    "--trace",
    metavar="FILE",
    type=FILE,
    help="Write all calls into a .json file for Perfetto.",
)
@click.option(
    "--roofline",
    metavar="FILE",
    type=FILE,
    help="Draw the roofline into a .svg or .png file.",
)
@click.option(
    "--peaks",
    is_flag=True,
    help="First measure the peak speeds of this machine, in about 5 s.",
)
@machine_options
@click.pass_context
def profile_command(
    ctx: click.Context,
    /,
    script: Path,
    arguments: tuple[str, ...],
    groups: tuple[str, ...],
    limit: int,
    steps: int | None,
    warmup: int,
    html: Path | None,
    trace: Path | None,
    roofline: Path | None,
    peaks: bool,
    threads: int | None,
    choices: str | None,
) -> None:
    """Run SCRIPT with its arguments, and show what took time.

    Options must come before SCRIPT; arguments after it are passed to the script.  A
    step ends when the script calls ac.profiler.step().  If it never does, each step of
    an optimizer ends a step.  The command prints tables and the most useful advice.

    \b
    Examples:
      autocalc profile train.py
      autocalc profile --by module --by operator --steps 20 train.py --epochs 1
      autocalc profile --peaks --html profile.html train.py
      autocalc profile --trace trace.json train.py     open it in ui.perfetto.dev
    """
    from autocalc import profiler

    files = {"--html": html, "--trace": trace, "--roofline": roofline}
    for name, path in files.items():
        check_folder(name, path)
    choose_machine(ctx, threads, choices)
    if peaks:
        profiler.measure_peaks()
    with profiler.profile(warmup=warmup, steps=steps) as prof:
        code = _run(script, arguments)
    _show_all(prof, groups or ("kernel",), limit)
    if html is not None:
        prof.html(html, title=f"Profile of {script.name}")
    if trace is not None:
        prof.chrome_trace(trace)
    if roofline is not None:
        prof.roofline(roofline)
    for path in filter(None, files.values()):
        click.echo(f"Written: {path}")
    ctx.exit(code)


def _run(script: Path, arguments: tuple[str, ...]) -> int:
    """Run a script as Python does; return its exit code."""
    before = sys.argv[:], sys.path[:]
    sys.argv = [str(script), *arguments]
    sys.path[0] = str(script.resolve().parent)
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        click.echo(end.code, err=True)
        return 1
    finally:
        sys.argv[:], sys.path[:] = before
    return 0


def _show_all(
    prof: Any, groups: Sequence[str], limit: int = 20, *, aside: bool = False
) -> None:
    """Print tables and advice, with each sentence only once."""
    said: list[str] = []
    for by in groups:
        table = prof.table(by, limit=limit)
        table.leave_out(said)
        said += table.notes()
        _show(table, aside=aside)
    advice = prof.advice()
    advice.notes = [note for note in advice.notes if note not in said]
    say(f"\n{advice}", aside)


def _show(table: Any, *, aside: bool = False) -> None:
    """Print a table: in colour at the width of a terminal, as plain text elsewhere.

    With `aside`, print to standard error, because programs read standard output.
    """
    if (sys.stderr if aside else sys.stdout).isatty():
        from rich.console import Console

        Console(stderr=aside).print(table)
    else:
        click.echo(table, err=aside)


def check_profile(given: str | None) -> None:
    """Check now for errors that would otherwise appear after hours of training."""
    if given is None or given == _PRINTED:
        return
    path = Path(given)
    if path.suffix.lower() not in {".html", ".htm"}:
        message = (
            f"--profile: {path} is not the name of a page; give a name that ends with "
            ".html."
        )
        raise PluginError(message)
    check_folder("--profile", path)


@contextmanager
def profiled(given: str | None, as_json: bool = False) -> Iterator[None]:
    """If requested, profile the first steps of a training, and show them."""
    if given is None:
        yield
        return
    from autocalc import profiler

    with profiler.profile(steps=_STEPS) as prof:
        yield
    if given == _PRINTED:
        _show_all(prof, ("kernel",), aside=as_json)
        return
    prof.html(Path(given), title="Profile of a training")
    click.echo(f"Profile written to {given}.", err=as_json)
