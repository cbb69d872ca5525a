# SPDX-License-Identifier: MIT
"""`save_pretrained`: a folder that other programs open."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from autocalc._io.paths import replace_file
from autocalc._tensor.checks import check_type
from autocalc._tensor.device import Device
from autocalc.errors import ArgumentError, CheckpointError
from autocalc.models._pretrained.config import Config
from autocalc.models._pretrained.files import INDEX, SINGLE
from autocalc.models._pretrained.model import Pretrained

#: Files of a folder that belong to the model and not to its weights.
COMPANIONS = (
    *("added_tokens.json", "chat_template.jinja", "generation_config.json"),
    *("merges.txt", "special_tokens_map.json", "tokenizer.json", "tokenizer.model"),
    *("tokenizer_config.json", "vocab.json", "vocab.txt"),
)


def save_pretrained(
    model: Any, folder: str | os.PathLike[str], *, shard_bytes: int = 5_000_000_000
) -> None:
    """Write a model into a folder in the format of Hugging Face.

    The folder contains ``config.json`` and ``model.safetensors``.  The files of the
    tokenizer are copied from the folder from which the model was loaded.  transformers
    opens the folder with its `from_pretrained`.

    Parameters
    ----------
    model
        A model of `from_pretrained` or `from_config`.
    folder
        The path of the folder.  It is made if it does not exist.
    shard_bytes
        The largest size of a file of tensors.  If the weights are larger, there are
        several files and an index.

    Raises
    ------
    DTypeError
        If `model` is not such a model.
    ArgumentError
        If the model has other parameters than its settings say, for example because
        adapters have been added and not been merged.
    CheckpointError
        If a file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import autocalc as ac
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> sizes = {"n_embd": 8, "n_head": 2, "n_layer": 1, "n_positions": 16}
    >>> model = ac.models.from_config({"model_type": "gpt2", "vocab_size": 10, **sizes})
    >>> ac.models.save_pretrained(model, folder)
    >>> sorted(path.name for path in folder.iterdir())
    ['config.json', 'model.safetensors']
    """
    check_type("save_pretrained", "model", model, Pretrained, "a pretrained model")
    _check_parameters(model)
    path = Path(folder)
    arrays = {
        model.file_name(name): np.ascontiguousarray(p.detach()._array)
        for name, p in model.named_parameters()
    }
    try:
        path.mkdir(parents=True, exist_ok=True)
        _write_shards(arrays, path, shard_bytes)
        write_text(path / "config.json", _settings(model))
        _copy_companions(model.folder, path)
    except OSError as error:
        raise CheckpointError(
            f"save_pretrained: {path} cannot be written: {error.strerror or error}. "
            "Make room, or name another folder."
        ) from error


def _check_parameters(model: Any) -> None:
    with Device("meta"):
        fresh = type(model)(Config(dict(model.config), "the configuration", 10_000))
        fresh.tie()
        found = {n: tuple(p.shape) for n, p in model.named_parameters()}
        fresh.adapt(found)
    wanted = {n: tuple(p.shape) for n, p in fresh.named_parameters()}
    if wanted != found:
        other = min(dict(found.items() ^ wanted.items()))
        raise ArgumentError(
            f"save_pretrained: parameter {other!r} does not belong to a model with "
            "these settings, or has another shape. If the model has adapters, call "
            "nn.utils.lora.merge(model) first."
        )


def _settings(model: Any) -> dict[str, Any]:
    dtype = str(next(model.parameters()).dtype).rpartition(".")[2]
    name = "torch_dtype" if "torch_dtype" in model.config else "dtype"
    return {**model.config, name: dtype}


def _write_shards(arrays: dict[str, Any], folder: Path, most: int) -> None:
    shards: list[dict[str, Any]] = [{}]
    size = 0
    for name, array in arrays.items():
        if size + array.nbytes > most and shards[-1]:
            shards.append({})
            size = 0
        shards[-1][name] = array
        size += array.nbytes
    if len(shards) == 1:
        write_file(arrays, folder / SINGLE)
        (folder / INDEX).unlink(missing_ok=True)  # of an earlier model
        return
    count, files = len(shards), {}
    for number, shard in enumerate(shards, 1):
        file = f"model-{number:05}-of-{count:05}.safetensors"
        write_file(shard, folder / file)
        files.update(dict.fromkeys(shard, file))
    total = sum(array.nbytes for array in arrays.values())
    index = {"metadata": {"total_size": total}, "weight_map": files}
    write_text(folder / INDEX, index)
    (folder / SINGLE).unlink(missing_ok=True)  # of an earlier model


def write_file(arrays: dict[str, Any], path: Path) -> None:
    """Replace a file of tensors in one step."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    def write(part: Path) -> None:
        try:
            save_file(arrays, part, metadata={"format": "pt"})
        except SafetensorError as error:
            raise OSError(str(error)) from error
        part.chmod(0o666 & ~_umask())

    replace_file(path, write)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_text(path: Path, values: dict[str, Any]) -> None:
    """Replace a file of JSON in one step."""
    text = json.dumps(values, indent=2, sort_keys=True) + "\n"

    def write(part: Path) -> None:
        part.write_text(text, "utf-8")

    replace_file(path, write)


def _copy_companions(source: Path | None, folder: Path) -> None:
    if source is None or source.resolve() == folder.resolve():
        return
    for name in COMPANIONS:
        if (source / name).is_file():
            shutil.copyfile(source / name, folder / name)
