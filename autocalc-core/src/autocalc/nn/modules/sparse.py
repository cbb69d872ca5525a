# SPDX-License-Identifier: MIT
"""PyTorch's place for embeddings."""

from autocalc.nn import Embedding, EmbeddingBag

__all__ = ["Embedding", "EmbeddingBag"]
