# SPDX-License-Identifier: MIT
"""How a kernel is declared: its parts, one after the other, in one place.

::

    cumsum = standalone("cumsum", "out ; a ; axis:int reverse:bool", "The sums ...")

    @cumsum.rule
    def _(a, axis, reverse): ...

    @cumsum.reference
    def _(xp, a, axis, reverse=False): ...

    @cumsum.budget("n * eps * sum(|a|) of the terms so far")
    def _(inputs, attributes, expected, eps): ...

    @cumsum.samples
    def _(make): ...

    cumsum.work(flops_per_element=1)

    @cumsum.benchmarks
    def _(): ...

Each part but `exception` is required, and so is the `decomposition` of a composite.
Where the decomposition is the reference's formula over kernels, one `formula` is both::

    @silu.formula(lead="exp")
    def _(xp, a): ...

The kernel table imports every module of every family and makes a `KernelSpec` of each
declaration: a kernel with a missing part fails there, by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar, overload

from autocalc._kernels import samples as sampling
from autocalc._kernels.budgets import ROUNDED, Tolerance
from autocalc._kernels.cases import Case, floats, mebi
from autocalc._kernels.formula import OverKernels, over_kernels
from autocalc._kernels.rules import (
    FLOATS,
    broadcast_shapes,
    float_dtype,
    one_of,
    same_dtype,
)
from autocalc._kernels.samples import Samples
from autocalc._kernels.spec import Budget, DType, KernelSpec, Kind, Meta, Work
from autocalc._kernels.work import per_element

F = TypeVar("F", bound=Callable[..., Any])
Rule = Callable[..., Any]
Cases = Callable[[], Iterable[Case]]


class Declaration:
    """A kernel in the making; each decorator adds a part and returns its function."""

    def __init__(
        self, name: str, kind: Kind, signature: str, doc: str, **options: Any
    ) -> None:
        self.name = name
        self._parts: dict[str, Any] = {
            "name": name,
            "kind": kind,
            "signature": signature,
            "doc": doc,
            **options,
        }
        self._exceptions: dict[str, Budget] = {}
        self._spec: KernelSpec | None = None

    def __call__(self, xp: Any, *operands: Any, **named: Any) -> Any:
        """Return what the kernel makes of operands within a formula over `xp`."""
        if xp.__class__ is OverKernels:
            return xp.kernel(self.name, *operands, **named)
        return self._parts["reference"](xp, *operands, **named)

    def __repr__(self) -> str:
        return f"<declaration of the kernel {self.name}>"

    def _add(self, part: str, value: Any) -> None:
        if part in self._parts:
            raise TypeError(f"kernel {self.name}: `{part}` is declared twice.")
        self._parts[part] = value

    def rule(self, rule: F) -> F:
        """Declare shapes and dtypes of the outputs; see `KernelSpec.rule`."""
        self._add("rule", rule)
        return rule

    def reference(self, reference: F) -> F:
        """Declare the reference, which reads like the formula."""
        self._add("reference", reference)
        return reference

    def decomposition(self, *, lead: str) -> Callable[[F], F]:
        """Declare the same in primitives; `lead` does most of the work."""

        def declare(decomposition: F) -> F:
            self._add("decomposition", decomposition)
            self._add("lead", lead)
            return decomposition

        return declare

    def formula(self, *, lead: str) -> Callable[[F], F]:
        """Declare reference and decomposition by one formula; see `over_kernels`."""

        def declare(formula: F) -> F:
            self.decomposition(lead=lead)(over_kernels(formula))
            return self.reference(formula)

        return declare

    @overload
    def budget(self, budget: Budget) -> Budget: ...

    @overload
    def budget(self, budget: str) -> Callable[[Tolerance], Budget]: ...

    def budget(self, budget: Budget | str) -> Any:
        """Declare the error budget: a ready one, or its text and its tolerance."""
        if isinstance(budget, Budget):
            self._add("budget", budget)
            return budget
        return lambda tolerance: self.budget(Budget(budget, tolerance))

    @overload
    def exception(self, name: str, budget: Budget) -> Budget: ...

    @overload
    def exception(self, name: str, budget: str) -> Callable[[Tolerance], Budget]: ...

    def exception(self, name: str, budget: Budget | str) -> Any:
        """Declare the wider budget of the algorithm `name`."""
        if isinstance(budget, Budget):
            self._exceptions[name] = budget
            return budget
        return lambda tolerance: self.exception(name, Budget(budget, tolerance))

    def samples(self, samples: Samples) -> Samples:
        """Declare the calls of the conformance tests."""
        self._add("samples", samples)
        return samples

    @overload
    def work(self, work: Callable[..., Work]) -> Callable[..., Work]: ...

    @overload
    def work(self, *, flops_per_element: float) -> Callable[..., Work]: ...

    def work(
        self,
        work: Callable[..., Work] | None = None,
        *,
        flops_per_element: float | None = None,
    ) -> Callable[..., Work]:
        """Declare the least work: a function, or operations for each element."""
        if work is None:
            assert flops_per_element is not None, "give the function or the number"
            work = per_element(self._parts["rule"], flops_per_element)
        self._add("work", work)
        return work

    @overload
    def benchmarks(self, *cases: Case) -> None: ...

    @overload
    def benchmarks(self, cases: Cases, /) -> Cases: ...

    def benchmarks(self, *cases: Any) -> Any:
        """Declare the calls to time: cases, or a function that yields them."""
        if len(cases) == 1 and not isinstance(cases[0], Case):
            self._add("benchmarks", cases[0])
            return cases[0]
        self._add("benchmarks", lambda: cases)
        return None

    def spec(self) -> KernelSpec:
        """Return the complete spec; raise `TypeError` where a part is missing."""
        if self._spec is None:
            self._check_complete()
            self._spec = KernelSpec(**self._parts, exceptions=self._exceptions)
        return self._spec

    def _check_complete(self) -> None:
        required = ["rule", "reference", "budget", "samples", "work", "benchmarks"]
        if self._parts["kind"] == "composite":
            required.append("decomposition")
        missing = [part for part in required if part not in self._parts]
        if missing:
            raise TypeError(
                f"kernel {self.name}: the declaration lacks {', '.join(missing)}; "
                f"each is a decorator, as in `@{self.name}.{missing[0]}`."
            )


def primitive(name: str, signature: str, doc: str, **options: Any) -> Declaration:
    """Declare one of the kernels that are enough to train any model."""
    return Declaration(name, "primitive", signature, doc, **options)


def composite(name: str, signature: str, doc: str, **options: Any) -> Declaration:
    """Declare a kernel that is there for speed: it has a decomposition."""
    return Declaration(name, "composite", signature, doc, **options)


def standalone(name: str, signature: str, doc: str, **options: Any) -> Declaration:
    """Declare a kernel that has a reference and no decomposition."""
    return Declaration(name, "standalone", signature, doc, **options)


def elementwise(
    doc: str,
    inputs: str | None = None,
    *,
    name: str | None = None,
    kind: Kind = "primitive",
    dtypes: tuple[DType, ...] = FLOATS,
    budget: Budget | None = ROUNDED,
    flops: float = 1,
    rule: Rule | None = None,
    samples: Samples | None = None,
    benchmarks: Cases | None = None,
    lead: str | None = None,
    **options: Any,
) -> Callable[[Callable[..., Any]], Declaration]:
    """Declare an elementwise kernel; what is decorated is its reference.

    With a `lead` it is the formula of a composite: the decomposition, too.

    By default the kernel takes its name and its inputs from the reference.  Give
    `inputs` where an input is optional or the kernel has attributes.  Inputs broadcast,
    results have the inputs' dtype, and the output may share memory with any input.
    Parts that differ are given, or declared later (`budget=None`).
    """

    def declare(reference: Any) -> Declaration:
        code = reference.__code__
        own = name or reference.__name__.rstrip("_")
        operands = inputs or " ".join(code.co_varnames[1 : code.co_argcount])
        names = [one.rstrip("?") for one in operands.split(";", maxsplit=1)[0].split()]
        options.setdefault("layout", "any")
        options.setdefault("alias", tuple(("out", operand) for operand in names))
        own_kind = kind if lead is None else "composite"
        declaration = Declaration(
            own, own_kind, f"~ out ; {operands}", doc, dtypes=dtypes, **options
        )
        own_rule = declaration.rule(rule or elementwise_rule(own, dtypes))
        if budget is not None:
            declaration.budget(budget)
        declaration.samples(samples or _usual_samples(len(names)))
        declaration.work(per_element(own_rule, flops))
        declaration.benchmarks(benchmarks or mebi(*[floats] * len(names)))
        if lead is None:
            declaration.reference(reference)
        else:
            declaration.formula(lead=lead)(reference)
        return declaration

    return declare


def elementwise_rule(name: str, dtypes: tuple[DType, ...]) -> Callable[..., Meta]:
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


def _usual_samples(arity: int) -> Samples:
    return sampling.unary if arity == 1 else sampling.binary


__all__ = [
    "Declaration",
    "composite",
    "elementwise",
    "elementwise_rule",
    "primitive",
    "standalone",
]
