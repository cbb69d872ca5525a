# SPDX-License-Identifier: MIT
"""``autocalc generate``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from autocalc.cli import _text_checkpoint as checkpoint
from autocalc.cli._common import choose_machine, given_by_user, machine_options
from autocalc.cli._language import (
    adapter_option,
    dtype_option,
    load,
    sampling_options,
    show,
)
from autocalc.cli._words import Number
from autocalc.models import stream, stream_text

PLACE = click.Path(path_type=Path)
#: Options that only apply to a folder.
_OF_FOLDERS = ("stop", "adapter", "dtype", "compiled")


@click.command("generate")
@click.argument("file", metavar="FILE|FOLDER", type=PLACE)
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
    help="The number of characters to write, or of tokens.",
)
@click.option(
    "--temperature",
    type=Number(0),
    default=0.8,
    show_default=True,
    help="Above 1: more random; below 1: less random; 0: not random.",
)
@sampling_options
@click.option(
    "--stop",
    multiple=True,
    help="A text at which the result ends; may be given several times.",
)
@adapter_option
@dtype_option
@click.option(
    "--compile",
    "compiled",
    is_flag=True,
    help="Record the step that reads a token, and replay it: for long texts.",
)
@machine_options
@click.pass_context
def generate_command(
    ctx: click.Context,
    /,
    file: Path,
    prompt: str,
    count: int,
    stop: tuple[str, ...],
    adapter: Path | None,
    dtype: str | None,
    compiled: bool,
    threads: int | None,
    choices: str | None,
    **settings: Any,
) -> None:
    """Generate text with a trained model, token by token.

    FILE is a checkpoint that `autocalc train charlm --save` wrote; its tokens are
    characters.  FOLDER is a language model in the format of Hugging Face, with
    config.json, model.safetensors and tokenizer.json.  The text appears as it is
    generated; with a folder, the number of tokens per second follows.

    \b
    Examples:
      autocalc generate model.safetensors
      autocalc generate model.safetensors --prompt "ROMEO:" --count 1000
      autocalc generate model.safetensors --temperature 1.2 --top-p 0.9 --seed 1
      autocalc generate SmolLM2-135M --prompt "Once upon a time" --count 100
      autocalc generate gpt2 --prompt "1, 2, 3," --temperature 0 --stop "10"
    """
    if not prompt:
        message = (
            "it is empty; the model needs at least one character to continue from."
        )
        raise click.BadParameter(message, param_hint="--prompt")
    choose_machine(ctx, threads, choices)
    if file.is_dir():
        model, tokenizer = load(file, dtype, adapter)
        more = {"stop": stop, "compiled": compiled, **settings}
        click.echo(prompt, nl=False)
        show(stream_text(model, tokenizer, prompt, count, **more))
        return
    for name in _OF_FOLDERS:
        if given_by_user(ctx, name):
            option = "compile" if name == "compiled" else name
            message = f"--{option} applies to a FOLDER only; {file} is not one."
            raise click.UsageError(message)
    _characters(file, prompt, count, settings)


def _characters(file: Path, prompt: str, count: int, settings: Any) -> None:
    """Generate with a checkpoint of a model of characters."""
    model, text = checkpoint.model_of(checkpoint.read(file))
    tokens = text.encode(prompt).reshape(1, -1)
    click.echo(prompt, nl=False)
    for token in stream(model, tokens, count, **settings):
        click.echo(text.decode(token), nl=False)
    click.echo()
