# SPDX-License-Identifier: MIT
"""BLAS libraries as kernel sets of AutoCalc; `_plugin` is the entry point."""
