# SPDX-License-Identifier: MIT
"""Ready-made models: image classifiers and language models, and their training."""

from autocalc.models._adapters import load_adapter, save_adapter
from autocalc.models._cache import KeyValueCache
from autocalc.models._decoder import Decoder
from autocalc.models._generate import generate, stream
from autocalc.models._images import LeNet, ResNet, RowLSTM
from autocalc.models._pretrained.load import from_config, from_pretrained
from autocalc.models._pretrained.save import save_pretrained
from autocalc.models._pretrained.tokenizer import Tokenizer
from autocalc.models._pretrained.writing import stream_text
from autocalc.models._recurrent import StateCache, TextLSTM
from autocalc.models._resnet18 import ResNet18
from autocalc.models._training import (
    Evaluation,
    TextConfig,
    TextHistory,
    TextStep,
    TextTraining,
)
from autocalc.models._vision import VisionTransformer

__all__ = [
    "Decoder",
    "Evaluation",
    "KeyValueCache",
    "LeNet",
    "ResNet",
    "ResNet18",
    "RowLSTM",
    "StateCache",
    "TextConfig",
    "TextHistory",
    "TextLSTM",
    "TextStep",
    "TextTraining",
    "Tokenizer",
    "VisionTransformer",
    "from_config",
    "from_pretrained",
    "generate",
    "load_adapter",
    "save_adapter",
    "save_pretrained",
    "stream",
    "stream_text",
]
