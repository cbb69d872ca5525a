# SPDX-License-Identifier: MIT
"""A kernel package whose hook raises."""

from autocalc.plugin import hookimpl


@hookimpl
def autocalc_kernel_sets():
    return {}["no such key"]
