# SPDX-License-Identifier: MIT
"""`torch.mtia`: a kind of device that does not exist here."""

from autocalc.torch._no_device import *  # noqa: F403

__getattr__ = no_device("mtia")  # noqa: F405
