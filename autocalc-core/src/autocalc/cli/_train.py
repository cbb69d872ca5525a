# SPDX-License-Identifier: MIT
"""``autocalc train``: a command for each thing to train on."""

from __future__ import annotations

import click

from autocalc.cli._recipes import RECIPES
from autocalc.cli._train_images import image_command
from autocalc.cli._train_text import text_command


class Things(click.Group):
    """Commands named after what they train on."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; say which there are."""
        if not args[0].startswith("-") and args[0] not in self.commands:
            names = ", ".join(map(repr, self.commands))
            ctx.fail(f"{args[0]!r} is not one of {names}.")
        return super().resolve_command(ctx, args)


@click.group("train", cls=Things)
def train_command() -> None:
    """Train a model and report how good it is.

    Ctrl-C stops after the running step and saves; --resume goes on there, bit for bit
    as if nothing had happened.

    \b
    Examples:
      autocalc train digits
      autocalc train mnist --epochs 3 --data ~/data --save mnist.safetensors
      autocalc train charlm --text shakespeare.txt --save model.safetensors
      autocalc train mnist --help     every option
    """


for data in RECIPES:
    train_command.add_command(image_command(data))
train_command.add_command(text_command)
