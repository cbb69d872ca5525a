# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.nn import Embedding as Embedding
from autocalc.nn import EmbeddingBag as EmbeddingBag
