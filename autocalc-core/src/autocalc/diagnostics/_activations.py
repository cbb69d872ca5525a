# SPDX-License-Identifier: MIT
"""Statistics of layer outputs, and flags for suspicious ones."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Any

from autocalc._dispatch._callers import UserLine, caller, users_line
from autocalc._dispatch.selection.upcast import FLOAT_KINDS
from autocalc._tensor import Tensor
from autocalc.diagnostics._arguments import check_model, check_share
from autocalc.diagnostics._blocks import Block
from autocalc.diagnostics._calls import Seen
from autocalc.diagnostics._flags import Flag, told
from autocalc.diagnostics._layers import Layers
from autocalc.diagnostics._table import Report, Row, number, place, plain, share, sizes
from autocalc.diagnostics._tally import Activation, Tally
from autocalc.nn import Module

#: Activation functions that are recorded even when no module calls them.
ACTIVATIONS = frozenset(
    {
        *("elu", "gelu", "hardswish", "hardtanh", "leaky_relu", "relu", "sigmoid"),
        *("silu", "softplus", "tanh"),
    }
)

#: Modules whose units are dimension 1, whatever the number of dimensions.
_CHANNELS = ("Conv", "BatchNorm", "InstanceNorm", "GroupNorm", "LazyConv", "SyncBatch")


def unit_axis(kind: str, ndim: int) -> int:
    """Return the dimension of units: the channels of images, otherwise the last."""
    images = ndim >= 4 or (ndim >= 3 and kind.startswith(_CHANNELS))
    return 1 if images else -1


class ActivationStats(Block, Report):
    """The statistics of a model's activations; `activation_stats` returns it.

    Examples
    --------
    >>> import autocalc as ac
    >>> net = ac.nn.Sequential(ac.nn.Linear(4, 8), ac.nn.Tanh())
    >>> with ac.diagnostics.activation_stats(net) as stats:
    ...     y = net(ac.zeros(16, 4))
    >>> [(row.layer, row.operator, row.calls, row.shape) for row in stats.rows]
    [('0', 'Linear', 1, (16, 8)), ('1', 'Tanh', 1, (16, 8))]
    """

    def __init__(
        self, model: Module, dead: float, saturated: float, collapse: float
    ) -> None:
        super().__init__("activation_stats", Layers(model))
        self._model = model
        self._limits = {"dead": dead, "saturated": saturated, "collapse": collapse}
        self._tallies: dict[Any, Tally] = {}
        self._last = ""
        self._measured: Any = None

    def _begin(self, stack: ExitStack) -> None:
        for name, module in self._model.named_modules():
            handle = module.register_forward_hook(self._hook(name))
            stack.callback(handle.remove)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, trace)
        self._measured = None

    def reset(self) -> None:
        """Reset the statistics before the next step."""
        self._tallies.clear()

    @property
    def rows(self) -> list[Activation]:
        """The statistics, in the order in which layers first ran."""
        return [tally.row() for tally in self._tallies.values()]

    @property
    def flags(self) -> list[Flag]:
        """The problems that were found, in the order of `rows`."""
        tallies = self._tallies.values()
        return [flag for tally in tallies for flag in tally.flags(self._limits)]

    def to_dict(self) -> dict[str, Any]:
        """Return the rows and flags as dicts, lists, numbers and strings."""
        return {"rows": plain(self.rows), "flags": plain(self.flags)}

    # ---- measuring ---------------------------------------------------------------

    def _hook(self, name: str) -> Callable[..., None]:
        def hook(module: Module, args: tuple[Any, ...], output: Any) -> None:
            self._last = name
            out = first_tensor(output)
            if out is None or out._array.dtype.kind not in FLOAT_KINDS:
                return
            if out._array is self._measured:  # returned by its last submodule
                return
            self._measured = out._array
            given = first_tensor(args)
            kind = type(module).__name__
            line = users_line()
            tally = self._tally((id(module), None), name, kind, line)
            array = None if given is None or given._array is out._array else given
            values = None if array is None else array._array
            tally.add(out._array, values, unit_axis(kind, out.ndim))

        return hook

    def _look(self, seen: Seen, run: Callable[[], Any]) -> None:
        """Record the output of an activation function that is not a module."""
        name = seen.spec.name
        given = seen.inputs[0] if seen.inputs else None
        wanted = name in ACTIVATIONS and given is not None
        before = given.copy() if wanted and given is seen.outputs[0] else given
        run()
        if not wanted or seen.outputs[0].dtype.kind not in FLOAT_KINDS:
            return
        found = caller()
        if found.node is not None or not self._is_ours(found.modules):
            return
        layer, _ = self._layers.of(found.modules)
        if self._last.startswith(layer):  # most likely its input
            layer = self._last or layer
        tally = self._tally((layer, name, found.line), layer, name, found.line)
        out = self._measured = seen.outputs[0]
        tally.add(out, before, unit_axis(name, out.ndim))

    def _is_ours(self, modules: tuple[Module, ...]) -> bool:
        """Return whether the call is in the model, but not in a leaf module of `nn`."""
        if not modules or all(one is not self._model for one in modules):
            return False
        inner = modules[0]
        own = type(inner).__module__.startswith("autocalc.nn")
        return not own or any(True for _ in inner.children())

    def _tally(
        self, key: Any, layer: str, operator: str, line: UserLine | None
    ) -> Tally:
        found = self._tallies.get(key)
        if found is None:
            found = self._tallies[key] = Tally(layer, operator, line)
        return found

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
    """Return the tensor itself, or the first tensor in nested tuples and lists."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (tuple, list)):
        found = (first_tensor(one) for one in value)
        return next((one for one in found if one is not None), None)
    return None


def activation_stats(
    model: Module, *, dead: float = 0.5, saturated: float = 0.9, collapse: float = 1e-6
) -> ActivationStats:
    """Collect statistics of the layers' outputs in a ``with`` block.

    Every module, and every activation function such as ``x.relu()`` that is called in
    the model's forward, gets a row: mean, variance, range, zeros, and suspicious values
    as `flags`.  A module that only returns the result of its last submodule has no row.
    The block leaves no changes in the model.  Compiled functions run eagerly in the
    block, because a replay runs no Python code.

    Parameters
    ----------
    model
        The module to examine.
    dead
        Flag a layer if this share of its units, or more, is 0 for every sample.  A unit
        is a channel of an image or a convolution, otherwise an element of the last
        dimension.  Units with fewer than 8 values are left out, unless the whole output
        is 0.
    saturated
        Flag a bounded function if this share of its outputs, or more, is within 1 % of
        one of its bounds.
    collapse
        Flag a layer if its outputs for different inputs differ by at most this value,
        relative to their size.

    Raises
    ------
    DTypeError
        If `model` is not a module, or a threshold is not a number.
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
