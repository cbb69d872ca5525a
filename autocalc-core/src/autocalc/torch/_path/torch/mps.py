# SPDX-License-Identifier: MIT
"""`torch.mps`: a kind of device that does not exist here."""

from autocalc.torch._no_device import *  # noqa: F403

__getattr__ = no_device("mps")  # noqa: F405
