# SPDX-License-Identifier: MIT
"""The operations whose dtypes are held to PyTorch's; see `dtype_cases`.

`m` is the one library or the other; `a` and `b` are tensors of three elements, tensors
without dimensions, or numbers.
"""

from __future__ import annotations

DTYPES = ("float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool")


def operator(text):
    return eval(f"lambda m, a, b: {text}")


_PLAIN = ("+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>")
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_FUNCTIONS = (
    *("add", "sub", "mul", "div", "true_divide", "floor_divide", "remainder", "pow"),
    *("float_power", "xlogy", "bitwise_and", "bitwise_or", "bitwise_xor"),
    *("bitwise_left_shift", "bitwise_right_shift", "logical_and", "logical_or"),
    *("logical_xor", "isclose", "heaviside", "subtract", "multiply", "divide", "rsub"),
    *("eq", "ne", "not_equal", "lt", "less", "le", "less_equal", "gt", "greater"),
    *("ge", "greater_equal", "maximum", "minimum", "fmax", "fmin", "atan2", "arctan2"),
    *("fmod", "copysign", "hypot", "logaddexp", "logaddexp2", "clamp_min"),
    *("clamp_max", "dot", "vdot", "inner", "outer", "kron", "dist", "mv", "mm", "bmm"),
)
_IN_PLACE = (
    *("add_", "sub_", "mul_", "div_", "pow_", "floor_divide_", "remainder_", "eq_"),
    *("lt_", "bitwise_and_", "bitwise_or_", "bitwise_xor_", "logical_and_"),
    *("bitwise_left_shift_", "bitwise_right_shift_", "copysign_", "xlogy_", "fmod_"),
    *("copy_",),
)
BINARY = {
    **{op: operator(f"a {op} b") for op in (*_PLAIN, *_COMPARISONS)},
    **{name: operator(f"m.{name}(a, b)") for name in _FUNCTIONS},
    "div floor": operator("m.div(a, b, rounding_mode='floor')"),
    "div trunc": operator("m.div(a, b, rounding_mode='trunc')"),
    "add alpha": operator("m.add(a, b, alpha=2)"),
    "add alpha float": operator("m.add(a, b, alpha=2.5)"),
    "sub alpha bool": operator("m.sub(a, b, alpha=True)"),
    "where": operator("m.where(m.tensor([True, False, True]), a, b)"),
    "cat": operator("m.cat([a, b])"),
    "stack": operator("m.stack([a, b])"),
    "matmul": operator("a @ b"),
    "cross": operator("m.cross(a, b, 0)"),
    "masked_scatter": operator("a.masked_scatter(m.tensor([True, False, True]), b)"),
}
IN_PLACE = {name: operator(f"a.{name}(b)") for name in _IN_PLACE}
_UNARY = (
    *("abs", "neg", "positive", "sign", "sgn", "square", "sqrt", "rsqrt", "exp", "log"),
    *("reciprocal", "exp2", "expm1", "log2", "log10", "log1p", "sin", "cos", "tan"),
    *("asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "atanh", "sigmoid"),
    *("erf", "erfc", "floor", "ceil", "round", "trunc", "frac"),
    *("isnan", "isinf", "isfinite", "isposinf", "signbit", "logical_not", "relu"),
    *("bitwise_not", "deg2rad", "nan_to_num", "sinc", "logit", "zeros_like"),
    *("sum", "mean", "prod", "any", "all", "max", "min", "amax", "amin", "argmax"),
    *("argmin", "std", "var", "median", "nansum", "nanmean", "count_nonzero"),
    *("aminmax", "sort", "unique", "nonzero"),
)
_ALONG = (
    *("sum", "mean", "prod", "any", "all", "max", "min", "amax", "amin", "argmax"),
    *("argmin", "std", "median", "logsumexp", "nansum", "cumsum", "cumprod", "cummax"),
    *("cummin", "sort", "argsort", "softmax", "log_softmax", "count_nonzero"),
)
_WITH_DTYPE = ("sum", "prod", "nansum", "cumsum", "cumprod")
_IN_PLACE_OF_ONE = ("sign_", "square_", "exp_", "floor_", "round_", "frac_", "neg_")
UNARY = {
    **{name: operator(f"m.{name}(a)") for name in _UNARY},
    **{f"{name} along 0": operator(f"m.{name}(a, 0)") for name in _ALONG},
    **{
        f"{name} in {dtype}": operator(f"m.{name}(a, 0, dtype=m.{dtype})")
        for name in _WITH_DTYPE
        for dtype in DTYPES
    },
    **{name: operator(f"a.{name}()") for name in _IN_PLACE_OF_ONE},
    **{f"** {n}": operator(f"a ** {n}") for n in (-1, 0, 2, 0.5, True, False)},
    **{f"{n} **": operator(f"{n} ** a") for n in (2, 0.5, True)},
    "~": operator("~a"),
    "+": operator("+a"),
    "clamp": operator("m.clamp(a, 0, 2)"),
    "clamp float": operator("m.clamp(a, 0.5, 2)"),
    "round digits": operator("m.round(a, decimals=1)"),
    "topk": operator("m.topk(a, 1)"),
}

OPERATIONS = {**BINARY, **IN_PLACE, **UNARY}
