# SPDX-License-Identifier: MIT
"""Products, factors, systems and norms of matrices and vectors."""
