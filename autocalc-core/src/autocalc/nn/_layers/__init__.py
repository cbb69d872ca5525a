# SPDX-License-Identifier: MIT
"""The layers, by family."""
