# SPDX-License-Identifier: MIT
"""`torch.utils.model_zoo`: the older location of functions of `torch.hub`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from torch.hub import load_state_dict_from_url as load_state_dict_from_url

load_url = load_state_dict_from_url


def __getattr__(name: str) -> Any:
    if name == "tqdm":
        return import_module("tqdm.auto").tqdm
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
