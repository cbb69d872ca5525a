# SPDX-License-Identifier: MIT
"""``autocalc report``."""

from __future__ import annotations

from pathlib import Path

import click

from autocalc._report import read_run, write_page
from autocalc.cli._common import FILE, check_folder
from autocalc.cli._run_options import PLACE


@click.command("report")
@click.argument("run", metavar="RUN", type=PLACE)
@click.option(
    "--output",
    "-o",
    "target",
    metavar="FILE",
    type=FILE,
    help="The page.  [default: report.html in the folder, or NAME.html for NAME.jsonl]",
)
def report_command(run: Path, target: Path | None) -> None:
    """Make an HTML page of a logged training.

    RUN is the folder or the .jsonl file of `autocalc train ... --log`.  The page shows
    the curves, the kernels that ran, the settings and the machine.  If the folder has a
    profile or records of gradients, it shows them, too.  The page is one file and needs
    no network.  It can be made during the training.

    \b
    Examples:
      autocalc report runs/first
      autocalc report log.jsonl --output page.html
    """
    check_folder("--output", target)
    found = read_run(run)
    if target is None:
        target = run / "report.html" if run.is_dir() else run.with_suffix(".html")
    if target.exists() and found.log is not None and target.samefile(found.log):
        message = f"{target} is the log; give another name for the page."
        raise click.BadParameter(message, param_hint="--output")
    write_page(found, target)
    click.echo(f"The page is {target}")
