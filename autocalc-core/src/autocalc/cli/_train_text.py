# SPDX-License-Identifier: MIT
"""``autocalc train charlm``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Any

import click

from autocalc.cli import _text_checkpoint as checkpoint
from autocalc.cli._common import (
    FILE,
    Command,
    check_folder,
    choose_machine,
    compile_option,
    given_by_user,
    interruptible,
    locked_option,
    machine_options,
    new_file,
    refuse_changes,
)
from autocalc.cli._profile import check_profile, profile_option, profiled
from autocalc.cli._text_screen import TextScreen, perplexity
from autocalc.data import Characters
from autocalc.models import Evaluation, TextConfig, TextTraining, generate
from autocalc.models._schedule import SCHEDULES
from autocalc.models._training import MODELS, OPTIMIZERS

USUAL = TextConfig()


def size_options(command: Command) -> Command:
    """Add the options that say how large the model is, and its batches."""
    for name, text in (
        ("layers", "Blocks of the model."),
        ("heads", "Heads of attention in a block of a transformer."),
        ("d-model", "Features of a position."),
        ("seq-len", "Characters that the model sees at once."),
        ("batch-size", "Stretches of text in a step."),
    ):
        default = getattr(USUAL, name.replace("-", "_"))
        command = click.option(
            f"--{name}",
            type=click.IntRange(1),
            default=default,
            show_default=True,
            help=text,
        )(command)
    return click.option(
        "--d-ff",
        type=click.IntRange(1),
        help="Features within the feed-forward part.  [default: 4 d-model]",
    )(command)


def number_option(name: str, kind: Any, text: str) -> Callable[[Command], Command]:
    """Return the option of a number, its default the one of `TextConfig`."""
    default = getattr(USUAL, name.replace("-", "_"))
    return click.option(
        f"--{name}", type=kind, default=default, show_default=True, help=text
    )


def choice_option(
    name: str, choices: Iterable[str], text: str
) -> Callable[[Command], Command]:
    """Return the option of a choice, its default the one of `TextConfig`."""
    return number_option(name, click.Choice(list(choices)), text)


@click.command("charlm", short_help="A model that writes; reports its loss.")
@click.option(
    "--text",
    "source",
    metavar="FILE",
    type=FILE,
    help="What to learn, UTF-8.  [default: the help texts inside CPython]",
)
@choice_option("model", MODELS, "What to train.")
@number_option("steps", click.IntRange(1), "Batches to train on.")
@size_options
@choice_option("positions", ("learned", "rotary"), "How the model knows places.")
@choice_option("norm", ("layer", "rms"), "How features are normalised.")
@choice_option("activation", ("gelu", "swiglu"), "Of the feed-forward part.")
@number_option("dropout", click.FloatRange(0, 1, max_open=True), "In training.")
@choice_option("optimizer", OPTIMIZERS, "How parameters follow gradients.")
@number_option("lr", click.FloatRange(0), "The highest learning rate.")
@number_option("weight-decay", click.FloatRange(0), "Of matrices.")
@number_option("warmup", click.IntRange(0), "Steps in which the rate rises.")
@choice_option("schedule", SCHEDULES, "How the rate falls to a tenth afterwards.")
@number_option("grad-clip", click.FloatRange(0), "Longest gradient; 0: any.")
@number_option("eval-every", click.IntRange(1), "Steps between two evaluations.")
@click.option(
    "--print-every",
    type=click.IntRange(1),
    default=50,
    show_default=True,
    help="Steps between two lines.",
)
@click.option(
    "--sample-every",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Steps between two samples of what the model writes; 0: none.",
)
@number_option("seed", int, "Equal seeds give equal results.")
@machine_options
@locked_option
@compile_option
@profile_option
@click.option(
    "--save",
    "target",
    metavar="FILE",
    type=FILE,
    help="Save after each evaluation.  [default: the file of --resume]",
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
def text_command(
    ctx: click.Context,
    /,
    source: Path | None,
    threads: int | None,
    choices: str | None,
    target: Path | None,
    saved: Path | None,
    locked: Path | None,
    print_every: int,
    sample_every: int,
    quiet: bool,
    compiled: bool,
    profile: str | None,
    **settings: Any,
) -> None:
    """Train a transformer or an LSTM to tell the next character of a text.

    Nine tenths of the text are trained on; the loss over the rest (in nats for each
    character) says how good the model is.  The same in Python: `ac.models.TextTraining`
    with a `TextConfig` of the same names.

    \b
    Examples:
      autocalc train charlm --steps 500
      autocalc train charlm --text input.txt --save model.safetensors --sample-every 500
      autocalc train charlm --model lstm --layers 2 --lr 3e-3 --save model.safetensors
      autocalc train charlm --resume model.safetensors --steps 4000
      autocalc generate model.safetensors --prompt "To be"
    """
    check_folder("--save", target)
    check_profile(profile)
    choose_machine(ctx, threads, choices, locked)
    if saved is None:
        _check_own(ctx, settings["model"])
        training = TextTraining(Characters.from_file(source), TextConfig(**settings))
    else:
        training, source = _resumed(ctx, saved, source, settings)
    if compiled:
        training.compile()
    screen = TextScreen(training, print_every, quiet)
    screen.say(_headline(training))
    started = perf_counter()
    with profiled(profile):
        finished = _run(training, screen, target or saved, source, sample_every)
    if not finished:
        ctx.exit(130)
    click.echo(_result(training, perf_counter() - started))


def _check_own(ctx: click.Context, model: str) -> None:
    """Raise if an option that was written out is of another model."""
    for other, names in MODELS.items():
        for name in names:
            if other != model and given_by_user(ctx, name):
                message = (
                    f"--{name.replace('_', '-')} is a setting of --model {other}; "
                    f"--model {model} does not have it."
                )
                raise click.UsageError(message)


def _resumed(
    ctx: click.Context, saved: Path, source: Path | None, settings: dict[str, Any]
) -> tuple[TextTraining, Path | None]:
    """Return what was saved, if nothing contradicts it, and where its text is."""
    state = checkpoint.read(saved)
    config = state["config"]
    fixed = [name for name in settings if name != "steps"]
    refuse_changes(ctx, saved, config, settings, fixed)
    steps = settings["steps"] if given_by_user(ctx, "steps") else config.steps
    done = len(state["training"]["losses"])
    if steps <= done:
        message = (
            f"{saved} has trained {done} steps already; ask for more with --steps."
        )
        raise click.UsageError(message)
    training = checkpoint.resume(state, source, steps)
    place = source or state["text"]
    return training, None if place is None else Path(place)


def _headline(training: TextTraining) -> str:
    parameters = sum(p.numel() for p in training.model.parameters())
    model = training.config.model
    others = {k for other, own in MODELS.items() if other != model for k in own}
    others.add("model")
    settings = {
        k: v
        for k, v in asdict(training.config).items()
        if v is not None and k not in others
    }
    listed = ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in settings.items())
    going_on = f", from step {training.step + 1}" if training.step else ""
    return (
        f"{model} of {parameters:,} parameters on {len(training.text):,} "
        f"characters, {len(training.text.vocabulary)} different; {listed}{going_on}"
    )


def _run(
    training: TextTraining,
    screen: TextScreen,
    target: Path | None,
    source: Path | None,
    sample_every: int,
) -> bool:
    """Train to the end, or to Ctrl-C; return whether it was the end."""
    with interruptible() as interrupted, screen.shown():
        for event in training.run():
            screen.show(event)
            if isinstance(event, Evaluation):
                if target is not None:
                    checkpoint.save(training, source, target)
            elif sample_every and event.number % sample_every == 0:
                screen.say(sample(training))
            if interrupted:
                break
    if training.step >= training.config.steps and training.history.evaluations:
        return True
    place = target or new_file("autocalc-charlm")
    checkpoint.save(training, source, place)
    click.echo(
        f"Interrupted after step {training.step:,} of {training.config.steps:,}. Saved "
        f"to {place}; go on with:\n  autocalc train charlm --resume {place}",
        err=True,
    )
    return False


def sample(training: TextTraining, count: int = 200) -> str:
    """Return what the model writes now, behind the first character of the text."""
    prompt = training.tokens[:1].reshape(1, 1)
    tokens = generate(training.model, prompt, count, seed=training.step)
    return training.text.decode(tokens[0])


def _result(training: TextTraining, seconds: float) -> str:
    loss = training.history.evaluations[-1][1]
    return (
        f"validation loss {loss:.4f}  perplexity {perplexity(loss)}  {seconds:.1f} s  "
        f"{training.speed:,.0f} tokens/s"
    )
