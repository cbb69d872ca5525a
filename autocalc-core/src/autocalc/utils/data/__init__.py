# SPDX-License-Identifier: MIT
"""`autocalc.data` under PyTorch's name."""

from autocalc.data import *  # noqa: F403
from autocalc.data import __all__  # noqa: F401
