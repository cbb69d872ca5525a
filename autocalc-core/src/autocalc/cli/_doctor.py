# SPDX-License-Identifier: MIT
"""``autocalc doctor``."""

from __future__ import annotations

import json
from dataclasses import asdict
from textwrap import wrap

import click

from autocalc._doctor._finding import EXIT_CODES, LEVELS, Finding, worst
from autocalc.errors import ConfigError

_WIDTH = 88
_COLORS = {"ok": "green", "note": "cyan", "warning": "yellow", "error": "red"}


@click.command("doctor")
@click.option(
    "--model",
    "factory",
    metavar="FILE:FACTORY",
    help="Check a model instead: FACTORY() returns (model, inputs[, loss]).",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--quiet", "-q", is_flag=True, help="Print warnings and errors only.")
@click.pass_context
def doctor_command(
    ctx: click.Context, factory: str | None, as_json: bool, quiet: bool
) -> None:
    """Check whether this machine is used well, and say what to do if it is not.

    The command checks the CPU, cores and threads, memory, kernel packages, OpenMP and
    BLAS libraries, the floating-point state, and the speed of a matrix product.  It
    takes a few seconds.  With --model, it runs one step of a model and looks for
    parameters without gradients, unnecessary graphs, copies and dead units.

    Exit codes: 0 if all is well, 3 for warnings, 4 for errors that make results wrong.

    \b
    Examples:
      autocalc doctor
      autocalc doctor --quiet || echo "look at this machine first"
      autocalc doctor --model model.py:make
      autocalc doctor --json | python -m json.tool
    """
    findings = _findings(factory)
    level = worst(findings)
    if as_json:
        content = {"level": level, "findings": [asdict(one) for one in findings]}
        click.echo(json.dumps(content, indent=2))
    else:
        least = "warning" if quiet else "ok"
        for finding in findings:
            if LEVELS.index(finding.level) >= LEVELS.index(least):
                _print(finding)
        if not quiet:
            click.echo(_summary(findings))
    ctx.exit(EXIT_CODES[level])


def _findings(factory: str | None) -> list[Finding]:
    if factory is None:
        from autocalc._doctor._examine import examine

        return examine()
    from autocalc._doctor import _model as model
    from autocalc._doctor._factory import make, split

    try:
        split(factory)
    except ConfigError as error:
        raise click.BadParameter(str(error), param_hint="--model") from error
    return model.examine(*make(factory))


def _print(finding: Finding) -> None:
    mark = click.style(f"{finding.level:8}", fg=_COLORS[finding.level])
    texts = [f"{finding.subject}: {finding.text.rstrip('.')}."]
    texts += [finding.remedy] if finding.remedy else []
    lines = [
        line
        for text in texts
        for line in wrap(
            text, _WIDTH - 10, break_on_hyphens=False, break_long_words=False
        )
    ]
    click.echo(f"{mark}{lines[0]}")
    for line in lines[1:]:
        click.echo(f"{'':10}{line}")


def _summary(findings: list[Finding]) -> str:
    counts = {level: sum(f.level == level for f in findings) for level in LEVELS}
    return ", ".join(
        f"{count} {level}{'s' * (count != 1 and level != 'ok')}"
        for level, count in counts.items()
        if count
    )
