# SPDX-License-Identifier: MIT
"""AutoCalc against its peers: the same work, alternating in one run, as ratios."""
