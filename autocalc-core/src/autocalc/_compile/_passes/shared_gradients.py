# SPDX-License-Identifier: MIT
"""Shared memory of gradients: gradients use the memory of earlier activations.

A gradient stays when the program ends.  Until the gradient is made, temporaries can use
its memory.  A step that makes new gradients then needs no more memory than eager code,
which has no gradients during the forward pass.  The gradient of a leaf is then a view
of the arena.  If the user still holds such a gradient at the next run, that run uses
another arena.
"""

from __future__ import annotations

from dataclasses import replace

from autocalc._program._form import Program


def run(program: Program) -> Program:
    """Put gradients that no other part of the program reads into the arena."""
    return replace(program, shared=set(program.gradients))
