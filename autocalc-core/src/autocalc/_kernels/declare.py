# SPDX-License-Identifier: MIT
"""Declarations of kernels: all parts of a kernel in one place.

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

Each part except `exception` is required; a composite also requires a `decomposition`.
If the decomposition is the formula of the reference over kernels, one `formula`
declares both::

    @silu.formula(lead="exp")
    def _(xp, a): ...

The kernel table imports all modules of all families and makes a `KernelSpec` from each
declaration.  If a part is missing, this raises an error with the name of the kernel.
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
    """An incomplete kernel; each decorator adds a part and returns the function."""

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
        """Return the result of the kernel for operands in a formula over `xp`."""
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
        """Declare the shapes and dtypes of the outputs; see `KernelSpec.rule`."""
        self._add("rule", rule)
        return rule

    def reference(self, reference: F) -> F:
        """Declare the reference, which reads like the formula."""
        self._add("reference", reference)
        return reference

    def decomposition(self, *, lead: str) -> Callable[[F], F]:
        """Declare the decomposition into primitives; `lead` does most of the work."""

        def declare(decomposition: F) -> F:
            self._add("decomposition", decomposition)
            self._add("lead", lead)
            return decomposition

        return declare

    def formula(self, *, lead: str) -> Callable[[F], F]:
        """Declare both reference and decomposition by a formula; see `over_kernels`."""

        def declare(formula: F) -> F:
            self.decomposition(lead=lead)(over_kernels(formula))
            return self.reference(formula)

        return declare

    @overload
    def budget(self, budget: Budget) -> Budget: ...

    @overload
    def budget(self, budget: str) -> Callable[[Tolerance], Budget]: ...

    def budget(self, budget: Budget | str) -> Any:
        """Declare the error budget: a `Budget`, or a text for a tolerance function."""
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
        """Declare the least work by a function or by the operations per element."""
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
        """Declare the calls for timing: cases, or a function that yields cases."""
        if len(cases) == 1 and not isinstance(cases[0], Case):
            self._add("benchmarks", cases[0])
            return cases[0]
        self._add("benchmarks", lambda: cases)
        return None

    def spec(self) -> KernelSpec:
        """Return the complete spec; raise `TypeError` if a part is missing."""
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
    """Declare a primitive; the primitives are sufficient to train any model."""
    return Declaration(name, "primitive", signature, doc, **options)


def composite(name: str, signature: str, doc: str, **options: Any) -> Declaration:
    """Declare a composite: a kernel for speed, which has a decomposition."""
    return Declaration(name, "composite", signature, doc, **options)


def standalone(name: str, signature: str, doc: str, **options: Any) -> Declaration:
    """Declare a kernel that has a reference but no decomposition."""
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
    """Declare an elementwise kernel; the decorated function is its reference.

    With `lead`, the function is the formula of a composite, and thus also its
    decomposition.

    By default the kernel takes its name and its inputs from the reference.  Pass
    `inputs` if an input is optional or the kernel has attributes.  Inputs are
    broadcast, results have the dtype of the inputs, and the output may share memory
    with any input.  Parts that differ from these defaults are passed as arguments, or
    declared later (`budget=None`).
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
    """Return a rule for inputs of one dtype that are broadcast, and any attributes."""

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
