# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.nn import Upsample as Upsample
from autocalc.nn import UpsamplingBilinear2d as UpsamplingBilinear2d
from autocalc.nn import UpsamplingNearest2d as UpsamplingNearest2d
