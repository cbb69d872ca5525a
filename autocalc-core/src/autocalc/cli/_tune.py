# SPDX-License-Identifier: MIT
"""``autocalc tune``: let measured times choose the kernel sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import click

from autocalc._dispatch.machine.thread_budget import get_num_threads
from autocalc._dispatch.plugins.precision import matmul_precision
from autocalc._dispatch.selection import tuning
from autocalc._dispatch.selection.choice import reload
from autocalc._kernels.benchmarks import BenchmarkRow
from autocalc._kernels.table import TABLE
from autocalc.cli._common import choose_machine
from autocalc.cli._progress import Rows
from autocalc.cli._room import objection
from autocalc.cli._timing import TimedRow, rows_of, seconds_of
from autocalc.cli._words import Number


@click.command("tune")
@click.argument("names", metavar="[KERNEL]...", nargs=-1)
@click.option(
    "--seconds",
    type=Number(0.01),
    default=0.5,
    show_default=True,
    help="The time for each call.",
)
@click.option(
    "--threads",
    type=click.IntRange(1),
    help="The number of threads.  [default: the number of usable cores]",
)
@click.option("--forget", is_flag=True, help="Delete the stored times instead.")
@click.pass_context
def tune_command(
    ctx: click.Context,
    /,
    names: tuple[str, ...],
    seconds: float,
    threads: int | None,
    forget: bool,
) -> None:
    """Measure the installed kernel sets on this machine, and let the times choose.

    Without measured times, the ranks of the sets choose.  The command measures kernels
    whose best set may depend on shapes: products, convolutions, attention and recurrent
    layers.  It stores the times in the user's cache folder.  They are used for calls
    whose dimensions differ by at most a factor of 2, on this CPU, with this number of
    threads and the same installed packages.  No other command or function measures
    kernels to choose them.  Close other programs first.

    \b
    Examples:
      autocalc tune
      autocalc tune gemm linear --seconds 2
      autocalc explain gemm 256x784 784x1024     shows the times that decided
      AUTOCALC_TUNE=off autocalc train mnist     ignores the stored times
      autocalc tune --forget
    """
    choose_machine(ctx, threads, None)
    if forget:
        _forget()
        return
    rows = rows_of(names)
    _check_cache()
    with matmul_precision("medium"):  # all sets have it; calls have their own
        measured = list(_measured(rows, seconds))
    if not measured:
        click.echo(f"Nothing to measure: {_why_nothing(rows)}")
        return
    anew = {one.kernel for one in measured}
    kept = [old for old in tuning.known() if old.kernel not in anew]
    path = tuning.write([*kept, *measured])
    reload()
    wins = Counter(one.fastest_first[0] for one in measured)
    summary = ", ".join(f"{name} {count}" for name, count in wins.most_common())
    click.echo(
        f"Chosen for {len(measured)} calls on {get_num_threads()} threads: {summary}.\n"
        f"From now on these times choose; they are kept in {path}"
    )


def _check_cache() -> None:
    """Check before the measurements whether the record can be stored."""
    folder = tuning.path_of_record().parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        why = objection(folder)
    except OSError as error:
        why = f"{folder} cannot be made: {error.strerror or error}"
    if why:
        raise click.ClickException(
            f"{why}; nothing was measured. Free some space there, or set "
            "AUTOCALC_CACHE_DIR to a writable folder."
        )


def _why_nothing(rows: Sequence[BenchmarkRow]) -> str:
    by_shape = [row for row in rows if TABLE[row.kernel].key == "shapes"]
    if not by_shape:
        names = ", ".join(sorted({row.kernel for row in rows}))
        return (
            f"the choice for {names} does not depend on shapes, so ranks choose; "
            f"`autocalc bench kernels` shows what each set is worth."
        )
    return (
        "no call is taken by more than one kernel set. Another kernel package would "
        "change that; `autocalc kernels` shows all."
    )


def _forget() -> None:
    path = tuning.path_of_record()
    path.unlink(missing_ok=True)
    reload()
    click.echo(f"The ranks choose again; there is no {path} any more.")


def _measured(
    rows: Sequence[BenchmarkRow], seconds: float
) -> Iterator[tuning.Measured]:
    """Time and show the calls for which there is a choice."""
    shown = Rows(rows)
    for row in shown:
        if TABLE[row.kernel].key != "shapes":
            continue
        call = TimedRow(row)
        rivals = [name for name in call.sets() if name != "reference"]
        if len(rivals) > 1:
            times = seconds_of(call, rivals, seconds)
            one = tuning.measured(call.key, row.operands, times)
            shown.say(_shown(one))
            yield one


def _shown(one: tuning.Measured) -> str:
    best, *rest = one.fastest_first
    others = "".join(
        f", {name} {one.seconds[name] / one.seconds[best]:.2f}x" for name in rest
    )
    return f"{one.kernel} {one.label}: {best} {1e6 * one.seconds[best]:.4g} us{others}"
