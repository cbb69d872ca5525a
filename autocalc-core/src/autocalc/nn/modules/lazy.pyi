# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.nn._layers.lazy.mixin import LazyModuleMixin as LazyModuleMixin
