# SPDX-License-Identifier: MIT
"""Parameters of bfloat16 and float16 that are updated in float32.

A step of AdamW moves a weight by about 1e-3 of its size; bfloat16 has steps of 1/256,
float16 of 1/2048, so that most updates would be rounded away.  Two settings of a group
keep them:

- ``master_weights``: the state holds the parameter in float32, as
  ``"master_param"``.  The update changes that; the parameter is its rounding.
- ``stochastic_rounding``: the parameter is rounded up or down at random, so that it is
  right on average.  Without master weights no copy is kept.

With either, what the state holds otherwise, as means of gradients, is float32 too.

Micikevicius and others: Mixed precision training (ICLR 2018).  Gupta and others: Deep
learning with limited numerical precision (ICML 2015).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

from autocalc._dispatch.device.device import host_dtype
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import recorder
from autocalc._dispatch.selection.upcast import FLOAT32
from autocalc._kernels.spec import Array, DType
from autocalc._tensor import Tensor, make
from autocalc._tensor.dtypes import float16, float32, int16, int32
from autocalc._tensor.generator import chosen
from autocalc._tensor.storage import is_exported
from autocalc.optim._batch import Batch, State

#: The settings, which groups have where they are asked for.
SETTINGS = ("master_weights", "stochastic_rounding")

#: What the state holds a parameter's float32 copy as.
MASTER = "master_param"

#: The smallest normal number of float16; below it the spacing of numbers is the same.
_LEAST = 2.0**-14


def is_asked(group: dict[str, Any]) -> bool:
    """Return whether halves of a group are updated in float32."""
    return bool(group.get("master_weights") or group.get("stochastic_rounding"))


def state_dtype(group: dict[str, Any], param: Tensor) -> Any:
    """Return the dtype of the tensors in the state of a parameter."""
    return float32 if param.dtype.is_half and is_asked(group) else param.dtype


class WideBatch(Batch):
    """Parameters that are updated in float32, and then rounded.

    Parameters
    ----------
    batch
        The parameters, gradients and states.
    group
        The settings of the group.
    buffers
        The names of states in the dtype of the updated value.
    agreed
        By parameter: how often it and its master copy had been written when it last
        was the rounding of that.
    """

    __slots__ = ("_agreed", "_keeps", "_stochastic")

    def __init__(
        self,
        batch: Batch,
        group: dict[str, Any],
        buffers: frozenset[str],
        agreed: dict[Any, Any],
    ) -> None:
        super().__init__(batch.dtype)
        self._keeps = bool(group.get("master_weights"))
        self._stochastic = bool(group.get("stochastic_rounding"))
        self._agreed = agreed
        self.tensors, self.states = batch.tensors, batch.states
        self.grads = [arrays.cast(grad, FLOAT32) for grad in batch.grads]
        for state in self.states:
            _widen(state, buffers)
        if self._keeps:
            self.params = list(map(self._master, self.tensors, self.states))
        else:
            self.params = [arrays.cast(param, FLOAT32) for param in batch.params]

    def _master(self, param: Tensor, state: State) -> Array:
        """Return the master copy, which others' writes to the parameter are part of."""
        held = state.get(MASTER)
        if held is None:
            held = state[MASTER] = make(arrays.cast(param._array, FLOAT32), None)
        elif recorder() or not self._agrees(param, held):
            _agree(held._array, param._array, self._stochastic)
        return held._array

    def _agrees(self, param: Tensor, held: Tensor) -> bool:
        """Return whether neither was written since the last step.

        Writes by NumPy, and through ``param.data``, are not counted.
        """
        unseen = any(map(is_exported, (param, held)))
        return not unseen and self._agreed.get(id(param)) == _written(param, held)

    def each(self) -> Iterator[tuple[Tensor, Tensor, State]]:
        """Yield the copies of parameters and gradients, and the states; then round."""
        for param, grad, state in zip(
            self.params, self.grads, self.states, strict=True
        ):
            yield make(param, None), make(grad, None), state
        self.written()

    def written(self) -> None:
        """Round the copies to the parameters."""
        for wide, param in zip(self.params, self.tensors, strict=True):
            narrow = param._array
            dtype = host_dtype(narrow.dtype)
            exact = _rounded_at_random(wide, dtype) if self._stochastic else wide
            arrays.copy(exact, into=narrow)
        self.bump()
        if self._keeps:
            for param, state in zip(self.tensors, self.states, strict=True):
                self._agreed[id(param)] = _written(param, state[MASTER])


def _widen(state: State, buffers: frozenset[str]) -> None:
    """Bring what a state has kept so far to float32."""
    for name in buffers:
        held = state.get(name)
        if isinstance(held, Tensor) and held.dtype.is_half:
            state[name] = held.detach().to(float32)


def _written(*tensors: Tensor) -> tuple[Any, ...]:
    """Return what differs after one of them is replaced or written."""
    return tuple([(x._cell(), x._cell().count) for x in tensors])


def _agree(master: Array, param: Array, stochastic: bool) -> None:
    """Let the master copy be the parameter where that is not its rounding.

    Someone else has written it there.  The others keep their digits: so a model's
    state and its optimizer's can be loaded in either order.
    """
    nearest = arrays.cast(master, param.dtype)
    is_its = arrays.compare(nearest, param, "eq")
    if stochastic:
        other_way = _is_next(master, nearest, param)
        is_its = arrays.bitwise_or(is_its, other_way)
    kept = arrays.where(is_its, master, arrays.cast(param, FLOAT32))
    arrays.copy(kept, into=master)


def _is_next(master: Array, nearest: Array, param: Array) -> Array:
    """Return where a parameter is its master copy rounded the farther way.

    Halves of one sign that are neighbours differ by 1 as integers.
    """
    integers = [
        arrays.cast(arrays.reinterpret(x, int16.numpy), int32.numpy)
        for x in (nearest, param)
    ]
    distance = arrays.abs(arrays.sub(*integers))
    are_near = arrays.compare(distance, arrays.constant(1, distance), "eq")
    low, high = (arrays.cast(x, FLOAT32) for x in (nearest, param))
    above = arrays.compare(master, low, "gt")
    upwards = arrays.compare(high, low, "gt")
    same_side = arrays.compare(above, upwards, "eq")
    return arrays.bitwise_and(are_near, same_side)


def _rounded_at_random(x: Array, dtype: DType) -> Array:
    """Return float32 numbers that are those of `dtype` next to `x`, at random.

    The nearer one is the more probable, so that the expected value is `x`.  Below the
    normal numbers of float16 the probability has steps of 1/8192.
    """
    bits = 13 if dtype == float16.numpy else 16  # that float32 has more
    lift = _lift(x) if dtype == float16.numpy else None
    lifted = x if lift is None else arrays.add(x, lift)
    seed, offset = chosen("stochastic_rounding", None).draw(x.size)
    noise = arrays.random_bits(seed, offset, bits, shape=x.shape, dtype=int32.numpy)
    moved = arrays.add(arrays.reinterpret(lifted, int32.numpy), noise)
    cut = arrays.bitwise_and(moved, arrays.constant(-(1 << bits), moved))
    rounded = arrays.reinterpret(cut, FLOAT32)
    if lift is not None:
        rounded = arrays.copysign(arrays.sub(rounded, lift), x)  # -0.0, too
    is_finite = arrays.compare(arrays.abs(x), arrays.constant(inf, x), "lt")
    return arrays.where(is_finite, rounded, x)  # NaN and infinity have no neighbours


def _lift(x: Array) -> Array:
    """Return what brings numbers to where float32 cuts as float16 does, 0 if there."""
    least = arrays.copysign(arrays.constant(_LEAST, x), x)
    is_small = arrays.compare(arrays.abs(x), arrays.constant(_LEAST, x), "lt")
    return arrays.where(is_small, least, arrays.constant(0, x))
