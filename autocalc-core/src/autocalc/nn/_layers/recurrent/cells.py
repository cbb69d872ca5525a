# SPDX-License-Identifier: MIT
"""Cells: one step of a recurrent network, for loops in the user's code."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.checks import check_sizes
from autocalc._ops.creation.constants import empty, zeros
from autocalc._ops.recurrent import States, Weights, layer
from autocalc._ops.views import view
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flag, one_of
from autocalc._tensor.device import Device, place_of_tensor
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError, ShapeError
from autocalc.nn import _init
from autocalc.nn._layers.recurrent.base import GATES, check_nonlinearity
from autocalc.nn._module.module import Module
from autocalc.nn._module.parameter import Parameter


class RNNCellBase(Module):
    """The base class of the recurrent cells.

    Parameters
    ----------
    mode, input_size, hidden_size, bias, device, dtype
        The same as for `RNNBase`.

    Examples
    --------
    >>> import autocalc as ac
    >>> cell = ac.nn.LSTMCell(4, 8)
    >>> isinstance(cell, ac.nn.RNNCellBase), cell.weight_ih.shape
    (True, autocalc.Size([32, 4]))
    """

    weight_ih: Parameter
    weight_hh: Parameter
    bias_ih: Parameter | None
    bias_hh: Parameter | None

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        bias: bool,
        device: str | Device | None,
        dtype: DType | None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        input_size, hidden_size = check_sizes(
            name, input_size=input_size, hidden_size=hidden_size
        )
        check_flag(name, "bias", bias)
        one_of(name, "mode", mode, tuple(GATES))
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = GATES[mode] * hidden_size
        self.weight_ih = Parameter(empty(rows, input_size, dtype=dtype, device=device))
        self.weight_hh = Parameter(empty(rows, hidden_size, dtype=dtype, device=device))
        for word in ("bias_ih", "bias_hh"):
            parameter = (
                Parameter(empty(rows, dtype=dtype, device=device)) if bias else None
            )
            self.register_parameter(word, parameter)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new initial values for all parameters.

        They are uniform on [-k, k], where k = 1 / sqrt(hidden_size).
        """
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size else 0.0
        for parameter in self.parameters():
            _init.uniform_(parameter, -bound, bound)

    def _step(self, input: Tensor, states: Any) -> States:
        """Run one step from `states` (None for zeros); return the new states."""
        x = self._batched("input", input, self.input_size)
        count = 2 if self.mode == "LSTM" else 1
        if states is None:
            zero = zeros(
                x.shape[0], self.hidden_size, dtype=x.dtype, device=place_of_tensor(x)
            )
            first: States = (zero,) * count
        else:
            given = states if isinstance(states, (tuple, list)) else (states,)
            if len(given) != count:
                raise ArgumentError(
                    f"{type(self).__name__}: `hx` holds {len(given)} states; it must "
                    f"hold {'(h, c)' if count == 2 else 'h'}."
                )
            first = tuple(
                self._batched(word, state, self.hidden_size, x.shape[0], input.ndim)
                for word, state in zip(("hidden0", "hidden1"), given, strict=False)
            )
        weights = Weights(self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        x = view.unsqueeze(x, 0)
        _, last = layer(self.mode, x, weights, first, False, cell=True)
        if input.ndim == 1:
            return tuple(view.squeeze(s, 0) for s in last)
        return last

    def _batched(
        self, word: str, x: Tensor, size: int, batch: int | None = None, ndim: int = 0
    ) -> Tensor:
        """Return ``[B, size]``; an input without a batch becomes a batch of one."""
        name = type(self).__name__
        x = check_tensor(name, x)
        whole = x.ndim in (1, 2) and x.shape[-1] == size and ndim in (0, x.ndim)
        if not whole or (batch is not None and x.ndim == 2 and x.shape[0] != batch):
            rows = "B" if batch is None else str(batch)
            found = f"`{word}` has shape {x.shape}"
            if x.ndim not in (1, 2):
                found = f"Expected {self._called(word)} to be 1D or 2D, got {x.ndim}D "
                found += "instead"
            elif x.shape[-1] == size and batch not in (None, x.shape[0]):
                found = f"Input batch size {batch} doesn't match {word} batch size "
                found += f"{x.shape[0]}"
            elif x.shape[-1] != size:
                kind = "input_size" if word == "input" else "hidden_size"
                found = f"{word} has inconsistent {kind}: got {x.shape[-1]}"
                found += f"{'' if word == 'input' else ','} expected {size}"
            raise ShapeError(
                f"{name}: {found}; it must be ({rows}, {size}), or ({size},) without a "
                f"batch."
            )
        return view.unsqueeze(x, 0) if x.ndim == 1 else x

    def _called(self, word: str) -> str:
        """Return the name of an argument in errors about its number of dimensions."""
        if self.mode == "LSTM":
            return {"hidden0": "hx[0]", "hidden1": "hx[1]"}.get(word, word)
        return word.removesuffix("0")

    def extra_repr(self) -> str:
        """Return the sizes as text for `repr`."""
        text = f"{self.input_size}, {self.hidden_size}"
        return text if self.bias else f"{text}, bias={self.bias}"


class RNNCell(RNNCellBase):
    """One step of a recurrent network: h' = tanh(W_ih x + b_ih + W_hh h + b_hh).

    Parameters
    ----------
    input_size, hidden_size
        The number of features of the input x and of the state h.
    bias
        True for the biases b_ih and b_hh.
    nonlinearity
        The function in the formula: ``"tanh"`` or ``"relu"``.
    device, dtype
        The device and the floating-point dtype of the parameters.  None means the
        default device and the default dtype.

    Attributes
    ----------
    weight_ih, weight_hh, bias_ih, bias_hh
        W_ih of shape (hidden_size, input_size), W_hh of shape (hidden_size,
        hidden_size), b_ih and b_hh of shape (hidden_size,).

    Examples
    --------
    >>> import autocalc as ac
    >>> cell = ac.nn.RNNCell(10, 20)
    >>> h = ac.zeros(3, 20)
    >>> for x in ac.randn(6, 3, 10):
    ...     h = cell(x, h)
    >>> h.shape
    autocalc.Size([3, 20])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: str | Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        check_nonlinearity("RNNCell", nonlinearity)
        mode = f"RNN_{nonlinearity.upper()}"
        super().__init__(mode, input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the new state h', of shape (B, hidden_size).

        The input has the shape (B, input_size), and the state h has the shape (B,
        hidden_size).
        """
        return self._step(input, hx)[0]


class LSTMCell(RNNCellBase):
    """One step of an LSTM; `LSTM` has the formula.

    Parameters
    ----------
    input_size, hidden_size
        The number of features of the input x, and of the states h and c.
    bias
        True for the biases of the gates.
    device, dtype
        The device and the floating-point dtype of the parameters.  None means the
        default device and the default dtype.

    Attributes
    ----------
    weight_ih, weight_hh, bias_ih, bias_hh
        The parameters of the gates i, f, g and o, concatenated in this order.  Their
        shapes are (4 hidden_size, input_size), (4 hidden_size, hidden_size), (4
        hidden_size,) and (4 hidden_size,).

    Examples
    --------
    >>> import autocalc as ac
    >>> cell = ac.nn.LSTMCell(10, 20)
    >>> h, c = cell(ac.randn(3, 10))
    >>> h, c = cell(ac.randn(3, 10), (h, c))
    >>> h.shape, c.shape
    (autocalc.Size([3, 20]), autocalc.Size([3, 20]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: str | Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__("LSTM", input_size, hidden_size, bias, device, dtype)

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the new states (h, c), each of shape (B, hidden_size).

        The input has the shape (B, input_size); `hx` is the pair of old states.
        """
        h, c = self._step(input, hx)
        return h, c


class GRUCell(RNNCellBase):
    """One step of a GRU; `GRU` has the formula.

    Parameters
    ----------
    input_size, hidden_size
        The number of features of the input x and of the state h.
    bias
        True for the biases of the gates.
    device, dtype
        The device and the floating-point dtype of the parameters.  None means the
        default device and the default dtype.

    Attributes
    ----------
    weight_ih, weight_hh, bias_ih, bias_hh
        The parameters of the gates r, z and n, concatenated in this order.  Their
        shapes are (3 hidden_size, input_size), (3 hidden_size, hidden_size), (3
        hidden_size,) and (3 hidden_size,).

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.GRUCell(10, 20)(ac.randn(3, 10)).shape
    autocalc.Size([3, 20])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: str | Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__("GRU", input_size, hidden_size, bias, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the new state h', of shape (B, hidden_size).

        The input has the shape (B, input_size), and the state h has the shape (B,
        hidden_size).
        """
        return self._step(input, hx)[0]
