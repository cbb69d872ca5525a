# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.nn import GroupNorm as GroupNorm
from autocalc.nn import LayerNorm as LayerNorm
from autocalc.nn import LocalResponseNorm as LocalResponseNorm
from autocalc.nn import RMSNorm as RMSNorm
