# SPDX-License-Identifier: MIT
"""``autocalc train charlm``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from autocalc.cli import _plot as plot
from autocalc.cli import _text_checkpoint as checkpoint
from autocalc.cli._common import (
    FILE,
    Command,
    choose_machine,
    compile_option,
    given_by_user,
    locked_option,
    machine_options,
    new_file,
    refuse_changes,
)
from autocalc.cli._curves import Curves
from autocalc.cli._follow import best_of, follow, kernel_rows, mean
from autocalc.cli._memory import resident_bytes
from autocalc.cli._profile import check_profile, profile_option, profiled
from autocalc.cli._ranks import is_first, of_first, ranks
from autocalc.cli._run_options import run_options, take_options
from autocalc.cli._text_screen import TextScreen, perplexity
from autocalc.cli._words import Number, Seed
from autocalc.data import Characters
from autocalc.models import Evaluation, TextConfig, TextStep, TextTraining, generate
from autocalc.models._precision import PRECISIONS
from autocalc.models._schedule import SCHEDULES
from autocalc.models._training import MODELS, OPTIMIZERS, TRAINED_PART

#: Settings that determine the model; they are loaded with its weights.
BUILT_OF = (
    *("model", "seq_len", "d_model", "heads", "layers", "d_ff", "positions", "norm"),
    "activation",
)

USUAL = TextConfig()


def size_options(command: Command) -> Command:
    """Add the options for the sizes of the model and of its batches."""
    for name, text in (
        ("layers", "The number of blocks of the model."),
        ("heads", "The number of attention heads of a transformer."),
        ("d-model", "The number of features of a position."),
        ("seq-len", "The number of characters in a window of text."),
        ("batch-size", "The number of windows of text in a step."),
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
        help="Hidden features of the feed-forward part.  [default: 4 d-model]",
    )(command)


def number_option(name: str, kind: Any, text: str) -> Callable[[Command], Command]:
    """Return an option for a number; its default is that of `TextConfig`."""
    default = getattr(USUAL, name.replace("-", "_"))
    return click.option(
        f"--{name}", type=kind, default=default, show_default=True, help=text
    )


def choice_option(
    name: str, choices: Iterable[str], text: str
) -> Callable[[Command], Command]:
    """Return an option with choices; its default is that of `TextConfig`."""
    return number_option(name, click.Choice(list(choices)), text)


@click.command("charlm", short_help="Train a language model on characters.")
@click.option(
    "--text",
    "source",
    metavar="FILE",
    type=FILE,
    help="The text to learn, in UTF-8.  [default: the help texts of CPython]",
)
@choice_option("model", MODELS, "The model to train.")
@number_option("steps", click.IntRange(1), "The number of training steps.")
@size_options
@choice_option(
    "positions", ("learned", "rotary"), "The encoding of positions in the text."
)
@choice_option(
    "norm", ("layer", "rms"), "The class of the norms: LayerNorm or RMSNorm."
)
@choice_option(
    "activation", ("gelu", "swiglu"), "The activation of the feed-forward part."
)
@number_option(
    "dropout", Number(0, 1, max_open=True), "The probability of dropout in training."
)
@choice_option("optimizer", OPTIMIZERS, "The optimizer.")
@number_option("lr", Number(0), "The highest learning rate.")
@number_option("weight-decay", Number(0), "The weight decay of matrices.")
@number_option(
    "warmup", click.IntRange(0), "The number of steps in which the rate rises."
)
@choice_option(
    "schedule", SCHEDULES, "The curve on which the rate then falls to a tenth."
)
@number_option(
    "grad-clip", Number(0), "The largest norm of the gradients; 0 for no limit."
)
@number_option(
    "eval-every", click.IntRange(1), "The number of steps between two evaluations."
)
@click.option(
    "--print-every",
    type=click.IntRange(1),
    default=50,
    show_default=True,
    help="The number of steps between two printed lines.",
)
@click.option(
    "--sample-every",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="The number of steps between two samples of generated text; 0 for none.",
)
@choice_option(
    "precision",
    PRECISIONS,
    "The precision of matrix products; bf16 is faster on CPUs with AVX512-BF16.",
)
@number_option("seed", Seed(), "The seed of the random numbers.")
@machine_options
@locked_option
@compile_option
@profile_option
@run_options("evaluation", "the lowest validation loss")
@click.pass_context
def text_command(
    ctx: click.Context,
    /,
    source: Path | None,
    threads: int | None,
    choices: str | None,
    locked: Path | None,
    print_every: int,
    sample_every: int,
    compiled: bool,
    profile: str | None,
    **settings: Any,
) -> None:
    """Train a transformer or an LSTM to predict the next character of a text.

    The first nine tenths of the text are used for training.  The model is evaluated by
    its loss over the rest, in nats per character.  In Python, use
    `ac.models.TextTraining`; `TextConfig` has fields with the names of these options.

    \b
    Examples:
      autocalc train charlm --steps 500
      autocalc train charlm --text input.txt --save model.safetensors --sample-every 500
      autocalc train charlm --model lstm --layers 2 --lr 3e-3 --save model.safetensors
      autocalc train charlm --resume model.safetensors --steps 4000
      autocalc train charlm --finetune model.safetensors --text letters.txt --lr 1e-4
      autocalc train charlm --log runs/text --save-best best.safetensors --patience 4
      autocalc generate model.safetensors --prompt "To be"
      mpirun -n 4 autocalc train charlm --save model.safetensors

    If mpirun starts several processes, they train one model together.  --batch-size is
    the number of windows of all processes, and one process prints and writes files.
    """
    with ranks():
        options = of_first(take_options(settings, writes=is_first()))
        profile = profile if is_first() else None
        check_profile(profile)
        choose_machine(ctx, threads, choices, locked)
        if options.saved is not None:
            training, source = _resumed(ctx, options.saved, source, settings)
        elif options.weights is not None:
            training = _finetuned(ctx, options.weights, source, settings)
        else:
            _check_own(ctx, settings["model"])
            training = _new(Characters.from_file(source), TextConfig(**settings))
        if compiled:
            training.compile()
        screen = TextScreen(training, print_every, options.quiet, options.as_json)
        screen.say(_headline(training))
        run = TextRun(training, screen, source, sample_every)
        with profiled(profile, options.as_json):
            follow(ctx, run, screen, screen.shown(), options)


def _new(text: Characters, config: TextConfig) -> TextTraining:
    """Return a training; raise if its options or its text do not fit."""
    check_sizes(config)
    trained = int(TRAINED_PART * len(text))
    if trained <= config.seq_len or len(text) - trained < 2:
        raise click.UsageError(
            f"the text has {len(text):,} characters, of which {trained:,} are used for "
            f"training; --seq-len {config.seq_len} needs more than {config.seq_len}. "
            "Give a longer text, or a smaller --seq-len."
        )
    return TextTraining(text, config)


def check_sizes(config: TextConfig) -> None:
    """Raise if the sizes of a transformer do not fit together."""
    if config.model != "transformer":
        return
    if config.d_model % config.heads:
        raise click.BadParameter(
            f"the features of a position are divided evenly among {config.heads} "
            f"heads, but --d-model {config.d_model} is not a multiple of "
            f"{config.heads}.",
            param_hint="--heads",
        )
    if config.positions == "rotary" and config.d_model // config.heads % 2:
        raise click.BadParameter(
            "rotary positions rotate pairs of features, but --d-model "
            f"{config.d_model} and --heads {config.heads} give each head "
            f"{config.d_model // config.heads} features, an odd number.",
            param_hint="--positions",
        )


def _check_own(ctx: click.Context, model: str) -> None:
    """Raise if an option of the user belongs to another kind of model."""
    for other, names in MODELS.items():
        for name in names:
            if other != model and given_by_user(ctx, name):
                raise click.UsageError(
                    f"--{name.replace('_', '-')} is a setting of --model {other}; "
                    f"--model {model} does not have it."
                )


def _resumed(
    ctx: click.Context, saved: Path, source: Path | None, settings: dict[str, Any]
) -> tuple[TextTraining, Path | None]:
    """Return the saved state and the path of its text; raise on contradictions."""
    state = checkpoint.read(saved)
    config = state["config"]
    fixed = [name for name in settings if name != "steps"]
    refuse_changes(ctx, saved, config, settings, fixed)
    steps = settings["steps"] if given_by_user(ctx, "steps") else config.steps
    done = len(state["training"]["losses"])
    if steps <= done:
        raise click.UsageError(
            f"{saved} has trained {done} steps already; request more with --steps."
        )
    training = checkpoint.resume(state, source, steps)
    place = source or state["text"]
    return training, None if place is None else Path(place)


def _finetuned(
    ctx: click.Context, saved: Path, source: Path | None, settings: dict[str, Any]
) -> TextTraining:
    """Return a new training with the model of a file, which keeps its characters."""
    state = checkpoint.read(saved)
    config = state["config"]
    refuse_changes(ctx, saved, config, settings, BUILT_OF)
    built = {name: getattr(config, name) for name in BUILT_OF}
    text = Characters.from_file(source, state["vocabulary"])
    training = _new(text, replace(TextConfig(**settings), **built))
    training.model.load_state_dict(state["training"]["model"])
    return training


def _headline(training: TextTraining) -> str:
    parameters = sum(p.numel() for p in training.model.parameters())
    model = training.config.model
    others = {k for other, own in MODELS.items() if other != model for k in own}
    others |= (
        {"model"} if training.config.precision == "bf16" else {"model", "precision"}
    )
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


def sample(training: TextTraining, count: int = 200) -> str:
    """Return text that the model writes after the first character of the data."""
    prompt = training.tokens[:1].reshape(1, 1)
    tokens = generate(training.model, prompt, count, seed=training.step)
    return training.text.decode(tokens[0])


class TextRun:
    """A training on text, in the form that `follow` uses."""

    def __init__(
        self,
        training: TextTraining,
        screen: TextScreen,
        source: Path | None,
        sample_every: int,
    ) -> None:
        self.training = training
        self._screen = screen
        self._source = source
        self._sample_every = sample_every

    def describe(self) -> dict[str, Any]:
        """Return model, data, parameters, steps."""
        training = self.training
        return {
            "model": training.config.model,
            "data": "the built-in text" if self._source is None else str(self._source),
            "parameters": sum(p.numel() for p in training.model.parameters()),
            "step": training.step,
        }

    def record(self, event: TextStep | Evaluation) -> dict[str, Any]:
        """Return the log record of an event."""
        if isinstance(event, TextStep):
            return {"kind": "step", "step": event.number, "loss": event.loss,
                    "lr": event.lr}  # fmt: skip
        history = self.training.history
        before = history.evaluations[-2][0] if len(history.evaluations) > 1 else 0
        return {
            "kind": "evaluation",
            "step": event.number,
            "loss": mean(history.losses[before : event.number]),
            "validation_loss": event.loss,
            "tokens_per_second": self.training.speed,
            "resident_bytes": resident_bytes(),
        }

    def scores(self) -> list[tuple[float]]:
        """Return the scores of all evaluations; a lower score is better."""
        return [(loss,) for _, loss in self.training.history.evaluations]

    def is_evaluation(self, event: TextStep | Evaluation) -> bool:
        """Return whether the event is an evaluation."""
        return isinstance(event, Evaluation)

    def after_step(self, event: TextStep) -> None:
        """Show a sample of the model, if it is time for one."""
        if self._sample_every and event.number % self._sample_every == 0:
            self._screen.say(sample(self.training))

    def complete(self) -> bool:
        """Return whether all steps and the last evaluation are done."""
        training = self.training
        last = training.history.evaluations[-1:]
        return bool(last) and last[0][0] >= training.config.steps

    def save(self, path: Path) -> None:
        """Write the training to a file."""
        if is_first():
            checkpoint.save(self.training, self._source, path)

    def new_file(self) -> Path:
        """Return the name of a file that does not exist."""
        return new_file("autocalc-charlm")

    def interruption(self, place: Path) -> str:
        """Return the state of the training, and its file."""
        training = self.training
        return (
            f"Interrupted after step {training.step:,} of {training.config.steps:,}. "
            f"Saved to {place}."
        )

    def result(self) -> dict[str, Any]:
        """Return how good the model is, and when it was best."""
        history = self.training.history
        known = {
            "steps": self.training.step,
            "tokens_per_second": self.training.speed,
            "kernels": kernel_rows(self.training.calls),
        }
        if not history.evaluations:
            return known
        step, loss = history.evaluations[best_of(self.scores())]
        last = history.evaluations[-1][1]
        return {
            **known,
            "validation_loss": last,
            "best": {"step": step, "validation_loss": loss},
        }

    def result_line(self, seconds: float) -> str:
        """Return the result as a line of text."""
        loss = self.training.history.evaluations[-1][1]
        return (
            f"validation loss {loss:.4f}  perplexity {perplexity(loss)}  "
            f"{seconds:.1f} s  {self.training.speed:,.0f} tokens/s"
        )

    def plot(self, path: Path, err: bool) -> None:
        """Draw the curves."""
        training = self.training
        rates = [(i + 1.0, training.config.rate(i)) for i in range(training.step)]
        curves = Curves(
            f"{training.config.model} on text",
            "step",
            [(float(i), loss) for i, loss in enumerate(training.history.losses, 1)],
            [(float(step), loss) for step, loss in training.history.evaluations],
            "validation",
            "learning rate",
            rates,
        )
        plot.plot(curves, path, err=err)
