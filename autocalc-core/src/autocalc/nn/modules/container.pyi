# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.nn import ModuleDict as ModuleDict
from autocalc.nn import ModuleList as ModuleList
from autocalc.nn import ParameterDict as ParameterDict
from autocalc.nn import ParameterList as ParameterList
from autocalc.nn import Sequential as Sequential
