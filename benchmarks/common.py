# SPDX-License-Identifier: MIT
"""What the benchmarks share: the installed kernel sets as a parameter."""

from collections.abc import Callable, Collection

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

    @staticmethod
    def check_that_it_runs(
        kernels: str, run: Callable[[], object], needed: Collection[str]
    ) -> None:
        """Run once; skip the benchmark unless the set runs one of the kernels needed.

        asv shows what `setup` skips as n/a.  Without this, the reference would be timed
        under the set's name.
        """
        with ac.kernels.count() as calls:
            run()
        if not any((kernel, kernels) in calls for kernel in needed):
            ran = ", ".join(sorted({name for _, name in calls}))
            message = (
                f"{kernels} runs no {' or '.join(sorted(needed))} here: {ran} does"
            )
            raise NotImplementedError(message)

    def teardown(self, *_):
        """Choose by rank again."""
        ac.kernels.use()
