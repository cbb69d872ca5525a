# SPDX-License-Identifier: MIT
"""``autocalc bench``: the cost of training on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, product
from statistics import median
from time import perf_counter
from typing import Any

import click

from autocalc.cli._bench_distributed import bench_distributed_command
from autocalc.cli._bench_kernels import bench_kernels_command
from autocalc.cli._bench_scaling import bench_scaling_command
from autocalc.cli._common import choose_machine, machine_options
from autocalc.cli._text_screen import perplexity
from autocalc.cli._train_text import check_sizes, choice_option, size_options
from autocalc.cli._words import Commands
from autocalc.data import Characters
from autocalc.models import TextConfig, TextTraining
from autocalc.models._training import OPTIMIZERS

#: Steps before the timing starts.  They choose kernels, allocate memory and warm the
#: caches.
WARM = 3

SWEEP: dict[str, tuple[Any, ...]] = {
    "seq_len": (32, 128, 256),
    "heads": (4, 8),
    "layers": (2, 6, 12),
}


@dataclass(frozen=True)
class StepCost:
    """The times of steps of one size."""

    seq_len: int
    heads: int
    layers: int
    parameters: int
    #: The median time.
    milliseconds: float
    tokens_per_second: float
    #: The value of the last step.
    loss: float


@click.group("bench", cls=Commands)
def bench_command() -> None:
    """Measure the time of kernels and of training steps on this machine.

    \b
    Examples:
      autocalc bench kernels --kernels simd
      autocalc bench lm
      autocalc bench scaling
      autocalc bench lm --sweep
      mpirun -n 2 autocalc bench distributed
      autocalc bench lm --seq-len 256 --layers 12 --kernels reference
    """


bench_command.add_command(bench_kernels_command)
bench_command.add_command(bench_distributed_command)
bench_command.add_command(bench_scaling_command)


@bench_command.command("lm", short_help="Time training steps of transformers.")
@size_options
@choice_option("optimizer", OPTIMIZERS, "The optimizer.")
@click.option(
    "--steps",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="The number of timed steps, after three warm-up steps.",
)
@click.option(
    "--sweep",
    is_flag=True,
    help="Combine 32, 128, 256 characters, 4, 8 heads and 2, 6, 12 blocks.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@machine_options
@click.pass_context
def lm_command(
    ctx: click.Context,
    /,
    steps: int,
    sweep: bool,
    as_json: bool,
    threads: int | None,
    choices: str | None,
    **sizes: Any,
) -> None:
    """Time training steps of transformers on a text that is part of CPython.

    A step includes everything: the batch, forward, backward, clipping and AdamW.  Times
    are medians.  Other programs that run at the same time make them longer.

    \b
    Examples:
      autocalc bench lm
      autocalc bench lm --sweep --steps 5
      autocalc bench lm --batch-size 8 --seq-len 128 --layers 6 --threads 1
    """
    choose_machine(ctx, threads, choices)
    usual = TextConfig(steps=WARM + steps, eval_every=WARM + steps + 1, **sizes)
    for config in configs(usual, sweep):
        check_sizes(config)
    text = Characters.from_file()
    if not as_json:
        click.echo(
            f"batch size {usual.batch_size}, d model {usual.d_model}, "
            f"{len(text.vocabulary)} characters, {usual.optimizer}\n"
            f"  seq  heads  layers  parameters   ms/step   tokens/s    loss  perplexity"
        )
    for config in configs(usual, sweep):
        row = measure(text, config)
        click.echo(json.dumps(vars(row)) if as_json else shown(row))


def configs(usual: TextConfig, sweep: bool) -> Iterator[TextConfig]:
    """Yield the settings to measure, small ones first."""
    if not sweep:
        yield usual
        return
    for values in product(*SWEEP.values()):
        sizes: dict[str, Any] = dict(zip(SWEEP, values, strict=True))
        yield replace(usual, **sizes)


def measure(text: Characters, config: TextConfig) -> StepCost:
    """Train the steps of `config`; return what they cost."""
    training = TextTraining(text, config)
    seconds = []
    started = perf_counter()
    for _ in islice(training.run(), config.steps):
        now = perf_counter()
        seconds.append(now - started)
        started = now
    typical = median(seconds[WARM:])
    return StepCost(
        config.seq_len,
        config.heads,
        config.layers,
        sum(p.numel() for p in training.model.parameters()),
        1e3 * typical,
        config.batch_size * config.seq_len / typical,
        training.history.losses[-1],
    )


def shown(row: StepCost) -> str:
    """Return a row of the table as text."""
    return (
        f"{row.seq_len:5}{row.heads:7}{row.layers:8}{row.parameters:12,}"
        f"{row.milliseconds:10.2f}{row.tokens_per_second:11,.0f}{row.loss:8.3f}"
        f"{perplexity(row.loss):>12}"
    )
