# SPDX-License-Identifier: MIT
"""The hook that kernel packages implement.

This module is separate because it requires pluggy.  It is imported with the first
kernel package and not with AutoCalc.
"""

from __future__ import annotations

import pluggy

from autocalc._kernels.kernel_set import KernelSet

#: The decorator that marks `autocalc_kernel_sets` of a package.
hookimpl = pluggy.HookimplMarker("autocalc")
hookspec = pluggy.HookspecMarker("autocalc")


class HookSpecs:
    """The hooks that a kernel package may implement."""

    @hookspec
    def autocalc_kernel_sets(self) -> list[KernelSet]:
        """Describe the kernel sets of this package."""
        raise NotImplementedError
