# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.nn import PixelShuffle as PixelShuffle
from autocalc.nn import PixelUnshuffle as PixelUnshuffle
