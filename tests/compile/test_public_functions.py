# SPDX-License-Identifier: MIT
"""Every public function that has a derivative, compiled: the bits of eager code.

Forward and backward, with exact passes; what reads values says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.core import derivative_cases

import autocalc as ac
from autocalc.errors import CompileError

CALLS = dict(derivative_cases.calls())

#: Calls that read values: of checks, or because shapes or ways depend on them.
READ = frozenset(
    {
        'ac.index_reduce(x,1,ROWS,y[:,:2],"prod")',
        'ac.scatter_reduce(x,1,PLACES,y,"prod")',
        'ac.scatter_reduce(x,1,PLACES,y,"prod",include_self=False)',
        "ac.masked_scatter(x,MASK,y)",
        "ac.masked_select(x,MASK)",
        "F.one_hot(LABELS)*x[0,:2]",
        "ac.matrix_exp(x)",
        "linalg.lstsq(x[:,:2],y)[0]",
        "linalg.lstsq(x[:2],y[:2])[0]",
        "F.grouped_mm(x,y[None].expand(2,3,3),offs=ac.tensor([1,3],dtype=ac.int32))",
        "SOFTMAX(x,ROWS)[0]",
    }
)


def step_of(expression: str, shapes: Any) -> Any:
    """Return a step: the function, the sum of its results, and their gradients."""
    function = derivative_cases.function_of(expression, shapes)

    def step(*tensors: ac.Tensor) -> list[ac.Tensor]:
        leaves = [x.clone().requires_grad_() for x in tensors]
        found = function(*leaves)
        several = found if isinstance(found, (tuple, list)) else (found,)
        floats = [y for y in several if y is not None and y.requires_grad]
        if floats:
            sum(y.sum() for y in floats).backward()
        results = [y.detach() for y in several if y is not None]
        return results + [x.grad for x in leaves if x.grad is not None]

    return step


def bits(results: list[ac.Tensor]) -> list[Any]:
    return [(y.shape, y.dtype, y.numpy().tobytes()) for y in results]


@pytest.mark.parametrize("expression", CALLS)
def test_a_compiled_call_has_the_bits_of_an_eager_one(expression: str) -> None:
    shapes = CALLS[expression]
    step = step_of(expression, shapes)
    run: Any = ac.compile(step, exact=True)
    rng = np.random.default_rng(3)
    for _ in range(5):
        tensors = [ac.from_numpy(rng.normal(size=shape)) for shape in shapes]
        wanted = bits(step(*tensors))
        if expression in READ:
            with pytest.raises(CompileError, match=": the value of a tensor is"):
                run(*tensors)
        else:
            assert bits(run(*tensors)) == wanted
    assert bool(run.programs) == (expression not in READ)
