# SPDX-License-Identifier: MIT
"""Find the call that made the first NaN or infinity."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from autocalc._dispatch._callers import UserLine, caller
from autocalc._dispatch.selection.upcast import FLOAT_KINDS
from autocalc._tensor.checks import check_flag
from autocalc.diagnostics._blocks import Block
from autocalc.diagnostics._calls import Seen
from autocalc.diagnostics._layers import Layers, layer_of_text, layer_text
from autocalc.diagnostics._table import Report, Row, number, sizes
from autocalc.errors import NonFiniteError

if TYPE_CHECKING:
    from autocalc._kernels.spec import Array

#: Dtypes that NumPy checks for NaN quickly.
_PLAIN = (np.dtype("f4"), np.dtype("f8"))


@dataclass(frozen=True)
class Operand:
    """An input or output of a kernel.

    Attributes
    ----------
    name, shape, dtype
        The operand's name in the kernel's signature, its shape and its dtype.
    nan, inf
        The number of NaN elements, and the number of infinite elements.
    low, high
        The smallest and the largest finite element; None if there are none, or for a
        list of arrays.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.diagnostics.find_nonfinite(stop=False) as found:
    ...     y = ac.tensor([1.0, 0.0]).log()
    >>> out = found.first.outputs[0]
    >>> out.shape, out.inf, out.high, out.finite
    ((2,), 1, 0.0, False)
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    nan: int
    inf: int
    low: float | None
    high: float | None

    @property
    def finite(self) -> bool:
        """Whether all elements are finite."""
        return not (self.nan or self.inf)


@dataclass(frozen=True, repr=False)
class NonFinite(Report):
    """A kernel call that returned NaN or infinity.

    Attributes
    ----------
    kind
        ``"nan"`` or ``"inf"``.
    made
        True if the operator produced the value and its inputs did not contain it.
        False if the value came from outside of the block, in data or parameters.
    phase
        ``"forward"``, ``"backward"`` or ``"update"`` (of parameters).
    operator, kernel
        The operator that was called or whose backward rule ran, and the kernel that it
        ran.
    layer, module
        The dotted name and the class of the innermost module; "" outside of modules.
    line
        The line of the user's program; for a backward pass, the line of the forward
        call.
    outputs, inputs
        The outputs and inputs of the kernel.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.diagnostics.find_nonfinite(stop=False) as found:
    ...     y = ac.tensor([1.0, 0.0]).log()
    >>> finding = found.findings[0]
    >>> finding.kind, finding.phase, finding.operator, finding.made
    ('inf', 'forward', 'log', True)
    """

    kind: str
    made: bool
    phase: str
    operator: str
    kernel: str
    layer: str
    module: str
    line: UserLine | None
    outputs: tuple[Operand, ...]
    inputs: tuple[Operand, ...]

    def __str__(self) -> str:
        return repr(self)

    def _title(self) -> str:
        what = {"nan": "NaN", "inf": "infinity"}[self.kind]
        verb = f"gave {what}" if self.made else f"was given {what} from outside"
        named = layer_text(self.layer, self.module)
        layer = f" in {named}" if named else ""
        kernel = "" if self.kernel == self.operator else f", kernel `{self.kernel}`"
        at = f" at {self.line}" if self.line else ", its line is not known."
        return f"{self.phase}: `{self.operator}`{kernel} {verb}{layer}{at}"

    def _columns(self) -> Row:
        return "", "operand", "shape", "dtype", "NaN", "inf", "from", "to"

    def _cells(self) -> list[Row]:
        sides = [("in", one) for one in self.inputs]
        sides += [("out", one) for one in self.outputs]
        return [
            (side, one.name, sizes(one.shape), one.dtype, f"{one.nan}", f"{one.inf}",
             number(one.low), number(one.high))
            for side, one in sides
        ]  # fmt: skip


class find_nonfinite(Block):
    """Find the first NaN or infinity in a ``with`` block, for debugging.

    In the block, the results of every kernel are checked: in the forward pass, in the
    backward pass and in optimizers.  If a kernel returns NaN for inputs without NaN, or
    infinity for finite inputs, this is a finding.  It names the layer, the line of the
    user's program and the inputs of the kernel.  Compiled functions run eagerly in the
    block, because their kernels could not be checked otherwise.  Every operator takes
    longer.

    Parameters
    ----------
    inf
        True to report infinity as well; some programs produce it on purpose.
    stop
        True to raise an error at the first finding; False to continue and list all
        operators that produce non-finite values.

    Attributes
    ----------
    findings : list of NonFinite
        The calls that returned non-finite values, in their order.

    Raises
    ------
    NonFiniteError
        At the first finding, if `stop` is True; the error's attribute `finding` is the
        `NonFinite`.
    CompileError
        If the block is in a function that is being recorded.

    Notes
    -----
    Infinite constants, such as the fill value of a mask, are not reported.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([1.0, 0.0], requires_grad=True)
    >>> with ac.diagnostics.find_nonfinite(stop=False) as found:
    ...     loss = (x * x.log()).sum()
    >>> found.first.operator, found.first.kind, found.first.inputs[0].low
    ('log', 'inf', 0.0)
    """

    def __init__(self, *, inf: bool = True, stop: bool = True) -> None:
        self.inf = check_flag("find_nonfinite", "inf", inf)
        self.stop = check_flag("find_nonfinite", "stop", stop)
        self.findings: list[NonFinite] = []
        super().__init__("find_nonfinite", Layers())

    @property
    def first(self) -> NonFinite | None:
        """The first finding, or None."""
        return self.findings[0] if self.findings else None

    def __repr__(self) -> str:
        if not self.findings:
            return "find_nonfinite: nothing was found."
        return "\n\n".join(map(repr, self.findings))

    def _look(self, seen: Seen, run: Callable[[], Any]) -> None:
        """Run a call and compare its outputs with its inputs."""
        read = [*seen.written(), *seen.inputs]
        overwritten = any(x is y for x in _flat(read) for y in _flat(seen.outputs))
        before = _described(seen, read) if overwritten else None
        given = _holds(read) if overwritten else None
        run()
        nan, inf = _holds(seen.outputs)
        if not (nan or inf):
            return
        nan_in, inf_in = _holds(read) if given is None else given
        nan_in |= any(isinstance(x, float) and math.isnan(x) for x in seen.attributes)
        inf_in |= any(isinstance(x, float) and math.isinf(x) for x in seen.attributes)
        if nan and not nan_in:
            self._found("nan", True, seen, before)
        elif nan and not any(one.kind == "nan" for one in self.findings):
            self._found("nan", False, seen, before)
        elif inf and self.inf and not (inf_in or nan_in):
            self._found("inf", True, seen, before)

    def _found(
        self, kind: str, made: bool, seen: Seen, before: tuple[Operand, ...] | None
    ) -> None:
        found = caller()
        operator, phase = found.site.operator or seen.spec.name, "forward"
        line = found.line
        layer, module = self._layers.of(found.modules)
        if found.node is not None:
            phase = "backward"
            noted = getattr(found.node, "line", None)
            line = noted or line
            layer, module = layer_of_text(noted.layer if noted else "")
        elif seen.spec.writes:
            phase = "update"
        read = [*seen.written(), *seen.inputs]
        inputs = _described(seen, read) if before is None else before
        outputs = _operands([o.name for o in seen.spec.outputs], list(seen.outputs))
        finding = NonFinite(
            kind, made, phase, operator, seen.spec.name, layer, module, line, outputs,
            inputs,
        )  # fmt: skip
        self.findings.append(finding)
        if self.stop:
            raise stopped(finding, f"find_nonfinite: {finding}")


def stopped(found: NonFinite, message: str) -> NonFiniteError:
    """Return the error that reports a finding."""
    error: Any = NonFiniteError(message)
    error.finding = found
    error.names_its_node = True  # a backward pass adds nothing to it
    return error  # type: ignore[no-any-return]  # a NonFiniteError


def _described(seen: Seen, read: list[Any]) -> tuple[Operand, ...]:
    outputs = zip(seen.outputs, seen.spec.outputs, strict=False)
    written = seen.written()
    names = [o.name for x, o in outputs if any(x is one for one in written)]
    names += [o.name for o in seen.spec.inputs]
    return _operands(names, read)


def _operands(names: list[str], values: list[Any]) -> tuple[Operand, ...]:
    pairs = zip(names, values, strict=False)
    return tuple(_operand(name, x) for name, x in pairs if x is not None)


def _operand(name: str, x: Any) -> Operand:
    """Describe an operand; for a list, its first array that is not finite."""
    if isinstance(x, (list, tuple)):
        odd = [i for i, one in enumerate(x) if any(_holds([one]))]
        if not x:
            return Operand(f"{name}[]", (), "", 0, 0, None, None)
        at = odd[0] if odd else 0
        return _operand(f"{name}[{at}]", x[at])
    kind, shape = str(x.dtype), tuple(x.shape)
    if x.dtype.kind not in FLOAT_KINDS or not x.size:
        low, high = (float(x.min()), float(x.max())) if x.size else (None, None)
        return Operand(name, shape, kind, 0, 0, low, high)
    wide = x if x.dtype in _PLAIN else x.astype(np.float32)
    finite = wide[np.isfinite(wide)]
    nan, inf = int(np.isnan(wide).sum()), int(np.isinf(wide).sum())
    low, high = None, None
    if finite.size:
        low, high = float(finite.min()), float(finite.max())
    return Operand(name, shape, kind, nan, inf, low, high)


def _flat(operands: Iterable[Any]) -> Iterable[Array]:
    for x in operands:
        if isinstance(x, (list, tuple)):
            yield from (one for one in x if one is not None)
        elif x is not None:
            yield x


def _holds(operands: Iterable[Any]) -> tuple[bool, bool]:
    """Return whether any array holds NaN, and whether any holds infinity."""
    nan = inf = False
    for x in _flat(operands):
        if x.dtype.kind not in FLOAT_KINDS:
            continue
        wide = x if x.dtype in _PLAIN else x.astype(np.float32)
        if not np.isfinite(wide).all():
            nan = nan or bool(np.isnan(wide).any())
            inf = inf or bool(np.isinf(wide).any())
    return nan, inf
