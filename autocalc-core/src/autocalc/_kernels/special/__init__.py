# SPDX-License-Identifier: MIT
"""Special functions: Gamma and its relatives, Bessel functions, inverses of erf.

Imports the infrastructure of `_kernels` and other families, never the dispatcher.
"""
