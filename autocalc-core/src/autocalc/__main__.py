# SPDX-License-Identifier: MIT
"""``python -m autocalc``: the command line."""

from autocalc.cli import main

if __name__ == "__main__":
    main()
