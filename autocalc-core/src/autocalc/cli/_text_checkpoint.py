# SPDX-License-Identifier: MIT
"""Saved trainings on text: everything to continue a run, and a model that writes."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from autocalc._io import files as _io
from autocalc.data import Characters
from autocalc.errors import CheckpointError
from autocalc.models import Decoder, TextConfig, TextLSTM, TextTraining

#: Marks a file as written by AutoCalc.
_KIND = "autocalc text training"


def save(training: TextTraining, source: Path | None, path: Path) -> None:
    """Save a training in one step, with the path of its text.

    The path is None for the built-in text.

    The file has a lock that names the kernels that ran.
    """
    state = {
        "kind": _KIND,
        "text": None if source is None else str(source.absolute()),
        "characters": len(training.text),
        "vocabulary": training.text.vocabulary,
        "config": asdict(training.config),
        "training": training.state_dict(),
    }
    _io.save(state, path, lock=True)


def read(path: Path) -> dict[str, Any]:
    """Return the state that `save` wrote, with its config as a `TextConfig`."""
    state = _io.load(path)
    if not isinstance(state, dict) or state.get("kind") != _KIND:
        raise CheckpointError(
            f"{path} does not contain a text model; give a file that `autocalc train "
            "charlm --save` wrote."
        )
    known = {field.name for field in fields(TextConfig)}
    if set(state["config"]) != known:
        raise CheckpointError(
            f"{path} has the settings {', '.join(sorted(state['config']))}; this "
            f"version of AutoCalc has {', '.join(sorted(known))}. Use the version of "
            "AutoCalc that wrote it."
        )
    state["config"] = TextConfig(**state["config"])
    return state


def resume(state: dict[str, Any], source: Path | None, steps: int) -> TextTraining:
    """Return the training of a state, which continues to `steps`."""
    place = state["text"] if source is None else source
    text = Characters.from_file(place, state["vocabulary"])
    if len(text) != state["characters"]:
        raise CheckpointError(
            f"{place or 'the built-in text'} has {len(text):,} characters, but it had "
            f"{state['characters']:,} when the training began, so the training cannot "
            "continue."
        )
    training = TextTraining(text, replace(state["config"], steps=steps))
    training.load_state_dict(state["training"])
    return training


def model_of(state: dict[str, Any]) -> tuple[Decoder | TextLSTM, Characters]:
    """Return the model of a state, and the characters that it knows."""
    text = Characters(state["vocabulary"], state["vocabulary"])
    model = state["config"].make_model(len(state["vocabulary"]))
    model.load_state_dict(state["training"]["model"])
    return model, text
