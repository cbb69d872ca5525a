# SPDX-License-Identifier: MIT
"""Operators on the bits of integers and booleans, which have no gradient."""

from __future__ import annotations

from autocalc._ops._operator.factories import binary, unary

bitwise_and = binary(
    "bitwise_and",
    "the bits that are set in both x and y",
    methods="bitwise_and __and__",
    inplace="bitwise_and_ __iand__",
    reflected="__rand__",
    example=("[6, 5]", "[3, 4]", "[2, 4]"),
)


bitwise_or = binary(
    "bitwise_or",
    "the bits that are set in x or in y",
    methods="bitwise_or __or__",
    inplace="bitwise_or_ __ior__",
    reflected="__ror__",
    example=("[6, 5]", "[3, 4]", "[7, 5]"),
)


bitwise_xor = binary(
    "bitwise_xor",
    "the bits that are set in exactly one of x and y",
    methods="bitwise_xor __xor__",
    inplace="bitwise_xor_ __ixor__",
    reflected="__rxor__",
    example=("[6, 5]", "[3, 4]", "[5, 1]"),
)


bitwise_left_shift = binary(
    "bitwise_left_shift",
    "x * 2^y for integers",
    methods="bitwise_left_shift __lshift__",
    inplace="bitwise_left_shift_ __ilshift__",
    reflected="__rlshift__",
    example=("[1, 2]", "[3, 1]", "[8, 4]"),
)


bitwise_right_shift = binary(
    "bitwise_right_shift",
    "floor(x / 2^y) for integers",
    methods="bitwise_right_shift __rshift__",
    inplace="bitwise_right_shift_ __irshift__",
    reflected="__rrshift__",
    example=("[8, 5]", "[3, 1]", "[1, 2]"),
)


bitwise_not = unary(
    "bitwise_not",
    "x with each bit inverted (for booleans: the opposite of x)",
    floats=False,
    methods="bitwise_not __invert__",
    inplace="bitwise_not_",
    example=("[0, 5]", "[-1, -6]"),
)
