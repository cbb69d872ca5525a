# SPDX-License-Identifier: MIT
"""``autocalc train digits``, ``mnist`` and ``fashion-mnist``."""

from __future__ import annotations

from copy import copy
from dataclasses import asdict
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import click

from autocalc.cli import _checkpoint as checkpoint
from autocalc.cli import _plot as plot
from autocalc.cli._common import (
    FILE,
    check_folder,
    choose_machine,
    compile_option,
    interruptible,
    locked_option,
    machine_options,
    new_file,
    refuse_changes,
    sets_used,
)
from autocalc.cli._profile import check_profile, profile_option, profiled
from autocalc.cli._recipes import (
    ADAMW_LR,
    MODELS,
    OPTIMIZERS,
    RECIPES,
    USUAL_OPTIMIZER,
    Source,
)
from autocalc.cli._screen import make_screen
from autocalc.cli._training import Config, EpochEnd, Training
from autocalc.models._schedule import SCHEDULES

#: Settings that a resumed training has already; they cannot change on the way.
FIXED = (
    "model",
    "batch_size",
    "optimizer",
    "lr",
    "momentum",
    "schedule",
    "seed",
    "augment",
)


def image_command(data: str) -> click.Command:
    """Return the command that trains on a data set."""
    command = copy(_train_images)
    command.name, command.callback = data, partial(_callback, data=data)
    command.short_help = f"{RECIPES[data].title}; reports the test accuracy."
    return command


@click.command()
@click.option(
    "--model",
    type=click.Choice(list(MODELS)),
    default="mlp",
    show_default=True,
    help="What to train.",
)
@click.option(
    "--data",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Where the data set lies.  [default: AUTOCALC_DATA_DIR]",
)
@click.option("--download", is_flag=True, help="Get missing files from the Internet.")
@click.option("--epochs", type=click.IntRange(1), help="Passes over the data.")
@click.option("--batch-size", type=click.IntRange(1), help="Images in a step.")
@click.option(
    "--optimizer",
    type=click.Choice(list(OPTIMIZERS)),
    help="How parameters follow gradients.  [default: sgd; of vit adamw]",
)
@click.option("--lr", type=click.FloatRange(0), help="The highest learning rate.")
@click.option(
    "--schedule",
    type=click.Choice(SCHEDULES),
    default="cosine",
    show_default=True,
    help="How the rate falls to 0 over all epochs.",
)
@click.option(
    "--momentum",
    type=click.FloatRange(0, 1, max_open=True),
    help="Momentum of SGD, beta1 of AdamW.",
)
@click.option(
    "--augment",
    is_flag=True,
    help="Shift training images by a few pixels; flip clothing left to right.",
)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Equal seeds give equal results.",
)
@click.option(
    "--workers",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Threads that make batches ahead of time.",
)
@machine_options
@locked_option
@compile_option
@profile_option
@click.option(
    "--plot",
    "picture",
    metavar="FILE",
    type=FILE,
    help="Draw curves, and the most wrong test images (.png, .svg, .pdf).",
)
@click.option(
    "--save",
    "target",
    metavar="FILE",
    type=FILE,
    help="Save after each epoch.  [default: the file of --resume]",
)
@click.option(
    "--resume",
    "saved",
    metavar="FILE",
    type=FILE,
    help="Go on with a training that was saved.",
)
@click.option("--quiet", "-q", is_flag=True, help="Print the result only.")
@click.pass_context
def _train_images(
    ctx: click.Context,
    /,
    data: str,
    folder: Path | None,
    download: bool,
    threads: int | None,
    workers: int,
    choices: str | None,
    picture: Path | None,
    target: Path | None,
    saved: Path | None,
    locked: Path | None,
    quiet: bool,
    compiled: bool,
    profile: str | None,
    **settings: Any,
) -> None:
    """Train on images and report the test accuracy.

    digits (8 x 8) come with AutoCalc; mnist and fashion-mnist (28 x 28) are read from
    the files in --data DIR.

    Ctrl-C stops after the running step and saves; --resume goes on there, bit for bit
    as if nothing had happened.

    \b
    Examples:
      autocalc train digits
      autocalc train mnist --epochs 3 --data ~/data --save mnist.safetensors
      autocalc train mnist --resume mnist.safetensors --epochs 10 --plot curves.png
      autocalc train fashion-mnist --model lenet --augment --epochs 20
      autocalc train mnist --kernels reference --threads 1
    """
    _check_files(picture, target)
    check_profile(profile)
    choose_machine(ctx, threads, choices, locked)
    source = Source(folder, download)
    if saved is None:
        training = Training(_config(data, settings), source, workers)
    else:
        state, epochs = _saved_state(ctx, data, saved, settings)
        training = checkpoint.resume(state, epochs, source, workers)
    if compiled:
        training.compile()
    if not quiet:
        click.echo(_headline(training))
    started = perf_counter()
    with profiled(profile):
        finished = _run(training, target or saved, quiet)
    if picture is not None:
        plot.draw(training, picture)
        click.echo(f"Curves drawn into {picture}.")
    if not finished:
        ctx.exit(130)
    click.echo(_result(training, perf_counter() - started))


_callback: Any = _train_images.callback


# ---- before --------------------------------------------------------------------------


def _check_files(picture: Path | None, target: Path | None) -> None:
    """Find out now what would fail after hours of training."""
    if picture is not None:
        plot.check_plot(picture)
    check_folder("--plot", picture)
    check_folder("--save", target)


def _config(data: str, settings: dict[str, Any]) -> Config:
    """Fill in what the user left out from the data set's recipe."""
    recipe = RECIPES[data]
    optimizer = settings["optimizer"] or USUAL_OPTIMIZER[settings["model"]]
    lr = recipe.lr if optimizer == "sgd" else ADAMW_LR
    usual = {
        "optimizer": optimizer,
        "epochs": recipe.epochs,
        "batch_size": recipe.batch_size,
        "lr": lr,
        "momentum": recipe.momentum,
    }
    given = {name: value for name, value in settings.items() if value is not None}
    return Config(data=data, **{**usual, **given})


def _saved_state(
    ctx: click.Context, data: str, saved: Path, settings: dict[str, Any]
) -> tuple[dict[str, Any], int]:
    """Return what was saved, and the epochs to go to, if nothing contradicts it."""
    state = checkpoint.read(saved)
    config = state["config"]
    if config.data != data:
        message = f"{saved} is a training on {config.data}, not on {data}."
        raise click.UsageError(message)
    refuse_changes(ctx, saved, config, settings, FIXED)
    epochs = settings["epochs"] or config.epochs
    if epochs <= state["epoch"]:
        message = (
            f"{saved} has trained {state['epoch']} epochs already; ask for more with "
            f"--epochs."
        )
        raise click.UsageError(message)
    return state, epochs


def _headline(training: Training) -> str:
    config = training.config
    parameters = sum(p.numel() for p in training.model.parameters())
    settings = {**asdict(config)}
    for name in ("data", "model", "epochs", "augment"):
        del settings[name]
    listed = ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in settings.items())
    listed += ", augmented" * config.augment
    going_on = f" from epoch {training.epoch + 1}" if training.history.losses else ""
    return (
        f"{config.model} of {parameters:,} parameters on {config.data}, "
        f"{len(training.loader.dataset):,} images; {listed}{going_on}"
    )


# ---- during --------------------------------------------------------------------------


def _run(training: Training, target: Path | None, quiet: bool) -> bool:
    """Train to the end, or to Ctrl-C; return whether it was the end."""
    with interruptible() as interrupted, make_screen(training, quiet) as screen:
        for event in training.run():
            screen.show(event)
            if isinstance(event, EpochEnd) and target is not None:
                checkpoint.save(training, target)
            if interrupted:
                break
    if training.epoch >= training.config.epochs:
        return True
    config = training.config
    place = target or new_file(f"autocalc-{config.data}-{config.model}")
    checkpoint.save(training, place)
    click.echo(
        f"Interrupted in epoch {training.epoch + 1} after step "
        f"{training.steps_done:,} of {len(training.loader):,}. Saved to {place}; go on "
        f"with:\n  autocalc train {training.config.data} --resume {place}",
        err=True,
    )
    return False


# ---- after ---------------------------------------------------------------------------


def _result(training: Training, seconds: float) -> str:
    history = training.history
    return (
        f"test accuracy {history.test_accuracies[-1]:.2%}  "
        f"{seconds:.1f} s  "
        f"{history.speed:,.0f} samples/s  "
        f"kernels {sets_used(training.calls)}"
    )
