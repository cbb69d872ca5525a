# SPDX-License-Identifier: MIT
"""`torch.hub`: weights from the network, cached in a folder; no code is loaded."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urlparse as urlparse
from urllib.request import urlopen

from autocalc import _config
from autocalc import load as _load
from autocalc.errors import DataError
from autocalc.torch import _mentioned

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
_folder: str | None = None


def set_dir(d: str) -> None:
    """Set the folder that `get_dir` returns."""
    global _folder
    _folder = d


def get_dir() -> str:
    """Return the folder for downloaded files: that of TORCH_HOME, or AutoCalc's."""
    if _folder is not None:
        return _folder
    home = _config.of_library("TORCH_HOME")
    return str((Path(home) if home else _config.cache_folder()) / "hub")


_get_torch_home = get_dir


def download_url_to_file(
    url: str, dst: str, hash_prefix: str | None = None, progress: bool = True
) -> None:
    """Download a file; with `hash_prefix`, check the beginning of its SHA-256.

    Raises
    ------
    DataError
        If the SHA-256 digest does not begin with `hash_prefix`.
    """
    part = Path(f"{dst}.part")
    with urlopen(url) as source, part.open("wb") as file:
        shutil.copyfileobj(source, file)
    found = hashlib.sha256(part.read_bytes()).hexdigest()
    if hash_prefix and not found.startswith(hash_prefix):
        part.unlink()
        raise DataError(
            f"{url} has the SHA-256 digest {found}, but {hash_prefix}... is needed."
        )
    part.replace(dst)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = True,
) -> Any:
    """Return `load` of a file, which is downloaded the first time."""
    folder = Path(model_dir or Path(get_dir()) / "checkpoints")
    folder.mkdir(parents=True, exist_ok=True)
    name = file_name or Path(urlparse(url).path).name
    file = folder / name
    if not file.exists():
        found = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, str(file), found.group(1) if found else None)
    return _load(file, map_location=map_location)


__getattr__ = _mentioned.names_of(__name__)
