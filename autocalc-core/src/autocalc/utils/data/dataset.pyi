# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.data import ChainDataset as ChainDataset
from autocalc.data import ConcatDataset as ConcatDataset
from autocalc.data import Dataset as Dataset
from autocalc.data import IterableDataset as IterableDataset
from autocalc.data import StackDataset as StackDataset
from autocalc.data import Subset as Subset
from autocalc.data import TensorDataset as TensorDataset
from autocalc.data import random_split as random_split
