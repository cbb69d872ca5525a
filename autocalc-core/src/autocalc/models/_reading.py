# SPDX-License-Identifier: MIT
"""A decoder that reads one position after its caches, as calls of kernels.

With one position, an operator costs more than its kernel: a block of 128 features is
read in 50 us by its kernels, and in 400 us by way of modules and tensors.  So the
calls are decided once for a text, with memory of their own; what changes from one
position to the next are the views of the caches.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from operator import is_
from typing import Any

from autocalc import nn
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.call import KernelCall
from autocalc._dispatch.selection.state import current
from autocalc._kernels.table import TABLE
from autocalc._tensor import Tensor, make
from autocalc._tensor.dtypes import int64
from autocalc.models._cache import KeyValueCache
from autocalc.models._decoder import (
    Attention,
    Block,
    Decoder,
    GELUFeedForward,
    SwiGLUFeedForward,
)
from autocalc.models._rotary import Rotary
from autocalc.nn._module.hooks import ON_CALLS

#: What `PositionReader` knows the kernels of.
_PLAIN = frozenset(
    {
        Attention,
        Block,
        Decoder,
        GELUFeedForward,
        Rotary,
        SwiGLUFeedForward,
        nn.Embedding,
        nn.LayerNorm,
        nn.Linear,
        nn.ModuleList,
        nn.RMSNorm,
    }
)

Calls = list[Callable[[], Any]]
_calls = {
    name: KernelCall(TABLE[name])
    for name in (
        "add",
        "attention",
        "copy",
        "embedding",
        "layer_norm",
        "linear",
        "mul",
        "rms_norm",
        "rotary",
        "silu",
    )
}


def position_reader(model: Any, caches: Any) -> Callable[[Tensor], Tensor] | None:
    """Return a `PositionReader`, or None for a model that may do other things too."""
    if type(model) is not Decoder or not caches or ON_CALLS:
        return None
    for module in model.modules():
        changed = module._hooks is not None or "forward" in module.__dict__
        if type(module) not in _PLAIN or changed:
            return None
        if isinstance(module, nn.Embedding) and module.max_norm is not None:
            return None
    dtypes = {parameter.dtype for parameter in model.parameters()}
    return PositionReader(model, caches) if len(dtypes) == 1 else None


class PositionReader:
    """``reader(tokens (B, 1))`` gives the logits (B, V); the next call overwrites them.

    It computes what ``model(tokens, caches)`` does, in the same order.
    """

    def __init__(self, model: Decoder, caches: Sequence[KeyValueCache]) -> None:
        self.model = model
        self.caches = caches
        self._tables: Any = None
        self._bind()

    def __call__(self, tokens: Tensor) -> Tensor:
        """Read one more token of each text."""
        selection = current().selection
        here = all(map(is_, [p._array for p in self._parameters], self._arrays))
        if selection.tables is not self._tables or not here:
            self._bind()
        past = self.caches[0].count
        self._embed(tokens._array, past)
        turn = None if self._turn is None else self._turn(past)
        attend: Any = None
        for place in self._blocks:
            for call in place.before:
                call()
            place.remember(past, turn)
            seen = place.keys[:, : past + 1], place.values[:, : past + 1]
            operands = (place.q, *seen, None, None, None)
            if attend is None:  # all blocks have the same shapes and strides
                attend, settings = _calls["attention"].decided(
                    *operands, *self._scale, into=(self._y, None)
                )
            attend(self._y, None, *operands, *settings)
            for call in place.after:
                call()
        for call in self._last:
            call()
        for cache in self.caches:
            cache.count = past + 1
        return make(self._logits, None)

    # ---- what is made once ---------------------------------------------------------

    def _bind(self) -> None:
        """Decide every call, and make the memory that they write."""
        model = self.model
        self._parameters = list(model.parameters())
        self._arrays = [p._array for p in self._parameters]
        self._tables = current().selection.tables
        table = model.tokens.weight._array
        dtype, d = table.dtype, table.shape[1]
        batch = self.caches[0]._both.shape[0]

        def room(*sizes: int) -> Any:
            return arrays.empty((batch, 1, *sizes), dtype)

        self._x, self._h, self._out = room(d), room(d), room(d)
        # Decisions that hold for any shape: one row is as good as another.
        places = model.positions
        self._table, self._places = (
            table,
            None if places is None else _array(places.weight),
        )
        token = arrays.zeros((batch, 1), int64.numpy)
        self._take, _ = _calls["embedding"].decided(table, token, into=self._x)
        self._add, _ = _calls["add"].decided(self._x, table[:1], into=self._x)
        self._y = room(d // model.features, model.features)
        self._scale = 1 / math.sqrt(max(model.features, 1)), "none", 0.0
        blocks: Any = model.blocks
        self._blocks = [
            _Place(self, block, cache, room)
            for block, cache in zip(blocks, self.caches, strict=True)
        ]
        logits = room(model.head.weight.shape[0])
        self._last = [self.norm(model.norm), linear(model.head, self._h, logits)]
        self._logits = logits[:, 0]
        self._turn = None if model.rotary is None else _turned(model.rotary)

    def _embed(self, tokens: Any, past: int) -> None:
        self._take(self._x, self._table, tokens)
        if self._places is not None:
            self._add(self._x, self._x, self._places[past : past + 1])

    def norm(self, module: Any) -> Callable[[], Any]:
        """Return the call that normalises `x` into `h`."""
        if isinstance(module, nn.RMSNorm):
            eps = module.eps
            if eps is None:
                eps = 2.0**-23 if self._x.dtype.itemsize == 4 else 2.0**-52
            operands = (self._x, _array(module.weight), float(eps))
            return bound("rms_norm", *operands, into=(self._h, None))
        operands = (self._x, _array(module.weight), _array(module.bias))
        into = (self._h, None, None)
        return bound("layer_norm", *operands, float(module.eps), into=into)

    def added(self) -> Callable[[], Any]:
        """Return the call that adds a branch to `x`."""
        return bound("add", self._x, self._out, into=self._x)


class _Place:
    """The calls of one block."""

    def __init__(
        self, reader: PositionReader, block: Block, cache: KeyValueCache, room: Any
    ) -> None:
        attention, x = block.attention, reader._h
        heads, kv_heads = attention.heads, attention.kv_heads
        every = room(heads + 2 * kv_heads, attention.features)
        flat = every.reshape(*x.shape[:2], math.prod(every.shape[2:]))
        self.before = [reader.norm(block.norm_1), linear(attention.qkv, x, flat)]
        self.q, self.new = every[:, :, :heads], every[:, :, heads:]
        self.rows = cache._both._array
        self.keys, self.values = self.rows[:, :, :kv_heads], self.rows[:, :, kv_heads:]
        self.turned = room(heads + kv_heads, attention.features)
        self.raw = every[:, :, : heads + kv_heads]
        self.kv_heads = kv_heads
        self.copy, _ = _calls["copy"].decided(self.new, into=self.rows[:, :1])
        y = reader._y.reshape(*x.shape[:2], math.prod(reader._y.shape[2:]))
        self.after = [
            linear(attention.out, y, reader._out),
            reader.added(),
            reader.norm(block.norm_2),
            *_feed_forward(block.feed_forward, x, reader._out, room),
            reader.added(),
        ]

    def remember(self, past: int, turn: Any) -> None:
        """Put the new key and value after those of the cache."""
        row = self.rows[:, past : past + 1]
        if turn is None:
            self.copy(row, self.new)
            return
        turn(self.turned, self.raw)
        heads = self.turned.shape[2] - self.kv_heads
        self.q = self.turned[:, :, :heads]
        self.copy(row[:, :, : self.kv_heads], self.turned[:, :, heads:])
        self.copy(row[:, :, self.kv_heads :], self.new[:, :, self.kv_heads :])


def _feed_forward(module: Any, x: Any, out: Any, room: Any) -> Calls:
    """Return the calls of a block's second part, the activation within the product."""
    wide = room(module.up.weight.shape[0])
    if isinstance(module, GELUFeedForward):
        return [linear(module.up, x, wide, "gelu"), linear(module.down, wide, out)]
    gate = room(wide.shape[-1])
    return [
        linear(module.gate, x, gate),
        bound("silu", gate, into=gate),
        linear(module.up, x, wide),
        bound("mul", gate, wide, into=wide),
        linear(module.down, wide, out),
    ]


def _turned(rotary: Rotary) -> Callable[[int], Callable[[Any, Any], None]]:
    """Return a function of a place: the call that turns queries and keys there."""

    def at(place: int) -> Callable[[Any, Any], None]:
        cos, sin = (t._array[place : place + 1] for t in (rotary.cos, rotary.sin))
        return lambda out, x: arrays.rotary(x, cos, sin, False, into=out)

    return at


def linear(
    module: nn.Linear, x: Any, out: Any, activation: str = "none"
) -> Callable[[], Any]:
    """Return the call of a linear layer from `x` into `out`."""
    operands = (x, _array(module.weight), _array(module.bias))
    return bound("linear", *operands, activation, into=(out, None))


def bound(name: str, *args: Any, into: Any) -> Callable[[], Any]:
    """Return a kernel's call on these arrays, decided now."""
    kernel, attributes = _calls[name].decided(*args, into=into)
    outs = into if isinstance(into, tuple) else (into,)
    operands = args[: len(TABLE[name].inputs)]
    return partial(kernel, *outs, *operands, *attributes)


def _array(x: Tensor | None) -> Any:
    return None if x is None else x._array
