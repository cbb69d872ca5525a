# SPDX-License-Identifier: MIT
"""The call of one kernel with any operands: rule, decision, allocation, run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numpy import ndarray

from autocalc._dispatch.device.device import host_dtype, host_meta, meta_on, place_of
from autocalc._dispatch.selection.complex_calls import (
    complex_metas,
    complex_of,
    real_metas,
)
from autocalc._dispatch.selection.layout import LayoutPlan, keeps_layout, plan_layout
from autocalc._dispatch.selection.provided import provided
from autocalc._dispatch.selection.select import (
    KERNEL_INDEX,
    Decomposed,
    Entry,
    Selection,
)
from autocalc._dispatch.selection.state import current
from autocalc._dispatch.selection.upcast import (
    FLOAT32,
    WIDE,
    Widened,
    convert,
    half_of,
    narrow_meta,
    wide_key,
    wide_meta,
)
from autocalc._kernels.kernel_set import DispatchKey
from autocalc._kernels.spec import Array, DType, KernelSpec, Meta, Shape, meta_of
from autocalc._kernels.table import TABLE
from autocalc.errors import ArgumentError

Metas = tuple[Any, ...]

#: The kernel, the metas of the wanted outputs, the attributes that the caller left out,
#: and the layout of operands if the results should not be row-major.
Plan = tuple[Entry, Metas, tuple[Any, ...], LayoutPlan | None]


#: Kernels whose results backward rules need in float32. The native engine looks up
#: decisions by dtype alone. It finds none for halves, and leaves these calls to Python.
#: Calls with complex numbers are left to Python in the same way.
KEPT_WIDE: set[int] = set()


class KernelCall:
    """Calls a kernel with ``inputs..., attributes...`` by position.

    In-out operands (`spec.writes`) come before the inputs, and the call returns them.
    The keyword `want` is the mask of optional outputs to compute (bit i is output i),
    and `accumulate` is the mask of outputs to add into.  `into` is the array to write.
    For several outputs it is a tuple, with None for each new array.  `shape` and
    `dtype` describe the result of a `free` spec.
    """

    __slots__ = ("_inner", "_keeps_layout", "_mandatory", "_n_attributes",
                 "_n_operands", "_plain", "_single", "index", "spec")  # fmt: skip

    def __init__(self, spec: KernelSpec) -> None:
        self.spec = spec
        self.index = KERNEL_INDEX[spec.name]
        self._n_operands = len(spec.inputs) + len(spec.writes)
        self._n_attributes = len(spec.attributes) - bool(spec.accumulates)
        self._plain = not (spec.writes or spec.free)
        self._single = len(spec.outputs) == 1
        self._keeps_layout = keeps_layout(spec)
        self._mandatory = sum(
            1 << i for i, output in enumerate(spec.outputs) if not output.optional
        )
        #: Outputs that only rules read, except gradients, which may be added into. In
        #: half precision they stay float32.
        optional = {
            i
            for i, output in enumerate(spec.outputs)
            if output.optional and output.name not in spec.accumulates
        }
        self._inner = frozenset(optional if self._mandatory else ())

    def __repr__(self) -> str:
        return f"<kernel {self.spec.name}: {self.spec.signature}>"

    def __call__(
        self,
        *args: Any,
        want: int = 0,
        accumulate: int = 0,
        into: Any = None,
        shape: Shape | None = None,
        dtype: DType | None = None,
    ) -> Any:
        if accumulate or into is not None or not self._plain:
            return self._call_into(args, want, accumulate, into, shape, dtype)
        n = self._n_operands
        selection = current().selection
        key = want, args[n:], selection.key_of(*args[:n])
        return self.run(selection, key, args, want)

    def run(
        self, selection: Selection, key: Any, args: tuple[Any, ...], want: int
    ) -> Any:
        """Run a call under its key.

        The key contains `want`, the attributes, and the selection's `key_of` for the
        operands.
        """
        plan = selection.tables[self.index].get(key)
        if plan is None:
            plan = self._plan(selection, key, args, want)
        kernel, metas, more, layout_plan = plan
        if kernel.__class__ is Decomposed:
            n = self._n_operands
            wanted = want | self._mandatory
            found = kernel.compute(args[:n], args[n:] + more, wanted)
            return found if layout_plan is None else self._laid(found, layout_plan)
        empty = selection.empty
        if layout_plan is not None:
            args = layout_plan.operands(provided.arrays, args)
            outs = layout_plan.empty(empty, metas)
            kernel(*outs, *args, *more)
            return outs[0] if self._single else outs
        if self._single:
            out = empty(*metas[0])
            kernel(out, *args, *more)
            return out
        outs = tuple([None if meta is None else empty(*meta) for meta in metas])
        kernel(*outs, *args, *more)
        return outs

    def _laid(self, found: Any, plan: LayoutPlan) -> Any:
        """Bring the results of a decomposition into the planned layout."""
        outs = plan.laid(provided.arrays, (found,) if self._single else found)
        return outs[0] if self._single else outs

    def planned(self, selection: Selection, key: Any, args: tuple[Any, ...]) -> Plan:
        """Return the plan that `run` looks up, for wrappers that do the rest."""
        plan = selection.tables[self.index].get(key)
        return self._plan(selection, key, args, 0) if plan is None else plan

    def _plan(
        self, selection: Selection, cache_key: Any, args: tuple[Any, ...], want: int
    ) -> Plan:
        """Decide a plain call.

        The spec's rule runs once for each combination of shapes, dtypes and attributes.
        """
        operands, given = args[: self._n_operands], args[self._n_operands :]
        if complex_of(*operands) is not None:
            cache_key = "complex", cache_key  # not for the engine, which has no such op
            known: Plan | None = selection.tables[self.index].get(cache_key)
            if known is not None:
                return known
        attributes = self._attributes(given)
        metas = self._metas(operands, attributes, None)
        wanted = want | self._mandatory
        key = self._dispatch_key(operands, attributes, metas, wanted, 0)
        layout_plan = self._layout_plan(selection, operands, metas, key)
        key = key if layout_plan is None else layout_plan.described(key)
        kernel = self._decide(selection, key, operands)
        more = attributes[len(given) :]
        if self.spec.accumulates and kernel.__class__ is not Decomposed:
            more = (*more, 0)
        metas = tuple(meta if wanted >> i & 1 else None for i, meta in enumerate(metas))
        plan = kernel, metas, more, layout_plan
        selection.remember(self.index, cache_key, plan)
        return plan

    def _layout_plan(
        self, selection: Selection, operands: Any, metas: Metas, key: DispatchKey
    ) -> LayoutPlan | None:
        """Return the layout of operands and results; None if it is row-major."""
        if not self._keeps_layout:
            return None
        preferred = selection.prefers_channels_last(self.spec, key)
        return plan_layout(self.spec, operands, metas, preferred)

    def _call_into(
        self,
        args: tuple[Any, ...],
        want: int,
        accumulate: int,
        into: Any,
        shape: Shape | None,
        dtype: DType | None,
    ) -> Any:
        """Run a call with given outputs, or whose outputs need a dtype or a shape."""
        operands = args[: self._n_operands]
        attributes = self._attributes(args[self._n_operands :])
        if self.spec.writes:
            return self._write(operands, attributes)
        wanted = want | self._mandatory
        free = self._free(into, shape, dtype)
        kernel, metas = self._decision(
            operands, attributes, wanted, accumulate, into, free
        )
        if kernel.__class__ is Decomposed and into is None:
            return kernel.compute(operands, attributes, wanted, free)
        if self.spec.accumulates:
            attributes = (*attributes, accumulate)
        if self._single:
            out = current().selection.empty(*metas[0]) if into is None else into
            kernel(out, *operands, *attributes)
            return out
        outs = self._outputs(metas, wanted, into)
        kernel(*outs, *operands, *attributes)
        return outs

    def first(
        self,
        selection: Selection,
        cache_key: object,
        operands: tuple[Any, ...],
        attributes: tuple[Any, ...] = (),
    ) -> Entry:
        """Decide for a wrapper that stores decisions under its own keys."""
        apart = complex_of(*operands) is not None
        if not apart and self.index in KEPT_WIDE:
            apart = half_of(*operands) is not None
        if apart:
            cache_key = "apart", cache_key
            known: Entry | None = selection.tables[self.index].get(cache_key)
            if known is not None:
                return known
        metas = self._metas(operands, attributes, None)
        key = self._dispatch_key(operands, attributes, metas, self._mandatory, 0)
        kernel = self._decide(selection, key, operands)
        selection.remember(self.index, cache_key, kernel)
        return kernel

    def _decide(
        self, selection: Selection, key: DispatchKey, given: tuple[Any, ...]
    ) -> Entry:
        """Return the kernel for a call of `given` arrays, widened if one is a half."""
        if half_of(*given) is None:
            return selection.decide(self.spec, key)
        # A key describes a list by its first array only.
        told = wide_key(key) is not None
        kernel = selection.decide(self.spec, key) if told else WIDE
        return self._widened(selection) if kernel is WIDE else kernel

    def _widened(self, selection: Selection) -> Any:
        """Return a kernel that computes on float16 and bfloat16 in float32."""
        copies = self.spec.name == "copy"
        kernel: Entry = convert
        if not copies:
            kernel = Widened(self.spec, self, converter(selection), selection.empty)
        if selection.recorder is not None:
            return selection.recorder.wrap(self.spec, "widened", kernel)
        # Wrappers that look at results see the whole call; those that count see its
        # parts.
        wrap = getattr(selection.wrap, "wrap_widened", None)
        return kernel if wrap is None else wrap(self.spec, kernel)

    def decided(
        self, *args: Any, into: Any, want: int = 0
    ) -> tuple[Entry, tuple[Any, ...]]:
        """Return the kernel that runs a call into `into`, and all its attributes.

        This serves to run one call many times as
        ``kernel(*outputs, *inputs, *attributes)``.  It is valid as long as the
        selection, its `tables` and the contents of the call's key are the same.
        """
        operands = args[: self._n_operands]
        attributes = self._attributes(args[self._n_operands :])
        wanted = want | self._mandatory
        free = self._free(into, None, None)
        kernel, _ = self._decision(operands, attributes, wanted, 0, into, free)
        return kernel, (*attributes, 0) if self.spec.accumulates else attributes

    def key(
        self,
        *args: Any,
        want: int = 0,
        accumulate: int = 0,
        shape: Shape | None = None,
        dtype: DType | None = None,
    ) -> DispatchKey:
        """Return the dispatch key of a call, without running it."""
        operands = args[: self._n_operands]
        attributes = self._attributes(args[self._n_operands :])
        free = self._free(None, shape, dtype)
        metas = self._metas(operands, attributes, free)
        wanted = want | self._mandatory
        # Operands that are written in place are already among the outputs.
        inputs = operands[len(self.spec.writes) :]
        return self._dispatch_key(inputs, attributes, metas, wanted, accumulate)

    def layout_plan(self, *args: Any) -> LayoutPlan | None:
        """Return the layout of operands and results, without running the call."""
        operands = args[: self._n_operands]
        metas = self._metas(operands, self._attributes(args[self._n_operands :]), None)
        return self._layout_plan(current().selection, operands, metas, self.key(*args))

    def _free(self, into: Any, shape: Any, dtype: Any) -> Meta | None:
        """Return the result's meta from the caller, if the spec leaves it open."""
        if not self.spec.free:
            return None
        return Meta(shape, dtype) if into is None else Meta(into.shape, into.dtype)

    def _attributes(self, given: tuple[Any, ...]) -> tuple[Any, ...]:
        missing = self._n_attributes - len(given)
        if missing == 0:
            return given
        defaults = self.spec.defaults
        if 0 < missing <= len(defaults):
            return given + defaults[len(defaults) - missing :]
        names = [attribute.name for attribute in self.spec.attributes]
        raise ArgumentError(
            f"{self.spec.name}: got {len(given)} attributes, but needs "
            f"{self._n_attributes}: {', '.join(names[: self._n_attributes])}."
        )

    def _decision(
        self,
        operands: tuple[Any, ...],
        attributes: tuple[Any, ...],
        wanted: int,
        accumulate: int,
        into: Any,
        free: Meta | None,
    ) -> tuple[Entry, Metas]:
        """Return the kernel and the metas of the outputs, from the table if known."""
        selection = current().selection
        described = selection.key_of(into, *operands)
        cache_key = "into", wanted, accumulate, attributes, free, described
        decision: Any = selection.tables[self.index].get(cache_key)
        if decision is None:
            metas = self._metas(operands, attributes, free)
            outs = _given_metas(metas, (into,) if self._single else into)
            key = self._dispatch_key(operands, attributes, outs, wanted, accumulate)
            kernel = self._decide(selection, key, (*operands, into, free))
            decision = (kernel, metas)
            selection.remember(self.index, cache_key, decision)
        return decision  # type: ignore[no-any-return]  # tables hold what we put in

    def _metas(
        self, operands: tuple[Any, ...], attributes: tuple[Any, ...], free: Meta | None
    ) -> Metas:
        place = place_of(self.spec.name, *operands, free)
        given = [meta_of(x) for x in operands]
        if place is not None:
            given, free = [host_meta(meta) for meta in given], host_meta(free)
        half, narrow = half_of(*given, free), given
        imaginary = complex_of(*given)
        if imaginary is not None:
            *given, free = real_metas(self.spec, (*given, free))
        elif half is not None:
            given, free = [wide_meta(meta) for meta in given], wide_meta(free)
        keywords = {} if free is None else free._asdict()
        metas = self.spec.rule(*given, *attributes, **keywords)
        metas = (metas,) if isinstance(metas, Meta) else tuple(metas)
        if imaginary is not None:
            metas = complex_metas(self.spec, metas, imaginary)
        elif half is not None:
            metas = tuple(
                narrow_meta(meta, self._half_of(i, narrow, half))
                for i, meta in enumerate(metas)
            )
        if place is not None:
            metas = tuple([meta_on(place, meta) for meta in metas])
        return metas

    def _half_of(self, output: int, given: Sequence[Any], half: DType) -> DType:
        """Return the dtype of an output in half precision; see `KernelSpec.halves`."""
        spec = self.spec
        like = spec.halves.get(spec.outputs[output].name)
        if output in self._inner or like == "float32":
            return FLOAT32
        names = [*spec.writes, *(operand.name for operand in spec.inputs)]
        meta = None if like is None else given[names.index(like)]
        dtype: DType = half if meta is None else meta.dtype
        return dtype

    def _outputs(self, metas: Metas, wanted: int, into: Any) -> tuple[Any, ...]:
        """Return the arrays to write: given ones, and new ones for wanted outputs."""
        empty = current().selection.empty
        given = into or (None,) * len(metas)
        return tuple(
            empty(*meta) if out is None and wanted >> i & 1 and meta else out
            for i, (meta, out) in enumerate(zip(metas, given, strict=True))
        )

    def _write(self, operands: tuple[Any, ...], attributes: tuple[Any, ...]) -> Any:
        """Run a kernel that updates its first operands in place."""
        selection = current().selection
        outs = operands[: len(self.spec.writes)]
        cache_key = attributes, selection.key_of(*operands)
        kernel = selection.tables[self.index].get(cache_key)
        if kernel is None:
            self._metas(operands, attributes, None)  # for the checks of the rule
            metas = tuple(map(meta_of, outs))
            inputs = operands[len(outs) :]
            key = self._dispatch_key(inputs, attributes, metas, -1, 0)
            kernel = self._decide(selection, key, operands)
            selection.remember(self.index, cache_key, kernel)
        kernel(*operands, *attributes)
        return outs[0] if self._single else outs

    def _dispatch_key(
        self,
        operands: tuple[Any, ...],
        attributes: tuple[Any, ...],
        outs: Metas,
        wanted: int,
        accumulate: int,
    ) -> DispatchKey:
        spec = self.spec
        outs = tuple(meta if wanted >> i & 1 else None for i, meta in enumerate(outs))
        metas = (*map(_one_meta, outs), *(_one_meta(meta_of(x)) for x in operands))
        if spec.accumulates:
            attributes = (*attributes, accumulate)
        return dispatch_key(spec, metas, operands, attributes, accumulate)


def converter(selection: Selection) -> Callable[[Array, Array], None]:
    """Return a function that copies an array to another dtype without being counted."""
    spec = TABLE["copy"]
    kernels: dict[tuple[DType, DType], Entry] = {}

    def convert_by_kernel(out: Array, a: Array) -> None:
        dtypes = out.dtype, a.dtype
        kernel = kernels.get(dtypes)
        if _notes_looks(a) or _notes_looks(out):
            kernel = convert
        if kernel is None:
            _, kernel = selection.choose(spec, DispatchKey("copy", dtypes))
            kernels[dtypes] = kernel = convert if kernel is WIDE else kernel
        kernel(out, a)

    return convert_by_kernel


def _notes_looks(x: Any) -> bool:
    """Return whether this is a trace's array, which NumPy copies instead of kernels."""
    return x.__class__ is not ndarray and isinstance(x, ndarray)


def dispatch_key(
    spec: KernelSpec,
    metas: Sequence[Any],
    operands: Sequence[Any],
    attributes: tuple[Any, ...],
    accumulate: int,
) -> DispatchKey:
    """Return the key of a call whose outputs and inputs have these metas.

    `operands` are the inputs; their strides are used if the key has shapes.
    """
    place = place_of(spec.name, *metas)
    device = "cpu" if place is None else place.place
    dtypes = tuple(None if meta is None else host_dtype(meta.dtype) for meta in metas)
    if spec.key != "shapes":
        return DispatchKey(spec.name, dtypes, attributes, accumulate, device=device)
    shapes = tuple(None if meta is None else meta.shape for meta in metas)
    strides = (None,) * (len(metas) - len(operands)) + tuple(
        None if x is None else x.strides for x in operands
    )
    said = spec.name, dtypes, attributes, accumulate, shapes, strides, device
    return DispatchKey(*said)


def _one_meta(meta: Any) -> Meta | None:
    """Return the meta that represents an operand: for a list, its first meta."""
    if meta is None or isinstance(meta, Meta):
        return meta
    return meta[0] if meta else None


def _given_metas(metas: Metas, into: Any) -> Metas:
    if into is None:
        return metas
    return tuple(
        meta if given is None else meta_of(given)
        for meta, given in zip(metas, into, strict=True)
    )
