# SPDX-License-Identifier: MIT
"""Trainings as files: everything that a run needs to go on bit for bit."""

from __future__ import annotations

from dataclasses import MISSING, asdict, fields, replace
from pathlib import Path
from typing import Any

from autocalc._io import files as _io
from autocalc._tensor.generator import default_generator
from autocalc.cli._recipes import MODELS, RECIPES, Source
from autocalc.cli._training import Config, History, Training
from autocalc.errors import CheckpointError

#: Marks a file as one of ours.
_KIND = "autocalc training"


def save(training: Training, path: Path) -> None:
    """Write a training to `path`, in one step, with a lock: which kernels ran."""
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
    """Return the state that `save` wrote, its config as a `Config`."""
    state = _io.load(path)
    if not isinstance(state, dict) or state.get("kind") != _KIND:
        raise CheckpointError(
            f"{path} does not contain a training; give a file that `autocalc train "
            "--save` wrote."
        )
    state["config"] = _config(path, state["config"])
    return state


def _config(path: Path, values: dict[str, Any]) -> Config:
    """Return the settings of a file, if this AutoCalc knows them."""
    known = {field.name for field in fields(Config)}
    # What came later has a default; files from before are without it.
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
            f"{path} is a training of {config.model} on {config.data}, which this "
            "version of AutoCalc does not have."
        )
    return config


def resume(
    state: dict[str, Any], epochs: int, source: Source | None = None, workers: int = 0
) -> Training:
    """Return the training of a state, to go on to `epochs`."""
    training = Training(replace(state["config"], epochs=epochs), source, workers)
    training.model.load_state_dict(state["model"])
    training.optimizer.load_state_dict(state["optimizer"])
    training.loader.load_state_dict(state["loader"])
    default_generator.set_state(state["generator"])
    training.epoch = state["epoch"]
    training.history = History(**state["history"])
    return training
