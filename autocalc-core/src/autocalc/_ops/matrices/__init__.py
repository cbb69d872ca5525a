# SPDX-License-Identifier: MIT
"""Products, factorizations, linear systems and norms of matrices and vectors."""
