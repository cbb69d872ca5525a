# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.nn import AlphaDropout as AlphaDropout
from autocalc.nn import Dropout as Dropout
from autocalc.nn import Dropout1d as Dropout1d
from autocalc.nn import Dropout2d as Dropout2d
from autocalc.nn import Dropout3d as Dropout3d
from autocalc.nn import FeatureAlphaDropout as FeatureAlphaDropout
