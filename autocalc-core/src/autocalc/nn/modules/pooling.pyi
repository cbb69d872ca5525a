# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.nn import AdaptiveAvgPool1d as AdaptiveAvgPool1d
from autocalc.nn import AdaptiveAvgPool2d as AdaptiveAvgPool2d
from autocalc.nn import AdaptiveAvgPool3d as AdaptiveAvgPool3d
from autocalc.nn import AdaptiveMaxPool1d as AdaptiveMaxPool1d
from autocalc.nn import AdaptiveMaxPool2d as AdaptiveMaxPool2d
from autocalc.nn import AdaptiveMaxPool3d as AdaptiveMaxPool3d
from autocalc.nn import AvgPool1d as AvgPool1d
from autocalc.nn import AvgPool2d as AvgPool2d
from autocalc.nn import AvgPool3d as AvgPool3d
from autocalc.nn import FractionalMaxPool2d as FractionalMaxPool2d
from autocalc.nn import FractionalMaxPool3d as FractionalMaxPool3d
from autocalc.nn import LPPool1d as LPPool1d
from autocalc.nn import LPPool2d as LPPool2d
from autocalc.nn import LPPool3d as LPPool3d
from autocalc.nn import MaxPool1d as MaxPool1d
from autocalc.nn import MaxPool2d as MaxPool2d
from autocalc.nn import MaxPool3d as MaxPool3d
from autocalc.nn import MaxUnpool1d as MaxUnpool1d
from autocalc.nn import MaxUnpool2d as MaxUnpool2d
from autocalc.nn import MaxUnpool3d as MaxUnpool3d
