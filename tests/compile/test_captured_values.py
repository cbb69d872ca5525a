# SPDX-License-Identifier: MIT
"""No compiled step goes on with an old value, wherever its Python found it.

Each program is a place of a value, a kind of value, and a way to change it.  It is
called three times, the value is changed, and it is called twice: the results are those
of eager code, or the step is refused with its line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.compile import captured_attributes, captured_variables  # noqa: F401
from tests.compile.captured_places import PLACES

import autocalc as ac
from autocalc import nn
from autocalc.errors import CompileError

x = ac.tensor([1.0, 2.0, 3.0])


def linear(scale: float) -> nn.Module:
    layer = nn.Linear(3, 3).requires_grad_(False)
    layer.weight.fill_(scale)
    return layer


class Kind(NamedTuple):
    """How a value is used, the first value, and the one that comes after it."""

    use: Callable[[Any, ac.Tensor], ac.Tensor]
    first: Callable[[], Any]
    then: Callable[[], Any]


KINDS = {
    "float": Kind(lambda v, a: a * v, lambda: 0.75, lambda: 2.5),
    "deciding float": Kind(
        lambda v, a: a * v if v > 0.5 else a - v, lambda: 0.75, lambda: 0.25
    ),
    "int": Kind(lambda v, a: a * v, lambda: 3, lambda: 7),
    "deciding int": Kind(
        lambda v, a: a + 1 if v == 3 else a.exp(), lambda: 3, lambda: 7
    ),
    "bool": Kind(lambda v, a: a * 2 if v else a.exp(), lambda: True, lambda: False),
    "str": Kind(lambda v, a: getattr(a, v)(), lambda: "exp", lambda: "tanh"),
    "None": Kind(
        lambda v, a: a * 2 if v is None else a * v, lambda: None, lambda: 5.0
    ),
    "tensor": Kind(
        lambda v, a: a + v, lambda: ac.ones(3) * 4, lambda: ac.ones(3) * 9
    ),
    "module": Kind(lambda v, a: v(a), lambda: linear(1.0), lambda: linear(-2.0)),
    "function": Kind(
        lambda v, a: v(a),
        lambda: lambda *a: a[-1] + 1.0,
        lambda: lambda *a: a[-1] * 3.0,
    ),
}  # fmt: skip


def programs() -> Iterator[Any]:
    """Yield all programs, of which the fast tests run every third."""
    number = 0
    for name, make in PLACES.items():
        for how in make(None)[1]:
            for kind in KINDS:
                number += 1
                marks = [pytest.mark.slow] if number % 3 else []
                identity = f"{name}-{kind}-{how}"
                yield pytest.param(name, kind, how, id=identity, marks=marks)


def same_as_eager(run: Any, eager: Any) -> None:
    """Check a call, which may also be refused with its line."""
    try:
        found = run(x)
    except CompileError as error:
        assert ".py:" in str(error)  # noqa: PT017  it may be raised
    else:
        np.testing.assert_allclose(found.numpy(), eager(x).numpy(), rtol=1e-6)


@pytest.mark.parametrize(("name", "kind", "how"), list(programs()))
def test_no_value_is_stale(name: str, kind: str, how: str) -> None:
    use, first, then = KINDS[kind]
    step, changes = PLACES[name](first())
    run = ac.compile(lambda a: step(use, a))
    with ac.no_grad():
        for _ in range(3):
            assert run(x).tolist() == step(use, x).tolist()
        assert len(run.programs) == 1
        changes[how](then())
        for _ in range(2):
            same_as_eager(run, lambda a: step(use, a))


def test_there_are_many_programs() -> None:
    assert len(list(programs())) >= 700
