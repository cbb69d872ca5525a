# SPDX-License-Identifier: MIT
"""A model of a folder: the settings, the tensors, and how they meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from autocalc import nn
from autocalc._tensor import Tensor
from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType, bfloat16, float16, float32, float64
from autocalc.errors import CheckpointError, ShapeError
from autocalc.models._pretrained.config import Config, read_json
from autocalc.models._pretrained.families import family_of
from autocalc.models._pretrained.files import Files, check_tensors

#: The dtypes that weights can have, by their names in ``config.json``.
DTYPES = {
    "bfloat16": bfloat16,
    "float16": float16,
    "float32": float32,
    "float64": float64,
}


def load_model(folder: Path, dtype: DType | None) -> Any:
    """Return the model of a folder, without parts that follow it."""
    values = read_json(folder / "config.json")
    files = Files(folder)
    config = Config(values, str(folder / "config.json"), len(files.places))
    model = _empty(config)
    model.adapt(files.places)
    names = _names(model, files.places)
    parameters = dict(model.named_parameters())
    check_tensors(files, {n: tuple(p.shape) for n, p in parameters.items()}, names)
    if dtype is None:
        dtype = _stored(config, (files.places[names[n]].dtype for n in parameters))
    for name in parameters:
        _set(model, name, _cast(files.tensor(names[name]), dtype))
    model.tie()
    model.folder = folder
    return model.eval()


def _empty(config: Config) -> Any:
    """Return a model without memory for its weights."""
    make = family_of(config)
    try:
        with Device("meta"):
            model = make(config)
            model.tie()
    except ShapeError as error:
        raise CheckpointError(
            f"from_pretrained: the sizes in {config.place} are impossible: {error}"
        ) from error
    return model


def _names(model: Any, found: Iterable[str]) -> dict[str, str]:
    """Return for each parameter the name of its tensor, as far as there is one."""
    there, names = set(found), {}
    for name, _ in model.named_parameters():
        bare = name.removeprefix(model.body)
        for other in (name, bare, *map(_older, (name, bare))):
            if other in there:
                names[name] = other
                break
    return names


def _older(name: str) -> str:
    """Return the name of a norm's tensor in files of 2018."""
    for new, old in ((".weight", ".gamma"), (".bias", ".beta")):
        if name.endswith(f"LayerNorm{new}"):
            return name.removesuffix(new) + old
    return name


def _stored(config: Config, dtypes: Iterable[str]) -> DType:
    """Return the dtype that the settings name, or the most frequent one."""
    for name in ("dtype", "torch_dtype"):
        if name in config:
            return DTYPES[config.choice(name, DTYPES)]
    most = Counter(dtypes).most_common(1)[0][0]
    known = {"BF16": bfloat16, "F16": float16, "F64": float64}
    return known.get(most, float32)


def _cast(tensor: Tensor, dtype: DType) -> Tensor:
    return tensor if tensor.dtype is dtype else tensor.to(dtype)


def _set(model: Any, name: str, tensor: Tensor) -> None:
    place, _, last = name.rpartition(".")
    setattr(model.get_submodule(place), last, nn.Parameter(tensor))
