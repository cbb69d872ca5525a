# SPDX-License-Identifier: MIT
"""The base of recurrent networks: layers, directions and states."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from autocalc._dispatch.selection.state import current
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.checks import check_probability, check_sizes
from autocalc._ops.arranging import joining
from autocalc._ops.creation.constants import empty, zeros
from autocalc._ops.indexing import indexing
from autocalc._ops.random.dropout import dropout as drop
from autocalc._ops.recurrent import States, Weights, layer, packed_layer
from autocalc._ops.views import view
from autocalc._tensor import Tensor
from autocalc._tensor.checks import as_int, check_flag, plain, short
from autocalc._tensor.device import Device, place_of_tensor
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError, DTypeError, ShapeError
from autocalc.nn import _init
from autocalc.nn._layers.recurrent.packed import PackedSequence
from autocalc.nn._module.module import Module
from autocalc.nn._module.parameter import Parameter

#: The number of blocks of rows in the weights.
GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


class RNNBase(Module):
    """The base class of `RNN`, `LSTM` and `GRU`.

    Parameters
    ----------
    mode
        ``"LSTM"``, ``"GRU"``, ``"RNN_TANH"`` or ``"RNN_RELU"``.
    input_size
        The number of features of the input.
    hidden_size
        The number of features of the hidden state, in each layer and each direction.
    num_layers
        The number of layers.  Each layer gets the outputs of the layer before it.
    bias
        True for the biases `bias_ih` and `bias_hh` of each layer.
    batch_first
        True for sequences of shape (B, T, features), False for (T, B, features).
    dropout
        The probability that an element of the output of a layer is set to 0 in
        training. It does not apply to the last layer.
    bidirectional
        True to add a second direction to each layer.  It runs from the last step to the
        first.
    proj_size
        The number of features of an LSTM's projected output.  0 means no projection.
    device, dtype
        The device and the floating-point dtype of the parameters.  None means the
        default device and the default dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> rnn = ac.nn.RNNBase("GRU", 4, 8, bidirectional=True)
    >>> output, state = rnn(ac.zeros(5, 2, 4))
    >>> output.shape, state.shape
    (autocalc.Size([5, 2, 16]), autocalc.Size([2, 2, 8]))
    """

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: str | Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        name = type(self).__name__
        _check_flags(name, bias=bias, batch_first=batch_first)
        check_flag(name, "bidirectional", bidirectional)
        super().__init__()
        sizes = {"input_size": input_size, "hidden_size": hidden_size}
        _check_integers(name, **sizes)
        num_layers = as_int(name, "num_layers", num_layers)
        proj_size = as_int(name, "proj_size", proj_size)
        _check_whole(name, mode, **sizes, num_layers=num_layers, proj_size=proj_size)
        input_size, hidden_size, num_layers, proj_size = check_sizes(
            name, **sizes, num_layers=num_layers, proj_size=proj_size
        )
        dropout = check_probability(name, dropout)
        if dropout and num_layers == 1:
            message = (
                f"{name}: dropout={dropout} has no effect, because it is applied "
                "between layers and there is only one layer."
            )
            warnings.warn(message, stacklevel=3)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._make_parameters(device, dtype)
        self.reset_parameters()

    def _make_parameters(
        self, device: str | Device | None, dtype: DType | None
    ) -> None:
        rows = GATES[self.mode] * self.hidden_size
        out = self.proj_size or self.hidden_size
        for number, suffix in self._places():
            first = number == 0
            columns = self.input_size if first else out * self._directions
            shapes: dict[str, tuple[int, ...]] = {
                "weight_ih": (rows, columns),
                "weight_hh": (rows, out),
            }
            if self.bias:
                shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
            if self.proj_size:
                shapes["weight_hr"] = (out, self.hidden_size)
            for word, shape in shapes.items():
                parameter = Parameter(empty(*shape, dtype=dtype, device=device))
                self.register_parameter(f"{word}_l{number}{suffix}", parameter)

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    def _places(self) -> Iterator[tuple[int, str]]:
        """Yield the layer and the suffix of each set of weights."""
        for number in range(self.num_layers):
            for suffix in ("", "_reverse")[: self._directions]:
                yield number, suffix

    def reset_parameters(self) -> None:
        """Draw new initial values for all parameters.

        They are uniform on [-k, k], where k = 1 / sqrt(hidden_size).
        """
        bound = 1 / math.sqrt(self.hidden_size)
        for parameter in self.parameters():
            _init.uniform_(parameter, -bound, bound)

    def flatten_parameters(self) -> None:
        """Do nothing.  In PyTorch this method packs the weights for a GPU library."""

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters, as one list for each layer and direction."""
        return [
            [p for p in self._weights(*place) if p is not None]
            for place in self._places()
        ]

    def _weights(self, number: int, suffix: str) -> Weights:
        end = f"_l{number}{suffix}"
        words = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
        found: Any = (getattr(self, word + end, None) for word in words)
        return Weights(*found)

    # ---- running -----------------------------------------------------------------

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """Return the outputs of the last layer, and the last states of all layers.

        Parameters
        ----------
        input
            The input, of shape (T, B, input_size), or (B, T, input_size) with
            `batch_first`, or (T, input_size) for one sequence.  For sequences of
            different lengths, pass a `PackedSequence`.
        hx
            The initial state h, of shape (num_layers * directions, B, features).  An
            LSTM needs a pair (h, c).  For one sequence, the dimension B is missing.
            None means zeros.

        Returns
        -------
        output : Tensor or PackedSequence
            The outputs, in the same form as `input`.  The number of features is that of
            the hidden state; it is twice as large if `bidirectional`.
        hx
            The states after the last step, in the same form as `hx`.
        """
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        single = self._check_input(input)
        x: Tensor = input
        if single:
            x = view.unsqueeze(x, 1)
        elif self.batch_first:
            x = view.permute(x, (1, 0, 2))
        first = self._first_states(x, x.shape[1], hx, single)
        x, last = self._run(x, first)
        if single:
            x = view.squeeze(x, 1)
            last = tuple(view.squeeze(s, 1) for s in last)
        elif self.batch_first:
            x = view.permute(x, (1, 0, 2))
        return x, last if self.mode == "LSTM" else last[0]

    def _forward_packed(
        self, input: PackedSequence, hx: Any
    ) -> tuple[PackedSequence, Any]:
        """Do the same for packed sequences, in the order of their lengths."""
        x, batch_sizes, order, back = input
        self._check_features(x, x.ndim == 2, "PackedSequence.data", "(N, {0})")
        sizes = batch_sizes.tolist()
        first = self._first_states(x, sizes[0], hx, False)
        if hx is not None and order is not None:
            first = tuple(indexing.index_select(s, 1, order) for s in first)
        x, last = self._run(x, first, sizes)
        if back is not None:
            last = tuple(indexing.index_select(s, 1, back) for s in last)
        return input._replace(data=x), last if self.mode == "LSTM" else last[0]

    def _run(
        self, x: Tensor, first: States, sizes: Sequence[int] | None = None
    ) -> tuple[Tensor, States]:
        """Run all layers over ``[T, B, I]``, or over packed sequences ``[N, I]``."""
        last: list[States] = []
        for number in range(self.num_layers):
            if number and self.dropout:
                x = drop(x, self.dropout, self.training)
            halves: list[Tensor] = []
            for suffix in ("", "_reverse")[: self._directions]:
                states = tuple(s[len(last)] for s in first)
                weights = self._weights(number, suffix)
                rest = (weights, states, bool(suffix))
                if sizes is None:
                    half, ended = layer(self.mode, x, *rest)
                else:
                    half, ended = packed_layer(self.mode, x, sizes, *rest)
                halves.append(half)
                last.append(ended)
            x = halves[0] if len(halves) == 1 else joining.cat(halves, -1)
        return x, tuple(joining.stack(list(s)) for s in zip(*last, strict=True))

    def _check_input(self, input: Tensor) -> bool:
        """Raise unless the input fits; return whether it is a single sequence."""
        name = type(self).__name__
        x = check_tensor(name, input)
        order = "(B, T, {0})" if self.batch_first else "(T, B, {0})"
        needed = f"{order}, or (T, {{0}}) for one sequence"
        self._check_features(x, x.ndim in (2, 3), "input", needed)
        steps = x.shape[1 if self.batch_first and x.ndim == 3 else 0]
        if not steps:
            message = f"{name}: `input` has shape {x.shape}; give at least one step."
            raise ShapeError(message)
        return x.ndim == 2

    def _check_features(self, x: Tensor, fits: bool, word: str, needed: str) -> None:
        """Raise unless the number of dimensions, the features and the dtype fit."""
        name = type(self).__name__
        if not fits or x.shape[-1] != self.input_size:
            raise ShapeError(
                f"{name}: `{word}` has shape {x.shape}; it must be "
                f"{needed.format(self.input_size)}: {word}.size(-1) must be equal to "
                f"input_size, {self.input_size}."
            )
        weight = self._weights(0, "").w_ih
        if x.dtype is not weight.dtype and current().autocast is None:
            raise DTypeError(
                f"{name}: RNN input dtype ({x.dtype.name}) of `{word}` does not match "
                f"weight dtype ({weight.dtype.name}). Convert input: "
                f"input.to({weight.dtype.name}), or convert model: "
                f"model.to({x.dtype.name})."
            )

    def _first_states(self, x: Tensor, batch: int, hx: Any, single: bool) -> States:
        """Return h0 (and c0) as ``[layers * directions, B, features]``."""
        name, count = type(self).__name__, self.num_layers * self._directions
        shapes = [(count, batch, self.proj_size or self.hidden_size)]
        if self.mode == "LSTM":
            shapes.append((count, batch, self.hidden_size))
        if hx is None:
            return tuple(
                zeros(*shape, dtype=x.dtype, device=place_of_tensor(x))
                for shape in shapes
            )
        given = hx if isinstance(hx, (tuple, list)) else (hx,)
        if len(given) != len(shapes):
            raise ArgumentError(
                f"{name}: `hx` holds {len(given)} states; it must hold "
                f"{'(h0, c0)' if len(shapes) == 2 else 'h0'}."
            )
        states = []
        for word, state, shape in zip(("h0", "c0"), given, shapes, strict=False):
            needed = (shape[0], shape[2]) if single else shape
            if check_tensor(name, state).shape != needed:
                raise ShapeError(
                    f"{name}: Expected hidden size {needed}, layers * directions"
                    f"{'' if single else ', batch'}, features, but got `{word}` of "
                    f"shape {state.shape}."
                )
            states.append(view.unsqueeze(state, 1) if single else state)
        return tuple(states)

    def extra_repr(self) -> str:
        """Return the sizes and non-default settings as text for `repr`."""
        words = [f"{self.input_size}, {self.hidden_size}"]
        defaults = {
            "proj_size": 0,
            "num_layers": 1,
            "bias": True,
            "batch_first": False,
            "dropout": 0.0,
            "bidirectional": False,
        }
        for word, default in defaults.items():
            if (value := getattr(self, word)) != default:
                words.append(f"{word}={value}")
        return ", ".join(words)


def _check_flags(where: str, **given: Any) -> None:
    """Raise unless each argument is True or False."""
    for name, value in given.items():
        if not isinstance(plain(value), bool):
            raise ArgumentError(
                f"{where}: {name} should be of type bool, got: {type(value).__name__}; "
                f"`{name}` must be True or False."
            )


def _check_integers(where: str, **given: Any) -> None:
    """Raise unless each argument is an integer."""
    for name, value in given.items():
        if not isinstance(plain(value), int):
            raise DTypeError(
                f"{where}: {name} should be of type int, got: {type(value).__name__}."
            )


def _check_whole(
    name: str, mode: str, hidden_size: int, proj_size: int, **sizes: int
) -> None:
    for word, size in {**sizes, "hidden_size": hidden_size}.items():
        if size < 1:
            raise ArgumentError(
                f"{name}: {word} must be greater than zero, not {size}."
            )
    if proj_size and mode != "LSTM":
        raise ArgumentError(
            f"{name}: proj_size argument is only supported for LSTM, not RNN or GRU; "
            f"it is {proj_size}."
        )
    if proj_size and proj_size >= hidden_size:
        raise ArgumentError(
            f"{name}: `proj_size` is {proj_size}; the size of the projection of an "
            f"LSTM must be below hidden_size, {hidden_size}."
        )


def check_nonlinearity(where: str, nonlinearity: Any) -> None:
    """Raise unless `nonlinearity` is one of the two allowed values."""
    if nonlinearity not in ("tanh", "relu"):
        raise ArgumentError(
            f"{where}: Unknown nonlinearity {short(nonlinearity)}; use 'tanh' or "
            "'relu'."
        )
