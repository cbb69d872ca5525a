# SPDX-License-Identifier: MIT
"""Explains which kernels a piece of a program runs, on which sets, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autocalc._dispatch.explain.explain import Explanation, explained
from autocalc._dispatch.selection.select import Entry
from autocalc._dispatch.selection.state import current, enter, leave
from autocalc._kernels.kernel_set import DispatchKey
from autocalc._kernels.spec import KernelSpec
from autocalc._kernels.table import TABLE


@dataclass(frozen=True)
class KernelUse:
    """One kind of kernel call of a function, module or program.

    Attributes
    ----------
    kernel, chosen
        The name of the kernel, and the kernel set that runs it.
    operands
        The shapes or dtypes of the inputs, as text.
    calls
        The number of calls; 0 if the kernel is replaced by its decomposition into other
        kernels of the list.
    why
        The reason why this kernel set runs it.
    explanation
        All candidates; None if there was no choice.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.kernels.use("reference"):
    ...     found = ac.kernels.explain(ac.mul, ac.ones(2, 3), ac.ones(3))
    >>> [(use.kernel, use.operands, use.calls) for use in found.uses]
    [('mul', 'float32, float32', 1)]
    """

    kernel: str
    chosen: str
    operands: str
    calls: int
    why: str
    explanation: Explanation | None = None

    def __str__(self) -> str:
        times = f"{self.calls} x" if self.calls else "in parts"
        what = f"{self.kernel} {self.operands}".rstrip()
        return f"{what}: {times} on {self.chosen}: {self.why}"


@dataclass(frozen=True)
class CallsExplanation:
    """Which kernels a function or module runs, and why; `print` shows it.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.kernels.use("reference"):
    ...     found = ac.kernels.explain(ac.nn.ReLU(), ac.ones(2))
    >>> found.what, found.sets
    ('ReLU', {'reference': 1})
    """

    what: str
    uses: tuple[KernelUse, ...]

    def __str__(self) -> str:
        total = sum(use.calls for use in self.uses)
        calls = "1 kernel call" if total == 1 else f"{total} kernel calls"
        return "\n".join([f"{self.what}: {calls}", *(f"  {use}" for use in self.uses)])

    __repr__ = __str__

    @property
    def sets(self) -> dict[str, int]:
        """The number of calls that each kernel set runs."""
        counts: Counter[str] = Counter()
        for use in self.uses:
            counts[use.chosen] += use.calls
        return {name: count for name, count in counts.items() if count}


def explain_calls(what: str, run: Callable[[], Any]) -> CallsExplanation:
    """Run a function once, and explain every kind of kernel call that it made."""
    calls: Counter[DispatchKey] = Counter()
    selection = current().selection
    inner = selection.wrap

    def noted(spec: KernelSpec, name: str, function: Entry) -> Entry:
        key = next(reversed(noting.decided))  # the latest decision is for this call
        run_it = function if inner is None else inner(spec, name, function)

        def call(*args: Any) -> None:
            calls[key] += 1
            run_it(*args)

        return call

    noting = selection.derive(wrap=noted)
    noting.decided = {}
    token = enter(selection=noting)
    try:
        run()
    finally:
        leave(token)
    return CallsExplanation(
        what, tuple(use_of(key, calls[key], name) for key, name in _decided(noting))
    )


def _decided(selection: Any) -> list[tuple[DispatchKey, str]]:
    return list(selection.decided.items())


def use_of(key: DispatchKey, calls: int, chosen: str) -> KernelUse:
    """Return the description of one kind of call."""
    explanation = explained(TABLE[key.kernel], key)
    name, operands = key.kernel, operands_of(key)
    return KernelUse(name, chosen, operands, calls, explanation.why, explanation)


def operands_of(key: DispatchKey) -> str:
    """Return the inputs of a call as text: shapes if the key has them, else dtypes."""
    n_outputs = len(TABLE[key.kernel].outputs)
    dtypes = key.dtypes[n_outputs:]
    if key.shapes is None:
        return ", ".join("-" if dtype is None else dtype.name for dtype in dtypes)
    shapes = key.shapes[n_outputs:]
    return ", ".join(map(_operand, shapes, dtypes))


def _operand(shape: Any, dtype: Any) -> str:
    if shape is None or dtype is None:
        return "-"
    sizes = "x".join(map(str, shape)) or "scalar"
    return sizes if dtype.name == "float32" else f"{sizes}:{dtype.name}"
