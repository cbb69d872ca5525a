# SPDX-License-Identifier: MIT
"""``autocalc chat``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from autocalc.cli._common import choose_machine, machine_options
from autocalc.cli._language import (
    FOLDER,
    adapter_option,
    dtype_option,
    load,
    sampling_options,
    show,
)
from autocalc.cli._words import Number
from autocalc.models import stream_text


@click.command("chat")
@click.argument("folder", type=FOLDER)
@click.option("--system", help="A text that tells the model how to answer.")
@click.option(
    "--count",
    "-n",
    type=click.IntRange(1),
    default=512,
    show_default=True,
    help="The largest number of tokens of an answer.",
)
@click.option(
    "--temperature",
    type=Number(0),
    default=0.7,
    show_default=True,
    help="Above 1: more random; below 1: less random; 0: not random.",
)
@sampling_options
@adapter_option
@dtype_option
@machine_options
@click.pass_context
def chat_command(
    ctx: click.Context,
    /,
    folder: Path,
    system: str | None,
    count: int,
    adapter: Path | None,
    dtype: str | None,
    threads: int | None,
    choices: str | None,
    **settings: Any,
) -> None:
    """Talk with a language model in a folder.

    FOLDER is in the format of Hugging Face, and its model was trained on conversations.
    Write a line and press Enter; an empty line or Ctrl-D ends the conversation.  The
    answer appears as it is generated, and then the number of tokens per second.

    \b
    Examples:
      autocalc chat SmolLM2-135M-Instruct
      autocalc chat SmolLM2-135M-Instruct --system "Answer in one sentence."
      echo "What is a tensor?" | autocalc chat SmolLM2-135M-Instruct --temperature 0
    """
    choose_machine(ctx, threads, choices)
    model, tokenizer = load(folder, dtype, adapter)
    messages = [] if system is None else [{"role": "system", "content": system}]
    for line in _lines():
        messages.append({"role": "user", "content": line})
        prompt = tokenizer.encode(tokenizer.chat(messages), special=False)
        pieces = stream_text(model, tokenizer, prompt, count, **settings)
        messages.append({"role": "assistant", "content": show(pieces)})


def _lines() -> Iterator[str]:
    """Yield the lines that the user writes, up to an empty one."""
    while True:
        if sys.stdin.isatty():
            click.echo("> ", nl=False)
        line = sys.stdin.readline().strip()
        if not line:
            return
        yield line
