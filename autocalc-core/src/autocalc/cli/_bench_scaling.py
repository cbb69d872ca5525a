# SPDX-License-Identifier: MIT
"""``autocalc bench scaling``: the gain from threads, measured and predicted."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from autocalc._dispatch.machine.cpu import cpu_name, usable_cores
from autocalc.cli._common import FILE
from autocalc.cli._plot import has_matplotlib
from autocalc.cli._progress import say
from autocalc.cli._scaling import Point, hand_off, job_recorder, measured, predicted
from autocalc.cli._scaling_steps import STEPS, kernels
from autocalc.cli._words import Number

ASSUMPTIONS = """\
* predicted, not measured: the longest part of each job, run on one core, and what ran
  outside of jobs, each the least of 5 times. One thread is the sum of all parts, as cut
  for 8. Assumed: {n} cores, each as fast as one alone, with caches and memory of its
  own; a hand-off of {level:.1f} us for each level of the tree of threads. What needs
  memory, as long vectors do, gains less."""

_KINDS = (".png", ".svg", ".pdf")


class Counts(click.types.StringParamType):
    """Numbers of threads, as ``1,2,4``."""

    name = "numbers"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        """Return the numbers in a text, in ascending order."""
        if isinstance(value, tuple):
            return value
        try:
            counts = {int(word) for word in value.split(",") if word.strip()}
        except ValueError:
            counts = {0}
        if min(counts, default=1) < 1 or max(counts, default=1) > 1024:
            message = f"{value!r} must be numbers from 1 to 1024, such as 8,16,64."
            self.fail(message, param, ctx)
        return tuple(sorted(counts))


@click.command("scaling", short_help="Measure the speed-up by more threads.")
@click.argument("names", metavar="[KERNEL]...", nargs=-1)
@click.option(
    "--threads",
    type=Counts(),
    help="Numbers of threads to measure: 1,2,4.  [default: 1, 2, 4 ... cores]",
)
@click.option(
    "--predict",
    type=Counts(),
    default=(8, 16, 64),
    help="The numbers of threads to predict; '' for none.  [default: 8,16,64]",
)
@click.option(
    "--seconds",
    type=Number(0.01),
    default=1.0,
    show_default=True,
    help="The time for each step and kernel.",
)
@click.option(
    "--plot", type=FILE, help="Draw the speed-ups into a .png, .svg or .pdf file."
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def bench_scaling_command(
    names: tuple[str, ...],
    threads: tuple[int, ...] | None,
    predict: tuple[int, ...],
    seconds: float,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Time training steps and kernels with several numbers of threads.

    The table has the time, the speed-up, the efficiency, and the serial share by
    Amdahl's law.  For more threads than this machine has cores, times are predicted
    from the critical path: the longest part of all work that threads share, plus all
    work that they do not share.  Without KERNEL, some training steps and the largest
    cases of some kernels are measured.

    \b
    Examples:
      autocalc bench scaling
      autocalc bench scaling gemm attention_backward --threads 1,2,4
      autocalc bench scaling --predict 8,64 --plot scaling.svg
    """
    if plot is not None:
        _check_plot(plot)
    counts = tuple(sorted({1, *(threads or _usual())}))
    recorder = job_recorder() if predict else None
    if predict and recorder is None:
        say("No kernel set in use records its jobs: nothing is predicted.", err=True)
    level = hand_off(recorder, min(usable_cores(), 8)) if recorder else 0.0
    makers = {**({} if names else STEPS), **kernels(names)}
    found: dict[str, list[Point]] = {}
    if not as_json:
        click.echo(f"{cpu_name()}, {usable_cores()} cores")
    for name, make in makers.items():
        work = make()
        points = measured(work, counts, seconds)
        if recorder is not None:
            points += predicted(work, recorder, predict, level)
        found[name] = points
        click.echo(_json(name, points) if as_json else "\n".join(_lines(name, points)))
    if recorder is not None and not as_json:
        click.echo(ASSUMPTIONS.format(n=predict[-1], level=1e6 * level))
    if plot is not None:
        _draw(found, plot)


def _usual() -> Iterable[int]:
    """Return the powers of two up to the number of usable cores, and that number."""
    cores = usable_cores()
    return (*(1 << i for i in range(cores.bit_length()) if 1 << i <= cores), cores)


def _lines(name: str, points: list[Point]) -> list[str]:
    lines = [f"\n{name}", "  threads        ms  speed-up  efficiency"]
    for p in points:
        told = (
            f"  {p.jobs} jobs, {p.tasks:g} tasks in the median" if p.predicted else ""
        )
        lines.append(
            f"  {p.threads:5}{' *' if p.predicted else '  '}{1e3 * p.seconds:10.3f}"
            f"{p.speed_up:10.2f}{p.speed_up / p.threads:12.2f}{told}"
        )
    many = [p for p in points if p.threads > 1 and not p.predicted]
    if many:
        lines.append(
            f"  serial share by Amdahl's law, from {many[-1].threads} threads: "
            f"{many[-1].serial_share:.3f}"
        )
    return lines


def _json(name: str, points: list[Point]) -> str:
    return json.dumps({"name": name, "points": [asdict(point) for point in points]})


def _check_plot(path: Path) -> None:
    if path.suffix.lower() not in _KINDS:
        message = f"{path} must end with {', '.join(_KINDS[:-1])} or {_KINDS[-1]}."
        raise click.BadParameter(message, param_hint="--plot")
    if not has_matplotlib():
        raise click.UsageError(
            "--plot needs matplotlib. Get it with: pip install autocalc-core[plot]"
        )


def _draw(found: dict[str, list[Point]], path: Path) -> None:
    """Draw speed-ups against threads; predictions are dashed."""
    from matplotlib.figure import Figure  # 300 ms of import

    figure = Figure(figsize=(8, 6), layout="constrained")
    axes = figure.subplots()
    for name, points in found.items():
        seen = [p for p in points if not p.predicted]
        rest = seen[-1:] + [p for p in points if p.predicted]
        (line,) = axes.plot(*_speed_ups(seen), "o-", label=name)
        axes.plot(
            *_speed_ups(rest), *("o--",), color=line.get_color(), markerfacecolor="none"
        )
    most = max(p.threads for points in found.values() for p in points)
    axes.plot([1, most], [1, most], ":", color="gray", label="linear")
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="threads (dashed: predicted)",
        ylabel="speed-up",
    )
    axes.legend(fontsize="x-small")
    figure.savefig(path)
    say(f"Speed-ups drawn into {path}.")


def _speed_ups(points: list[Point]) -> tuple[list[int], list[float]]:
    return [p.threads for p in points], [p.speed_up for p in points]
