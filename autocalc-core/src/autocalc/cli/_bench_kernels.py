# SPDX-License-Identifier: MIT
"""``autocalc bench kernels``: what a kernel set is worth on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import click

from autocalc._dispatch._plugins import registry
from autocalc._dispatch._select import find_set
from autocalc._dispatch._thread_budget import get_num_threads
from autocalc.cli._common import choose_machine
from autocalc.cli._timing import Call, rows_of, seconds_of, with_progress
from autocalc.errors import ConfigError


@dataclass(frozen=True)
class Line:
    """One call: a kernel set beside its rival."""

    kernel: str
    operands: str
    #: The median of a call.
    seconds: float
    rate: float
    unit: str
    rival: str
    rival_seconds: float
    #: How many times as fast as the rival.
    ratio: float


@click.command("kernels", short_help="Every kernel of a set beside the next best set.")
@click.argument("names", metavar="[KERNEL]...", nargs=-1)
@click.option(
    "--kernels",
    "chosen",
    metavar="SET",
    help="The kernel set or family to measure.  [default: the best that is installed]",
)
@click.option(
    "--against",
    metavar="SET",
    help="What to compare with.  [default: the next best of another family]",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0.01),
    default=0.3,
    show_default=True,
    help="Time for each row.",
)
@click.option("--threads", type=click.IntRange(1), help="Threads to compute on.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@click.pass_context
def bench_kernels_command(
    ctx: click.Context,
    /,
    names: tuple[str, ...],
    chosen: str | None,
    against: str | None,
    seconds: float,
    threads: int | None,
    as_json: bool,
) -> None:
    """Time the kernels of a set on operands as models have them, beside another set.

    Both take turns, so that what else the machine does slows both; times are medians.
    GFLOP/s count floating-point operations, where products lead; GB/s the bytes that
    must be moved.  Without KERNEL, all rows run; the set must take a call to be timed.

    \b
    Examples:
      autocalc bench kernels
      autocalc bench kernels gemm linear --kernels blas
      autocalc bench kernels softmax --against reference --threads 1
    """
    choose_machine(ctx, threads, None)
    subject = _set(chosen, "--kernels") if chosen else _best()
    rival = _set(against, "--against") if against else None
    if rival == subject:
        message = f"{subject} is what is measured; name another set."
        raise click.BadParameter(message, param_hint="--against")
    rows = rows_of(names)
    if not as_json:
        click.echo(
            f"{subject}, {get_num_threads()} threads; the last columns say how many "
            f"times as fast it is as which set\n"
            f"{'kernel':20}{'operands':32}{'time':>10}{'rate':>16}{'ratio':>8}  against"
        )
    for row in with_progress(rows):
        for line in _measured(Call(row), subject, rival, seconds):
            click.echo(json.dumps(asdict(line)) if as_json else _shown(line))


def _set(choice: str, option: str) -> str:
    try:
        return find_set(registry(), choice).name
    except ConfigError as error:
        raise click.BadParameter(str(error), param_hint=option) from error


def _best() -> str:
    found = registry()
    ranked = sorted(found.sets.values(), key=lambda s: (-s.rank, s.name))
    return next(s.name for s in ranked if found.kernels(s.name) is not None)


def _measured(
    call: Call, subject: str, rival: str | None, seconds: float
) -> Iterator[Line]:
    """Yield the line of a call, if both sets take it."""
    able = call.sets()
    sets = registry().sets
    family = sets[subject].family
    other = rival or next((n for n in able if sets[n].family != family), None)
    if subject not in able or other not in able:
        return
    times = seconds_of(call, [subject, other], seconds)
    yield Line(
        call.row.kernel,
        call.row.operands,
        times[subject],
        call.row.work(call.operands) / times[subject] / 1e9,
        "GFLOP/s" if call.row.by_products else "GB/s",
        other,
        times[other],
        times[other] / times[subject],
    )


def _shown(line: Line) -> str:
    return (
        f"{line.kernel:20}{line.operands:32}{_time(line.seconds):>10}"
        f"{line.rate:9.1f} {line.unit:7}{line.ratio:7.2f}  {line.rival}"
    )


def _time(seconds: float) -> str:
    return f"{1e3 * seconds:.2f} ms" if seconds >= 1e-3 else f"{1e6 * seconds:.1f} us"
