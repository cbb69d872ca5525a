# SPDX-License-Identifier: MIT
"""The common part of the commands that train."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from autocalc import kernels
from autocalc._dispatch.machine.thread_budget import chosen_budget, warn_if_over
from autocalc._dispatch.plugins.threads import apply_budget
from autocalc.cli._room import check_room
from autocalc.distributed._group import are_several
from autocalc.errors import ConfigError

FILE = click.Path(dir_okay=False, path_type=Path)
Command = TypeVar("Command", bound="Callable[..., Any] | click.Command")

_MACHINE = (
    click.option(
        "--threads",
        type=click.IntRange(1),
        help="The number of threads.  [default: the number of usable cores]",
    ),
    click.option(
        "--kernels",
        "choices",
        metavar="SETS",
        help="The kernel sets or families to prefer, best first: simd,blas.  "
        "[default: by rank]",
    ),
)

#: The value that keeps the kernels of an earlier run.
locked_option = click.option(
    "--locked",
    metavar="FILE",
    type=FILE,
    help="Run exactly the kernels of a lock or of a checkpoint, or fail.",
)


def machine_options(command: Command) -> Command:
    """Add the options that `choose_machine` reads."""
    for option in reversed(_MACHINE):
        command = option(command)
    return command


#: Whether steps are recorded and replayed.
compile_option = click.option(
    "--compile/--no-compile",
    "compiled",
    default=True,
    show_default=True,
    help="Compile the training step: the losses are the same, and a step is faster.",
)


def choose_machine(
    ctx: click.Context,
    threads: int | None,
    choices: str | None,
    locked: Path | None = None,
) -> None:
    """Choose threads and kernels for this command only."""
    if threads is not None:
        ctx.call_on_close(partial(apply_budget, chosen_budget()))
        warn_if_over(f"--threads {threads}", threads)
        apply_budget(threads)
    if locked is not None:
        _lock(ctx, locked, choices)
    if choices is None:
        return
    words = [word.strip() for word in choices.split(",") if word.strip()]
    try:
        ctx.with_resource(kernels.use(*words))
    except ConfigError as error:
        raise click.BadParameter(str(error), param_hint="--kernels") from error


def _lock(ctx: click.Context, locked: Path, choices: str | None) -> None:
    """Run the kernels that a file names."""
    if choices is not None:
        message = "--locked and --kernels both choose the kernels; give one of them."
        raise click.UsageError(message)
    ctx.with_resource(kernels.use_lock(locked))


def check_folder(name: str, path: Path | None) -> None:
    """Check now for errors that would otherwise appear after hours of training."""
    if path is not None and not path.absolute().parent.is_dir():
        message = f"the folder {path.parent} does not exist; create it first."
        raise click.BadParameter(message, param_hint=name)
    check_room(name, path)


def given_by_user(ctx: click.Context, name: str) -> bool:
    """Return whether the user gave an option."""
    return ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT


def refuse_changes(
    ctx: click.Context,
    saved: Path,
    config: Any,
    settings: dict[str, Any],
    names: Iterable[str],
) -> None:
    """Raise if an option of the user contradicts a saved training."""
    for name in names:
        if given_by_user(ctx, name) and settings[name] != getattr(config, name):
            option = name.replace("_", "-")
            raise click.UsageError(
                f"--{option} {settings[name]}: {saved} is a training run with "
                f"{getattr(config, name)}, which cannot be changed when the run is "
                f"resumed; use --finetune {saved} to start a new run with its model."
            )


@contextmanager
def interruptible() -> Iterator[list[int]]:
    """Collect Ctrl-C and SIGTERM in a list, so that no step is interrupted.

    A second signal ends the program at once.  Schedulers and containers end programs
    with SIGTERM.

    With several ranks, each would stop at a different step, so the first signal ends
    all of them.
    """
    seen: list[int] = []
    if are_several():
        yield seen
        return

    def note(number: int, _frame: object) -> None:
        if seen:
            raise KeyboardInterrupt
        seen.append(number)

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, note) for number in numbers]
    try:
        yield seen
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def new_file(stem: str) -> Path:
    """Return the name of a file that does not exist in the current folder."""
    path, count = Path(f"{stem}.safetensors"), 1
    while path.exists():
        count += 1
        path = Path(f"{stem}-{count}.safetensors")
    return path


def sets_used(calls: Counter[tuple[str, str]]) -> str:
    """Return which sets ran in a step, the busiest first, and what others did."""
    by_set: dict[str, list[str]] = {}
    for kernel, name in calls:
        by_set.setdefault(name, []).append(kernel)
    busiest, *others = sorted(by_set, key=lambda name: -len(by_set[name]))
    rest = [f"{name} ({', '.join(sorted(by_set[name]))})" for name in others]
    return ", ".join([busiest, *rest])
