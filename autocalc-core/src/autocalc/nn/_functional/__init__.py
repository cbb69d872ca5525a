# SPDX-License-Identifier: MIT
"""Functions of `nn.functional` that consist of several steps."""
