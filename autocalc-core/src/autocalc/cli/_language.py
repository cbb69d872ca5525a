# SPDX-License-Identifier: MIT
"""The common part of commands that run a language model of others."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from time import perf_counter
from typing import Any

import click

from autocalc.cli._common import Command
from autocalc.cli._words import Number, Seed
from autocalc.errors import ConfigError
from autocalc.models import Tokenizer, from_pretrained, load_adapter
from autocalc.nn.utils import lora

FOLDER = click.Path(file_okay=False, exists=True, path_type=Path)

dtype_option = click.option(
    "--dtype",
    type=click.Choice(["bfloat16", "float16", "float32"]),
    help="The dtype of the weights.  [default: that of the folder]",
)

adapter_option = click.option(
    "--adapter",
    metavar="FOLDER",
    type=FOLDER,
    help="An adapter of `autocalc finetune` or of peft, which is merged.",
)

_SAMPLING = (
    click.option(
        "--top-k",
        type=click.IntRange(1),
        help="Draw only from the K most probable ones.  [default: all]",
    ),
    click.option(
        "--top-p",
        type=Number(0, 1, min_open=True),
        help="Draw only from the most probable ones with this total share.  "
        "[default: all]",
    ),
    click.option(
        "--min-p",
        type=Number(0, 1, min_open=True),
        help="Draw only those with at least this part of the largest probability.  "
        "[default: all]",
    ),
    click.option(
        "--repetition-penalty",
        type=Number(0, min_open=True),
        default=1.0,
        show_default=True,
        help="Above 1: what is in the text already becomes less probable.",
    ),
    click.option(
        "--seed",
        type=Seed(),
        help="The seed; the same seed gives the same text.  [default: random]",
    ),
)


def sampling_options(command: Command) -> Command:
    """Add the options for how a token is drawn, apart from the temperature."""
    for option in reversed(_SAMPLING):
        command = option(command)
    return command


def load(
    folder: Path, dtype: str | None, adapter: Path | None = None
) -> tuple[Any, Tokenizer]:
    """Return the model and the tokenizer of a folder; merge an adapter, if any."""
    tokenizer = Tokenizer(folder)
    model = from_pretrained(folder, dtype=dtype)
    if not hasattr(model, "reader"):
        raise ConfigError(
            f"{folder} holds {type(model).__name__}, an encoder, which writes no text. "
            "Give the folder of a decoder, such as Llama or GPT-2."
        )
    if adapter is not None:
        load_adapter(model, adapter)
        lora.merge(model)
    return model, tokenizer


def show(pieces: Generator[str, None, int]) -> str:
    """Print the pieces of a text as they come, then the speed; return the text."""
    text, started = "", perf_counter()
    while True:
        try:
            piece = next(pieces)
        except StopIteration as end:
            count: int = end.value
            break
        text += piece
        click.echo(piece, nl=False)
    seconds = perf_counter() - started
    click.echo()
    click.echo(f"[{count} tokens, {count / max(seconds, 1e-9):.1f} tokens/s]", err=True)
    return text
