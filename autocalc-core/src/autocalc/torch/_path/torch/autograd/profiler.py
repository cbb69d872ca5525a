# SPDX-License-Identifier: MIT
"""`torch.autograd.profiler`: the older location of `torch.profiler`."""

from autocalc.profiler import ProfilerActivity as ProfilerActivity
from autocalc.profiler import profile as profile
from autocalc.profiler import record_function as record_function
from autocalc.torch import _mentioned


def kineto_available() -> bool:
    """Return False: AutoCalc has its own profiler."""
    return False


__getattr__ = _mentioned.names_of(__name__)
