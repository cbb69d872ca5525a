# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.nn import Bilinear as Bilinear
from autocalc.nn import Identity as Identity
from autocalc.nn import LazyLinear as LazyLinear
from autocalc.nn import Linear as Linear

NonDynamicallyQuantizableLinear = Linear
