# SPDX-License-Identifier: MIT
"""The slots as they are bound to memory; an arena that holds gradients is one slot.

When such an arena gets new memory for a gradient, its temporaries move along.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from autocalc._graph._node import Leaf
from autocalc._program._form import Program
from autocalc._program._plan import Plan
from autocalc._program._views import View


class ArenaLayout(NamedTuple):
    """A program whose slots are separate pieces of memory, or parts of an arena.

    Attributes
    ----------
    program
        The program that runs.
    offsets
        The offsets of slots in an arena that holds no result, by slot.
    gradients
        The leaves, with the views of their gradients.
    """

    program: Program
    offsets: Mapping[int, int]
    gradients: Sequence[tuple[Leaf, View]]


def layout(
    program: Program, plan: Plan, gradients: Sequence[tuple[Leaf, View]]
) -> ArenaLayout:
    """Return the place of each slot; an arena that holds gradients is a result."""
    if not program.shared:
        return ArenaLayout(program, plan.offsets, gradients)
    arena = max(program.sizes) + 1

    def placed(view: View) -> View:
        offset = plan.offsets.get(view.slot)
        if offset is None:
            return view
        return view._replace(slot=arena, offset=view.offset + offset)

    whole = replace(
        program,
        instructions=[one.moved(placed) for one in program.instructions],
        sizes={**program.sizes, arena: plan.nbytes},
        temporaries=set(),
        results=program.results - program.shared | {arena},
    )
    return ArenaLayout(whole, {}, [(leaf, placed(view)) for leaf, view in gradients])
