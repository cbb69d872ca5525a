# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.nn.utils import fuse_conv_bn_eval as fuse_conv_bn_eval
from autocalc.nn.utils import fuse_conv_bn_weights as fuse_conv_bn_weights
from autocalc.nn.utils import fuse_linear_bn_eval as fuse_linear_bn_eval
from autocalc.nn.utils import fuse_linear_bn_weights as fuse_linear_bn_weights
