# SPDX-License-Identifier: MIT
"""The call of a kernel whose operands are dual arrays.

The kernel runs on the primals.  A *forward rule* then computes the tangents of the
results, by calls of kernels on the parts.  Kernels without a rule run as their
decomposition on dual arrays.  See `_forward.rules` for where rules come from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from autocalc._dispatch.device.device import (
    DeviceArray,
    DeviceDType,
    host_dtype,
    joined_dtype,
    repeated,
)
from autocalc._dispatch.device.dual_parts import has_tangent, primal_at, tangent_at, top
from autocalc._dispatch.device.duals import Dual, DualLevel, functions, no_room
from autocalc._dispatch.selection.arrays import arrays, constant
from autocalc._dispatch.selection.provided import provide
from autocalc._dispatch.selection.upcast import FLOAT_KINDS
from autocalc._kernels.adapter import call_of
from autocalc._kernels.spec import KernelSpec
from autocalc.errors import GradError

#: What a rule returns to leave a call to the next way.
DECLINED = None


class Call:
    """One call on primals, with the tangents of its operands.

    Attributes
    ----------
    spec, attributes
        The kernel, and the attributes of its call.
    inputs, tangents
        For each input: the primal, and the tangent or None.  For a list of arrays both
        are lists.
    results
        The primals of the outputs, with None for those that are not wanted.
    shape, dtypes
        The shape of the first output, and the dtypes of all outputs.
    want
        The wanted outputs, as a bit mask.
    floats
        Whether a wanted output has elements that can have a tangent.
    adjoint
        Whether an operand is a cotangent with exchanged parts.
    """

    __slots__ = ("adjoint", "attributes", "dtypes", "floats", "inputs", "results",
                 "shape", "spec", "tangents", "want")  # fmt: skip

    def __init__(
        self,
        spec: KernelSpec,
        outs: Sequence[Any],
        inputs: Sequence[Any],
        attributes: tuple[Any, ...],
        level: DualLevel,
    ) -> None:
        self.spec, self.attributes = spec, attributes
        self.inputs, self.tangents, self.adjoint = _apart(inputs, level)
        self.want, self.floats = 0, False
        self.shape: Any = None
        self.dtypes: list[Any] = []
        for i, out in enumerate(outs):
            if out is None:
                self.dtypes.append(None)
                continue
            self.want |= 1 << i
            if self.shape is None:
                self.shape = out.shape
            self.dtypes.append(_part(out))
            self.floats = self.floats or out.dtype.kind in FLOAT_KINDS
        self.results: list[Any] = []

    def run(self, *args: Any, want: int = 0) -> list[Any]:
        """Run the kernel; return all outputs, with None for unwanted ones."""
        spec = self.spec
        kernel = getattr(arrays, spec.name)
        words: dict[str, Any] = {}
        kind = _KINDS.get(spec) or _kind_of(spec)
        if kind == "optional":
            words["want"] = self.want | want
        elif kind == "free":
            words = {"shape": self.shape, "dtype": self.dtypes[0]}
        elif kind == "elementwise":
            dtype = self.dtypes[0]
            if host_dtype(dtype) is not host_dtype(args[0].dtype):
                return [kernel(*args, into=arrays.empty(self.shape, dtype))]
        found = kernel(*args, **words)
        return [found] if len(spec.outputs) == 1 else list(found)

    def zeros(self, i: int) -> Any:
        """Return a tangent of zero for input `i`."""
        x = self.inputs[i]
        return arrays.expand(arrays.constant(0, x), x.shape)

    def is_float(self, i: int) -> bool:
        """Return whether output `i` is wanted, and can have a tangent."""
        dtype = self.dtypes[i]
        return dtype is not None and _is_float(dtype)

    @property
    def able(self) -> bool:
        """Whether a tangent arrives, and a wanted result can have one."""
        if self.floats:
            for t in self.tangents:
                if t is not None:
                    return True
        return False

    def refused(self, why: str) -> GradError:
        """Return the error for a kernel without a forward derivative."""
        return GradError(
            f"forward_ad: {self.spec.name} has no forward derivative: {why}. Use "
            f"autograd.grad or func.vjp for functions that call it."
        )


#: How kernels are called.
_KINDS: dict[KernelSpec, str] = {}


def _kind_of(spec: KernelSpec) -> str:
    """Return and store how a kernel is called."""
    kind = "plain"
    if any(output.optional for output in spec.outputs):
        kind = "optional"
    elif spec.free:
        kind = "free"
    elif spec.elementwise and len(spec.outputs) == 1 and not spec.attributes:
        kind = "elementwise"
    _KINDS[spec] = kind
    return kind


def _is_float(dtype: Any) -> bool:
    return host_dtype(dtype).kind in FLOAT_KINDS


def _part(out: Any) -> Any:
    """Return the dtype of the primal of an output, where it is or will be."""
    if not has_tangent(out):
        return out.dtype
    raw = out.raw
    return raw.part if raw._primal is None else raw._primal.dtype


def _apart(
    inputs: Sequence[Any], level: DualLevel
) -> tuple[list[Any], list[Any], bool]:
    """Return primals, tangents, and whether one operand is adjoint."""
    primals, tangents, adjoint = [], [], False
    for x in inputs:
        primal, tangent = x, None
        if x.__class__ is DeviceArray:
            raw = x.raw
            if raw.__class__ is Dual and raw.level is level:
                tangent = raw._tangent if raw.root is None else raw.tangent
                adjoint = adjoint or raw.adjoint
                primal = raw.primal
        elif x.__class__ is list or x.__class__ is tuple:
            adjoint = adjoint or _has_adjoint(x, level)
            primal, tangent = _primals(x, level), _tangents(x, level)
        primals.append(primal)
        tangents.append(tangent)
    return primals, tangents, adjoint


def _primals(x: Any, level: DualLevel) -> Any:
    if x.__class__ in (list, tuple):
        return [primal_at(one, level) for one in x]
    return None if x is None else primal_at(x, level)


def _tangents(x: Any, level: DualLevel) -> Any:
    if x.__class__ in (list, tuple):
        found = [tangent_at(one, level) for one in x]
        return None if all(t is None for t in found) else found
    return None if x is None or not _is_float(x.dtype) else tangent_at(x, level)


Rule = Callable[[Call], "list[Any] | None"]


class Ways:
    """How tangents are found; `_forward.rules` provides the functions.

    Attributes
    ----------
    rule_of
        Returns the forward rule of a kernel, or None for its decomposition.
    saved
        Returns the mask of outputs that the rule of a kernel needs.
    """

    rule_of: Callable[[KernelSpec], Rule | None]
    saved: Callable[[KernelSpec], int]


ways = Ways()


@lru_cache(None)
def dual_kernel(spec: KernelSpec) -> Callable[..., None]:
    """Return the kernel of a spec for dual arrays, in the form of all kernels."""
    n, m = len(spec.outputs), len(spec.inputs)
    rule, saved = ways.rule_of(spec), ways.saved(spec)

    def kernel(*operands: Any) -> None:
        outs, rest = operands[:n], operands[n:]
        level = top(operands[0]) or _outermost(operands[: n + m])
        if spec.writes:
            _written(spec, outs, rest, level)
            return
        inputs, attributes = rest[:m], rest[m:]
        mask = 0
        if spec.accumulates:
            attributes, mask = attributes[:-1], attributes[-1]
        call = Call(spec, outs, inputs, attributes, level)
        able = call.able and (functions.enabled or call.adjoint)
        tangents = DECLINED
        if not able:
            call.results = call.run(*call.inputs, *attributes)
            tangents = [None] * n
        elif rule is not None:
            call.results = call.run(*call.inputs, *attributes, want=saved)
            tangents = rule(call)
        if tangents is DECLINED:
            call.results, tangents = _decomposed(call, outs, inputs, level)
        for i, out in enumerate(outs):
            if out is not None:
                more = mask >> i & 1
                put(out, call.results[i], tangents[i], level, call.adjoint, more)

    return kernel


def _outermost(operands: Sequence[Any]) -> DualLevel:
    """Return the dual level with the highest number among all operands."""
    found: Any = None
    for x in operands:
        for one in x if x.__class__ in (list, tuple) else (x,):
            level = top(one)
            if level is not None and (found is None or level.number > found.number):
                found = level
    assert found is not None, "one operand is dual"
    return found  # type: ignore[no-any-return]  # a DualLevel


def _has_adjoint(x: Any, level: DualLevel) -> bool:
    many = x if x.__class__ in (list, tuple) else (x,)
    return any(top(one) is level and one.raw.adjoint for one in many)


def put(
    out: Any, primal: Any, tangent: Any, level: DualLevel, adjoint: bool, add: int
) -> None:
    """Store a primal and a tangent in an output, or add them to what is there."""
    if top(out) is not level:
        if tangent is not None and (level.active or adjoint):
            raise no_room(out.shape)
        _into(out, primal, add)
        return
    raw = out.raw
    if raw._primal is None and raw.root is None and not add:
        alike = primal.dtype is raw.part and primal.shape == raw.shape
        if alike and primal.flags.c_contiguous:
            raw._primal, raw.adjoint = primal, adjoint
            if tangent is not None and tangent.shape != raw.shape:
                tangent = arrays.expand(tangent, raw.shape)
            raw._tangent = tangent
            return
    if add:
        known = raw.tangent
        if known is not None:
            tangent = known if tangent is None else arrays.add(known, tangent)
    raw.adjoint = raw.adjoint or adjoint
    same = host_dtype(primal.dtype) == raw.dtype and primal.shape == raw.shape
    if add or not same or not raw.give(primal):
        _into(raw.primal, primal, add)
    if tangent is not None and tangent.shape != raw.shape:
        tangent = arrays.expand(tangent, raw.shape)
    raw.put_tangent(tangent)


def _into(out: Any, value: Any, add: int) -> None:
    if add:
        arrays.add(out, value, into=out)
    else:
        arrays.copy(value, into=out)


def _decomposed(
    call: Call, outs: Sequence[Any], inputs: Sequence[Any], level: DualLevel
) -> tuple[list[Any], list[Any]]:
    """Return the results of the decomposition on dual arrays, and their tangents."""
    spec = call.spec
    if spec.decomposition is None:
        raise call.refused("it has no rule and no decomposition")
    place = next(out.dtype for out in outs if out is not None)
    # A decomposition makes arrays like its first operand, and writes into them.
    given = [_at(place, x) for x in inputs]
    rest = (*given, *call.attributes, *((0,) if spec.accumulates else ()))
    found = call_of(spec)(arrays, spec.decomposition, tuple(outs), rest)
    return [_primals(x, level) for x in found], [_tangents(x, level) for x in found]


def _at(place: DeviceDType, x: Any) -> Any:
    """Return an operand with the levels of a place."""
    if x.__class__ in (list, tuple):
        return [_at(place, one) for one in x]
    if x is None:
        return None
    kind = place.of(x.dtype)
    return x if x.dtype is kind else repeated(x, kind)


def _written(
    spec: KernelSpec, outs: Sequence[Any], rest: tuple[Any, ...], level: DualLevel
) -> None:
    """Run a kernel that updates its operands, such as an optimizer's step."""
    m = len(spec.inputs)
    inputs, attributes = rest[:m], rest[m:]
    if spec.name == "axpy":
        alpha, x = inputs
        _axpy(outs[0], alpha, x, level)
        return
    operands = (*outs, *inputs)
    if level.active and any(_tangents(x, level) is not None for x in operands):
        raise GradError(
            f"forward_ad: {spec.name} updates its operands in place and has no forward "
            f"derivative. Use tensors without tangents, such as those of unpack_dual."
        )
    kernel = getattr(arrays, spec.name)
    kernel(*[_primals(x, level) for x in operands], *attributes)


def _axpy(y: Any, alpha: Any, x: Any, level: DualLevel) -> None:
    """Add a multiple to an array in place."""
    total = arrays.add(y, arrays.mul(alpha, x))
    tangent = _tangents(total, level)
    adjoint = any(_has_adjoint(a, level) for a in (y, alpha, x))
    put(y, _primals(total, level), tangent, level, adjoint, 0)


class Functions:
    """The functions on arrays of any place that dual arrays use."""

    def __getattr__(self, name: str) -> Any:
        return getattr(arrays, name)

    number = staticmethod(constant)
    joined_dtype = staticmethod(joined_dtype)

    @staticmethod
    def repeated(array: Any, part: Any) -> Any:
        """Return an array, or that of a device, at the place of a dtype."""
        if part.__class__ is not DeviceDType:
            return array
        if array.__class__ is DeviceArray:
            return array if array.dtype is part else repeated(array, part)
        raw: Any = part.library.repeated(array)  # type: ignore[attr-defined]  # of levels
        return DeviceArray(raw, part)


functions.k = Functions()
provide(dual=dual_kernel)
