# SPDX-License-Identifier: MIT
"""``autocalc generate``."""

from __future__ import annotations

from pathlib import Path

import click

from autocalc.cli import _text_checkpoint as checkpoint
from autocalc.cli._common import FILE, choose_machine, machine_options
from autocalc.cli._words import Number, Seed
from autocalc.models import stream


@click.command("generate")
@click.argument("file", type=FILE)
@click.option(
    "--prompt",
    "-p",
    default="\n",
    help="The beginning of the text.  [default: a line break]",
)
@click.option(
    "--count",
    "-n",
    type=click.IntRange(0),
    default=500,
    show_default=True,
    help="The number of characters to write.",
)
@click.option(
    "--temperature",
    type=Number(0),
    default=0.8,
    show_default=True,
    help="Above 1: more random; below 1: less random; 0: not random.",
)
@click.option(
    "--top-k",
    type=click.IntRange(1),
    help="Draw only from the K most probable characters.  [default: all]",
)
@click.option(
    "--top-p",
    type=Number(0, 1, min_open=True),
    help="Draw only from the most probable ones with this total share.  [default: all]",
)
@click.option(
    "--seed",
    type=Seed(),
    help="The seed; the same seed gives the same text.  [default: random]",
)
@machine_options
@click.pass_context
def generate_command(
    ctx: click.Context,
    /,
    file: Path,
    prompt: str,
    count: int,
    temperature: float,
    top_k: int | None,
    top_p: float | None,
    seed: int | None,
    threads: int | None,
    choices: str | None,
) -> None:
    """Generate text with a trained model, character by character.

    FILE is a checkpoint that `autocalc train charlm --save` wrote.

    \b
    Examples:
      autocalc generate model.safetensors
      autocalc generate model.safetensors --prompt "ROMEO:" --count 1000
      autocalc generate model.safetensors --temperature 1.2 --top-p 0.9 --seed 1
    """
    if not prompt:
        message = (
            "it is empty; the model needs at least one character to continue from."
        )
        raise click.BadParameter(message, param_hint="--prompt")
    choose_machine(ctx, threads, choices)
    model, text = checkpoint.model_of(checkpoint.read(file))
    tokens = text.encode(prompt).reshape(1, -1)
    click.echo(prompt, nl=False)
    for token in stream(
        model,
        tokens,
        count,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        seed=seed,
    ):
        click.echo(text.decode(token), nl=False)
    click.echo()
