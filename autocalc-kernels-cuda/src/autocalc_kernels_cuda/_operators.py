# SPDX-License-Identifier: MIT
"""Which operator of `elementwise.cu` computes which kernel, for which dtypes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc.plugin import KernelImpl
from autocalc_kernels_cuda._elementwise import Choose, Elementwise, supports
from autocalc_kernels_cuda._types import CTYPES, FLOATS

_ALL = frozenset(CTYPES)
_FLOAT = frozenset(FLOATS)
_NUMBER = _ALL - {np.dtype(np.bool_)}
_INTEGER = _NUMBER - _FLOAT
_BITS = _ALL - _FLOAT

#: (kernel, operator) by the inputs they have and the dtypes they take.  Integers are
#: divided by the reference, which looks for zeros.
_PLAIN: tuple[tuple[int, frozenset[Any], tuple[tuple[str, str], ...]], ...] = (
    (1, _ALL, (("copy", "Copy"), ("fill", "Copy"))),
    (1, _NUMBER, (("neg", "Neg"), ("abs", "Abs"), ("sign", "Sign"), ("relu", "Relu"))),
    (1, _BITS, (("bitwise_not", "BitNot"),)),
    (
        1,
        _FLOAT,
        tuple(
            (name, name.capitalize())
            for name in (
                "reciprocal", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p",
                "sqrt", "rsqrt", "erf", "erfc", "sin", "cos", "tan", "asin", "acos",
                "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sinc",
                "signbit", "sigmoid", "silu", "hardswish",
            )
        ),
    ),
    (
        2,
        _ALL,
        (
            ("add", "Add"),
            ("mul", "Mul"),
            ("maximum", "Maximum"),
            ("minimum", "Minimum"),
            ("fmax", "Fmax"),
            ("fmin", "Fmin"),
            ("heaviside", "Heaviside"),
        ),
    ),
    (2, _NUMBER, (("sub", "Sub"),)),
    (
        2,
        _INTEGER,
        (("bitwise_left_shift", "ShiftLeft"), ("bitwise_right_shift", "ShiftRight")),
    ),
    (
        2,
        _BITS,
        (("bitwise_and", "BitAnd"), ("bitwise_or", "BitOr"), ("bitwise_xor", "BitXor")),
    ),
    (
        2,
        _FLOAT,
        (
            ("div", "Div"),
            ("pow", "Pow"),
            ("floor_divide", "FloorDivide"),
            ("remainder", "Remainder"),
            ("fmod", "Fmod"),
            ("copysign", "Copysign"),
            ("atan2", "Atan2"),
            ("hypot", "Hypot"),
            ("logaddexp", "Logaddexp"),
            ("logaddexp2", "Logaddexp2"),
            ("xlogy", "Xlogy"),
            ("xlog1py", "Xlog1py"),
            ("relu_backward", "ReluBackward"),
            ("sigmoid_backward", "SigmoidBackward"),
            ("tanh_backward", "TanhBackward"),
            ("silu_backward", "SiluBackward"),
            ("hardswish_backward", "HardswishBackward"),
        ),
    ),
    (3, _ALL, (("where", "Where"),)),
)  # fmt: skip

#: Kernels whose attributes are the operator's parameters.
_WITH_PARAMETERS = (
    ("nan_to_num", 1, "NanToNum"),
    ("softplus", 1, "Softplus"),
    ("softplus_backward", 2, "SoftplusBackward"),
    ("leaky_relu", 1, "LeakyRelu"),
    ("leaky_relu_backward", 2, "LeakyReluBackward"),
    ("elu", 1, "Elu"),
    ("elu_backward", 2, "EluBackward"),
    ("hardtanh", 1, "Hardtanh"),
    ("hardtanh_backward", 2, "HardtanhBackward"),
)

#: Kernels with one word for an attribute, which chooses the operator.
_WITH_WORD: tuple[tuple[str, int, frozenset[Any], dict[str, str]], ...] = (
    (
        "compare",
        2,
        _ALL,
        {
            "eq": "Equal",
            "ne": "NotEqual",
            "lt": "Less",
            "le": "LessEqual",
            "gt": "Greater",
            "ge": "GreaterEqual",
        },
    ),
    (
        "round",
        1,
        _FLOAT,
        {"floor": "Floor", "ceil": "Ceil", "trunc": "Trunc", "even": "Even"},
    ),
    ("gelu", 1, _FLOAT, {"none": "Gelu", "tanh": "GeluTanh"}),
    ("gelu_backward", 2, _FLOAT, {"none": "GeluBackward", "tanh": "GeluTanhBackward"}),
)

#: By which of `low` and `high` are there.
_CLAMP: dict[tuple[bool, ...], str] = {
    (False, False): "Copy",
    (True, False): "Maximum",
    (False, True): "Minimum",
    (True, True): "Clamp",
}
_CLAMP_BACKWARD: dict[tuple[bool, ...], str] = {
    (False, False): "First",
    (True, False): "ClampBackwardLow",
    (False, True): "ClampBackwardHigh",
    (True, True): "ClampBackward",
}


def operators() -> dict[str, KernelImpl]:
    """Return the elementwise kernels."""
    return dict(_operators())


def _operators() -> Iterator[tuple[str, KernelImpl]]:
    for arity, dtypes, named in _PLAIN:
        for name, operator in named:
            yield name, _impl(arity, dtypes, _always(operator))
    for name, arity, operator in _WITH_PARAMETERS:
        yield name, _impl(arity, _FLOAT, _parameters(operator))
    for name, arity, dtypes, words in _WITH_WORD:
        yield name, _impl(arity, dtypes, _word(words))
    yield "clamp", _impl(3, _NUMBER, _bounds(_CLAMP))
    yield "clamp_backward", _impl(4, _FLOAT, _bounds(_CLAMP_BACKWARD))
    axpy = Elementwise(3, _always("Axpy"))
    yield (
        "axpy",
        KernelImpl(lambda y, alpha, x: axpy(y, y, alpha, x), supports=supports(_FLOAT)),
    )


def _impl(arity: int, dtypes: frozenset[Any], choose: Choose) -> KernelImpl:
    return KernelImpl(Elementwise(arity, choose), supports=supports(dtypes))


def _always(operator: str) -> Choose:
    return lambda present, attributes: (operator, ())


def _parameters(operator: str) -> Choose:
    return lambda present, attributes: (operator, tuple(map(float, attributes)))


def _word(words: dict[str, str]) -> Choose:
    return lambda present, attributes: (words[attributes[0]], ())


def _bounds(operators: dict[tuple[bool, ...], str]) -> Choose:
    return lambda present, attributes: (operators[present[-2:]], ())
