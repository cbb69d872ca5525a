# SPDX-License-Identifier: MIT
"""The spec of a kernel, which is the only declaration of its properties.

A `KernelSpec` is declared next to its reference.  Output allocation, dispatch keys,
conformance tests, operator tables and rooflines are derived from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from autocalc._kernels.cases import Case
from autocalc._kernels.samples import Array, Attributes, DType, Make, Sample, Shape

__all__ = [
    "Array",
    "Attribute",
    "Attributes",
    "Budget",
    "DType",
    "KernelSpec",
    "Kind",
    "Layout",
    "Meta",
    "Operand",
    "OperandMeta",
    "Sample",
    "Shape",
    "Work",
    "meta_of",
    "parse_signature",
]

Kind = Literal["primitive", "composite", "standalone"]
Layout = Literal["contiguous", "like", "any", "prefers channels-last"]


class Meta(NamedTuple):
    """The shape and dtype of an operand, which is all that shape rules get."""

    shape: Shape
    dtype: DType


#: The form of an operand in rules: absent, one array, or a list of arrays.
OperandMeta: TypeAlias = Meta | tuple[Meta, ...] | None


def meta_of(operand: Any) -> OperandMeta:
    """Return the meta of an array, a list of arrays, or None, for rules."""
    if operand is None:
        return None
    if isinstance(operand, (list, tuple)):
        return tuple([Meta(a.shape, a.dtype) for a in operand])
    return Meta(operand.shape, operand.dtype)


@dataclass(frozen=True)
class Operand:
    """An input or output by its name in the signature."""

    name: str
    optional: bool = False
    is_list: bool = False


@dataclass(frozen=True)
class Attribute:
    """A plain value of a call; `choices` has the words of an enumeration."""

    name: str
    type: Literal["int", "float", "bool", "ints", "choice"]
    choices: tuple[str, ...] = ()


class Work(NamedTuple):
    """The least work of a call: floating-point operations and bytes moved."""

    flops: float
    bytes: float


class Budget(NamedTuple):
    """The allowed error of a kernel, relative to the float64 oracle.

    `tolerance(inputs, attributes, expected)` returns the allowed absolute errors of
    each output, as an array or a number.  `text` describes them for the documentation.
    """

    text: str
    tolerance: Callable[
        [Sequence[Any], Attributes, Sequence[Any], float], Sequence[Any]
    ]


@dataclass(frozen=True, eq=False)
class KernelSpec:
    """The declaration of a kernel.

    Attributes
    ----------
    name, signature
        ``"[~ ]outputs ; inputs ; attributes"``: ``?`` optional, ``*`` list, ``~``
        elementwise (inputs broadcast to the output's shape).
    rule
        ``rule(*input_metas, *attributes) -> Meta | tuple[Meta | None, ...]`` returns
        the shapes and dtypes of all outputs.  It raises `ShapeError` or `DTypeError`.
    reference
        ``reference(xp, *in_out, *inputs, *attributes)`` returns a new array for each
        output, or None if it cannot compute the output.  ``in_out`` are the operands in
        `writes`.  If outputs are optional, it takes the keyword `want`, a bit mask of
        the wanted outputs, and may return None for the others.  The attribute
        `accumulate` is not passed.  Instead, each output to which the result is added
        is passed as a keyword with its name, and the reference returns the sum.
    decomposition
        ``decomposition(k, *in_out, *inputs, *attributes)`` computes the same with
        primitives, and takes the same keywords.
    lead
        The primitive that does most of the decomposition's work.  A primitive may be
        its own lead: its decomposition then runs the optional parts (bias, activation)
        as separate kernels, for sets that refuse them.
    benchmarks
        The calls for timing the kernel, with sizes as in models.
    dtypes
        The dtypes that the reference accepts for the first operand, or for the output
        if the spec is `free`.  For each of them, a set must pass the conformance tests
        or refuse the calls.
    free
        Whether the inputs do not determine the shape and dtype of the output.  The
        caller then passes them: the rule, the reference, the decomposition and the
        function of ``k`` take the keywords `shape` and `dtype`.
    key
        The calls for which a decision of dispatch is valid: ``"dtypes"`` means all
        calls with the same dtypes; ``"shapes"`` means only calls with the same shapes,
        strides and attributes as well.
    layout
        The layout of results of four dimensions. ``"contiguous"`` is row by row.
        ``"like"`` is the layout of the input images, which all have the same layout.
        ``"any"`` is the same without a guarantee about the inputs.
        ``"prefers channels-last"`` is the same as ``"like"``, but a set may request the
        channels-last layout.
    writes
        The outputs that are read and written in place; the caller passes them.
    accumulates
        The outputs to which results can be added; bit i of the last attribute
        `accumulate` selects output i.
    alias
        Pairs ``(output, input)`` that may share memory.
    flushes
        The outputs in which subnormal results in float32 and float64 are written as 0
        of the same sign, both by the reference and by all sets.  The reason is that
        Intel's CPUs take a hundred times as long for a product with a subnormal number.
        For outputs in float16 or bfloat16, this applies to the float32 results before
        rounding.
    halves
        The dtypes of operands that differ from the others in half-precision calls, by
        operand: ``"float32"``, or the name of the input with the same dtype.
    complex
        Whether the reference also takes complex numbers.  The rule then sees their real
        dtypes, and its floating-point outputs become complex.  Other outputs stay as
        they are, if `complex` has their names as ``{"out": "real"}``.  With
        ``"rule"``, the rule sees complex dtypes itself.  Kernel sets other than the
        reference never get complex operands.
    defaults
        The values of trailing attributes that the caller may omit.
    says_why
        True if the reference raises a more precise error for invalid values.  A call
        that fails in a set is then repeated with the reference, for its error, or for
        its result if it succeeds.
    exceptions
        Wider error budgets, by the name of the algorithm that needs each.  A kernel of
        a set can only select one of these (`KernelImpl.exception`), so sets cannot
        widen budgets themselves.
    """

    name: str
    kind: Kind
    signature: str
    doc: str
    rule: Callable[..., Any]
    reference: Callable[..., Any]
    budget: Budget
    samples: Callable[[Make], Iterable[Sample]]
    work: Callable[..., Work]
    decomposition: Callable[..., Any] | None = None
    lead: str | None = None
    benchmarks: Callable[[], Iterable[Case]] = tuple
    dtypes: tuple[DType, ...] = (np.dtype("f4"), np.dtype("f8"))
    free: bool = False
    key: Literal["dtypes", "shapes"] = "dtypes"
    layout: Layout = "contiguous"
    writes: tuple[str, ...] = ()
    accumulates: tuple[str, ...] = ()
    alias: tuple[tuple[str, str], ...] = ()
    flushes: tuple[str, ...] = ()
    halves: Mapping[str, str] = field(default_factory=dict)
    complex: bool | Literal["rule"] | Mapping[str, str] = False
    defaults: tuple[Any, ...] = ()
    says_why: bool = False
    exceptions: Mapping[str, Budget] = field(default_factory=dict)
    elementwise: bool = field(init=False)
    outputs: tuple[Operand, ...] = field(init=False)
    inputs: tuple[Operand, ...] = field(init=False)
    attributes: tuple[Attribute, ...] = field(init=False)

    def __post_init__(self) -> None:
        elementwise, outputs, inputs, attributes = parse_signature(self.signature)
        object.__setattr__(self, "elementwise", elementwise)
        object.__setattr__(self, "outputs", outputs)
        object.__setattr__(self, "inputs", inputs)
        object.__setattr__(self, "attributes", attributes)

    def budget_of(self, exception: str | None) -> Budget:
        """Return the budget of a kernel with this `exception`."""
        return self.budget if exception is None else self.exceptions[exception]

    @property
    def strided_output(self) -> bool:
        """Whether the output may have any strides, as in writes to views.

        This applies to elementwise kernels and to kernels that write at indices.
        """
        indexed = any(operand.name == "index" for operand in self.inputs)
        return self.elementwise or (indexed and bool(self.alias))

    def __repr__(self) -> str:
        return f"<KernelSpec {self.name}: {self.signature}>"


def parse_signature(
    signature: str,
) -> tuple[bool, tuple[Operand, ...], tuple[Operand, ...], tuple[Attribute, ...]]:
    """Split a signature into (elementwise, outputs, inputs, attributes)."""
    elementwise = signature.startswith("~ ")
    parts = [part.split() for part in signature.removeprefix("~ ").split(";")]
    outputs, inputs, *rest = parts
    return (
        elementwise,
        tuple(map(_operand, outputs)),
        tuple(map(_operand, inputs)),
        tuple(map(_attribute, rest[0] if rest else [])),
    )


def _operand(word: str) -> Operand:
    name = word.rstrip("?*")
    return Operand(name, optional="?" in word, is_list="*" in word)


def _attribute(word: str) -> Attribute:
    name, _, kind = word.partition(":")
    if kind in {"int", "float", "bool", "ints"}:
        return Attribute(name, kind)  # type: ignore[arg-type]  # checked above
    return Attribute(name, "choice", tuple(kind.split(",")))
