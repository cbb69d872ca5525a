# SPDX-License-Identifier: MIT
"""Adapters as files, in the format of peft: ``adapter_config.json`` and tensors."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from autocalc._graph._grad_mode import no_grad
from autocalc._tensor.checks import require
from autocalc.errors import CheckpointError
from autocalc.models._pretrained.config import Config, read_json
from autocalc.models._pretrained.files import Files
from autocalc.models._pretrained.save import write_file, write_text
from autocalc.nn import Module
from autocalc.nn.utils import lora

SETTINGS, TENSORS = "adapter_config.json", "adapter_model.safetensors"
#: What peft writes before the name of a layer.
_PREFIX = "base_model.model."


def save_adapter(
    model: Module, folder: str | os.PathLike[str], *, name: str = "default"
) -> None:
    """Write an adapter into a folder, from which peft loads it, too.

    The folder contains ``adapter_config.json`` and ``adapter_model.safetensors``, a few
    megabytes for a model of gigabytes.

    Parameters
    ----------
    model
        A model with adapters of `nn.utils.lora.add`.
    folder
        The path of the folder.  It is made if it does not exist.
    name
        The name of the adapter.

    Raises
    ------
    ArgumentError
        If no layer has an adapter of this name.
    CheckpointError
        If a file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import autocalc as ac
    >>> sizes = {"n_embd": 8, "n_head": 2, "n_layer": 1, "n_positions": 16}
    >>> model = ac.models.from_config({"model_type": "gpt2", "vocab_size": 10, **sizes})
    >>> _ = ac.nn.utils.lora.add(model, rank=2)
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> ac.models.save_adapter(model, folder)
    >>> sorted(path.name for path in folder.iterdir())
    ['adapter_config.json', 'adapter_model.safetensors']
    """
    layers = {
        place: layer
        for place, layer in lora.adapted(model).items()
        if name in layer.adapters
    }
    require("save_adapter", "name", name, layers, "the name of an adapter of the model")
    arrays = {}
    for place, layer in layers.items():
        for letter in "AB":
            values = getattr(layer.adapters[name], letter).detach().numpy()
            key = f"{_PREFIX}{place}.lora_{letter}.weight"
            arrays[key] = np.ascontiguousarray(values)
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
        write_file(arrays, path / TENSORS)
        write_text(path / SETTINGS, _settings(model, layers, name))
    except OSError as error:
        raise CheckpointError(
            f"save_adapter: {path} cannot be written: {error.strerror or error}. Make "
            "room, or name another folder."
        ) from error


def _settings(model: Any, layers: dict[str, Any], name: str) -> dict[str, Any]:
    first: Any = next(iter(layers.values()))
    adapter = first.adapters[name]
    base = getattr(model, "folder", None)
    return {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM" if hasattr(model, "reader") else None,
        "base_model_name_or_path": None if base is None else str(base),
        "r": adapter.rank,
        "lora_alpha": adapter.alpha,
        "lora_dropout": adapter.dropout,
        "target_modules": _targets(model, layers),
        "fan_in_fan_out": bool(getattr(first.base, "rows_are_inputs", False)),
        "bias": "none",
        "inference_mode": True,
    }


def _targets(model: Module, layers: dict[str, Any]) -> list[str]:
    """Return the last parts of the names, if no other module has them."""
    ends = sorted({place.rpartition(".")[2] for place in layers})
    named = (place for place, _ in model.named_modules())
    meant = {place for place in named if place.rpartition(".")[2] in ends}
    return ends if meant == set(layers) else sorted(layers)


def load_adapter(
    model: Module, folder: str | os.PathLike[str], *, name: str = "default"
) -> list[str]:
    """Add an adapter of `save_adapter` or of peft; return the names of its layers.

    The adapter is active afterwards, and only parameters of adapters require a
    gradient.

    Parameters
    ----------
    model
        The model that the adapter was made for.
    folder
        The path of the folder.
    name
        The name of the adapter in the model.

    Raises
    ------
    CheckpointError
        If a file is missing or has another format, or if the adapter is of a kind that
        is not supported.  The error is also raised if a layer of the adapter is not in
        the model or has another size.  The model is unchanged then.

    Examples
    --------
    >>> import tempfile
    >>> import autocalc as ac
    >>> sizes = {"n_embd": 8, "n_head": 2, "n_layer": 1, "n_positions": 16}
    >>> config = {"model_type": "gpt2", "vocab_size": 10, **sizes}
    >>> model, other = ac.models.from_config(config), ac.models.from_config(config)
    >>> _ = ac.nn.utils.lora.add(model, rank=2, targets=["c_attn"])
    >>> folder = tempfile.mkdtemp()
    >>> ac.models.save_adapter(model, folder)
    >>> ac.models.load_adapter(other, folder)
    ['transformer.h.0.attn.c_attn']
    """
    path = Path(folder)
    settings = read_json(path / SETTINGS, "load_adapter")
    files = Files(path, TENSORS)
    place, count = str(path / SETTINGS), len(files.places)
    config = Config(settings, place, count, "load_adapter")
    alpha = _checked(config)
    pairs = _pairs(files, path)
    _check_layers(model, files, pairs, path)
    ranks = {files.places[names["A"]].shape[0] for names in pairs.values()}
    if ranks != {config.size("r")}:
        raise config.refusal("r", f"{sorted(ranks)}, the rank of the tensors")
    dropout = settings.get("lora_dropout") or 0.0
    more: Any = {"name": name, "dropout": dropout}
    places = lora.add(model, ranks.pop(), alpha, list(pairs), **more)
    layers = lora.adapted(model)
    for place, names in pairs.items():
        adapter = layers[place].adapters[name]
        with no_grad():
            for letter, key in names.items():
                getattr(adapter, letter).copy_(files.tensor(key))
    return places


def _checked(config: Config) -> float:
    """Return alpha; raise if the adapter is of a kind that is not supported."""
    config.choice("peft_type", ("LORA",))
    config.choice("bias", ("none",), "none")
    for name in ("use_dora", "modules_to_save", "alpha_pattern", "rank_pattern"):
        if config.values.get(name):
            raise config.refusal(name, "left out; this variant is not supported")
    dropout = config.values.get("lora_dropout") or 0.0
    if type(dropout) not in {int, float} or not 0 <= dropout < 1:
        raise config.refusal("lora_dropout", "0 or more and below 1")
    alpha = config.number("lora_alpha")
    rank_stable = config.flag("use_rslora", False)
    return alpha * math.sqrt(config.size("r")) if rank_stable else alpha


def _pairs(files: Files, path: Path) -> dict[str, dict[str, str]]:
    """Return for each layer the names of its two tensors."""
    pairs: dict[str, dict[str, str]] = {}
    for key in files.places:
        place = key.removeprefix(_PREFIX)
        for letter in "AB":
            end = f".lora_{letter}.weight"
            if key.startswith(_PREFIX) and key.endswith(end):
                pairs.setdefault(place.removesuffix(end), {})[letter] = key
    if 2 * len(pairs) != len(files.places) or not pairs:
        raise CheckpointError(
            f"load_adapter: {path / TENSORS} has tensors that are not pairs of "
            "lora_A.weight and lora_B.weight; this variant is not supported."
        )
    return pairs


def _check_layers(model: Module, files: Files, pairs: Any, path: Path) -> None:
    sizes = lora.sizes(model)
    for place, names in pairs.items():
        found = tuple(files.places[names[letter]].shape for letter in sorted(names))
        if place not in sizes:
            raise CheckpointError(
                f"load_adapter: {path} adapts layer {place!r}, which the model does "
                "not have. Load the model that the adapter was made for."
            )
        outputs, inputs = sizes[place]
        rank = found[0][0] if found[0] else 0
        if found != ((rank, inputs), (outputs, rank)):
            raise CheckpointError(
                f"load_adapter: {path} has matrices of shapes {found} for layer "
                f"{place!r}, which has {inputs} inputs and {outputs} outputs. Load the "
                "model that the adapter was made for."
            )
