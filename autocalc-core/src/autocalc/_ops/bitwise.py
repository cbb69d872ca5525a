# SPDX-License-Identifier: MIT
"""Operators on the bits of integers and booleans; they have no gradient."""

from __future__ import annotations

from autocalc._ops._op import binary, unary

bitwise_and = binary("bitwise_and", "the bits set in both")


bitwise_or = binary("bitwise_or", "the bits set in either")


bitwise_xor = binary("bitwise_xor", "the bits set in one")


bitwise_left_shift = binary("bitwise_left_shift", "x * 2^y of integers")


bitwise_right_shift = binary("bitwise_right_shift", "floor(x / 2^y) of integers")


bitwise_not = unary("bitwise_not", "the other bits", floats=False)
