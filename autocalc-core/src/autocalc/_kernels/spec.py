# SPDX-License-Identifier: MIT
"""The spec of a kernel: everything that is said about it, said once.

A `KernelSpec` is next to its reference.  Output allocation, dispatch keys,
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
    """Shape and dtype of an operand: all that a shape rule may know."""

    shape: Shape
    dtype: DType


#: What a rule sees for one operand: absent, one array, or a list of arrays.
OperandMeta: TypeAlias = Meta | tuple[Meta, ...] | None


def meta_of(operand: Any) -> OperandMeta:
    """Return the meta, for rules, of an array, a list of arrays, or None."""
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
    """A plain value of a call; `choices` holds the words of an enumeration."""

    name: str
    type: Literal["int", "float", "bool", "ints", "choice"]
    choices: tuple[str, ...] = ()


class Work(NamedTuple):
    """The least work of a call: floating-point operations and bytes moved."""

    flops: float
    bytes: float


class Budget(NamedTuple):
    """How far a kernel may be from the float64 oracle.

    `tolerance(inputs, attributes, expected)` gives, for each output, an array (or a
    number) of absolute errors allowed; `text` states the same for the docs.
    """

    text: str
    tolerance: Callable[
        [Sequence[Any], Attributes, Sequence[Any], float], Sequence[Any]
    ]


@dataclass(frozen=True, eq=False)
class KernelSpec:
    """The one declaration of a kernel.

    Attributes
    ----------
    name, signature
        ``"[~ ]outputs ; inputs ; attributes"``: ``?`` optional, ``*`` list, ``~``
        elementwise (inputs broadcast to the output's shape).
    rule
        ``rule(*input_metas, *attributes) -> Meta | tuple[Meta | None, ...]``: shapes
        and dtypes of all outputs.  Raises `ShapeError` or `DTypeError`.
    reference
        ``reference(xp, *in_out, *inputs, *attributes)`` returns new arrays, one for
        each output (None where it cannot); ``in_out`` are the operands in `writes`.
        Where outputs are optional it takes the keyword `want`, a mask by the outputs'
        places, and may return None for the others.  The attribute `accumulate` is not
        passed: each output that is added into is passed by its name as a keyword, and
        the result is the sum.
    decomposition
        ``decomposition(k, *in_out, *inputs, *attributes)``: the same in primitives,
        with the same keywords.
    lead
        The primitive which does most of the decomposition's work.  A primitive may be
        its own lead: its decomposition then runs the optional parts (bias, activation)
        as separate kernels, for sets that refuse them.
    benchmarks
        The calls by which the kernel is timed, of the sizes that models have.
    dtypes
        Dtypes that the reference takes for the first operand (the output, where
        `free`); what a set must pass the conformance cases for, or refuse.
    free
        Nothing in the inputs says the output's shape and dtype: the caller does.
        Rule, reference, decomposition and the function of ``k`` then take the
        keywords `shape` and `dtype`.
    key
        ``"dtypes"``: a decision holds for all calls with these dtypes; ``"shapes"``:
        for these shapes, strides and attributes only.
    layout
        The layout of results of four dimensions. ``"contiguous"`` is row by row.
        ``"like"`` follows the images that are read, which the kernel gets in one
        layout; ``"any"`` is the same without a promise on the inputs. ``"prefers
        channels-last"`` is ``"like"``, and a set may ask for that layout.
    writes
        Outputs that are read and written in place; they are passed by the caller.
    accumulates
        Outputs that can be added into (bit i of the last attribute `accumulate`).
    alias
        Pairs ``(output, input)`` which may share memory.
    flushes
        Outputs of float32 and float64 in which a subnormal result is written as 0 of
        the same sign, by the reference as by every set.  Intel's CPUs take a hundred
        times as long for a product with a subnormal number.  What is rounded to float16
        or bfloat16 was float32 before.
    halves
        The dtypes of operands that do not follow the others in calls of half precision,
        by operand: ``"float32"``, or the input whose dtype it has.
    defaults
        Values of trailing attributes that a caller may leave out.
    says_why
        The reference raises the better error for invalid values: a call that a set
        refuses goes to it, for its error, or its result where it has one.
    exceptions
        Other error budgets by the name of the algorithm that needs one.  A set's
        kernel names it (`KernelImpl.exception`), so no set widens a budget by itself.
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
        """Return the budget that a kernel with this `exception` keeps."""
        return self.budget if exception is None else self.exceptions[exception]

    @property
    def strided_output(self) -> bool:
        """Whether the output may have any strides, as views have that are written.

        So it is with elementwise kernels, and with those that write at indices.
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
        return Attribute(name, kind)  # type: ignore[arg-type]  # checked just above
    return Attribute(name, "choice", tuple(kind.split(",")))
