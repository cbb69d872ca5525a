# SPDX-License-Identifier: MIT
"""What an instruction costs: floating-point operations, and bytes moved."""

from __future__ import annotations

from autocalc._compile._program import Instruction, meta
from autocalc._kernels.spec import Work


def work_of(i: Instruction) -> Work:
    """Return the least work of a call; none for what the host does."""
    spec = i.spec
    if spec is None:
        return Work(0.0, 0.0)
    held = [
        meta(x)
        for x, output in zip(i.outputs, spec.outputs, strict=True)
        if output.name in spec.writes
    ]
    attributes = i.attributes[: len(i.attributes) - bool(spec.accumulates)]
    free = meta(i.outputs[0])._asdict() if spec.free else {}
    return spec.work(*held, *map(meta, i.inputs), *attributes, **free)
