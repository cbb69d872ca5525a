# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.nn import Flatten as Flatten
from autocalc.nn import Unflatten as Unflatten
