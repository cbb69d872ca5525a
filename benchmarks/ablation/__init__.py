# SPDX-License-Identifier: MIT
"""The optimisation plan, item by item: each with its own before and after."""
