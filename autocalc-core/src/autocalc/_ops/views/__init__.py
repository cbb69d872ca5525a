# SPDX-License-Identifier: MIT
"""The same elements in another shape, order or dtype."""
