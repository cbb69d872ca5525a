# SPDX-License-Identifier: MIT
"""Special functions: Gamma and its relatives, Bessel functions, inverses of erf.

It imports the infrastructure of `_kernels` and other families, but never the
dispatcher.
"""
