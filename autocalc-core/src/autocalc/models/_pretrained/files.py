# SPDX-License-Identifier: MIT
"""The tensors of a folder: one safetensors file or several, mapped into memory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from autocalc._io.dtypes import NAMES, check_dtype
from autocalc._tensor import Tensor
from autocalc._tensor.checks import short
from autocalc.errors import CheckpointError, MissingFileError
from autocalc.models._pretrained.config import read_json

SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"
_PICKLES = ("pytorch_model.bin", "pytorch_model.bin.index.json")


class Place(NamedTuple):
    """Where a tensor is: its file, the bytes from `begin` to `end`, and its shape."""

    path: Path
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


class Files:
    """All tensors of a folder, by name; the values are read when they are used.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import autocalc as ac
    >>> from autocalc.models._pretrained.files import Files
    >>> folder = Path(tempfile.mkdtemp())
    >>> ac.save({"w": ac.ones(2)}, folder / "model.safetensors")
    >>> Files(folder).tensor("w")
    tensor([1., 1.])
    """

    def __init__(self, folder: Path, single_file: str = SINGLE) -> None:
        self.places: dict[str, Place] = {}
        self._maps: dict[Path, Any] = {}
        single, index = folder / single_file, folder / INDEX
        if single.is_file():
            self.places = _places(single)
        elif single_file == SINGLE and index.is_file():
            self.places = _sharded(index)
        else:
            raise MissingFileError(_nothing(folder, single_file))

    def tensor(self, name: str) -> Tensor:
        """Return a tensor in the memory of the mapped file.

        Its memory is private to this process: writes do not change the file.
        """
        from autocalc._ops.creation.from_data import from_numpy

        place = self.places[name]
        raw = self._bytes(place.path)[place.begin : place.end]
        dtype = _numpy(place.dtype)
        if (raw.ctypes.data % dtype.itemsize) or not raw.size:
            raw = np.array(raw)  # a file whose header has an odd length
        return from_numpy(raw.view(dtype).reshape(place.shape))

    def _bytes(self, path: Path) -> Any:
        if path not in self._maps:
            self._maps[path] = np.asarray(np.memmap(path, np.uint8, "c"))
        return self._maps[path]


def _nothing(folder: Path, single: str) -> str:
    if single != SINGLE:
        return f"load_adapter: {folder / single} does not exist. Copy the missing file."
    pickled = [name for name in _PICKLES if (folder / name).exists()]
    more = ""
    if pickled:
        more = (
            f" {pickled[0]} is a pickle, which can run code and is never read: convert "
            "it with model.save_pretrained of transformers."
        )
    return f"from_pretrained: {folder} has neither {SINGLE} nor {INDEX}.{more}"


def _numpy(name: str) -> np.dtype[Any]:
    from autocalc._tensor.dtypes import bfloat16

    return bfloat16.numpy if name == "BF16" else np.dtype(NAMES[name])


def _sharded(index: Path) -> dict[str, Place]:
    """Return the places that an index of shards names."""
    shards = read_json(index).get("weight_map")
    if not isinstance(shards, dict) or not shards:
        raise CheckpointError(
            f"from_pretrained: {index} has no `weight_map`, which names the file of "
            "each tensor. Copy the folder again."
        )
    by_file: dict[str, dict[str, Place]] = {}
    for file in sorted({*map(str, shards.values())}):
        by_file[file] = _places(_shard(index, file))
    for name, file in shards.items():
        if name not in by_file[str(file)]:
            raise CheckpointError(
                f"from_pretrained: {index} says that tensor {name!r} is in {file}, but "
                "it is not there. Copy the folder again."
            )
    return {name: by_file[str(file)][name] for name, file in shards.items()}


def _shard(index: Path, file: str) -> Path:
    path = index.parent / file
    if Path(file).name != file:
        raise CheckpointError(
            f"from_pretrained: {index} names the file {file!r}; it must be the name of "
            "a file in the same folder."
        )
    if not path.is_file():
        raise MissingFileError(
            f"from_pretrained: {path}, which {index.name} names, does not exist. Copy "
            "the missing file."
        )
    return path


def _places(path: Path) -> dict[str, Place]:
    """Return the places of the tensors of a file, which the library has checked."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as file:
            names = sorted(file.keys())
        header, start = _header(path)
        found = {n: _place(path, n, header[n], start) for n in names}
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(
            f"from_pretrained: {path} ({path.stat().st_size} bytes) is incomplete or "
            f"not a safetensors file: {error}. Copy it again."
        ) from error
    return found


def _header(path: Path) -> tuple[Mapping[str, Any], int]:
    """Return the header of a safetensors file, and where its data begins."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        return json.loads(file.read(length)), 8 + length


def _place(path: Path, name: str, record: Any, start: int) -> Place:
    dtype, shape = record["dtype"], tuple(record["shape"])
    check_dtype(str(path), name, dtype)
    begin, end = record["data_offsets"]
    return Place(path, dtype, shape, start + begin, start + end)


def check_tensors(
    files: Files, wanted: Mapping[str, tuple[int, ...]], names: Mapping[str, str]
) -> None:
    """Raise unless all wanted tensors are there, with their shapes.

    `names` maps the names in the model to those in the files.
    """
    missing = sorted(name for name in wanted if name not in names)
    if missing:
        raise CheckpointError(
            f"from_pretrained: {len(missing)} tensors of the model are in no file: "
            f"{', '.join(missing[:3])}{', ...' if len(missing) > 3 else ''}. The files "
            "belong to another model than config.json, or are incomplete."
        )
    for name, shape in wanted.items():
        place = files.places[names[name]]
        if place.shape != shape:
            raise CheckpointError(
                f"from_pretrained: tensor {names[name]!r} of {place.path} has shape "
                f"{short(place.shape)}; by config.json it must be {short(shape)}. The "
                "files belong together only if both agree."
            )
