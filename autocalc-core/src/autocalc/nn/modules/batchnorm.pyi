# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.nn import BatchNorm1d as BatchNorm1d
from autocalc.nn import BatchNorm2d as BatchNorm2d
from autocalc.nn import BatchNorm3d as BatchNorm3d
from autocalc.nn import LazyBatchNorm1d as LazyBatchNorm1d
from autocalc.nn import LazyBatchNorm2d as LazyBatchNorm2d
from autocalc.nn import LazyBatchNorm3d as LazyBatchNorm3d
from autocalc.nn import SyncBatchNorm as SyncBatchNorm
from autocalc.nn._layers.norms.batch_norm import _BatchNorm as _BatchNorm
from autocalc.nn._layers.norms.batch_norm import _ChannelNorm as _ChannelNorm

_NormBase = _ChannelNorm
