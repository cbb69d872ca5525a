# SPDX-License-Identifier: MIT
"""The cost of an instruction: floating-point operations, and bytes moved."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.selection.upcast import least_work
from autocalc._kernels.spec import KernelSpec, Work
from autocalc._program._form import Instruction, meta
from autocalc._program._views import Operand


def seen(
    spec: KernelSpec,
    outputs: tuple[Operand, ...],
    inputs: tuple[Operand, ...],
    attributes: tuple[Any, ...],
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments and keywords of a call that the kernel's rule receives.

    `attributes` has the accumulation mask last, where the spec has one.
    """
    numbers = attributes[: len(attributes) - bool(spec.accumulates)]
    free = meta(outputs[0])._asdict() if spec.free else {}
    return (*map(meta, inputs), *numbers), free


def work_of(i: Instruction) -> Work:
    """Return the least work of a call; zero for the host's work."""
    spec = i.spec
    if spec is None:
        return Work(0.0, 0.0)
    held = [
        meta(x)
        for x, output in zip(i.outputs, spec.outputs, strict=True)
        if output.name in spec.writes
    ]
    numbers = i.attributes[: len(i.attributes) - bool(spec.accumulates)]
    free = meta(i.outputs[0]) if spec.free else None
    return least_work(spec, (*held, *map(meta, i.inputs)), numbers, free)
