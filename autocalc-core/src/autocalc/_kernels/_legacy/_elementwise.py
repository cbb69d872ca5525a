# SPDX-License-Identifier: MIT
"""What the specs of elementwise kernels share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autocalc._kernels._legacy import _budgets as budgets
from autocalc._kernels._legacy import _samples as samples
from autocalc._kernels.rules import (
    FLOATS,
    broadcast_shapes,
    float_dtype,
    one_of,
    same_dtype,
)
from autocalc._kernels.spec import (
    Array,
    Budget,
    DType,
    KernelSpec,
    Kind,
    Layout,
    Meta,
)
from autocalc._kernels.work import per_element

Rule = Callable[..., Meta]


def elementwise_rule(name: str, dtypes: tuple[DType, ...]) -> Rule:
    """Make the rule: inputs of one dtype, broadcast together, any attributes."""

    def rule(*arguments: Any) -> Meta:
        present = [meta for meta in arguments if isinstance(meta, Meta)]
        if dtypes == FLOATS:
            dtype = float_dtype(name, *present)
        else:
            dtype = same_dtype(name, *present)
            one_of(name, "a", present[0], dtypes)
        return Meta(broadcast_shapes(name, *(m.shape for m in present)), dtype)

    return rule


def elementwise(
    name: str,
    inputs: str,
    doc: str,
    reference: Callable[..., Array],
    *,
    dtypes: tuple[DType, ...] = FLOATS,
    budget: Budget = budgets.ROUNDED,
    flops: float = 1,
    rule: Rule | None = None,
    sample: samples.Samples | None = None,
    standalone: bool = False,
    layout: Layout = "any",
    **more: Any,
) -> KernelSpec:
    """Make the spec of an elementwise kernel."""
    arity = len(inputs.split(";", maxsplit=1)[0].split())
    names = tuple(word.rstrip("?") for word in inputs.split(";", maxsplit=1)[0].split())
    rule = rule or elementwise_rule(name, dtypes)
    alone: Kind = "standalone" if standalone else "primitive"
    return KernelSpec(
        name=name,
        kind="composite" if "decomposition" in more else alone,
        signature=f"~ out ; {inputs}",
        doc=doc,
        rule=rule,
        reference=reference,
        budget=budget,
        samples=sample or samples.elementwise(arity),
        work=per_element(rule, flops),
        dtypes=dtypes,
        layout=layout,
        alias=tuple(("out", name) for name in names),
        **more,
    )
