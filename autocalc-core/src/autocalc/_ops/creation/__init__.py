# SPDX-License-Identifier: MIT
"""Operators that make tensors of data, constants and ranges."""
