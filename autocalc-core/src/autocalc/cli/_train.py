# SPDX-License-Identifier: MIT
"""``autocalc train``: one command for each kind of data."""

from __future__ import annotations

import click

from autocalc.cli._recipes import RECIPES
from autocalc.cli._train_images import image_command
from autocalc.cli._train_text import text_command
from autocalc.cli._words import Commands, hint


class Things(Commands):
    """Commands that are named after their training data."""

    def refusal(self, word: str) -> str:
        """Return the message that lists the commands."""
        names = ", ".join(map(repr, self.commands))
        return f"{word!r} is not one of {names}.{hint(word, self.commands)}"


@click.group("train", cls=Things)
def train_command() -> None:
    """Train a model and report how good it is.

    Ctrl-C and SIGTERM stop the training after the current step and save a checkpoint.
    --resume continues from it; the results are bit for bit the same as without a stop.

    \b
    Examples:
      autocalc train digits
      autocalc train mnist --epochs 3 --data ~/data --save mnist.safetensors
      autocalc train digits --log run --save-best best.safetensors --patience 3
      autocalc train charlm --text shakespeare.txt --save model.safetensors
      autocalc train mnist --help     show all options
    """


for data in RECIPES:
    train_command.add_command(image_command(data))
train_command.add_command(text_command)
