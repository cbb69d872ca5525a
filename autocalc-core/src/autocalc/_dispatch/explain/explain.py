# SPDX-License-Identifier: MIT
"""Explains the choice of kernels: `explain` for one call, `show` for all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from autocalc import _config
from autocalc._dispatch.engine import eager
from autocalc._dispatch.explain.notebook import as_html
from autocalc._dispatch.machine.cpu import cpu_features, cpu_name, detected_features
from autocalc._dispatch.machine.thread_budget import get_num_threads
from autocalc._dispatch.plugins.discovery import Refusal, registry
from autocalc._dispatch.plugins.precision import allows, deciding_precision
from autocalc._dispatch.selection import tuning
from autocalc._dispatch.selection.call import KernelCall
from autocalc._dispatch.selection.layout import LayoutPlan
from autocalc._dispatch.selection.select import Candidate, Decomposed
from autocalc._dispatch.selection.state import current
from autocalc._kernels.kernel_set import DispatchKey, KernelSet
from autocalc._kernels.spec import KernelSpec
from autocalc._kernels.table import TABLE
from autocalc.errors import ConfigError, KernelError


@dataclass(frozen=True)
class Explanation:
    """The reason why a call runs on a kernel set; `print` shows it.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.kernels.use("reference"):
    ...     found = ac.kernels.explain("add", ac.ones(2), ac.ones(2))
    >>> found.kernel, found.chosen
    ('add', 'reference')
    >>> found.why
    "it was chosen as 'reference', which goes before measured times and ranks"
    """

    kernel: str
    dtypes: tuple[str, ...]
    chosen: str
    candidates: tuple[Candidate, ...]
    refused_sets: tuple[Refusal, ...]
    info: dict[str, str] = field(default_factory=dict)
    #: Whether a lock names the set, so that no other rule applied.
    locked: bool = False

    def __str__(self) -> str:
        lines = [f"{self.kernel}({', '.join(self.dtypes)}) runs on {self.chosen}"]
        for i, line in enumerate(self.candidates, 1):
            verdict = line.how if line.refusal is None else f"refused: {line.refusal}"
            mark = "->" if line.name == self.chosen else "  "
            lines.append(
                f"{mark} {i}. {line.name} (rank {line.rank}, {line.origin}): {verdict}"
            )
        lines += [f"   -  {r.subject}: {r.reason}" for r in self.refused_sets]
        lines += [f"   {key}: {value}" for key, value in self.info.items()]
        lines.append(f"   why: {self.why}")
        lines.append(f"   to change: {self.advice}")
        return "\n".join(lines)

    __repr__ = __str__

    @property
    def why(self) -> str:
        """A sentence that says why this kernel set was chosen."""
        mine = next((c for c in self.candidates if c.name == self.chosen), None)
        if mine is None:
            return "nobody takes this call"
        if self.locked:
            return "the lock in force names it"
        others = [c for c in self.candidates if c.refusal is None and c is not mine]
        parts = [_reason(mine, others), *self._passed_over(mine)]
        return "; ".join(parts)

    def _passed_over(self, mine: Candidate) -> list[str]:
        """Return the reasons why sets with priority over the chosen one do not run."""
        before = self.candidates[: self.candidates.index(mine)]
        reasons = [
            f"{c.name} ({c.rank}) refuses it: {c.refusal}"
            for c in before
            if c.refusal is not None and c.refusal != _LACKS
        ]
        if mine.origin != "by rank":
            return reasons
        # Only those refused sets are of interest that are relatives of usable ones.
        families = {c.name.split("-")[0] for c in self.candidates if c.refusal is None}
        reasons += [
            f"{r.subject} ({r.rank}) is not used: {r.reason}"
            for r in self.refused_sets
            if r.rank is not None
            and r.rank > mine.rank
            and r.subject.split("-")[0] in families
        ]
        return reasons

    @property
    def advice(self) -> str:
        """How to change the choice."""
        others = [
            c.name
            for c in self.candidates
            if c.refusal is None and c.name != self.chosen
        ]
        if not others:
            return "no other installed set takes this call; install a kernel package"
        return (
            f"ac.kernels.use({others[0]!r}) or AUTOCALC_KERNELS={others[0]}; also "
            f"possible: {', '.join(others)}"
        )


#: The refusal of a set that does not have the kernel at all.
_LACKS = "has no such kernel"


def _reason(mine: Candidate, others: list[Candidate]) -> str:
    """Return the rule that put a set before the others that accept the call."""
    if mine.origin.startswith("chosen"):
        return f"it was {mine.origin}, which goes before measured times and ranks"
    if mine.origin.startswith("measured"):
        slower = [f"{c.name} {c.origin}" for c in others if c.origin != "by rank"]
        against = f", {', '.join(slower)}" if slower else ""
        return f"`autocalc tune` found it the fastest: {mine.origin}{against}"
    if not others:
        return "no other set takes this call"
    ranks = ", ".join(f"{c.name} {c.rank}" for c in others)
    return (
        f"its rank of {mine.rank} is the highest ({ranks}), and nothing else was "
        f"chosen or measured"
    )


def explain_kernel(kernel: str, *args: Any, **options: Any) -> Explanation:
    """Return all candidates for a call of a kernel, their refusals, and the choice."""
    if kernel not in TABLE:
        raise ConfigError(
            f"explain: there is no kernel {kernel!r}; the table has {', '.join(TABLE)}."
        )
    spec = TABLE[kernel]
    call = KernelCall(spec)
    needed = len(spec.inputs) + len(spec.writes)
    operands = [_array(x) for x in args[:needed]]
    operands += [None] * (needed - len(operands))
    key = call.key(*operands, *args[needed:], **options)
    layout_plan = _layout_plan(call, operands, args[needed:])
    key = key if layout_plan is None else layout_plan.described(key)
    return explained(spec, key, _layout(spec, key, layout_plan))


def explained(
    spec: KernelSpec, key: DispatchKey, more: dict[str, str] | None = None
) -> Explanation:
    """Return the explanation of a call by its key; `more` is added to it."""
    selection = current().selection
    candidates = tuple(selection.candidates(spec, key))
    try:
        chosen = selection.choose(spec, key)[0]
    except KernelError as error:
        chosen = f"nothing: {error}"
    found = registry()
    info = _info(found.sets[chosen]) if chosen in found.sets else {}
    return Explanation(
        spec.name,
        tuple(str(dtype) for dtype in key.dtypes),
        chosen,
        candidates,
        tuple(r for r in found.refusals if r.subject not in found.sets),
        {**info, **(more or {})},
        selection.locked is not None and selection.locked(key) is not None,
    )


def _layout_plan(
    call: KernelCall, operands: list[Any], attributes: Any
) -> LayoutPlan | None:
    if call.spec.free or call.spec.writes:
        return None
    return call.layout_plan(*operands, *attributes)


def _layout(
    spec: KernelSpec, key: DispatchKey, layout_plan: LayoutPlan | None
) -> dict[str, str]:
    """Describe unusual layouts of images, and what is copied because of them."""
    if layout_plan is None:
        return {}
    if _runs_as_primitives(spec, key):
        return {"layout": "channels-last, results copied where primitives differ"}
    copied = [spec.inputs[i].name for i in layout_plan.copied]
    first = f", after a copy of {', '.join(copied)}" if copied else ""
    return {"layout": f"channels-last{first}"}


def _runs_as_primitives(spec: KernelSpec, key: DispatchKey) -> bool:
    try:
        return isinstance(current().selection.choose(spec, key)[1], Decomposed)
    except KernelError:
        return False  # no set runs it; `explained` says so


def _info(kernel_set: KernelSet) -> dict[str, str]:
    """Return a set's own description; if that fails, the report says so."""
    if kernel_set.info is None:
        return {}
    try:
        return dict(kernel_set.info())
    except Exception as error:
        return {"info": f"failed: {type(error).__name__}: {error}"}


def _precision(kernel_set: KernelSet) -> dict[str, str]:
    """Say whether a set runs whose products are less exact than float32."""
    needed = kernel_set.precision
    if needed == "highest":
        return {}
    runs = "runs" if allows(needed) else "does not run"
    return {
        "precision": f"{needed}; {runs}, as ac.set_float32_matmul_precision is "
        f"{deciding_precision()!r}"
    }


def _self_test(name: str) -> dict[str, str]:
    """Return the result of the self-test of a set from another package."""
    record = registry().records.get(name)
    return {} if record is None else {"self-test": record.text}


def _array(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return [_array(one) for one in x]
    return getattr(x, "_array", x)


@dataclass(frozen=True)
class SetLine:
    """One kernel set in a report."""

    name: str
    rank: int
    origin: str
    package: str
    kernels: int
    info: dict[str, str]


@dataclass(frozen=True)
class Report:
    """The kernel sets that are installed, chosen and refused; `print` shows it.

    Examples
    --------
    >>> import autocalc as ac
    >>> report = ac.kernels.show()
    >>> "reference" in [line.name for line in report.sets]
    True
    >>> report.threads == ac.get_num_threads()
    True
    """

    sets: tuple[SetLine, ...]
    refusals: tuple[Refusal, ...]
    cpu: str
    features: tuple[str, ...]
    hidden: tuple[str, ...]
    missing: tuple[str, ...]
    threads: int
    #: The state of the record of `autocalc tune`.
    tuning: str
    #: Whether calls of operators are accelerated.
    eager: str
    environment: dict[str, str]

    def __str__(self) -> str:
        lines = [f"CPU {self.cpu}, {self.threads} threads", "kernel sets, best first:"]
        for line in self.sets:
            lines.append(
                f"  {line.name:16} rank {line.rank:<4} {line.kernels:3} kernels  "
                f"{line.package} ({line.origin})"
            )
            lines += [f"      {key}: {value}" for key, value in line.info.items()]
        lines += [f"  refused: {r.subject}: {r.reason}" for r in self.refusals]
        lines.append(f"features: {', '.join(self.features)}")
        if self.missing:
            lines.append(f"missing: {', '.join(self.missing)}")
        if self.hidden:
            lines.append(f"hidden: {', '.join(self.hidden)}")
        lines.append(f"tuning record: {self.tuning}")
        lines.append(f"operator calls: {self.eager}")
        for name, value in self.environment.items():
            lines.append(f"{name}={value}")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(self)


def show() -> Report:
    """Return the plugins, kernel sets, CPU features, threads and settings in use.

    It loads every usable kernel set.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.kernels.show().sets[-1].name
    'reference'
    """
    found = registry()
    sets = []
    for kernel_set, origin in current().selection.order():
        kernels = found.kernels(kernel_set.name)
        if kernels is None:
            continue
        info = {
            **_info(kernel_set),
            **_precision(kernel_set),
            **_self_test(kernel_set.name),
        }
        package = found.origins[kernel_set.name]
        sets.append(
            SetLine(
                kernel_set.name, kernel_set.rank, origin, package, len(kernels), info
            )
        )
    wanted = found.named_features
    features = cpu_features()
    return Report(
        tuple(sets),
        tuple(found.refusals),
        cpu_name(),
        tuple(sorted(wanted & features)),
        tuple(sorted(wanted & (detected_features() - features))),
        tuple(sorted(wanted - detected_features())),
        get_num_threads(),
        tuning.state(),
        eager.describe(),
        dict(_config.settings().found),
    )
