# SPDX-License-Identifier: MIT
"""Shared memory of gradients: they take the place of earlier activations.

A gradient stays when the program ends, but until it is made its memory is free for
temporaries.  So a step that makes new gradients needs no more memory than eager code,
which has no gradients during the forward pass.  The arena then is memory that a leaf's
gradient is a view of; where the user holds such a gradient until the next run, that run
takes another arena.
"""

from __future__ import annotations

from dataclasses import replace

from autocalc._program._form import Program


def run(program: Program) -> Program:
    """Place gradients that no other part of the program sees in the arena."""
    return replace(program, shared=set(program.gradients))
