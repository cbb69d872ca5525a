# SPDX-License-Identifier: MIT
"""The spec of a kernel, shown to authors: ``autocalc kernels --spec KERNEL``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from autocalc._kernels.table import TABLE
from autocalc.cli._words import hint

if TYPE_CHECKING:
    from autocalc._kernels.spec import KernelSpec, Operand, Sample


def spec_of(name: str) -> KernelSpec:
    """Return the spec of a kernel; if there is none, raise with the known names."""
    spec = TABLE.get(name)
    if spec is None:
        raise click.BadParameter(
            f"there is no kernel {name!r} in the table of {len(TABLE)} kernels."
            f'{hint(name, TABLE)} The page "Kernels" of the documentation lists them.',
            param_hint="--spec",
        )
    return spec


def as_text(spec: KernelSpec, as_json: bool) -> str:
    """Return a spec as lines of text or as JSON."""
    facts, samples = _facts(spec), _samples(spec)
    if as_json:
        return json.dumps({**facts, "samples": samples}, indent=2)
    width = max(map(len, facts))
    lines = [f"{name:{width}}  {text}" for name, text in facts.items() if text]
    columns = [max(len(row[i]) for row in samples) for i in range(2)]
    rows = [
        f"  {label:{columns[0]}}  {shapes:{columns[1]}}  {attributes}".rstrip()
        for label, shapes, attributes in samples
    ]
    head = f"{len(samples)} samples in {spec.dtypes[0]}: label, shapes, attributes"
    return "\n".join([*lines, "", head, *rows])


def _facts(spec: KernelSpec) -> dict[str, str]:
    budgets = {"": spec.budget, **spec.exceptions}
    return {
        "kernel": f"{spec.name}, a {spec.kind}",
        "signature": spec.signature,
        "formula": spec.doc,
        "dtypes": ", ".join(map(str, spec.dtypes)),
        "budget": "; ".join(
            f"{name}: {budget.text}" if name else budget.text
            for name, budget in budgets.items()
        ),
        "may be None": ", ".join(_optional((*spec.outputs, *spec.inputs))),
        "outputs": _outputs(spec),
        "in place": ", ".join(spec.writes),
        "added into": ", ".join(spec.accumulates),
        "0, not subnormal": ", ".join(spec.flushes),
        "shares memory": ", ".join(f"{out} with {a}" for out, a in spec.alias),
    }


def _outputs(spec: KernelSpec) -> str:
    """Return how outputs may be laid out in memory."""
    if spec.writes or spec.strided_output:
        return "any strides, which the kernel must follow"
    if spec.layout == "contiguous":
        return "contiguous"
    return "contiguous, or channels-last as an operand is"


def _optional(operands: tuple[Operand, ...]) -> list[str]:
    return [operand.name for operand in operands if operand.optional]


def _samples(spec: KernelSpec) -> list[tuple[str, str, str]]:
    """Return the label, the shapes and the attributes of each sample."""
    from autocalc._kernels.samples import Make

    names = [attribute.name for attribute in spec.attributes]
    return [
        (sample.label, _shapes(sample), _attributes(names, sample))
        for sample in spec.samples(Make(spec.dtypes[0]))
    ]


def _shapes(sample: Sample) -> str:
    given = " ".join(map(_shape, sample.inputs))
    return given if sample.shape is None else f"{given} -> {_size(sample.shape)}"


def _shape(operand: Any) -> str:
    if operand is None:
        return "None"
    if isinstance(operand, (list, tuple)):
        return f"[{' '.join(map(_shape, operand))}]"
    return _size(operand.shape)


def _size(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "scalar"


def _attributes(names: list[str], sample: Sample) -> str:
    pairs = zip(names, sample.attributes, strict=False)
    return " ".join(f"{name}={value!r}" for name, value in pairs)
