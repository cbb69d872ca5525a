# SPDX-License-Identifier: MIT
"""Functions of single elements, and copies."""

from benchmarks.common import Errors, Moves


class Add(Moves):
    """Sums, also of operands that are broadcast or transposed."""

    kernel = "add"


class Mul(Moves):
    """Products of elements."""

    kernel = "mul"


class Exp(Moves):
    """Exponentials."""

    kernel = "exp"


class Log(Moves):
    """Logarithms."""

    kernel = "log"


class Tanh(Moves):
    """Hyperbolic tangents."""

    kernel = "tanh"


class Gelu(Moves):
    """GELU, exact and by tanh."""

    kernel = "gelu"


class GeluBackward(Moves):
    """The gradient of GELU."""

    kernel = "gelu_backward"


class Where(Moves):
    """A choice between two operands."""

    kernel = "where"


class Compare(Moves):
    """Comparisons."""

    kernel = "compare"


class Copy(Moves):
    """Copies that change the order in memory."""

    kernel = "copy"


class Accuracy(Errors):
    """Their largest errors."""

    kernels = (
        "add",
        "mul",
        "exp",
        "log",
        "tanh",
        "gelu",
        "gelu_backward",
        "where",
        "compare",
        "copy",
    )
