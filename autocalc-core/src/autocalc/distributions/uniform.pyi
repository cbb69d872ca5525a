# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.distributions import Distribution as Distribution
from autocalc.distributions import Uniform as Uniform
