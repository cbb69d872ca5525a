# SPDX-License-Identifier: MIT
"""PyTorch's place for distances."""

from autocalc.nn import CosineSimilarity, PairwiseDistance

__all__ = ["CosineSimilarity", "PairwiseDistance"]
