# SPDX-License-Identifier: MIT
"""The command `autocalc`: its subcommands, and how it reports errors to users."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from autocalc._version import __version__
from autocalc.cli._bench import bench_command
from autocalc.cli._chat import chat_command
from autocalc.cli._doctor import doctor_command
from autocalc.cli._explain import explain_command
from autocalc.cli._finetune import finetune_command
from autocalc.cli._generate import generate_command
from autocalc.cli._kernels import kernels_command
from autocalc.cli._new_kernel_package import new_kernel_package_command
from autocalc.cli._onnx import onnx_command
from autocalc.cli._predict import predict_command
from autocalc.cli._profile import profile_command
from autocalc.cli._report import report_command
from autocalc.cli._train import train_command
from autocalc.cli._tune import tune_command
from autocalc.cli._words import Commands, keep_words
from autocalc.errors import AutocalcError

#: The exit code that a shell reports for a program ended by Ctrl-C: 128 plus the number
#: of the signal.
INTERRUPTED = 130


class Application(Commands):
    """A group of commands that reports errors in a sentence, without a traceback."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the words of the command line, which a log contains."""
        keep_words(ctx, args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()  # a closed pipe shows here, not at exit
            return result
        except AutocalcError as error:
            raise click.ClickException(str(error)) from error
        except BrokenPipeError:
            _drop_output()
            ctx.exit(1)
        except OSError as error:
            raise click.ClickException(str(error)) from error
        except MemoryError as error:
            message = f"there is not enough memory{_told(error)}. Use smaller sizes."
            raise click.ClickException(message) from error
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
            ctx.exit(INTERRUPTED)


def _told(error: Exception) -> str:
    return f": {error}".rstrip(".") if str(error) else ""


def _drop_output() -> None:
    """Discard the buffered output, because its reader has gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(
    cls=Application,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 88},
)
@click.version_option(__version__, prog_name="autocalc")
def cli() -> None:
    """Train neural networks on CPUs, and see which kernels run.

    \b
    Examples:
      autocalc train digits           train on images that come with AutoCalc
      autocalc train mnist --data DIR --save mnist.safetensors
      autocalc train digits --log run && autocalc report run
      autocalc predict mnist.safetensors --index 7
      autocalc train charlm --save text.safetensors
      autocalc generate text.safetensors --prompt "The "
      autocalc chat FOLDER            talk with a language model of others
      autocalc finetune FOLDER --data examples.jsonl --out adapter
      autocalc doctor                 check that this machine is used well
      autocalc kernels                list installed, chosen and refused kernels
      autocalc bench kernels          measure the speed of the kernels
      autocalc onnx model.onnx        show the operators of an ONNX file
      autocalc tune                   choose kernels by measured times
      autocalc profile train.py       show what takes time in training steps
      autocalc new-kernel-package fast --c
    """


for command in (
    train_command,
    predict_command,
    report_command,
    generate_command,
    chat_command,
    finetune_command,
    bench_command,
    doctor_command,
    kernels_command,
    explain_command,
    onnx_command,
    tune_command,
    profile_command,
    new_kernel_package_command,
):
    cli.add_command(command)


def main() -> None:
    """Run the command line; the entry point of the package."""
    cli(prog_name="autocalc")
