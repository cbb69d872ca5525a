# SPDX-License-Identifier: MIT
"""PyTorch's `_foreach_*`: one operator for all tensors of a list.

Each function makes one call for each tensor: a call is cheap where no GPU kernel is
launched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError

#: Operators that take one list of tensors.
_OF_ONE = frozenset(
    {
        *("abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "erf", "erfc", "exp"),
        *("expm1", "floor", "frac", "lgamma", "log", "log10", "log1p", "log2", "max"),
        *("neg", "norm", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin"),
        *("sinh", "sqrt", "tan", "tanh", "trunc", "zero"),
    }
)
#: Operators that also take another list or a number, with the methods that compute
#: them.
_OF_TWO = {
    **{name: name for name in ("add", "sub", "mul", "div", "pow", "copy", "lerp")},
    **{name: name for name in ("clamp_max", "clamp_min")},
    "maximum": "clamp_min",
    "minimum": "clamp_max",
}
#: Operators that take two more lists, and a factor.
_OF_THREE = frozenset({"addcdiv", "addcmul"})
_NOT_THERE = {"copy", "lgamma_", "max_", "norm_", "zero"}

NAMES = frozenset(
    f"_foreach_{name}{end}"
    for name in (*_OF_ONE, *_OF_TWO, *_OF_THREE)
    for end in ("", "_")
    if name + end not in _NOT_THERE
)


def function(name: str) -> Callable[..., Any]:
    """Return the function whose name is in `NAMES`."""
    method_name = name.removeprefix("_foreach_")
    plain = method_name.removesuffix("_")
    in_place = method_name != plain
    method = getattr(Tensor, _OF_TWO.get(plain, plain) + "_" * in_place)

    def calls(tensors: Sequence[Tensor], *values: Any, **settings: Any) -> Any:
        columns = [_column(name, tensors, value) for value in values]
        keys, end = list(settings), len(values) + 1
        more = [_column(name, tensors, value) for value in settings.values()]
        found = tuple(
            method(*row[:end], **dict(zip(keys, row[end:], strict=True)))
            for row in zip(tensors, *columns, *more, strict=True)
        )
        return None if in_place else found

    def of_two(
        tensors: Sequence[Tensor],
        other: Any = None,
        *values: Any,
        scalar: Any = None,
        scalars: Any = None,
        **settings: Any,
    ) -> Any:
        given = [value for value in (other, scalar, scalars) if value is not None]
        return calls(tensors, *given, *values, **settings)

    def of_three(
        self: Sequence[Tensor],
        tensor1: Any,
        tensor2: Any,
        value: Any = 1,
        *,
        scalars: Any = None,
    ) -> Any:
        return calls(
            self, tensor1, tensor2, value=value if scalars is None else scalars
        )

    chosen = of_three if plain in _OF_THREE else of_two if plain in _OF_TWO else calls
    chosen.__name__ = chosen.__qualname__ = name
    return chosen


def _column(name: str, tensors: Sequence[Any], value: Any) -> list[Any]:
    """Return the argument of each call: one element of a list, or the same for all."""
    if not isinstance(value, (list, tuple)):
        return [value] * len(tensors)
    if len(value) != len(tensors):
        raise ArgumentError(
            f"{name}: there are {len(tensors)} tensors and {len(value)} values; each "
            "tensor needs one value."
        )
    return list(value)
