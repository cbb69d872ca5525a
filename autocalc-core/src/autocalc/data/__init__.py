# SPDX-License-Identifier: MIT
"""Data sets, the loader that makes batches of them, and transforms."""

from autocalc.data import transforms
from autocalc.data._collate import default_collate
from autocalc.data._dataset import Dataset, Subset, TensorDataset, random_split
from autocalc.data._digits import Digits
from autocalc.data._idx import read_idx
from autocalc.data._loader import DataLoader
from autocalc.data._mnist import MNIST, FashionMNIST
from autocalc.data._samplers import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
)
from autocalc.data._text import Characters, windows

__all__ = [
    "MNIST",
    "BatchSampler",
    "Characters",
    "DataLoader",
    "Dataset",
    "Digits",
    "FashionMNIST",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "Subset",
    "TensorDataset",
    "default_collate",
    "random_split",
    "read_idx",
    "transforms",
    "windows",
]
