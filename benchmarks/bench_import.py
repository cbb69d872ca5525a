# SPDX-License-Identifier: MIT
"""What an import costs, each in a fresh process."""


class Import:
    """`import autocalc` without the NumPy that it needs."""

    def timeraw_numpy(self):
        return "import numpy"

    def timeraw_autocalc(self):
        return "import autocalc"

    def timeraw_first_operator(self):
        """Finding the plugins and loading the first kernels."""
        return "import autocalc as ac; ac.ones(2) + 1"
