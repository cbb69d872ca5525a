# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc._tensor.hooks import RemovableHandle as RemovableHandle
