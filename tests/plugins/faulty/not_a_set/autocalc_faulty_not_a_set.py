# SPDX-License-Identifier: MIT
"""A kernel package whose hook answers something else."""

from autocalc.plugin import hookimpl


@hookimpl
def autocalc_kernel_sets():
    return [{"name": "not-a-set"}]
