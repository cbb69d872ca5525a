# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.data import BatchSampler as BatchSampler
from autocalc.data import RandomSampler as RandomSampler
from autocalc.data import Sampler as Sampler
from autocalc.data import SequentialSampler as SequentialSampler
from autocalc.data import SubsetRandomSampler as SubsetRandomSampler
from autocalc.data import WeightedRandomSampler as WeightedRandomSampler
