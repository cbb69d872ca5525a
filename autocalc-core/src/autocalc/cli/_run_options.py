# SPDX-License-Identifier: MIT
"""Options of a training that are not settings: files, plots, logs, stopping."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click

from autocalc._report import find_log, make_log
from autocalc._report._logs import Log, kind_of
from autocalc.cli._common import FILE, Command, check_folder
from autocalc.cli._plot import check_plot
from autocalc.errors import ArgumentError

PLACE = click.Path(path_type=Path)


@dataclass(frozen=True)
class RunOptions:
    """The options that every training has."""

    #: --plot
    picture: Path | None
    #: --save, --save-best
    target: Path | None
    best: Path | None
    patience: int | None
    #: --resume, --finetune
    saved: Path | None
    weights: Path | None
    #: --log
    place: Path | None
    as_json: bool
    force: bool
    quiet: bool

    @property
    def save_to(self) -> Path | None:
        """The file to save to after each evaluation."""
        return self.target or self.saved


def run_options(
    moment: str, best: str, finetunes: bool = True
) -> Callable[[Command], Command]:
    """Return a decorator that adds the options; `moment` says when a training saves.

    `best` describes the best model, for the help text.  `finetunes` says whether a new
    training can start with the model of a checkpoint.
    """
    new_start = click.option(
        "--finetune",
        "weights",
        metavar="FILE",
        type=FILE,
        help="Start a new training with the model of a checkpoint.",
    )
    options = (
        click.option(
            "--save",
            "target",
            metavar="FILE",
            type=FILE,
            help=f"Save a checkpoint after each {moment}.  "
            "[default: the file of --resume]",
        ),
        click.option(
            "--save-best",
            "best",
            metavar="FILE",
            type=FILE,
            help=f"Save a checkpoint whenever the model is the best so far: {best}.",
        ),
        click.option(
            "--patience",
            type=click.IntRange(1),
            help=f"Stop after so many {moment}s in a row without a better model.  "
            f"[default: never]",
        ),
        click.option(
            "--resume",
            "saved",
            metavar="FILE",
            type=FILE,
            help="Continue the training of a checkpoint.",
        ),
        new_start,
        click.option(
            "--log",
            "place",
            metavar="PLACE",
            type=PLACE,
            help="Log to a .jsonl or .csv file, or to a folder with records and "
            "TensorBoard events.",
        ),
        click.option(
            "--plot",
            "picture",
            metavar="FILE",
            type=click.Path(dir_okay=False, path_type=Path, allow_dash=True),
            help="Draw curves (.png, .svg, .pdf); - draws them in the terminal.",
        ),
        click.option(
            "--force", is_flag=True, help="Overwrite files and logs without a question."
        ),
        click.option(
            "--json",
            "as_json",
            is_flag=True,
            help="Print the result as JSON; write all else to standard error.",
        ),
        click.option("--quiet", "-q", is_flag=True, help="Print only the result."),
    )

    def add(command: Command) -> Command:
        for option in reversed(options):
            if finetunes or option is not new_start:
                command = option(command)
        return command

    return add


def take_options(settings: dict[str, Any], writes: bool = True) -> RunOptions:
    """Remove the options from the arguments of the command line, and check them.

    `writes` says whether this process writes the files.
    """
    values = {one.name: settings.pop(one.name, None) for one in fields(RunOptions)}
    options = RunOptions(**values)
    _check(options)
    if writes:
        _check_overwriting(options)
    return options


def open_log(options: RunOptions) -> Log | None:
    """Open the log; a resumed training appends to it."""
    if options.place is None:
        return None
    return make_log(options.place, append=options.saved is not None)


def _check(options: RunOptions) -> None:
    """Check now for errors that would otherwise appear after hours of training."""
    if options.saved is not None and options.weights is not None:
        raise click.UsageError(
            "--resume continues a training run, and --finetune starts a new one; give "
            "only one of them."
        )
    if options.best is not None and options.best == options.save_to:
        message = (
            f"{options.best} is the file of --save; give another file for the best "
            "checkpoint."
        )
        raise click.BadParameter(message, param_hint="--save-best")
    if options.picture is not None:
        check_plot(options.picture)
    check_folder("--plot", options.picture)
    check_folder("--save", options.target)
    check_folder("--save-best", options.best)
    check_folder("--log", options.place)
    if options.place is not None:
        try:
            kind_of(options.place)
        except ArgumentError as error:
            raise click.BadParameter(str(error), param_hint="--log") from error


def _check_overwriting(options: RunOptions) -> None:
    """Ask before a file is overwritten; refuse if there is nobody to ask."""
    for option, path in () if options.force else _overwritten(options):
        if can_ask():
            click.confirm(f"{option}: overwrite {path}?", abort=True, err=True)
        else:
            raise click.BadParameter(
                f"{path} exists and would be overwritten; add --force, or give "
                f"another name.",
                param_hint=option,
            )


def _overwritten(options: RunOptions) -> Iterator[tuple[str, Path]]:
    """Yield the files that exist and do not belong to this training."""
    target, saved = options.target, options.saved
    if target is not None and target.exists() and not _same(target, saved):
        yield "--save", target
    if saved is not None:
        return  # its log is appended to; its best score is known
    if options.best is not None and options.best.exists():
        yield "--save-best", options.best
    earlier = None if options.place is None else find_log(options.place)
    if earlier is not None:
        yield "--log", earlier


def _same(one: Path, other: Path | None) -> bool:
    return other is not None and other.exists() and one.samefile(other)


def can_ask() -> bool:
    """Return whether there is a person to ask."""
    return sys.stdin.isatty() and sys.stderr.isatty()
