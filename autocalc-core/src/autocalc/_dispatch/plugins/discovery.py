# SPDX-License-Identifier: MIT
"""Discovers kernel packages; each is isolated from the others.

Every error of a package becomes a `Refusal` with a reason and a traceback, and one
warning.  `import autocalc` and everything else continue.
"""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from autocalc._config import logger, settings, warn_about_unknown
from autocalc._dispatch.engine import native
from autocalc._dispatch.machine.cpu import cpu_features, detected_features
from autocalc._dispatch.machine.thread_budget import get_num_threads
from autocalc._dispatch.plugins.compatibility import api_misfit, misfit
from autocalc._dispatch.plugins.many_dims import allow as allow_many_dims
from autocalc._dispatch.plugins.precision import PRECISIONS
from autocalc._dispatch.plugins.temporaries import in_temporaries
from autocalc._dispatch.plugins.trust import (
    examined,
    imported,
    is_own,
    left_out_reason,
    refusal_reason,
)
from autocalc._kernels.kernel_set import (
    ENTRY_POINT_GROUP,
    KERNEL_API_VERSION,
    Fuse,
    KernelImpl,
    KernelSet,
)
from autocalc._kernels.table import TABLE
from autocalc.errors import PluginError, PluginWarning

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from autocalc._dispatch.plugins.records import TrialRecord
    from autocalc._kernels.spec import KernelSpec

#: Errors of packages that do not end the process; KeyboardInterrupt passes through.
_FAULTS = (Exception, SystemExit)


@dataclass(frozen=True)
class Refusal:
    """The reason why a plugin, a set or one of its kernels is not used."""

    subject: str
    reason: str
    origin: str = ""
    traceback: str = ""
    #: Whether it is something to repair; a missing CPU feature is not.
    fault: bool = True
    #: The rank of a kernel set that would be usable elsewhere.
    rank: int | None = None


@dataclass(frozen=True)
class Plugin:
    """A kernel package as it was found."""

    name: str
    distribution: str
    version: str

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}".strip()


@dataclass
class Registry:
    """The kernel sets that may run here, their plugins, and the refusals."""

    plugins: list[Plugin] = field(default_factory=list)
    sets: dict[str, KernelSet] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)
    #: The CPU features that any set requires, whether the CPU has them or not.
    named_features: set[str] = field(default_factory=set)
    #: The names and families of all sets, including refused ones.
    known: set[str] = field(default_factory=set)
    #: For each set from outside AutoCalc's own packages: the module of its entry point.
    foreign: dict[str, str] = field(default_factory=dict)
    #: The results of the self-tests of those sets, if they were used.
    records: dict[str, TrialRecord] = field(default_factory=dict)
    _loaded: dict[str, dict[str, KernelImpl] | None] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def refuse(self, refusal: Refusal) -> None:
        """Record a refusal; warn once if it is a fault."""
        self.refusals.append(refusal)
        logger("kernels").debug("refused %s: %s", refusal.subject, refusal.reason)
        if refusal.fault:
            origin = f" ({refusal.origin})" if refusal.origin else ""
            warnings.warn(
                f"kernels: {refusal.subject}{origin} is not used: {refusal.reason}",
                PluginWarning,
                stacklevel=2,
            )

    def reason(self, name: str) -> str:
        """Return why the set `name` is refused; "" if it is not."""
        return next((r.reason for r in self.refusals if r.subject == name), "")

    def kernels(self, name: str) -> dict[str, KernelImpl] | None:
        """Return the kernels of a set; load it at the first use; None if that fails."""
        try:
            return self._loaded[name]
        except KeyError:
            with self._lock:
                if name not in self._loaded:
                    self._loaded[name] = self._load(self.sets[name])
                return self._loaded[name]

    def is_loaded(self, name: str) -> bool:
        """Return whether the set's code was loaded."""
        return self._loaded.get(name) is not None

    def loaded_sets(self) -> list[KernelSet]:
        """Return the sets whose code was loaded."""
        return [kernel_set for kernel_set in self.sets.values()
                if self.is_loaded(kernel_set.name)]  # fmt: skip

    def _load(self, kernel_set: KernelSet) -> dict[str, KernelImpl] | None:
        if not self._may_run(kernel_set.name):
            return None
        offered = self._offered(kernel_set)
        if offered is None or not self._was_tested(kernel_set.name):
            return None
        return self._accepted(kernel_set, offered)

    def _was_tested(self, name: str) -> bool:
        """Repeat the self-test of a set that could not be loaded earlier."""
        record = self.records.get(name)
        late = record is not None and record.verdict == "unloadable"
        return self._may_run(name, again=True) if late else True

    def _may_run(self, name: str, *, again: bool = False) -> bool:
        """Return whether a set from elsewhere passed its self-test on this machine."""
        if name not in self.foreign:
            return True
        origin = self.origins[name]
        record = examined(name, origin, self.foreign[name], again=again)
        self.records[name] = record
        reason = refusal_reason(record)
        if again and record.verdict == "unloadable":
            reason = f"{record.reason} in the process of its self-test, but not here"
        if reason:
            self.refuse(Refusal(name, reason, origin, record.traceback))
        return not reason

    def _offered(self, kernel_set: KernelSet) -> dict[str, Any] | None:
        """Run the set's own `load`."""
        try:
            native.set_num_threads(get_num_threads())
            offered = dict(kernel_set.load())
            if kernel_set.set_num_threads is not None:
                kernel_set.set_num_threads(get_num_threads())
        except PluginError as error:  # the set's own refusal: a library is missing
            origin = self.origins[kernel_set.name]
            self.refuse(Refusal(kernel_set.name, str(error), origin, fault=False))
            return None
        except _FAULTS as error:
            self._refuse_error(kernel_set.name, "load() failed", error)
            return None
        return offered

    def _accepted(
        self, kernel_set: KernelSet, offered: dict[str, Any]
    ) -> dict[str, KernelImpl]:
        accepted = {
            name: impl if isinstance(impl, KernelImpl) else KernelImpl(impl)
            for name, impl in offered.items()
            if self._accepts(kernel_set, name, impl)
        }
        for name, impl in accepted.items():
            allow_many_dims(TABLE[name], kernel_set.name, impl)
        if kernel_set.strided_outputs:
            return accepted
        return {n: in_temporaries(TABLE[n], impl) for n, impl in accepted.items()}

    def _accepts(self, kernel_set: KernelSet, name: str, impl: object) -> bool:
        subject = f"{kernel_set.name}: {name}"
        origin = self.origins[kernel_set.name]
        if name not in TABLE:
            reason = "no kernel of this name is in the kernel table"
        elif not callable(impl) and not isinstance(impl, KernelImpl):
            reason = f"{impl!r} is neither a function nor a KernelImpl"
        elif isinstance(impl, KernelImpl) and (impl.rank or 0) > kernel_set.rank:
            reason = f"its rank {impl.rank} exceeds the set's rank {kernel_set.rank}"
        elif _unknown_exception(TABLE[name], impl):
            known = ", ".join(TABLE[name].exceptions) or "none"
            reason = (
                f"its `exception` {getattr(impl, 'exception', None)!r} is no error "
                f"budget of this kernel; known: {known}"
            )
        elif wrong := self._wrong(kernel_set.name, name):
            reason = wrong
        else:
            return True
        self.refuse(Refusal(subject, reason, origin))
        return False

    def _wrong(self, name: str, kernel: str) -> str:
        record = self.records.get(name)
        return "" if record is None else left_out_reason(record, kernel)

    def _refuse_error(self, subject: str, what: str, error: BaseException) -> None:
        from traceback import format_exception  # late, because only faults need it

        trace = "".join(format_exception(error))
        reason = f"{what}: {type(error).__name__}: {error}"
        self.refuse(Refusal(subject, reason, self.origins.get(subject, ""), trace))

    def add_plugin(
        self, plugin: Plugin, load: Callable[[], object], module: str = ""
    ) -> None:
        """Load a plugin's module, run its hook, and add its sets.

        If the sets must be tested before they are used, `module` names the plugin's
        module.
        """
        self.plugins.append(plugin)
        self.origins[plugin.name] = str(plugin)
        if unfit := misfit(plugin.distribution, plugin.version):
            self.refuse(Refusal(plugin.name, unfit, str(plugin)))
            return
        if module and not self._may_import(plugin, module):
            return
        try:
            offered = list(sets_of(plugin.name, load()))
        except _FAULTS as error:
            self._refuse_error(plugin.name, "the plugin failed", error)
            return
        for kernel_set in offered:
            self._add_set(plugin, kernel_set, module)

    def _may_import(self, plugin: Plugin, module: str) -> bool:
        """Return whether a plugin from elsewhere could be imported in a child."""
        record = imported(plugin.name, str(plugin), module)
        reason = refusal_reason(record)
        if reason:
            self.refuse(Refusal(plugin.name, reason, str(plugin), record.traceback))
        return not reason

    def _add_set(self, plugin: Plugin, kernel_set: object, module: str) -> None:
        if not isinstance(kernel_set, KernelSet):
            reason = f"its hook returned {kernel_set!r}, which is not a KernelSet"
            self.refuse(Refusal(plugin.name, reason, str(plugin)))
            return
        name = kernel_set.name
        wrong = _wrong_field(kernel_set)
        if wrong:
            self.refuse(Refusal(f"{name} of {plugin}", wrong, str(plugin)))
            return
        if name in self.sets:
            reason = f"the name is taken by {self.origins[name]}"
            self.refuse(Refusal(f"{name} of {plugin}", reason, str(plugin)))
            return
        self.origins[name] = str(plugin)
        self.foreign.pop(name, None)  # left over from a set that was refused
        if module:
            self.foreign[name] = module
        self.known |= {name, kernel_set.family}
        self.named_features |= set(kernel_set.requires)
        refusal = _refusal(kernel_set, plugin)
        if refusal is None:
            self.sets[name] = kernel_set
        else:
            self.refuse(refusal)


def _unknown_exception(spec: KernelSpec, impl: object) -> bool:
    exception = impl.exception if isinstance(impl, KernelImpl) else None
    return exception is not None and exception not in spec.exceptions


def sets_of(name: str, module: object) -> Iterable[object]:
    """Run the hook of one plugin; each has a manager, which keeps faults apart."""
    import pluggy  # 5 ms at the first kernel, not at the import of AutoCalc

    from autocalc._kernels.hooks import HookSpecs

    manager = pluggy.PluginManager("autocalc")
    manager.add_hookspecs(HookSpecs)
    manager.register(module, name=name)
    manager.check_pending()
    results = manager.hook.autocalc_kernel_sets()
    if not results:
        raise TypeError(
            "the module has no hook `autocalc_kernel_sets` marked with "
            "`@autocalc.plugin.hookimpl`"
        )
    return list(results[0])


def _wrong_field(kernel_set: Any) -> str:
    """Return what is wrong with the description of a set; "" if nothing is."""
    kinds = {
        "name": str,
        "family": str,
        "rank": int,
        "device": str,
        "api": int,
        "decomposes": bool,
        "strided_outputs": bool,
    }
    for name, kind in kinds.items():
        value = getattr(kernel_set, name)
        if not isinstance(value, kind):
            return f"its `{name}` is {value!r}, which is no {kind.__name__}"
    requires = kernel_set.requires
    if not isinstance(requires, (set, frozenset)):
        return f"its `requires` is {requires!r}, which is no set of feature names"
    if kernel_set.determinism not in (None, "run", "threads"):
        return (
            f"its `determinism` is {kernel_set.determinism!r}; use None, run, threads"
        )
    if kernel_set.precision not in PRECISIONS:
        return (
            f"its `precision` is {kernel_set.precision!r}; use {', '.join(PRECISIONS)}"
        )
    if not kernel_set.strided_outputs and kernel_set.device != "cpu":
        return "its `strided_outputs` is False, which sets of the CPU alone can say"
    return "" if callable(kernel_set.load) else "its `load` cannot be called"


def _refusal(kernel_set: KernelSet, plugin: Plugin) -> Refusal | None:
    """Return why this set cannot be used here, or None."""
    name, origin = kernel_set.name, str(plugin)
    distribution = plugin.distribution if plugin.version else ""
    unfit = api_misfit("kernel", kernel_set.api, KERNEL_API_VERSION, distribution)
    if unfit:
        return Refusal(name, unfit, origin)
    disabled = settings().disabled
    if name != "reference" and (name in disabled or kernel_set.family in disabled):
        reason = "disabled by AUTOCALC_DISABLE_KERNELS"
        return Refusal(name, reason, origin, fault=False, rank=kernel_set.rank)
    missing = sorted(set(kernel_set.requires) - cpu_features())
    if missing:
        hidden = sorted(set(missing) & detected_features())
        reason = f"the CPU lacks {', '.join(missing)}"
        if hidden:
            reason = f"{', '.join(hidden)} hidden by AUTOCALC_CPU_FEATURES"
        return Refusal(name, reason, origin, fault=False, rank=kernel_set.rank)
    return None


def _entry_points() -> list[EntryPoint]:
    """Return the announced plugins in an order that is always the same."""
    from importlib.metadata import entry_points  # late: 20 ms of `import autocalc`

    points = [p for p in entry_points(group=ENTRY_POINT_GROUP) if _is_looked_at(p)]
    found = {(p.name, p.value): p for p in points}
    return [found[key] for key in sorted(found)]


def plugin_at(name: str, package: str) -> EntryPoint:
    """Return an announced plugin of a package with its version."""
    for point in _entry_points():
        if point.name == name and str(_plugin_of(point)) == package:
            return point
    raise LookupError(f"there is no plugin {name} of {package}")


#: In the process of a self-test: the only package from elsewhere that is considered.
_tested: list[str] = []


def look_at(package: str) -> None:
    """Let this process find only AutoCalc's own packages and this one.

    A package that ends its process must not end the self-test of another package.
    """
    _tested[:] = [package]


def _is_looked_at(point: EntryPoint) -> bool:
    foreign = point.dist is not None and not is_own(point.dist.name)
    return not (_tested and foreign) or str(_plugin_of(point)) in _tested


def _plugin_of(point: EntryPoint) -> Plugin:
    dist = point.dist
    if dist is None:
        return Plugin(point.name, point.value, "")
    return Plugin(point.name, dist.name, dist.version)


def _foreign_module(point: EntryPoint) -> str:
    """Return the module of a package from elsewhere; "" for one of AutoCalc's own."""
    if point.dist is None or is_own(point.dist.name):
        return ""
    return point.module


@functools.lru_cache(maxsize=1)
def registry() -> Registry:
    """Return the registry of installed packages; it is made at the first call."""
    from autocalc._kernels import _plugin as reference_plugin
    from autocalc._version import __version__

    result = Registry()
    result.add_plugin(
        Plugin("reference", "autocalc-core", __version__), lambda: reference_plugin
    )
    for point in _entry_points():
        if point.value == reference_plugin.__name__:
            continue
        result.add_plugin(_plugin_of(point), point.load, _foreign_module(point))
    warn_about_unknown(
        "AUTOCALC_DISABLE_KERNELS",
        settings().disabled,
        result.known,
        "kernel set or family",
    )
    return result


def fuser_of(name: str) -> Fuse | None:
    """Return the fuser of a set's kernels; None if it has none."""
    known = registry().sets.get(name)
    make = None if known is None else known.fuser
    return None if make is None else make()
