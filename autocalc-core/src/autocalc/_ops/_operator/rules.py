# SPDX-License-Identifier: MIT
"""The description of an operator in a node: its backward rule and what that saves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

from autocalc._graph._node import Partial
from autocalc._kernels.spec import KernelSpec
from autocalc._kernels.table import TABLE

Rule = Callable[[Any, Any, Any], Any]

#: Kernels whose results are elements of their operands, or whose results are saved only
#: to tell which elements passed.  Rounding does not change what such a result tells a
#: rule.
_SELECTING = frozenset({"max", "min", "relu", "hardtanh", "max_pool", "scatter_amax",
                        "scatter_amin", "adaptive_max_pool",
                        "batch_norm_running", "batch_norm_activation"})  # fmt: skip

#: All operators that were made; `ac.profiler` reads their rules.
OPS: list[Op] = []


class Op:
    """The description of the operator of a node."""

    __slots__ = (
        "_over_complex",
        "complex_rule",
        "function",
        "is_view",
        "kept",
        "n_outputs",
        "name",
        "rounds_once",
        "rule",
        "saves",
        "spec",
        "wide_inputs",
    )

    def __init__(self, name: str, saves: str = "") -> None:
        self.name = name
        self.spec = TABLE.get(name)
        self.saves = None if self.spec is None else Saves(saves, self.spec)
        self.rule: Rule = _no_rule
        #: The rule for complex operands, if `conjugated` does not make it of `rule`.
        self.complex_rule: Rule | None = None
        self._over_complex: Op | None = None
        #: For a node of half precision: whether each gradient is the result of one
        #: kernel, which rounds it once by itself.
        self.rounds_once: Callable[[Any], bool] = _never
        #: For the same node: the positions of the inputs that are float32 nevertheless.
        self.wide_inputs: Callable[[Any], tuple[int, ...]] = _no_inputs
        self.is_view = False
        #: For a view operator: maps an array and attributes to an array.
        self.function: Callable[..., Any] | None = None
        #: The outputs that users get; only these have cotangents.
        self.kept: tuple[int, ...] = (0,)
        if self.spec is not None:
            outputs = enumerate(self.spec.outputs)
            self.kept = tuple(i for i, out in outputs if not out.optional) or (0,)
        self.n_outputs = len(self.kept)
        OPS.append(self)

    @property
    def over_complex(self) -> Op:
        """The operator for nodes with complex operands or results."""
        if self._over_complex is None:
            self._over_complex = twin = copy(self)
            twin.rule = self.complex_rule or conjugated(self)
        return self._over_complex

    @property
    def saves_rounded(self) -> bool:
        """Whether the rule needs results in float32, before rounding to half."""
        if self.saves is None or self.name in _SELECTING:
            return False
        spec, saved = self.spec, self.saves.outputs
        return any(
            saved >> i & 1 and (spec is None or spec.outputs[i].name not in spec.halves)
            for i in self.kept
        )

    @property
    def reads_itself(self) -> bool:
        """Whether the gradient of the first input needs the value of that input."""
        if self.saves is None:
            return False
        first = self.saves.first_input
        return any(place == first and 0 in users for place, users in self.saves.places)

    def __repr__(self) -> str:
        return f"<operator {self.name}>"


def conjugated(op: Any) -> Rule:
    """Return the rule of a holomorphic function for complex numbers.

    `op` has the rule for real numbers as its attribute `rule`.

    Rules multiply cotangents by derivatives.  By PyTorch's convention the factor is the
    conjugate of the derivative.  So the rule gets conjugates, and its results are
    conjugated.
    """

    def rule(k: Any, n: Any, g: Any) -> Any:
        several = g.__class__ is tuple
        conjugate = tuple([_conj(k, x) for x in g]) if several else _conj(k, g)
        found = op.rule(k, n, conjugate)
        if found.__class__ is tuple:
            return tuple([_conj(k, x) for x in found])
        return _conj(k, found)

    return rule


def _conj(k: Any, x: Any) -> Any:
    """Return the conjugate of a cotangent, or `x` itself if it is real or absent."""
    if x is None:
        return None
    if x.__class__ is Partial:
        if x.index is None:
            raise NotImplementedError("partial write of complex numbers")
        return Partial(x.index, _conj(k, x.value))
    return k.conj(x) if k.dtype(x).kind == "c" else x


def _never(n: Any) -> bool:
    return False


def _no_inputs(n: Any) -> tuple[int, ...]:
    return ()


def _no_rule(k: Any, n: Any, g: Any) -> Any:
    raise NotImplementedError(f"{getattr(n, 'node', n).op.name} has no backward rule")


class Saves:
    """The operands that a backward rule needs, and for which gradients it needs them.

    ``"a:b b:a"`` saves `a` if `b` needs a gradient, and `b` if `a` needs one; ``"out"``
    saves the output for any gradient.
    """

    def __init__(self, text: str, spec: KernelSpec) -> None:
        names = [operand.name for operand in (*spec.outputs, *spec.inputs)]
        self.first_input = len(spec.outputs)
        input_names = [operand.name for operand in spec.inputs]
        self.places: list[tuple[int, tuple[int, ...]]] = []
        for word in text.split():
            name, _, users = word.partition(":")
            wanted_by = users.split(",") if users else input_names
            self.places.append(
                (names.index(name), tuple(input_names.index(u) for u in wanted_by))
            )

    @property
    def outputs(self) -> int:
        """The mask of outputs that are saved."""
        return sum(1 << i for i, _ in self.places if i < self.first_input)

    def __call__(self, edges: Sequence[Any], tensors: tuple[Any, ...]) -> Any:
        """Return (saved arrays, version cells and counts) for these edges."""
        saved: list[Any] = []
        versions: list[Any] = []
        for place, users in self.places:
            tensor = tensors[place]
            if tensor is not None:
                for i in users:
                    if edges[i] is not None:
                        cell = tensor._version or tensor._new_version()
                        saved.append(tensor._array)
                        versions += (cell, cell.count)
                        break
                else:
                    tensor = None
            if tensor is None:
                saved.append(None)
                versions += (None, 0)
        return tuple(saved), tuple(versions)
