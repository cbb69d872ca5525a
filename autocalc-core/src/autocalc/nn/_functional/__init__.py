# SPDX-License-Identifier: MIT
"""Functions of `nn.functional` that take several steps."""
