# SPDX-License-Identifier: MIT
"""`torch.version`: the version of PyTorch that AutoCalc reports, without a GPU."""

from autocalc.torch import VERSION

__version__ = VERSION
cuda = hip = xpu = git_version = None
debug = False
