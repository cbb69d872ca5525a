# SPDX-License-Identifier: MIT
"""Words on the command line: suggestions for misspelt ones, and valid numbers."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

import click
from click.core import ParameterSource

#: A width in cells that no first sentence reaches.
_WHOLE = 1000
#: The key under which the words of the command line are kept, for logs.
_WORDS = "autocalc.words"


def hint(word: str, names: Iterable[str]) -> str:
    """Return `` Did you mean 'train'?`` if a name is similar to the word, else ""."""
    near = get_close_matches(word, list(names), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


class Commands(click.Group):
    """A group that suggests a command for a misspelt one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command."""
        word = args[0]
        if not word.startswith("-") and self.get_command(ctx, word) is None:
            ctx.fail(self.refusal(word))
        return super().resolve_command(ctx, args)

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """List the commands with the full first sentence of their help."""
        rows = [
            (name, command.get_short_help_str(limit=_WHOLE))
            for name in self.list_commands(ctx)
            if (command := self.get_command(ctx, name)) is not None
            and not command.hidden
        ]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)

    def refusal(self, word: str) -> str:
        """Return the message for a command that does not exist."""
        return f"No such command {word!r}.{hint(word, self.commands)}"


class Number(click.FloatRange):
    """A finite number within a range."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        """Return the number that a text states."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number


class Seed(click.types.IntParamType):
    """A seed of random numbers: any integer that fits into 64 bits."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        """Return the seed that a text states."""
        seed = super().convert(value, param, ctx)
        if not -(2**63) <= seed < 2**64:
            self.fail(f"{value} does not fit into 64 bits.", param, ctx)
        return seed


def keep_words(ctx: click.Context, args: list[str]) -> None:
    """Keep the words of the command line."""
    ctx.meta[_WORDS] = list(args)


#: Options that are no settings of a training, by their names in the program.  If they
#: were given, they also apply after --resume.
_OF_A_RUN = frozenset(
    {
        *("folder", "source", "place", "workers", "threads", "choices", "locked"),
        *("compiled", "model_folder", "data", "validation", "out", "merge", "dtype"),
    }
)


def going_on(ctx: click.Context, place: Any) -> str:
    """Return the command that continues an interrupted training."""
    named = ["autocalc", *ctx.command_path.split()[1:]]
    words = [*named, "--resume", str(place)]
    for param in ctx.command.params:
        name = param.name or ""
        given = ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if given and name in _OF_A_RUN:
            value = ctx.params[name]
            if isinstance(param, click.Argument):
                words.insert(len(named), str(value))
            elif isinstance(value, bool):
                words += param.opts[:1] if value else param.secondary_opts[:1]
            else:
                words += [param.opts[0], str(value)]
    return shlex.join(words)


def command_line(ctx: click.Context) -> str:
    """Return the command as it was typed."""
    return shlex.join(["autocalc", *ctx.meta.get(_WORDS, [])])
