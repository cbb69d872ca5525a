# SPDX-License-Identifier: MIT
"""``autocalc finetune``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from autocalc._io import files as _io
from autocalc.cli._common import (
    FILE,
    Command,
    choose_machine,
    given_by_user,
    machine_options,
    new_file,
    refuse_changes,
)
from autocalc.cli._follow import follow
from autocalc.cli._language import FOLDER, dtype_option, load
from autocalc.cli._run_options import run_options, take_options
from autocalc.cli._text_screen import TextScreen
from autocalc.cli._train_text import TextRun
from autocalc.cli._words import Number, Seed
from autocalc.errors import CheckpointError
from autocalc.models import save_adapter, save_pretrained
from autocalc.models._examples import read_examples
from autocalc.models._finetuning import FineTuneConfig, FineTuning
from autocalc.models._precision import PRECISIONS
from autocalc.nn.utils import lora

USUAL = FineTuneConfig()
#: Marks a file as written by this command.
_KIND = "autocalc fine-tuning"
#: Of so many examples, one is kept for the evaluation, without a file for it.
_KEPT = 10


def _option(name: str, kind: Any, text: str) -> Callable[[Command], Command]:
    default = getattr(USUAL, name.replace("-", "_"))
    return click.option(
        f"--{name}", type=kind, default=default, show_default=True, help=text
    )


@click.command("finetune", short_help="Fine-tune a language model of others by LoRA.")
@click.argument("model_folder", metavar="FOLDER", type=FOLDER)
@click.option(
    "--data", required=True, metavar="FILE", type=FILE, help="The examples: JSONL."
)
@click.option(
    "--validation",
    metavar="FILE",
    type=FILE,
    help="Examples for evaluations.  [default: every tenth of --data]",
)
@click.option(
    "--out",
    required=True,
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder for the result: an adapter, which peft reads, too.",
)
@click.option(
    "--merge",
    is_flag=True,
    help="Write the whole model with the adapter merged into its weights.",
)
@_option("lora", click.IntRange(1), "The rank of the adapter.")
@click.option(
    "--alpha",
    type=Number(0, min_open=True),
    help="The factor of the adapter is alpha / rank.  [default: twice the rank]",
)
@click.option(
    "--targets",
    multiple=True,
    metavar="NAME",
    help="A layer to adapt, such as q_proj; may be given several times.  "
    "[default: all linear layers]",
)
@_option("dropout", Number(0, 1, max_open=True), "The probability of dropout.")
@_option("steps", click.IntRange(1), "The number of training steps.")
@_option("batch-size", click.IntRange(1), "The number of examples in a step.")
@_option("seq-len", click.IntRange(2), "The largest number of tokens of an example.")
@_option("lr", Number(0), "The highest learning rate.")
@_option("warmup", click.IntRange(0), "The number of steps in which the rate rises.")
@_option("grad-clip", Number(0), "The largest norm of gradients; 0 for no limit.")
@_option("eval-every", click.IntRange(1), "The number of steps between evaluations.")
@_option("precision", click.Choice(PRECISIONS), "The precision of matrix products.")
@_option("seed", Seed(), "The seed of the random numbers.")
@click.option(
    "--print-every",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="The number of steps between two printed lines.",
)
@dtype_option
@machine_options
@run_options("evaluation", "the lowest validation loss", finetunes=False)
@click.pass_context
def finetune_command(
    ctx: click.Context,
    /,
    model_folder: Path,
    data: Path,
    validation: Path | None,
    out: Path,
    merge: bool,
    print_every: int,
    dtype: str | None,
    threads: int | None,
    choices: str | None,
    **settings: Any,
) -> None:
    """Fine-tune a language model in a folder by LoRA.

    FOLDER is in the format of Hugging Face.  The weights of the model do not change; a
    few additional weights learn from the examples.  Each line of the data is one
    example, in one of these forms:

    \b
      {"text": "..."}
      {"prompt": "...", "completion": "..."}
      {"messages": [{"role": "user", "content": "..."},
                    {"role": "assistant", "content": "..."}]}

    Of a prompt or a conversation, only the last answer counts in the loss.

    \b
    Examples:
      autocalc finetune SmolLM2-135M --data names.jsonl --out names
      autocalc finetune gpt2 --data qa.jsonl --lora 16 --steps 1000 --out qa --merge
      autocalc finetune gpt2 --data qa.jsonl --out qa --save qa.safetensors
      autocalc finetune gpt2 --data qa.jsonl --out qa --resume qa.safetensors
    """
    options = take_options(settings)
    choose_machine(ctx, threads, choices)
    settings["targets"] = tuple(settings["targets"])
    model, tokenizer = load(model_folder, dtype)
    config = FineTuneConfig(model=model.config["model_type"], **settings)
    state = None
    if options.saved is not None:
        state = _read(options.saved)
        config = _resumed(ctx, options.saved, state, config)
    length = min(config.seq_len, model.context)
    examples = read_examples(data, tokenizer, length)
    kept = examples[::_KEPT]
    if validation is not None:
        kept = read_examples(validation, tokenizer, length)
    elif len(examples) > 1:
        examples = [e for i, e in enumerate(examples) if i % _KEPT]
    training = FineTuning(model, (examples, kept), config)
    if state is not None:
        training.load_state_dict(state["training"])
    screen = TextScreen(training, print_every, options.quiet, options.as_json)
    screen.say(_headline(training))
    follow(ctx, FineTuneRun(training, screen, data), screen, screen.shown(), options)
    _write(model, out, merge)
    screen.say(f"Wrote {'the merged model' if merge else 'the adapter'} to {out}.")


def _headline(training: FineTuning) -> str:
    parameters = list(training.model.parameters())
    learned = sum(p.numel() for p in parameters if p.requires_grad)
    config = training.config
    return (
        f"{config.model} of {sum(p.numel() for p in parameters) - learned:,} "
        f"parameters; an adapter of rank {config.lora} with {learned:,}; "
        f"{len(training.examples):,} examples, {len(training.kept):,} for evaluation"
    )


def _read(path: Path) -> dict[str, Any]:
    state = _io.load(path)
    if not isinstance(state, dict) or state.get("kind") != _KIND:
        raise CheckpointError(
            f"{path} is no checkpoint of a fine-tuning. Give the file of --save of "
            "`autocalc finetune`."
        )
    return state


def _resumed(
    ctx: click.Context, saved: Path, state: dict[str, Any], config: FineTuneConfig
) -> FineTuneConfig:
    """Return the settings of a checkpoint; raise if an option contradicts them."""
    known = {**state["config"], "targets": tuple(state["config"]["targets"])}
    before = FineTuneConfig(**known)
    if config.model != before.model:
        raise CheckpointError(
            f"{saved} adapts a model of the family {before.model}, not {config.model}. "
            "Give the folder of the model that it adapts."
        )
    settings = asdict(config)
    names = [name for name in settings if name not in {"model", "steps"}]
    refuse_changes(ctx, saved, before, {**settings, "targets": config.targets}, names)
    steps = config.steps if given_by_user(ctx, "steps") else before.steps
    done = len(state["training"]["losses"])
    if steps <= done:
        raise click.UsageError(
            f"{saved} has trained {done} steps already; request more with --steps."
        )
    return FineTuneConfig(**{**known, "steps": steps})


def _write(model: Any, out: Path, merge: bool) -> None:
    if not merge:
        save_adapter(model, out)
        return
    lora.merge(model)
    save_pretrained(model, out)


class FineTuneRun(TextRun):
    """A fine-tuning, in the form that `follow` uses."""

    training: FineTuning

    def __init__(self, training: FineTuning, screen: TextScreen, source: Path) -> None:
        super().__init__(training, screen, source, sample_every=0)

    def save(self, path: Path) -> None:
        """Write the adapter and the state of the training to a file."""
        state = {
            "kind": _KIND,
            "config": asdict(self.training.config),
            "training": self.training.state_dict(),
        }
        _io.save(state, path, lock=True)

    def new_file(self) -> Path:
        """Return the name of a file that does not exist."""
        return new_file("autocalc-finetune")
