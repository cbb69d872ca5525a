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

from tests.core.dtype_operations import BINARY, DTYPES, OPERATIONS, UNARY

LETTERS = dict(zip(DTYPES, "fdbhilu?", strict=True))
NUMBERS = {"float64": 2.5, "int64": 2, "bool": True}
KINDS = [
    (a, b)
    for a, b in itertools.product(("tensor", "0-d", "number"), repeat=2)
    if (a, b) != ("number", "number")
]


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
    parts = result if isinstance(result, (tuple, list)) else (result,)
    return "".join(map(_letter, parts))


def _letter(part):
    """Return the letter of a tensor's dtype, or ``P`` for a Python value."""
    if not hasattr(part, "dtype"):
        return "P"
    return LETTERS[str(part.dtype).rpartition(".")[2]]


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
    return [kinds for kinds in KINDS if kinds[0] != "number" or name in BINARY]


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
second; below them the operations that have these.  P is a value of Python."""


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
