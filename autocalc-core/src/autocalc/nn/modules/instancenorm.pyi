# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.nn import InstanceNorm1d as InstanceNorm1d
from autocalc.nn import InstanceNorm2d as InstanceNorm2d
from autocalc.nn import InstanceNorm3d as InstanceNorm3d
from autocalc.nn import LazyInstanceNorm1d as LazyInstanceNorm1d
from autocalc.nn import LazyInstanceNorm2d as LazyInstanceNorm2d
from autocalc.nn import LazyInstanceNorm3d as LazyInstanceNorm3d
from autocalc.nn._layers.norms.batch_norm import _InstanceNorm as _InstanceNorm
