# SPDX-License-Identifier: MIT
"""The settings of a model, in the file ``config.json`` of its folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from autocalc._tensor.checks import short
from autocalc.errors import CheckpointError, MissingFileError

#: No size of a model is larger.
MOST = 2**31 - 1
#: A text in JSON that describes a model is never longer, in bytes.
_LONGEST = 64 * 2**20

_NEEDED: Any = object()


def read_json(path: Path, where: str = "from_pretrained") -> dict[str, Any]:
    """Return the object in a JSON file; raise if there is none."""
    if not path.is_file():
        raise MissingFileError(
            f"{where}: {path} does not exist. Give the folder of a model, "
            "which contains config.json and files *.safetensors."
        )
    try:
        if path.stat().st_size > _LONGEST:
            raise ValueError(f"it has {path.stat().st_size:,} bytes")
        values = json.loads(path.read_text("utf-8"))
        if not isinstance(values, dict):
            raise ValueError(f"it contains {short(values)} instead of an object")
    except (OSError, ValueError, RecursionError) as error:
        message = f"{where}: {path} cannot be read as JSON: {error}."
        raise CheckpointError(message) from error
    return values


class Config:
    """The values of a ``config.json``, each checked when it is read.

    Parameters
    ----------
    values
        The object in the file.
    place
        The path of the file, for messages.
    tensors
        The number of tensors in the folder.  A model has fewer layers.
    where
        The function that reads them, for messages.
    """

    def __init__(
        self,
        values: dict[str, Any],
        place: str,
        tensors: int,
        where: str = "from_pretrained",
    ) -> None:
        self.values, self.place, self.tensors = values, place, tensors
        self.where = where

    def __contains__(self, name: str) -> bool:
        return self.values.get(name) is not None

    def part(self, name: str) -> Config:
        """Return the settings of a part, which are an object within this one."""
        values = self._read(name, _NEEDED)
        if not isinstance(values, dict):
            raise self.refusal(name, "an object")
        return Config(values, f"{self.place} ({name})", self.tensors)

    def size(self, name: str, default: Any = _NEEDED) -> int:
        """Return a whole number of at least 1."""
        value = self._read(name, default)
        if type(value) is not int or not 1 <= value <= MOST:
            raise self.refusal(name, f"a whole number from 1 to {MOST}")
        return value

    def window(self, name: str) -> int | None:
        """Return the width of a window, or None if there is none."""
        return self.size(name) if name in self else None

    def layers(self, name: str) -> int:
        """Return the number of layers, of which each has tensors in the folder."""
        count = self.size(name)
        if count > self.tensors:
            raise self.refusal(
                name, f"at most {self.tensors}, the number of tensors in the folder"
            )
        return count

    def number(self, name: str, default: Any = _NEEDED) -> float:
        """Return a positive number."""
        value = self._read(name, default)
        if type(value) not in {int, float} or not 0 < value < float("inf"):
            raise self.refusal(name, "a positive number")
        return float(value)

    def flag(self, name: str, default: Any = _NEEDED) -> bool:
        """Return True or False."""
        value = self._read(name, default)
        if type(value) is not bool:
            raise self.refusal(name, "true or false")
        return value

    def choice(self, name: str, known: Any, default: Any = _NEEDED) -> str:
        """Return one of the known words."""
        value = self._read(name, default)
        if not isinstance(value, str) or value not in known:
            raise self.refusal(name, f"one of {', '.join(known)}")
        return value

    def needs(self, name: str, value: Any) -> None:
        """Raise if a setting is there and has another value than the one known."""
        if name in self and self.values[name] != value:
            raise self.refusal(name, f"{value!r}; this variant is not supported")

    def refusal(self, name: str, needed: str) -> CheckpointError:
        """Return the error for a value that is missing or does not fit."""
        value = self.values.get(name)
        found = "is missing" if value is None else f"is {short(value)}"
        return CheckpointError(
            f"{self.where}: `{name}` of {self.place} {found}; it must be {needed}."
        )

    def _read(self, name: str, default: Any) -> Any:
        value = self.values.get(name)
        if value is not None:
            return value
        if default is _NEEDED:
            raise self.refusal(name, "given")
        return default
