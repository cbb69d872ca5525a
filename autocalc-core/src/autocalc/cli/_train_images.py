# SPDX-License-Identifier: MIT
"""``autocalc train digits``, ``mnist`` and ``fashion-mnist``."""

from __future__ import annotations

from copy import copy
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import click

from autocalc.cli import _checkpoint as checkpoint
from autocalc.cli import _plot as plot
from autocalc.cli._common import (
    choose_machine,
    compile_option,
    locked_option,
    machine_options,
    new_file,
    refuse_changes,
    sets_used,
)
from autocalc.cli._follow import best_of, follow, kernel_rows
from autocalc.cli._memory import resident_bytes
from autocalc.cli._profile import check_profile, profile_option, profiled
from autocalc.cli._progress import say
from autocalc.cli._ranks import first_of_machine, is_first, of_first, ranks
from autocalc.cli._recipes import (
    ADAMW_LR,
    LENET_LR,
    MODELS,
    OPTIMIZERS,
    RECIPES,
    USUAL_OPTIMIZER,
    Source,
)
from autocalc.cli._run_options import RunOptions, run_options, take_options
from autocalc.cli._screen import make_screen
from autocalc.cli._training import Config, EpochEnd, Training, TrainingStep
from autocalc.cli._words import Number, Seed
from autocalc.models._precision import PRECISIONS
from autocalc.models._schedule import SCHEDULES

#: Settings that a resumed training already has and that cannot change.
FIXED = (
    "model",
    "batch_size",
    "optimizer",
    "lr",
    "momentum",
    "schedule",
    "seed",
    "augment",
    "precision",
)


def image_command(data: str) -> click.Command:
    """Return the command that trains on a data set."""
    command = copy(_train_images)
    command.name, command.callback = data, partial(_callback, data=data)
    command.short_help = f"Train on {RECIPES[data].title}."
    command.params = [_with_default(param, data) for param in command.params]
    return command


def _with_default(param: click.Parameter, data: str) -> click.Parameter:
    """Return an option whose help states the default for the data set."""
    usual = asdict(RECIPES[data])
    if not isinstance(param, click.Option) or param.name not in usual:
        return param
    option = copy(param)
    others = f"; {LENET_LR:g} for lenet, {ADAMW_LR:g} for adamw"
    others = others if param.name == "lr" else ""
    option.help = f"{param.help}  [default: {usual[param.name]:g}{others}]"
    return option


@click.command()
@click.option(
    "--model",
    type=click.Choice(list(MODELS)),
    default="mlp",
    show_default=True,
    help="The model to train.",
)
@click.option(
    "--data",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The folder of the data set.  [default: AUTOCALC_DATA_DIR]",
)
@click.option("--download", is_flag=True, help="Download missing files.")
@click.option(
    "--epochs", type=click.IntRange(1), help="The number of passes over the data."
)
@click.option(
    "--batch-size", type=click.IntRange(1), help="The number of images in a step."
)
@click.option(
    "--optimizer",
    type=click.Choice(list(OPTIMIZERS)),
    help="The optimizer.  [default: adamw for vit, otherwise sgd]",
)
@click.option("--lr", type=Number(0), help="The highest learning rate.")
@click.option(
    "--schedule",
    type=click.Choice(SCHEDULES),
    default="cosine",
    show_default=True,
    help="The curve of the learning rate from its maximum to 0.",
)
@click.option(
    "--momentum",
    type=Number(0, 1, max_open=True),
    help="The momentum of SGD, or beta1 of AdamW.",
)
@click.option(
    "--augment",
    is_flag=True,
    help="Shift training images by a few pixels; also flip images of clothes.",
)
@click.option(
    "--precision",
    type=click.Choice(PRECISIONS),
    default="float32",
    show_default=True,
    help="The precision of matrix products; bf16 is faster on CPUs with AVX512-BF16.",
)
@click.option(
    "--seed",
    type=Seed(),
    default=0,
    show_default=True,
    help="The seed of the random numbers; the same seed gives the same results.",
)
@click.option(
    "--workers",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="The number of threads that prepare batches.",
)
@machine_options
@locked_option
@compile_option
@profile_option
@run_options("epoch", "the highest test accuracy")
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
    locked: Path | None,
    compiled: bool,
    profile: str | None,
    **settings: Any,
) -> None:
    """Train on images and report the test accuracy.

    The images of digits (8 x 8) are part of AutoCalc.  Those of mnist and fashion-mnist
    (28 x 28) are read from files in --data DIR.

    Ctrl-C and SIGTERM stop the training after the current step and save a checkpoint.
    --resume continues from it; the results are bit for bit the same as without a stop.

    \b
    Examples:
      autocalc train digits
      autocalc train mnist --epochs 3 --data ~/data --save mnist.safetensors
      autocalc train mnist --resume mnist.safetensors --epochs 10 --plot curves.png
      autocalc train digits --log runs/first --save-best best.safetensors --patience 3
      autocalc train fashion-mnist --finetune mnist.safetensors --lr 0.01
      autocalc train fashion-mnist --model lenet --augment --epochs 20
      autocalc train mnist --kernels reference --threads 1
      mpirun -n 4 autocalc train mnist --data ~/data --save mnist.safetensors

    If mpirun starts several processes, they train one model together.  --batch-size is
    the number of images of all processes, and one process prints and writes files.
    """
    with ranks():
        options = of_first(take_options(settings, writes=is_first()))
        profile = profile if is_first() else None
        check_profile(profile)
        choose_machine(ctx, threads, choices, locked)
        source = Source(folder, download)
        if download:
            first_of_machine(lambda: _download(data, source))
        training = _training(ctx, data, options, settings, source, workers)
        if compiled:
            training.compile()
        if not options.quiet:
            say(_headline(training), options.as_json)
        screen = make_screen(training, options.quiet, options.as_json)
        with profiled(profile, options.as_json):
            follow(ctx, ImageRun(training, options), screen, screen, options)


_callback: Any = _train_images.callback


def _download(data: str, source: Source) -> None:
    """Download the missing files."""
    for train in (True, False):
        RECIPES[data].load(train, source)


# ---- before --------------------------------------------------------------------------


def _training(
    ctx: click.Context,
    data: str,
    options: RunOptions,
    settings: dict[str, Any],
    source: Source,
    workers: int,
) -> Training:
    """Return the resumed or new training that the options request."""
    if options.saved is not None:
        state, epochs = _saved_state(ctx, data, options.saved, settings)
        return checkpoint.resume(state, epochs, source, workers)
    if options.weights is not None:
        return _finetuned(ctx, data, options.weights, settings, source, workers)
    return Training(_config(data, settings), source, workers)


def _config(data: str, settings: dict[str, Any]) -> Config:
    """Fill in settings that the user left out from the recipe of the data set."""
    recipe = RECIPES[data]
    optimizer = settings["optimizer"] or USUAL_OPTIMIZER[settings["model"]]
    lr = recipe.lr if optimizer == "sgd" else ADAMW_LR
    if optimizer == "sgd" and settings["model"] == "lenet":
        lr = LENET_LR
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
    """Return the saved state and the last epoch; raise on contradicting options."""
    state = checkpoint.read(saved)
    config = state["config"]
    if config.data != data:
        message = (
            f"{saved} was trained on {config.data}, not on {data}. Give the same data."
        )
        raise click.UsageError(message)
    refuse_changes(ctx, saved, config, settings, FIXED)
    epochs = settings["epochs"] or config.epochs
    if epochs <= state["epoch"]:
        raise click.UsageError(
            f"{saved} has trained {state['epoch']} epochs already; request more with "
            "--epochs."
        )
    return state, epochs


def _finetuned(
    ctx: click.Context,
    data: str,
    saved: Path,
    settings: dict[str, Any],
    source: Source,
    workers: int,
) -> Training:
    """Return a new training with the model of a file."""
    state = checkpoint.read(saved)
    config = state["config"]
    refuse_changes(ctx, saved, config, settings, ("model",))
    if RECIPES[config.data].model_shape != RECIPES[data].model_shape:
        raise click.BadParameter(
            f"{saved} is a model for {config.data}, whose images or classes differ "
            f"from those of {data}.",
            param_hint="--finetune",
        )
    config = _config(data, {**settings, "model": config.model})
    training = Training(config, source, workers)
    training.model.load_state_dict(state["model"])
    return training


def _headline(training: Training) -> str:
    config = training.config
    parameters = sum(p.numel() for p in training.model.parameters())
    settings = {**asdict(config)}
    if config.precision == "float32":
        del settings["precision"]
    for name in ("data", "model", "epochs", "augment"):
        del settings[name]
    listed = ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in settings.items())
    listed += ", augmented" * config.augment
    going_on = f" from epoch {training.epoch + 1}" if training.history.losses else ""
    return (
        f"{config.model} of {parameters:,} parameters on {config.data}, "
        f"{len(training.loader.dataset):,} images; {listed}{going_on}"
    )


# ---- during and after ----------------------------------------------------------------


class ImageRun:
    """A training on images, in the form that `follow` uses."""

    def __init__(self, training: Training, options: RunOptions) -> None:
        self.training = training
        self._options = options

    def describe(self) -> dict[str, Any]:
        """Return model, data, parameters, steps."""
        training = self.training
        return {
            "model": training.config.model,
            "data": training.config.data,
            "parameters": sum(p.numel() for p in training.model.parameters()),
            "step": len(training.history.losses),
        }

    def record(self, event: TrainingStep | EpochEnd) -> dict[str, Any]:
        """Return the log record of an event."""
        training, history = self.training, self.training.history
        step = len(history.losses)
        if isinstance(event, TrainingStep):
            rate = training.optimizer.param_groups[0]["lr"]
            epoch = training.epoch + 1
            loss = event.loss
            return {"kind": "step", "step": step, "epoch": epoch, "loss": loss,
                    "lr": rate}  # fmt: skip
        return {
            "kind": "evaluation",
            "step": step,
            "epoch": event.number,
            "loss": training.epoch_loss,
            "test_loss": history.test_losses[-1],
            "test_accuracy": history.test_accuracies[-1],
            "samples_per_second": history.speed,
            "resident_bytes": resident_bytes(),
        }

    def scores(self) -> list[tuple[float, float]]:
        """Return the scores: by accuracy, and by loss for equal accuracies."""
        history = self.training.history
        pairs = zip(history.test_accuracies, history.test_losses, strict=True)
        return [(-accuracy, loss) for accuracy, loss in pairs]

    def is_evaluation(self, event: TrainingStep | EpochEnd) -> bool:
        """Return whether the event is the end of an epoch."""
        return isinstance(event, EpochEnd)

    def after_step(self, event: TrainingStep) -> None:
        """Do nothing."""

    def complete(self) -> bool:
        """Return whether all epochs are done."""
        return self.training.epoch >= self.training.config.epochs

    def save(self, path: Path) -> None:
        """Write the training to a file."""
        if is_first():
            checkpoint.save(self.training, path)

    def new_file(self) -> Path:
        """Return the name of a file that does not exist."""
        config = self.training.config
        return new_file(f"autocalc-{config.data}-{config.model}")

    def interruption(self, place: Path) -> str:
        """Return the state of the training, and its file."""
        training = self.training
        return (
            f"Interrupted in epoch {training.epoch + 1} after step "
            f"{training.steps_done:,} of {len(training.loader):,}. Saved to {place}."
        )

    def result(self) -> dict[str, Any]:
        """Return how good the model is, and when it was best."""
        training, history = self.training, self.training.history
        known = {
            "epochs": training.epoch,
            "steps": len(history.losses),
            "samples_per_second": history.speed,
            "kernels": kernel_rows(training.calls),
        }
        if not history.test_losses:
            return known
        best = best_of(self.scores())
        return {
            **known,
            "test_accuracy": history.test_accuracies[-1],
            "test_loss": history.test_losses[-1],
            "best": {
                "epoch": best + 1,
                "test_accuracy": history.test_accuracies[best],
                "test_loss": history.test_losses[best],
            },
        }

    def result_line(self, seconds: float) -> str:
        """Return the result as a line of text."""
        history = self.training.history
        return (
            f"test accuracy {history.test_accuracies[-1]:.2%}  "
            f"{seconds:.1f} s  "
            f"{history.speed:,.0f} samples/s  "
            f"kernels {sets_used(self.training.calls)}"
        )

    def plot(self, path: Path, err: bool) -> None:
        """Draw the curves, and the images that are most wrong."""
        training = self.training
        wrong = plot.draw_most_wrong(training)
        plot.plot(plot.curves_of(training), path, err=err, below=wrong)
