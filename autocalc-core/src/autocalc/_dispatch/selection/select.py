# SPDX-License-Identifier: MIT
"""Chooses the implementation that runs a call, and explains the choice.

A `Selection` is an order of kernel sets, with the decisions made under it.  A decision
is made once for a key and then stored, so the hot path is one dict lookup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy import ndarray

from autocalc._config import settings
from autocalc._dispatch.device.batches import is_batched_place, is_dual_place
from autocalc._dispatch.device.device import numpy_empty
from autocalc._dispatch.engine import native
from autocalc._dispatch.plugins import fallbacks
from autocalc._dispatch.plugins.discovery import Registry, registry
from autocalc._dispatch.plugins.precision import Precision, deciding_precision, follow
from autocalc._dispatch.selection import tuning
from autocalc._dispatch.selection.acceptance import (
    can_decompose,
    how,
    on_device,
    refusal_of,
    serves,
    too_imprecise,
)
from autocalc._dispatch.selection.complex_calls import ONLY_REFERENCE, is_complex_key
from autocalc._dispatch.selection.explained import explained
from autocalc._dispatch.selection.provided import provided
from autocalc._dispatch.selection.upcast import WIDE, wide_key
from autocalc._kernels.adapter import call_of
from autocalc._kernels.kernel_set import (
    Allocator,
    DispatchKey,
    KernelImpl,
    KernelSet,
    KeyOf,
)
from autocalc._kernels.spec import KernelSpec, Meta
from autocalc._kernels.table import TABLE
from autocalc.errors import CompileError, ConfigError, KernelError

if TYPE_CHECKING:
    from autocalc._kernels.spec import Array, DType, Shape

#: The index of a kernel in a selection's list of tables.
KERNEL_INDEX = {name: index for index, name in enumerate(TABLE)}

#: The largest size of a table of decisions; beyond that it is emptied. Shapes that
#: never repeat must not fill the memory.
MAX_DECISIONS = 4096

#: The number of latest decisions that a selection remembers for `lock`.
MAX_DECIDED = 16384

Entry = Callable[..., Any]


#: Composites with more elements run in full. There Python costs little, and a recording
#: would take the memory of three results.
_MOST_REMEMBERED = 1 << 16


class Decomposed:
    """A composite that runs as its decomposition, for a set that has its lead kernel.

    With the native engine, small ones run as short programs.
    """

    __slots__ = ("_remembered", "spec")

    def __init__(self, spec: KernelSpec) -> None:
        self.spec = spec
        self._remembered = provided.short_program(spec)

    def compute(
        self,
        operands: Sequence[Any],
        attributes: tuple[Any, ...],
        wanted: int,
        free: Meta | None = None,
    ) -> Any:
        """Return the outputs: one array, or one for each output of the spec."""
        if self._remembered is not None and free is None:
            first = operands[0]
            if first.__class__ is ndarray and first.size <= _MOST_REMEMBERED:
                return self._remembered(operands, attributes, wanted)
        return decomposed(self.spec, operands, attributes, wanted, free)

    def __call__(self, *args: Any) -> None:
        """Run like a kernel: outputs come first, and results are copied into them."""
        arrays = provided.arrays
        outs, rest = args[: len(self.spec.outputs)], args[len(self.spec.outputs) :]
        results = call_of(self.spec)(arrays, self.spec.decomposition, outs, rest)
        for out, result in zip(outs, results, strict=True):
            if out is not None:
                _copy_into(arrays, out, result)


def decomposed(
    spec: KernelSpec,
    operands: Sequence[Any],
    attributes: tuple[Any, ...],
    wanted: int,
    free: Meta | None = None,
) -> Any:
    """Run a composite's decomposition; return its outputs."""
    decomposition = spec.decomposition
    assert decomposition is not None  # `_offer` has checked it
    keywords: dict[str, Any] = {} if free is None else free._asdict()
    if any(output.optional for output in spec.outputs):
        keywords["want"] = wanted
    return decomposition(provided.arrays, *operands, *attributes, **keywords)


def _copy_into(k: Any, out: Any, result: Any) -> None:
    if isinstance(out, (list, tuple)):
        for one_out, one in zip(out, result, strict=True):
            k.copy(one, into=one_out)
    else:
        k.copy(result, into=out)


class Candidate(NamedTuple):
    """One line of an explanation."""

    name: str
    rank: int
    origin: str
    how: str
    refusal: str | None


class Choice(NamedTuple):
    """The choice for a call, and the refusals of sets that were asked before."""

    name: str
    entry: Entry
    refusals: list[str]


#: Returns the set that a lock names for a call; None if the lock has no such call.
Locked = Callable[[DispatchKey], "str | None"]


class Order(NamedTuple):
    """The state of the process that `use` changes and restores."""

    choices: tuple[str, ...] | None
    only: bool
    locked: Locked | None
    decided: dict[Precision, dict[DispatchKey, str]]
    tables: list[dict[Any, Any]]
    empty: Callable[[Shape, DType], Array]
    remembered: dict[bytes, Any] | None
    precision: Precision
    elsewhere: dict[Precision, PrecisionDecision]


class PrecisionDecision(NamedTuple):
    """The decisions of a selection under a precision that is currently not set."""

    tables: list[dict[Any, Any]]
    remembered: dict[bytes, Any] | None


class Selection:
    """An order of kernel sets and the decisions made under it.

    Parameters
    ----------
    choices
        Names of sets or families, best first; None uses ``AUTOCALC_KERNELS``.
    only
        Whether to allow only the choices and the reference.
    locked
        Returns the set for calls that a lock contains; it has priority over all other
        rules.
    wrap
        ``wrap(spec, set name, function)`` wraps each chosen function.  Counting,
        recording and shadowing use it.
    """

    __slots__ = ("__weakref__", "_choices", "_decided", "_elsewhere", "deterministic",
                 "empty", "key_of", "locked", "only", "recorder", "remembered",
                 "tables", "wrap")  # fmt: skip

    #: The decisions by key, for each kernel by `KERNEL_INDEX`.
    tables: list[dict[Any, Any]]
    empty: Callable[[Shape, DType], Array]
    key_of: KeyOf
    #: Calls of several kernels (see `_ops/_operator/traced.py`); None if `wrap` must
    #: see how they are made.
    remembered: dict[bytes, Any] | None
    #: For each precision: the set that was chosen for each call, in the order of the
    #: decisions. Selections that only wrap calls share it.
    _decided: dict[Precision, dict[DispatchKey, str]]
    #: The decisions under precisions other than the current one.
    _elsewhere: dict[Precision, PrecisionDecision]

    def __init__(
        self,
        choices: tuple[str, ...] | None = None,
        *,
        only: bool = False,
        locked: Locked | None = None,
        wrap: Callable[[KernelSpec, str, Entry], Entry] | None = None,
    ) -> None:
        self._choices = choices
        self.only = only
        self.locked = locked
        self.wrap = wrap
        self.recorder: Any = None
        self.deterministic: bool | None = None
        self.forget()
        follow(self)

    @property
    def choices(self) -> tuple[str, ...]:
        """The user's order of kernel sets, best first."""
        return settings().kernels if self._choices is None else self._choices

    def derive(self, **changes: Any) -> Selection:
        """Return a selection with some changes.

        If the choices change, the lock no longer applies.  If calls are only wrapped,
        decisions of the new selection count as decisions of this one.
        """
        same: dict[str, Any] = {
            "choices": self._choices,
            "only": self.only,
            "wrap": self.wrap,
        }
        if "choices" not in changes:
            same["locked"] = self.locked
        result = Selection(**{**same, **changes})
        result.deterministic = self.deterministic
        if "choices" not in changes:
            result._decided = self._decided
        return result

    @property
    def decided(self) -> dict[DispatchKey, str]:
        """The set that was chosen for each call, in the order of the decisions."""
        return self._decided.setdefault(deciding_precision(), {})

    @decided.setter
    def decided(self, decided: dict[DispatchKey, str]) -> None:
        self._decided = {deciding_precision(): decided}

    def order_of(
        self, choices: tuple[str, ...] | None, only: bool, locked: Locked | None = None
    ) -> Order:
        """Change the order for all users; return the state that `restore` needs."""
        made = self.tables, self.empty, self.remembered
        now = deciding_precision(), self._elsewhere
        before = Order(
            self._choices, self.only, self.locked, self._decided, *made, *now
        )
        self._choices, self.only, self.locked = choices, only, locked
        self.forget()
        return before

    def restore(self, before: Order) -> None:
        """Restore an order and the decisions made under it."""
        self._choices, self.only = before.choices, before.only
        self.locked, self._decided = before.locked, before.decided
        self.tables, self.remembered = before.tables, before.remembered
        self.empty = before.empty
        self._elsewhere = before.elsewhere
        self.follow(before.precision, deciding_precision())

    def forget(self) -> None:
        """Drop every decision; the next calls decide again."""
        self.tables, self.remembered = self._made_anew()
        self._decided, self._elsewhere = {}, {}
        self.empty = self._first_empty
        self.key_of = native.key_of

    def _made_anew(self) -> PrecisionDecision:
        return PrecisionDecision([{} for _ in TABLE], {} if self.wrap is None else None)

    def follow(self, before: Precision, now: Precision) -> None:
        """Switch to the decisions under the precision `now`, and store the others.

        Programs of `ac.compile` are valid for the tables under which they were
        recorded.  There are therefore separate programs for each precision.
        """
        if before != now:
            self._elsewhere[before] = PrecisionDecision(self.tables, self.remembered)
            made = self._elsewhere.pop(now, None) or self._made_anew()
            self.tables, self.remembered = made

    # ---- the order -------------------------------------------------------------

    def order(self, key: DispatchKey | None = None) -> list[tuple[KernelSet, str]]:
        """Return the usable sets, best first, each with the reason for its place.

        First come the user's choices.  Then come the sets that `autocalc tune` measured
        for a similar call, by their times, and then all others by rank.  Sets of a
        device other than the call's are used only if the user chose them.
        """
        found = registry()
        ranked = sorted(found.sets.values(), key=lambda s: (-s.rank, s.name))
        chosen: list[tuple[KernelSet, str]] = []
        for choice in self.choices:
            kernel_set = find_set(found, choice)
            if all(kernel_set is not other for other, _ in chosen):
                chosen.append((kernel_set, f"chosen as {choice!r}"))
        if key is not None and not self.only:
            chosen += self._measured(key, {kernel_set.name for kernel_set, _ in chosen})
        names = {kernel_set.name for kernel_set, _ in chosen}
        rest = [
            (kernel_set, "by rank")
            for kernel_set in ranked
            if kernel_set.name not in names
            and (not self.only or kernel_set.name == "reference")
            and (key is None or serves(kernel_set, key.device))
        ]
        return chosen + rest

    @staticmethod
    def _measured(key: DispatchKey, but: set[str]) -> list[tuple[KernelSet, str]]:
        """Return the sets that were measured for a similar call, the fastest first."""
        timed = tuning.nearest(key)
        if timed is None:
            return []
        return [
            (
                registry().sets[name],
                f"measured {1e6 * timed.seconds[name]:.4g} us at {timed.label}",
            )
            for name in timed.fastest_first
            if name not in but
        ]

    def _first_empty(self, shape: Shape, dtype: DType) -> Array:
        """Find the allocator, use it from now on, and allocate with it."""
        found = allocator(self)
        self.empty = numpy_empty() if found is None else found.empty
        return self.empty(shape, dtype)

    # ---- decisions ---------------------------------------------------------------

    def decide(self, spec: KernelSpec, key: DispatchKey) -> Entry:
        """Choose the kernel for `key`; the caller stores the answer with `remember`.

        `WIDE` means that the operands are float16 or bfloat16 and the call must be
        computed in float32.
        """
        if is_batched_place(key.device):  # its kernels are chosen as they run
            dual = is_dual_place(key.device)
            return provided.dual(spec) if dual else provided.batched(spec)
        if self.recorder is not None and key.device != "cpu":
            raise CompileError(
                f"compile: {spec.name} has operands on {key.device}, but programs are "
                "compiled for the CPU only. Call the function without ac.compile "
                "on this device."
            )
        choice = self._choice(spec, key)
        if choice.entry is WIDE:  # the float32 call is decided and noted separately
            return WIDE
        if self._fell(choice) and (settings().strict or settings().lists_falls):
            tell = settings().lists_falls
            earlier = fallbacks.note(key, choice.refusals, tell)
            if not tell:
                raise KernelError(_fallen(spec, choice, earlier))
        name, entry, _ = choice
        self.note(key, name)
        if isinstance(entry, Decomposed):
            return entry
        shadow = settings().shadow
        if shadow is not None:
            from autocalc._dispatch.selection.shadow import shadowed

            other = find_set(registry(), shadow[0]).name
            entry = shadowed(spec, name, entry, other)
        return entry if self.wrap is None else self.wrap(spec, name, entry)

    def remember(self, index: int, cache_key: object, decision: Any) -> None:
        """Store a decision in the table of the kernel with number `index`."""
        table = self.tables[index]
        if len(table) >= MAX_DECISIONS:
            table.clear()
        table[cache_key] = decision

    def note(self, key: DispatchKey, name: str) -> None:
        """Store a decision for `lock`; the latest comes last."""
        self.decided.pop(key, None)
        self.decided[key] = name
        if len(self.decided) > MAX_DECIDED:
            del self.decided[next(iter(self.decided))]

    def choose(self, spec: KernelSpec, key: DispatchKey) -> tuple[str, Entry]:
        """Return the best set's name and its function for this call."""
        choice = self._choice(spec, key)
        if self._fell(choice) and settings().strict:
            raise KernelError(_fallen(spec, choice, ()))
        return choice.name, choice.entry

    def _choice(self, spec: KernelSpec, key: DispatchKey) -> Choice:
        """Return the choice that a lock names, or else the first or best in order."""
        named = None if self.locked is None else self.locked(key)
        if named is not None:
            return self._named(spec, key, named)
        best: tuple[int, Choice] | None = None
        refusals: list[str] = []
        for kernel_set, origin in self.order(key):
            if best is not None and best[0] >= kernel_set.rank:
                break
            offer = self._offer(kernel_set, spec, key)
            if isinstance(offer, str):
                refusals.append(f"{kernel_set.name}: {offer}")
                continue
            rank, entry, _ = offer
            choice = Choice(kernel_set.name, entry, refusals)
            if origin != "by rank":
                return choice
            if best is None or rank > best[0]:
                best = rank, choice
        if best is None:
            raise KernelError(_no_kernel(spec, key, refusals))
        return best[1]

    def _named(self, spec: KernelSpec, key: DispatchKey, name: str) -> Choice:
        """Return the offer of the set that a lock names."""
        named = registry().sets.get(name)
        gone = "it is not installed any more"
        offer = gone if named is None else self._offer(named, spec, key)
        if isinstance(offer, str):
            raise KernelError(
                f"{spec.name}: the active lock says that {name} runs this call, but "
                f"this set refuses it: {offer}. Run without the lock, or make a new "
                "one."
            )
        return Choice(name, offer[1], [])

    def prefers_channels_last(self, spec: KernelSpec, key: DispatchKey) -> bool:
        """Return whether the chosen kernel prefers channels-last in and out."""
        if spec.layout != "prefers channels-last" or is_batched_place(key.device):
            return False
        name, entry = self.choose(spec, key)
        impl = (registry().kernels(name) or {}).get(spec.name)
        asked = None if impl is None or entry is WIDE else impl.channels_last
        return asked is not None and asked(key)

    def _fell(self, choice: Choice) -> bool:
        """Return whether the reference runs a call because no other set accepts it."""
        fell = choice.name == "reference" and bool(choice.refusals)
        return fell and "reference" not in self.choices

    def _offer(
        self, kernel_set: KernelSet, spec: KernelSpec, key: DispatchKey
    ) -> tuple[int, Entry, KernelImpl | None] | str:
        """Return the offer of a set, or the reason why it does not run this call.

        An offer consists of a rank, a function, and the set's own kernel if this runs.
        """
        found = registry()
        if is_complex_key(key) and kernel_set.name != "reference":
            return ONLY_REFERENCE
        if not serves(kernel_set, key.device):
            return f"it serves the device {kernel_set.device}"
        if self._must_be_deterministic() and kernel_set.determinism is None:
            return "deterministic algorithms are asked for and it promises none"
        kernels = found.kernels(kernel_set.name)
        if kernels is None:
            return found.reason(kernel_set.name)
        reason = "has no such kernel"
        impl = kernels.get(spec.name)
        wide = wide_key(key)
        if impl is not None:
            takes = wide is None or impl.halves
            refusal = refusal_of(impl, key) if takes else "it takes float32"
            refusal = refusal or too_imprecise(kernel_set)
            if refusal is None:
                rank = kernel_set.rank if impl.rank is None else impl.rank
                entry = explained(spec, impl.function)
                if key.device != "cpu":
                    entry = on_device(kernel_set, spec, impl, key.device)
                return rank, entry, impl
            reason = refusal
        if wide is not None:
            offer = self._offer(kernel_set, spec, wide)
            return reason if isinstance(offer, str) else (offer[0], WIDE, None)
        leads = kernel_set.decomposes and spec.lead in kernels
        if leads and can_decompose(spec, key):
            return kernel_set.rank, Decomposed(spec), None
        return reason

    def _must_be_deterministic(self) -> bool:
        if self.deterministic is None:
            return settings().deterministic
        return self.deterministic

    def candidates(self, spec: KernelSpec, key: DispatchKey) -> Iterator[Candidate]:
        """Yield every set in order, with its offer or its refusal."""
        for kernel_set, origin in self.order(key):
            offer = self._offer(kernel_set, spec, key)
            if isinstance(offer, str):
                yield Candidate(kernel_set.name, kernel_set.rank, origin, "", offer)
            else:
                rank, entry, impl = offer
                way = "in float32" if entry is WIDE else how(spec, impl, key)
                yield Candidate(kernel_set.name, rank, origin, way, None)


def allocator(selection: Selection) -> Allocator | None:
    """Return the allocator of the first kernel set that has one, or the engine's.

    None if neither exists; NumPy then allocates the memory.
    """
    found = first_of(selection, "allocator")
    return native.allocator if found is None else found


def first_of(selection: Selection, field: str) -> Any:
    """Call the factory `field` of the first usable set that has one; None if none."""
    found = registry()
    for kernel_set, _ in selection.order():
        make = getattr(kernel_set, field)
        if make is not None and found.kernels(kernel_set.name):
            return make()
    return None


def find_set(found: Registry, choice: str) -> KernelSet:
    """Return the set called `choice`, or the best set of the family `choice`.

    Raises
    ------
    ConfigError
        If there is none; the message lists the existing sets and reasons for refusals.
    """
    named = [s for s in found.sets.values() if choice in {s.name, s.family}]
    # Best first, and no more than needed, because loading a set may map large
    # libraries.
    for kernel_set in sorted(named, key=lambda s: (s.rank, s.name), reverse=True):
        if found.kernels(kernel_set.name) is not None:
            return kernel_set
    reasons = [r for r in found.refusals if r.subject.split("-")[0] == choice]
    reasons = [r for r in found.refusals if r.subject == choice] or reasons
    if reasons:
        why = "; ".join(f"{r.subject} is refused: {r.reason}" for r in reasons)
        raise ConfigError(f"kernels: {choice!r} cannot be used here: {why}.")
    raise ConfigError(_unknown(found, choice))


def _unknown(found: Registry, choice: str) -> str:
    from difflib import get_close_matches  # late, because only an error needs it

    names = sorted({*found.sets, *(s.family for s in found.sets.values())})
    near = get_close_matches(choice, names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return (
        f"kernels: there is no kernel set or family {choice!r}; installed are "
        f"{', '.join(names)}.{hint}"
    )


def _fallen(spec: KernelSpec, choice: Choice, earlier: Sequence[fallbacks.Fall]) -> str:
    """Return the error message for a call that only the reference accepts."""
    before = "".join(f"\n  {fall}" for fall in earlier)
    before = f" Refused before were:{before}" if before else ""
    return (
        f"{spec.name}: AUTOCALC_STRICT is set, but only the reference kernels accept "
        f"this call. Refused by {'; '.join(choice.refusals)}.{before}"
    )


def _no_kernel(spec: KernelSpec, key: DispatchKey, refusals: list[str]) -> str:
    dtypes = ", ".join(str(dtype) for dtype in key.dtypes)
    tried = "; ".join(refusals) or "no usable kernel set"
    return f"No kernel for {spec.name}({dtypes}). Tried {tried}."
