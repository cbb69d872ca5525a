# SPDX-License-Identifier: MIT
"""``autocalc bench kernels``: the speed of a kernel set on this machine."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

import click

from autocalc._dispatch.machine.thread_budget import get_num_threads
from autocalc._dispatch.plugins.discovery import registry
from autocalc._dispatch.selection.select import find_set
from autocalc._tensor.dtypes import as_dtype
from autocalc.cli._common import choose_machine
from autocalc.cli._progress import Rows
from autocalc.cli._timing import TimedRow, rows_of, seconds_of
from autocalc.cli._words import Number
from autocalc.errors import ConfigError


@dataclass(frozen=True)
class Comparison:
    """One call with a kernel set and with its rival."""

    kernel: str
    operands: str
    dtype: str
    #: The measured set.
    set: str
    #: The median time of a call.
    seconds: float
    rate: float
    unit: str
    #: None if no other set supports the call.
    rival: str | None
    rival_seconds: float | None
    #: How many times as fast as the rival.
    ratio: float | None


@click.command(
    "kernels", short_help="Compare the fastest kernel set with the next one."
)
@click.argument("names", metavar="[KERNEL]...", nargs=-1)
@click.option(
    "--kernels",
    "chosen",
    metavar="SET",
    help="The kernel set or family to measure.  [default: the best one for each call]",
)
@click.option(
    "--against",
    metavar="SET",
    help="The set to compare with.  [default: the next best one of another family]",
)
@click.option(
    "--dtype",
    type=click.Choice(["float32", "bfloat16", "float16"]),
    default="float32",
    show_default=True,
    help="The dtype of the floating-point operands.",
)
@click.option(
    "--seconds",
    type=Number(0.01),
    default=0.3,
    show_default=True,
    help="The time for each row of the table.",
)
@click.option(
    "--threads",
    type=click.IntRange(1),
    help="The number of threads.  [default: the number of usable cores]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_context
def bench_kernels_command(
    ctx: click.Context,
    /,
    names: tuple[str, ...],
    chosen: str | None,
    against: str | None,
    dtype: str,
    seconds: float,
    threads: int | None,
    as_json: bool,
) -> None:
    """Compare the speed of two kernel sets on typical operands of models.

    The two sets run in turn, so that other programs slow both of them.  Times are
    medians.  GFLOP/s is the rate of floating-point operations, for kernels that mostly
    compute.  GB/s is the rate of bytes, for kernels that mostly move data.  Without
    KERNEL, all kernels are measured.  Calls that a set does not support are skipped and
    counted.

    \b
    Examples:
      autocalc bench kernels
      autocalc bench kernels gemm linear --kernels blas
      autocalc bench kernels gemm --dtype bfloat16
      autocalc bench kernels softmax --against reference --threads 1
    """
    choose_machine(ctx, threads, None)
    subject = _set(chosen, "--kernels") if chosen else None
    rival = _set(against, "--against") if against else None
    if rival is not None and rival == subject:
        message = (
            f"{subject} is the set that is measured; name another set to compare with."
        )
        raise click.BadParameter(message, param_hint="--against")
    left_out: list[str] = []
    empty = True
    rows = Rows(rows_of(names))
    for row in rows:
        call = TimedRow(row, as_dtype(dtype))
        line = _measured(call, subject, rival, seconds)
        if isinstance(line, str):
            left_out.append(line)
            continue
        if empty and not as_json:
            rows.say(_heading(dtype))
        rows.say(json.dumps(asdict(line)) if as_json else _shown(line))
        empty = False
    if empty:
        raise click.ClickException(f"nothing was measured: {left_out[0]}.")
    if left_out:
        click.echo(f"{len(left_out)} calls left out; {left_out[0]}", err=True)


def _set(choice: str, option: str) -> str:
    try:
        return find_set(registry(), choice).name
    except ConfigError as error:
        raise click.BadParameter(str(error), param_hint=option) from error


def _measured(
    call: TimedRow, subject: str | None, rival: str | None, seconds: float
) -> Comparison | str:
    """Return the line of a call, or the reason why there is none."""
    if not call.is_of_dtype:
        return f"{call.row.name}: no operand is of float32"
    able = call.sets()
    subject = subject or _other(able, rival)
    for name in (subject, rival):
        if name is not None and name not in able:
            return f"{call.row.name}: {name} does not take it: {call.refusal(name)}"
    if subject is None:
        return f"{call.row.name}: no set of another family than {rival}'s takes it"
    other = rival or _other(able, subject)
    times = seconds_of(call, [subject, other] if other else [subject], seconds)
    return Comparison(
        call.row.kernel,
        call.row.operands,
        call.dtype.name,
        subject,
        times[subject],
        call.work / times[subject] / 1e9,
        "GFLOP/s" if call.row.by_products else "GB/s",
        other,
        times[other] if other else None,
        times[other] / times[subject] if other else None,
    )


def _other(able: list[str], name: str | None) -> str | None:
    """Return the best set outside of the family of `name`."""
    sets = registry().sets
    family = None if name is None else sets[name].family
    return next((n for n in able if sets[n].family != family), None)


def _heading(dtype: str) -> str:
    return (
        f"{get_num_threads()} threads; {dtype}; the last columns say how many times as "
        f"fast a set is as which other\n"
        f"{'kernel':20}{'operands':32}{'set':22}{'time':>10}{'rate':>16}{'ratio':>8}"
        f"  against"
    )


def _shown(line: Comparison) -> str:
    ratio = "" if line.ratio is None else f"{line.ratio:.2f}"
    return (
        f"{line.kernel:20}{line.operands:32}{line.set:22}{_time(line.seconds):>10}"
        f"{line.rate:9.1f} {line.unit:7}{ratio:>7}  {line.rival or 'no other set'}"
    )


def _time(seconds: float) -> str:
    return f"{1e3 * seconds:.2f} ms" if seconds >= 1e-3 else f"{1e6 * seconds:.1f} us"
