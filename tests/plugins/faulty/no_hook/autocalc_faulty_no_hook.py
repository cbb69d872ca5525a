# SPDX-License-Identifier: MIT
"""A kernel package that forgot its hook."""

from autocalc.plugin import KERNEL_API_VERSION, KernelSet


def autocalc_kernel_sets():
    """Lack the marker `hookimpl`."""
    return [KernelSet("no-hook", family="faulty", api=KERNEL_API_VERSION, load=dict)]
