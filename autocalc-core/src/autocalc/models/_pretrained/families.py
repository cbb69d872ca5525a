# SPDX-License-Identifier: MIT
"""The families of models, by the `model_type` of their ``config.json``."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from autocalc.models._pretrained.config import Config

#: model_type -> the file of the family, and its class.
FAMILIES = {
    "bert": ("bert", "Bert"),
    "distilbert": ("distilbert", "DistilBert"),
    "gemma2": ("gemma2", "Gemma2"),
    "gpt2": ("gpt2", "GPT2"),
    "llama": ("llama", "Llama"),
    "mistral": ("mistral", "Mistral"),
    "phi": ("phi", "Phi"),
    "phi3": ("phi3", "Phi3"),
    "qwen2": ("qwen", "Qwen2"),
    "qwen3": ("qwen", "Qwen3"),
}


def family_of(config: Config) -> Any:
    """Return the class for a configuration; raise if its type is not known."""
    file, name = FAMILIES[config.choice("model_type", FAMILIES)]
    return getattr(import_module(f"autocalc.models._pretrained.{file}"), name)
