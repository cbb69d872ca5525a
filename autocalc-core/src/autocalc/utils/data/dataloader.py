# SPDX-License-Identifier: MIT
"""PyTorch's place for the loader."""

from autocalc.data import DataLoader, default_collate

__all__ = ["DataLoader", "default_collate"]
