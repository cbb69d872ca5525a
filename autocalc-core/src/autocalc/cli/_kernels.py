# SPDX-License-Identifier: MIT
"""``autocalc kernels``."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any

import click

from autocalc import kernels
from autocalc._config import VARIABLES
from autocalc._dispatch.explain.explain import Report
from autocalc.cli._chosen import chosen
from autocalc.cli._kernel_spec import as_text, spec_of


@click.command("kernels")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option(
    "--verbose", "-v", is_flag=True, help="Print the traceback of each refusal."
)
@click.option(
    "--forget",
    metavar="SET",
    help="Delete the self-test result of SET, so that it is tested again.",
)
@click.option(
    "--spec",
    "kernel",
    metavar="KERNEL",
    help="Print the signature, formula, error budget and samples of a kernel.",
)
def kernels_command(
    as_json: bool, verbose: bool, forget: str | None, kernel: str | None
) -> None:
    """Show which kernels are installed, chosen and refused, and why.

    A kernel set of another author is tested in a separate process before its first use
    on a machine.

    \b
    Examples:
      autocalc kernels
      AUTOCALC_CPU_FEATURES=-avx512f autocalc kernels
      autocalc kernels --forget mine
      autocalc kernels --spec gelu
      autocalc kernels --json | python -m json.tool
    """
    if forget is not None:
        click.echo(_forgotten(forget))
        return
    if kernel is not None:
        click.echo(as_text(spec_of(kernel), as_json))
        return
    report, choice = kernels.show(), chosen()
    if as_json:
        click.echo(json.dumps({**asdict(report), "chosen": choice}, indent=2))
    else:
        _print(report, choice, verbose)


def _forgotten(name: str) -> str:
    """Remove the records of a set, and report the consequence."""
    from autocalc._dispatch.plugins import records

    if records.forget(name):
        return f"The self-test of {name} is forgotten: its next use tests it once more."
    known = sorted({record.set for _, record in records.all_records()})
    raise click.BadParameter(
        f"no self-test of a kernel set {name!r} is recorded on this machine. Recorded "
        f"self-tests: {', '.join(known) or 'none'}.",
        param_hint="--forget",
    )


def _print(report: Report, choice: dict[str, str], verbose: bool) -> None:
    from rich.console import Console  # 60 ms of import

    # Output to a file or a pipe is not cut to the width of a terminal.
    width = None if sys.stdout.isatty() else 500
    console = Console(file=sys.stdout, width=width, highlight=False, markup=False)
    _print_machine(console, report)
    _print_sets(console, report)
    _print_choice(console, choice)
    _print_refusals(console, report, verbose)
    _print_environment(console, report)


def _table(console: Any, title: str, *rows: tuple[str, ...]) -> None:
    """Print a heading, and below it rows in columns."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    for row in rows:
        grid.add_row("", *map(Text, row))
    with console.capture() as captured:
        console.print(Text(f"\n{title}", style="bold"))
        console.print(grid)
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def _print_machine(console: Any, report: Report) -> None:
    threads = "1 thread" if report.threads == 1 else f"{report.threads} threads"
    lines = [
        ("CPU", f"{report.cpu}, {threads}"),
        ("features", " ".join(report.features) or "none that a kernel set asks for"),
        ("hidden", " ".join(report.hidden)),
        ("missing", " ".join(report.missing)),
        ("tuning", report.tuning),
    ]
    _table(console, "Machine", *((name, text) for name, text in lines if text))


def _print_sets(console: Any, report: Report) -> None:
    rows = [
        (s.name, f"rank {s.rank}", f"{s.kernels} kernels", s.package, s.origin)
        for s in report.sets
    ]
    _table(console, "Kernel sets, best first", *rows)
    details = [(s.name, *item) for s in report.sets for item in s.info.items()]
    if details:
        _table(console, "Details of the sets", *details)


def _print_choice(console: Any, choice: dict[str, str]) -> None:
    by_set: dict[str, list[str]] = {}
    for kernel, name in choice.items():
        by_set.setdefault(name, []).append(kernel)
    rows = [
        (name, f"{len(ran)} of {len(choice)}", " ".join(ran))
        for name, ran in sorted(by_set.items(), key=lambda item: -len(item[1]))
    ]
    _table(console, "Chosen for ordinary operands", *rows)


def _print_refusals(console: Any, report: Report, verbose: bool) -> None:
    if not report.refusals:
        return
    rows = [(r.subject, r.reason, r.origin) for r in report.refusals]
    _table(console, "Refused", *rows)
    for refusal in report.refusals:
        if verbose and refusal.traceback:
            console.print(f"\n{refusal.subject}:\n{refusal.traceback}")


def _print_environment(console: Any, report: Report) -> None:
    rows = [
        (name, report.environment.get(name, "-"), meaning)
        for name, meaning in VARIABLES.items()
    ]
    _table(console, "Environment", *rows)
