# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.nn import CosineSimilarity as CosineSimilarity
from autocalc.nn import PairwiseDistance as PairwiseDistance
