# SPDX-License-Identifier: MIT
"""Saved trainings: a file with everything that a run needs to continue bit for bit."""

from __future__ import annotations

from dataclasses import MISSING, asdict, fields, replace
from pathlib import Path
from typing import Any

from autocalc._io import files as _io
from autocalc._tensor.generator import default_generator
from autocalc.cli._recipes import MODELS, RECIPES, Source
from autocalc.cli._training import Config, History, Training
from autocalc.errors import CheckpointError

#: Marks a file as written by AutoCalc.
_KIND = "autocalc training"


def save(training: Training, path: Path) -> None:
    """Save a training to `path` in one step, with a lock that names the kernels."""
    state = {
        "kind": _KIND,
        "config": asdict(training.config),
        "model": training.model.state_dict(),
        "optimizer": training.optimizer.state_dict(),
        "loader": training.loader.state_dict(),
        "generator": default_generator.get_state(),
        "epoch": training.epoch,
        "history": asdict(training.history),
    }
    _io.save(state, path, lock=True)


def read(path: Path) -> dict[str, Any]:
    """Return the state that `save` wrote, with its config as a `Config`."""
    state = _io.load(path)
    if not isinstance(state, dict) or state.get("kind") != _KIND:
        raise CheckpointError(
            f"{path} does not contain a training run; give a file that `autocalc train "
            "--save` wrote."
        )
    state["config"] = _config(path, state["config"])
    return state


def _config(path: Path, values: dict[str, Any]) -> Config:
    """Return the settings of a file; raise if this AutoCalc does not know them."""
    known = {field.name for field in fields(Config)}
    # Settings that were added later have defaults, because older files lack them.
    needed = {field.name for field in fields(Config) if field.default is MISSING}
    if not needed <= set(values) <= known:
        raise CheckpointError(
            f"{path} has the settings {', '.join(sorted(values))}; this version of "
            f"AutoCalc has {', '.join(sorted(known))}. Use the version of AutoCalc "
            "that wrote it."
        )
    config = Config(**values)
    if config.data not in RECIPES or config.model not in MODELS:
        raise CheckpointError(
            f"{path} is a training run of {config.model} on {config.data}, which this "
            "version of AutoCalc does not have."
        )
    return config


def resume(
    state: dict[str, Any], epochs: int, source: Source | None = None, workers: int = 0
) -> Training:
    """Return the training of a state, which continues to `epochs`."""
    training = Training(replace(state["config"], epochs=epochs), source, workers)
    training.model.load_state_dict(state["model"])
    training.optimizer.load_state_dict(state["optimizer"])
    training.loader.load_state_dict(state["loader"])
    default_generator.set_state(state["generator"])
    training.epoch = state["epoch"]
    training.history = History(**state["history"])
    return training
