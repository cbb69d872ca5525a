# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.nn import CircularPad1d as CircularPad1d
from autocalc.nn import CircularPad2d as CircularPad2d
from autocalc.nn import CircularPad3d as CircularPad3d
from autocalc.nn import ConstantPad1d as ConstantPad1d
from autocalc.nn import ConstantPad2d as ConstantPad2d
from autocalc.nn import ConstantPad3d as ConstantPad3d
from autocalc.nn import ReflectionPad1d as ReflectionPad1d
from autocalc.nn import ReflectionPad2d as ReflectionPad2d
from autocalc.nn import ReflectionPad3d as ReflectionPad3d
from autocalc.nn import ReplicationPad1d as ReplicationPad1d
from autocalc.nn import ReplicationPad2d as ReplicationPad2d
from autocalc.nn import ReplicationPad3d as ReplicationPad3d
from autocalc.nn import ZeroPad1d as ZeroPad1d
from autocalc.nn import ZeroPad2d as ZeroPad2d
from autocalc.nn import ZeroPad3d as ZeroPad3d
