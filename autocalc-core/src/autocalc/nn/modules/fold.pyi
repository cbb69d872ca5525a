# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.nn import Fold as Fold
from autocalc.nn import Unfold as Unfold
