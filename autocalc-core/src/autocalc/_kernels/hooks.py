# SPDX-License-Identifier: MIT
"""The hook that kernel packages implement.

Apart from what they hand over, because it takes pluggy: imported with the first kernel
package, not with AutoCalc.
"""

from __future__ import annotations

import pluggy

from autocalc._kernels.kernel_set import KernelSet

#: Marks a package's `autocalc_kernel_sets`.
hookimpl = pluggy.HookimplMarker("autocalc")
hookspec = pluggy.HookspecMarker("autocalc")


class HookSpecs:
    """The hooks that a kernel package may implement."""

    @hookspec
    def autocalc_kernel_sets(self) -> list[KernelSet]:
        """Describe the kernel sets of this package."""
        raise NotImplementedError
