# SPDX-License-Identifier: MIT
"""`torch.xpu`: a kind of device of which there is none."""

from autocalc.torch._no_device import *  # noqa: F403

__getattr__ = no_device("xpu")  # noqa: F405
