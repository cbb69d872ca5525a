# SPDX-License-Identifier: MIT
"""What layers give: statistics of their outputs, and which look wrong."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from autocalc._dispatch._widened import FLOAT_KINDS
from autocalc._graph._lines import Line
from autocalc._tensor import Tensor
from autocalc.diagnostics._arguments import check_model, check_share
from autocalc.diagnostics._calls import Seen, calls_seen, lines_noted
from autocalc.diagnostics._flags import Flag, told
from autocalc.diagnostics._places import Layers, here
from autocalc.diagnostics._table import Report, Row, number, place, plain, share, sizes
from autocalc.nn import Module

if TYPE_CHECKING:
    from typing_extensions import Self

    from autocalc._kernels.spec import Array

#: Activations, whose kernels are seen where no module calls them.
ACTIVATIONS = frozenset(
    {
        *("elu", "gelu", "hardswish", "hardtanh", "leaky_relu", "relu", "sigmoid"),
        *("silu", "softplus", "tanh"),
    }
)

#: The ends of what bounded functions give, by kernel or class of module.
BOUNDS = {
    "sigmoid": (0.0, 1.0), "Sigmoid": (0.0, 1.0), "Hardsigmoid": (0.0, 1.0),
    "tanh": (-1.0, 1.0), "Tanh": (-1.0, 1.0), "Softsign": (-1.0, 1.0),
}  # fmt: skip

#: An output this near to an end, as a share of the range, is saturated.
NEAR = 0.01

#: Inputs that differ by no more are the same for all samples.
SAME = 1e-6

#: Fewer observations of a unit than these say nothing about it.
OBSERVATIONS = 8

#: Classes of modules whose units are the second dimension, whatever their number.
_CHANNELS = ("Conv", "BatchNorm", "InstanceNorm", "GroupNorm", "LazyConv", "SyncBatch")


@dataclass
class Activation:
    """The outputs of one module, or of an activation function, of one block.

    Attributes
    ----------
    layer
        The module's dotted name.  For a function that no module calls, such as
        ``x.relu()``: the name of the module that ran before it.
    operator
        The module's class, or the function.
    line
        The user's line that led to the call.
    calls, shape
        How often it ran, and the shape of its last output.
    mean, variance, minimum, maximum
        Of the finite elements.
    zeros
        The share of elements that are 0.
    nonfinite
        How many elements are NaN or infinite.
    dead
        The share of units (channels, features) that gave 0 for everything.
    saturated
        The share of elements within 1 % of an end; None of functions without ends.
    spread
        The largest standard deviation of an element over the samples, divided by the
        root of the mean square; None without samples to compare.
    """

    layer: str
    operator: str
    line: Line | None
    calls: int = 0
    shape: tuple[int, ...] = ()
    mean: float = 0.0
    variance: float = 0.0
    minimum: float = float("inf")
    maximum: float = float("-inf")
    zeros: float = 0.0
    nonfinite: int = 0
    dead: float = 0.0
    saturated: float | None = None
    spread: float | None = None
    _elements: int = field(default=0, repr=False)
    _observations: int = field(default=0, repr=False)
    _alive: Any = field(default=None, repr=False)
    _given_dead: float = field(default=0.0, repr=False)
    _given_spread: bool = field(default=False, repr=False)

    def add(self, out: Array, given: Array | None, axis: int) -> None:
        """Take in one output, and the input that it was made of."""
        wide = out.astype(np.float64)
        finite = wide[np.isfinite(wide)]
        self.calls += 1
        self.shape = tuple(out.shape)
        self.nonfinite += wide.size - finite.size
        if not finite.size:
            return
        bounds = BOUNDS.get(self.operator)
        if bounds is not None:
            near = NEAR * (bounds[1] - bounds[0])
            ends = (finite < bounds[0] + near) | (finite > bounds[1] - near)
            old = (self.saturated or 0.0) * self._elements
            self.saturated = (old + ends.sum()) / (self._elements + finite.size)
        self._merge(finite)
        self._add_units(wide, given, axis)
        spread = _spread(wide)
        if spread is not None:
            self.spread = max(spread, self.spread or 0.0)
            before = None if given is None else _spread(given)
            self._given_spread |= before is None or before > SAME

    def _merge(self, finite: Array) -> None:
        """Join mean and variance of more elements to those of the others."""
        n, more = self._elements, finite.size
        mean, total = float(finite.mean()), n + more
        apart = mean - self.mean
        held = self.variance * n + float(finite.var()) * more
        self.variance = (held + apart * apart * n * more / total) / total
        self.mean += apart * more / total
        self.minimum = min(self.minimum, float(finite.min()))
        self.maximum = max(self.maximum, float(finite.max()))
        zeros = more - int(np.count_nonzero(finite))
        self.zeros = (self.zeros * n + zeros) / total
        self._elements = total

    def _add_units(self, wide: Array, given: Array | None, axis: int) -> None:
        if not wide.ndim:
            return
        alive = _alive(wide, axis)
        known = self._alive
        fits = known is not None and known.shape == alive.shape
        self._alive = known | alive if fits else alive
        self._observations += wide.size // alive.size
        self.dead = 1.0 - float(self._alive.mean())
        if given is not None and given.shape == wide.shape:
            before = 1.0 - float(_alive(given, axis).mean())
            self._given_dead = max(self._given_dead, before)


def _alive(x: Array, axis: int) -> Array:
    """Return for each unit whether any element is not 0."""
    others = tuple(d for d in range(x.ndim) if d != axis % x.ndim)
    found: Array = (x != 0).any(axis=others)
    return found


def _spread(x: Array) -> float | None:
    """Return how much samples differ, compared with the size of numbers."""
    if x.ndim < 2 or x.shape[0] < 2 or not x.size:
        return None
    with np.errstate(all="ignore"):
        flat = x.reshape(x.shape[0], -1).astype(np.float64)
        scale = float(np.sqrt((flat * flat).mean()))
        return float(flat.std(axis=0).max()) / scale if scale else 0.0


def unit_axis(kind: str, ndim: int) -> int:
    """Return the dimension of units: channels of images, else the last."""
    images = ndim >= 4 or (ndim >= 3 and kind.startswith(_CHANNELS))
    return 1 if images else -1


class ActivationStats(Report):
    """The statistics of a model's activations; `activation_stats` makes it.

    Attributes
    ----------
    rows : list of Activation
        In the order in which layers first ran.
    """

    def __init__(
        self, model: Module, dead: float, saturated: float, collapse: float
    ) -> None:
        self.rows: list[Activation] = []
        self._model = model
        self._limits = {"dead": dead, "saturated": saturated, "collapse": collapse}
        self._layers = Layers(model)
        self._by_key: dict[Any, Activation] = {}
        self._last = ""
        self._measured: Any = None
        self._stacks: list[ExitStack] = []

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(calls_seen("activation_stats", self._look))
            stack.enter_context(lines_noted(self._layers))
            for name, module in self._model.named_modules():
                handle = module.register_forward_hook(self._hook(name))
                stack.callback(handle.remove)
            self._stacks.append(stack.pop_all())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stacks.pop().close()
        self._measured = None

    def reset(self) -> None:
        """Forget what was seen, to begin with the next step."""
        self.rows.clear()
        self._by_key.clear()

    @property
    def flags(self) -> list[Flag]:
        """What looks wrong, in the order of `rows`."""
        return [flag for row in self.rows for flag in flags_of(row, self._limits)]

    def to_dict(self) -> dict[str, Any]:
        """Return rows and flags as dicts, lists, numbers and texts."""
        return {"rows": plain(self.rows), "flags": plain(self.flags)}

    # ---- looking -----------------------------------------------------------------

    def _hook(self, name: str) -> Callable[..., None]:
        def hook(module: Module, args: tuple[Any, ...], output: Any) -> None:
            self._last = name
            out = first_tensor(output)
            if out is None or out._array.dtype.kind not in FLOAT_KINDS:
                return
            if out._array is self._measured:  # passed on from the last one inside
                return
            self._measured = out._array
            given = first_tensor(args)
            kind = type(module).__name__
            line = here().line
            row = self._row((id(module), None), name, kind, line)
            array = None if given is None or given._array is out._array else given
            values = None if array is None else array._array
            row.add(out._array, values, unit_axis(kind, out.ndim))

        return hook

    def _look(self, seen: Seen, run: Callable[[], Any]) -> None:
        """Look at an activation function that no module stands for."""
        name = seen.spec.name
        given = seen.inputs[0] if seen.inputs else None
        wanted = name in ACTIVATIONS and given is not None
        before = given.copy() if wanted and given is seen.outputs[0] else given
        run()
        if not wanted or seen.outputs[0].dtype.kind not in FLOAT_KINDS:
            return
        place = here()
        if place.node is not None or not self._is_ours(place.modules):
            return
        layer, _ = self._layers.of(place.modules)
        if self._last.startswith(layer):  # the module whose output it most likely is
            layer = self._last or layer
        row = self._row((layer, name, place.line), layer, name, place.line)
        out = self._measured = seen.outputs[0]
        row.add(out, before, unit_axis(name, out.ndim))

    def _is_ours(self, modules: tuple[Module, ...]) -> bool:
        """Return whether the model runs, and not a module that is seen by its hook."""
        if not modules or all(one is not self._model for one in modules):
            return False
        inner = modules[0]
        own = type(inner).__module__.startswith("autocalc.nn")
        return not own or any(True for _ in inner.children())

    def _row(
        self, key: Any, layer: str, operator: str, line: Line | None
    ) -> Activation:
        row = self._by_key.get(key)
        if row is None:
            row = self._by_key[key] = Activation(layer, operator, line)
            self.rows.append(row)
        return row

    # ---- printing ----------------------------------------------------------------

    def _title(self) -> str:
        return f"Activations of {type(self._model).__name__}"

    def _columns(self) -> Row:
        return ("layer", "operator", "output", "mean", "variance", "min", "max",
                "zeros", "dead", "saturated", "line")  # fmt: skip

    def _cells(self) -> list[Row]:
        return [
            (r.layer, r.operator, sizes(r.shape), number(r.mean), number(r.variance),
             number(r.minimum), number(r.maximum), share(r.zeros), share(r.dead),
             share(r.saturated), place(r.line))
            for r in self.rows
        ]  # fmt: skip

    def _notes(self) -> list[str]:
        if not self.rows:
            return ["No layer ran in the block."]
        return told(self.flags)


def first_tensor(value: Any) -> Tensor | None:
    """Return the first tensor in a tensor, or in tuples and lists of them."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (tuple, list)):
        found = (first_tensor(one) for one in value)
        return next((one for one in found if one is not None), None)
    return None


def flags_of(row: Activation, limits: dict[str, float]) -> list[Flag]:
    """Return what looks wrong with one layer's outputs."""
    found: list[tuple[str, float, float, str]] = []
    if row.nonfinite:
        advice = "find_nonfinite() names the operator that made it."
        found.append(("nonfinite", float(row.nonfinite), 0.0, advice))
    enough = row._observations >= OBSERVATIONS or row.zeros == 1.0
    if row.dead >= limits["dead"] and enough and row.dead > row._given_dead:
        advice = (
            "Units give 0 for every sample and get no gradient. Look at the biases and "
            "the learning rate before; try a smaller rate or a leaky activation."
        )
        found.append(("dead", row.dead, limits["dead"], advice))
    alike = row.spread is not None and row.spread <= limits["collapse"]
    if alike and row.zeros < 1.0 and row._given_spread:
        advice = "All samples give the same output. Look at the weights of this layer."
        found.append(("collapse", row.spread or 0.0, limits["collapse"], advice))
    if row.saturated is not None and row.saturated >= limits["saturated"]:
        advice = (
            "Outputs lie at the ends, where the derivative is next to 0. Look at the "
            "scale of its input; normalise it, or initialise the layer before smaller."
        )
        found.append(("saturated", row.saturated, limits["saturated"], advice))
    return [
        Flag(kind, row.layer, value, limit, advice, row.operator, row.line)
        for kind, value, limit, advice in found
    ]


def activation_stats(
    model: Module,
    *,
    dead: float = 0.5,
    saturated: float = 0.9,
    collapse: float = 1e-6,
) -> ActivationStats:
    """Look at what the layers of a model give, in a ``with`` block.

    Every module, and every activation function such as ``x.relu()`` that is called in
    the model's forward, gets a row: mean, variance, range, zeros, and what looks wrong
    as `flags`.  A module that returns what the last one inside gave has none.  After
    the block the model is as before.  Compiled functions run eagerly in the block, as a
    replay runs no Python that could look.

    Parameters
    ----------
    model
        The module.
    dead
        Flag a layer if this share of its units gives 0 for everything.  Units are
        channels of images and convolutions, otherwise the last dimension; a unit counts
        from 8 observations on, or where all of the output is 0.
    saturated
        Flag a bounded function if this share of its output lies within 1 % of an end.
    collapse
        Flag a layer if samples differ by no more than this, compared with the size of
        its numbers, though those of its input do.

    Raises
    ------
    DTypeError
        If `model` is no module, or a threshold no number.
    ArgumentError
        If a threshold is out of range.

    Examples
    --------
    >>> import autocalc as ac
    >>> net = ac.nn.Sequential(ac.nn.Linear(4, 8), ac.nn.ReLU(), ac.nn.Linear(8, 2))
    >>> _ = net[0].bias.data.fill_(-100.0)
    >>> with ac.diagnostics.activation_stats(net) as stats:
    ...     y = net(ac.randn(16, 4))
    >>> [(flag.kind, flag.layer, flag.module) for flag in stats.flags]
    [('dead', '1', 'ReLU')]
    """
    where = "activation_stats"
    found = check_model(where, model)
    shares = {"dead": dead, "saturated": saturated, "collapse": collapse}
    limits = [check_share(where, name, value) for name, value in shares.items()]
    return ActivationStats(found, *limits)
