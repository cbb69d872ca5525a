# SPDX-License-Identifier: MIT
"""Parameters of bfloat16 and float16 that are updated in float32.

A step of AdamW changes a weight by about 1e-3 of its size.  bfloat16 has a spacing of
1/256, and float16 of 1/2048.  So most updates would be lost by rounding.  Two settings
of a group preserve them:

- ``master_weights``: the state holds the parameter in float32, as
  ``"master_param"``.  The update changes this copy; the parameter is its rounding.
- ``stochastic_rounding``: the parameter is rounded up or down at random, so that it is
  correct on average.  Without master weights no copy is kept.

With either setting, the other tensors of the state, such as mean gradients, are
float32, too.

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

#: The settings, which groups hold if they are set.
SETTINGS = ("master_weights", "stochastic_rounding")

#: The name of the float32 copy of a parameter in the state.
MASTER = "master_param"

#: The smallest normal number of float16; below it the spacing is constant.
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
        By parameter, the write counts of it and of its master copy when the parameter
        was last the rounding of that copy.
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
        """Return the master copy, updated by other code's writes to the parameter."""
        held = state.get(MASTER)
        if held is None:
            held = state[MASTER] = make(arrays.cast(param._array, FLOAT32), None)
        elif recorder() or not self._agrees(param, held):
            _agree(held._array, param._array, self._stochastic)
        return held._array

    def _agrees(self, param: Tensor, held: Tensor) -> bool:
        """Return whether neither tensor was written since the last step.

        Writes by NumPy and through ``param.data`` are not counted.
        """
        unseen = any(map(is_exported, (param, held)))
        return not unseen and self._agreed.get(id(param)) == _written(param, held)

    def each(self) -> Iterator[tuple[Tensor, Tensor, State]]:
        """Yield copies of parameters and gradients, and the states; then round."""
        for param, grad, state in zip(
            self.params, self.grads, self.states, strict=True
        ):
            yield make(param, None), make(grad, None), state
        self.written()

    def written(self) -> None:
        """Round the copies and store them in the parameters."""
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
    """Convert the tensors of a state to float32."""
    for name in buffers:
        held = state.get(name)
        if isinstance(held, Tensor) and held.dtype.is_half:
            state[name] = held.detach().to(float32)


def _written(*tensors: Tensor) -> tuple[Any, ...]:
    """Return a value that changes when one of the tensors is replaced or written."""
    return tuple([(x._cell(), x._cell().count) for x in tensors])


def _agree(master: Array, param: Array, stochastic: bool) -> None:
    """Set the master copy to the parameter where the parameter is not its rounding.

    There, other code has written the parameter.  All other elements keep their digits.
    So the states of a model and of its optimizer can be loaded in either order.
    """
    nearest = arrays.cast(master, param.dtype)
    is_its = arrays.compare(nearest, param, "eq")
    if stochastic:
        other_way = _is_next(master, nearest, param)
        is_its = arrays.bitwise_or(is_its, other_way)
    kept = arrays.where(is_its, master, arrays.cast(param, FLOAT32))
    arrays.copy(kept, into=master)


def _is_next(master: Array, nearest: Array, param: Array) -> Array:
    """Return where a parameter is its master copy rounded to the farther neighbour.

    Neighbouring halves of the same sign differ by 1 as integers.
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
    """Return `x` rounded at random to a neighbour in `dtype`, as float32.

    The nearer neighbour is more probable, so that the expected value is `x`.  Below the
    normal numbers of float16 the probability has a resolution of 1/8192.
    """
    bits = 13 if dtype == float16.numpy else 16  # more bits than `dtype`
    lift = _lift(x) if dtype == float16.numpy else None
    lifted = x if lift is None else arrays.add(x, lift)
    seed, offset = chosen("stochastic_rounding", None).draw(x.size)
    noise = arrays.random_bits(seed, offset, bits, shape=x.shape, dtype=int32.numpy)
    moved = arrays.add(arrays.reinterpret(lifted, int32.numpy), noise)
    cut = arrays.bitwise_and(moved, arrays.constant(-(1 << bits), moved))
    rounded = arrays.reinterpret(cut, FLOAT32)
    if lift is not None:
        rounded = arrays.copysign(arrays.sub(rounded, lift), x)  # also keeps -0.0
    is_finite = arrays.compare(arrays.abs(x), arrays.constant(inf, x), "lt")
    return arrays.where(is_finite, rounded, x)  # NaN and infinity stay


def _lift(x: Array) -> Array:
    """Return a summand that aligns float32 with the spacing of float16, or 0."""
    least = arrays.copysign(arrays.constant(_LEAST, x), x)
    is_small = arrays.compare(arrays.abs(x), arrays.constant(_LEAST, x), "lt")
    return arrays.where(is_small, least, arrays.constant(0, x))
