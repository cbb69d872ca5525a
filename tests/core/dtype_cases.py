# SPDX-License-Identifier: MIT
"""Operations and operands of all dtypes; `against_torch/dtypes.txt` has what comes out.

An outcome is a letter for the dtype of the result, ``-`` for an error.  Operands are
tensors, tensors without dimensions, and Python numbers; rows go over all pairs.

``python -m tests.core.dtype_cases``, where PyTorch is, writes the file from PyTorch.
"""

from __future__ import annotations

import itertools
import textwrap
import warnings
from pathlib import Path

DTYPES = ("float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool")
LETTERS = dict(zip(DTYPES, "fdbhilu?", strict=True))
NUMBERS = {"float64": 2.5, "int64": 2, "bool": True}
KINDS = [
    (a, b)
    for a, b in itertools.product(("tensor", "0-d", "number"), repeat=2)
    if (a, b) != ("number", "number")
]


def _operator(text):
    return eval(f"lambda m, a, b: {text}")


_PLAIN = ("+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>")
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_FUNCTIONS = (
    *("add", "sub", "mul", "div", "true_divide", "floor_divide", "remainder", "pow"),
    *("float_power", "xlogy", "bitwise_and", "bitwise_or", "bitwise_xor"),
    *("bitwise_left_shift", "bitwise_right_shift", "logical_and", "logical_or"),
    *("logical_xor", "isclose", "heaviside"),
)
_IN_PLACE = (
    *("add_", "sub_", "mul_", "div_", "pow_", "floor_divide_", "remainder_", "eq_"),
    *("lt_", "bitwise_and_", "bitwise_or_", "bitwise_xor_", "logical_and_"),
    *("bitwise_left_shift_", "bitwise_right_shift_", "copysign_", "xlogy_", "fmod_"),
    *("copy_",),
)
BINARY = {
    **{op: _operator(f"a {op} b") for op in (*_PLAIN, *_COMPARISONS)},
    **{name: _operator(f"m.{name}(a, b)") for name in _FUNCTIONS},
    "div floor": _operator("m.div(a, b, rounding_mode='floor')"),
    "div trunc": _operator("m.div(a, b, rounding_mode='trunc')"),
    "add alpha": _operator("m.add(a, b, alpha=2)"),
    "add alpha float": _operator("m.add(a, b, alpha=2.5)"),
    "sub alpha bool": _operator("m.sub(a, b, alpha=True)"),
    "where": _operator("m.where(m.tensor([True, False, True]), a, b)"),
}
IN_PLACE = {name: _operator(f"a.{name}(b)") for name in _IN_PLACE}
#: Of two tensors alone: PyTorch takes no numbers here.
OF_TENSORS = {
    **{
        name: _operator(f"m.{name}(a, b)")
        for name in ("maximum", "minimum", "fmax", "fmin", "atan2", "fmod", "copysign")
    },
    "cat": _operator("m.cat([a, b])"),
    "stack": _operator("m.stack([a, b])"),
    "matmul": _operator("a @ b"),
    "cross": _operator("m.cross(a, b, 0)"),
    "masked_scatter": _operator("a.masked_scatter(m.tensor([True, False, True]), b)"),
}

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
    **{name: _operator(f"m.{name}(a)") for name in _UNARY},
    **{f"{name} along 0": _operator(f"m.{name}(a, 0)") for name in _ALONG},
    **{
        f"{name} in {dtype}": _operator(f"m.{name}(a, 0, dtype=m.{dtype})")
        for name in _WITH_DTYPE
        for dtype in DTYPES
    },
    **{name: _operator(f"a.{name}()") for name in _IN_PLACE_OF_ONE},
    **{f"** {n}": _operator(f"a ** {n}") for n in (-1, 0, 2, 0.5, True, False)},
    **{f"{n} **": _operator(f"{n} ** a") for n in (2, 0.5, True)},
    "~": _operator("~a"),
    "+": _operator("+a"),
    "clamp": _operator("m.clamp(a, 0, 2)"),
    "clamp float": _operator("m.clamp(a, 0.5, 2)"),
    "round digits": _operator("m.round(a, decimals=1)"),
    "topk": _operator("m.topk(a, 1)"),
}


def operand(module, kind, dtype, first):
    """Return one operand: a tensor of three elements, one of none, or a number."""
    if kind == "number":
        return NUMBERS[dtype]
    values = [1, 1, 1] if dtype == "bool" else [3, 2, 1] if first else [1, 2, 3]
    values = values if kind == "tensor" else values[0]
    return module.tensor(values, dtype=getattr(module, dtype))


def outcome(module, function, *operands):
    """Return the letters of the result's dtypes, or ``-``."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = function(module, *operands)
    except Exception:  # that it is an error is the outcome; other tests have its words
        return "-"
    parts = result if isinstance(result, tuple) else (result,)
    return "".join(LETTERS[str(one.dtype).rpartition(".")[2]] for one in parts)


def row(module, function, kinds):
    """Return the outcomes of a pair of kinds, over all pairs of dtypes."""
    a, b = ([*NUMBERS] if kind == "number" else DTYPES for kind in kinds)
    return " ".join(
        "".join(
            outcome(
                module,
                function,
                operand(module, kinds[0], x, True),
                operand(module, kinds[1], y, False),
            )
            for y in b
        )
        for x in a
    )


def kinds_of(name):
    """Return the kinds of operands that a row is made of."""
    if name in UNARY:
        return [("tensor",), ("0-d",)]
    first = ("tensor", "0-d") if name in OF_TENSORS or name in IN_PLACE else None
    second = ("tensor", "0-d") if name in OF_TENSORS else None
    return [
        (a, b)
        for a, b in KINDS
        if (first is None or a in first) and (second is None or b in second)
    ]


OPERATIONS = {**BINARY, **IN_PLACE, **OF_TENSORS, **UNARY}


def rows_of(module, name):
    """Return {name of the row: outcomes} of one operation."""
    function = OPERATIONS[name]
    if name not in UNARY:
        return {
            f"{name} ({a}, {b})": row(module, function, (a, b))
            for a, b in kinds_of(name)
        }
    found = {}
    for (kind,) in kinds_of(name):
        letters = (_of_one(module, function, kind, dtype) for dtype in DTYPES)
        found[f"{name} ({kind})"] = " ".join(letters)
    return found


def _of_one(module, function, kind, dtype):
    x = operand(module, kind, dtype, True)
    return outcome(module, lambda m, a: function(m, a, None), x)


FILE = Path(__file__).parent / "against_torch" / "dtypes.txt"


def expected():
    """Return {name of the row: outcomes} as the file has it."""
    rows = {}
    for block in FILE.read_text(encoding="utf-8").split("\n\n")[1:]:
        outcomes, names = block.split("\n", 1)
        joined = " ".join(line.strip() for line in names.splitlines())
        rows.update(dict.fromkeys(joined.strip().split("; "), outcomes))
    return rows


HEADER = """\
What PyTorch makes of operands of all dtypes, in the order float32 float64 int8 int16
int32 int64 uint8 bool (f d b h i l u ?), of numbers 2.5, 2, True; - is an error.  First
the outcomes, a word for each dtype of the first operand and a letter for each of the
second; below them the operations that have these."""


def write(module):
    """Write the file from what `module` does."""
    groups = {}
    for name in OPERATIONS:
        for title, outcomes in rows_of(module, name).items():
            groups.setdefault(outcomes, []).append(title)
    blocks = [HEADER]
    for outcomes, titles in groups.items():
        names = textwrap.fill("; ".join(titles), 88, break_long_words=False,
                              break_on_hyphens=False)  # fmt: skip
        blocks.append(f"{outcomes}\n{textwrap.indent(names, '  ')}")
    FILE.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


if __name__ == "__main__":
    import torch

    write(torch)
