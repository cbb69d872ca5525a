# SPDX-License-Identifier: MIT
"""Two kernels in C for AutoCalc: a template to copy."""
