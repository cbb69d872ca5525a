# SPDX-License-Identifier: MIT
"""AutoCalc beside its peers: the same work, alternating in one run, as ratios."""
