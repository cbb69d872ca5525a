# SPDX-License-Identifier: MIT
"""Data sets, samplers, transforms, and a loader that makes batches."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from autocalc._aliases import lookup as _lookup
from autocalc.data import transforms
from autocalc.data._cifar import CIFAR10
from autocalc.data._collate import default_collate, default_convert
from autocalc.data._dataset import ConcatDataset, Dataset, TensorDataset
from autocalc.data._digits import Digits
from autocalc.data._distributed import DistributedSampler
from autocalc.data._idx import read_idx
from autocalc.data._iterable import ChainDataset, IterableDataset
from autocalc.data._loader import DataLoader
from autocalc.data._mnist import MNIST, FashionMNIST
from autocalc.data._samplers import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from autocalc.data._stack import StackDataset
from autocalc.data._subset import Subset, random_split
from autocalc.data._text import Characters, windows
from autocalc.data._worker import WorkerInfo, get_worker_info

__all__ = [
    "CIFAR10",
    "MNIST",
    "BatchSampler",
    "ChainDataset",
    "Characters",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "Digits",
    "DistributedSampler",
    "FashionMNIST",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "WorkerInfo",
    "default_collate",
    "default_convert",
    "get_worker_info",
    "random_split",
    "read_idx",
    "transforms",
    "windows",
]

if not _TYPE_CHECKING:  # a type checker sees the names without it
    __getattr__ = _lookup(__name__)
