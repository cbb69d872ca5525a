# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.nn._module.names import (
    consume_prefix_in_state_dict_if_present as consume_prefix_in_state_dict_if_present,
)
from autocalc.nn._ntuple import _ntuple as _ntuple
from autocalc.nn._ntuple import _pair as _pair
from autocalc.nn._ntuple import _quadruple as _quadruple
from autocalc.nn._ntuple import _single as _single
from autocalc.nn._ntuple import _triple as _triple
