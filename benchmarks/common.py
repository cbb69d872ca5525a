# SPDX-License-Identifier: MIT
"""What the benchmarks share: the installed kernel sets as a parameter."""

import autocalc as ac

#: Sets that can run on this machine, best first; a new package appears by itself.
KERNELS = ac.kernels.available()


class OnEachSet:
    """A benchmark whose first parameter is the kernel set that it runs on."""

    params = [KERNELS]
    param_names = ["kernels"]

    def setup(self, kernels, *_):
        """Leave just this set, and the reference for what it lacks."""
        ac.manual_seed(0)
        ac.kernels.use(kernels, only=True)

    def teardown(self, *_):
        """Choose by rank again."""
        ac.kernels.use()
