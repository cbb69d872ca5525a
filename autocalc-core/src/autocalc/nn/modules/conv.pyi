# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.nn import Conv1d as Conv1d
from autocalc.nn import Conv2d as Conv2d
from autocalc.nn import Conv3d as Conv3d
from autocalc.nn import ConvTranspose1d as ConvTranspose1d
from autocalc.nn import ConvTranspose2d as ConvTranspose2d
from autocalc.nn import ConvTranspose3d as ConvTranspose3d
from autocalc.nn import LazyConv1d as LazyConv1d
from autocalc.nn import LazyConv2d as LazyConv2d
from autocalc.nn import LazyConv3d as LazyConv3d
from autocalc.nn import LazyConvTranspose1d as LazyConvTranspose1d
from autocalc.nn import LazyConvTranspose2d as LazyConvTranspose2d
from autocalc.nn import LazyConvTranspose3d as LazyConvTranspose3d
from autocalc.nn._layers.convolutions.conv import ConvBase as ConvBase

_ConvNd = ConvBase
