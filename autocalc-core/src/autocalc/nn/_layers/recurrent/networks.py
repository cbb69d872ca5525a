# SPDX-License-Identifier: MIT
"""Recurrent networks of several layers, in one direction or both."""

from __future__ import annotations

from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc.nn._layers.recurrent.base import RNNBase, check_nonlinearity


class RNN(RNNBase):
    """h_t = tanh(W_ih x_t + b_ih + W_hh h_(t-1) + b_hh), over a sequence.

    Elman: Finding structure in time (1990).

    Parameters
    ----------
    input_size, hidden_size, num_layers
        The numbers of features of input and state, and the number of layers.
    nonlinearity
        "tanh" or "relu"; by position it comes after `num_layers`.
    bias, batch_first, dropout, bidirectional, dtype
        The same as for `LSTM`.

    Attributes
    ----------
    weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0
        (hidden_size, input_size), (hidden_size, hidden_size), (hidden_size,) twice, of
        layer 0; with ``_reverse`` at the end those of the other direction.

    Examples
    --------
    >>> import autocalc as ac
    >>> rnn = ac.nn.RNN(10, 20, 2)
    >>> output, h = rnn(ac.randn(5, 3, 10))
    >>> output.shape, h.shape
    (autocalc.Size([5, 3, 20]), autocalc.Size([2, 3, 20]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: str | Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        check_nonlinearity("RNN", nonlinearity)
        super().__init__(
            f"RNN_{nonlinearity.upper()}",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            device=device,
            dtype=dtype,
        )
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory over a sequence, with as many layers as wanted.

    At each step t, in each layer, with ``*`` element by element::

        i = sigmoid(W_ii x_t + b_ii + W_hi h_(t-1) + b_hi)
        f = sigmoid(W_if x_t + b_if + W_hf h_(t-1) + b_hf)
        g = tanh(W_ig x_t + b_ig + W_hg h_(t-1) + b_hg)
        o = sigmoid(W_io x_t + b_io + W_ho h_(t-1) + b_ho)
        c_t = f * c_(t-1) + i * g
        h_t = o * tanh(c_t)

    Hochreiter and Schmidhuber: Long short-term memory (1997); with `proj_size` h_t is
    W_hr times that (Sak and others, 2014).

    Parameters
    ----------
    input_size
        The number of features of the input.
    hidden_size
        The number of features of h and c.
    num_layers
        The number of layers; each takes the outputs of the one before.
    bias
        True for biases.
    batch_first
        Whether sequences are (B, T, features); otherwise they are (T, B, features).
        The states are (layers * directions, B, features) in either case.
    dropout
        The probability that an element between two layers is set to 0 in training.
    bidirectional
        Whether each layer has a second half, which goes from the last step to the
        first; the outputs of both are concatenated.
    proj_size
        Features of h if not 0, less than `hidden_size`.  The steps are then computed
        operator by operator, which is slower than the kernel.
    dtype
        The dtype of the parameters; None is the default dtype.

    Attributes
    ----------
    weight_ih_l0, weight_hh_l0
        The blocks of i, f, g and o one below the other: (4 hidden_size, input_size) and
        (4 hidden_size, hidden_size); of layer 0, with ``_reverse`` at the end those of
        the other direction.  All parameters are drawn evenly from -k to k, k = 1 /
        sqrt(hidden_size).
    bias_ih_l0, bias_hh_l0
        The biases of the four gates, each of shape (4 hidden_size,).
    weight_hr_l0
        The projection of the hidden state, of shape (proj_size, hidden_size).

    Raises
    ------
    ShapeError
        If the input or the states do not have these shapes.

    Examples
    --------
    >>> import autocalc as ac
    >>> lstm = ac.nn.LSTM(10, 20, num_layers=2, batch_first=True)
    >>> output, (h, c) = lstm(ac.randn(3, 5, 10))
    >>> output.shape, h.shape, c.shape
    (autocalc.Size([3, 5, 20]), autocalc.Size([2, 3, 20]), autocalc.Size([2, 3, 20]))
    """

    def __init__(
        self,
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
        super().__init__(
            "LSTM",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            proj_size,
            device,
            dtype,
        )


class GRU(RNNBase):
    """Gated recurrent units over a sequence, with as many layers as wanted.

    At each step t, in each layer, with ``*`` element by element::

        r = sigmoid(W_ir x_t + b_ir + W_hr h_(t-1) + b_hr)
        z = sigmoid(W_iz x_t + b_iz + W_hz h_(t-1) + b_hz)
        n = tanh(W_in x_t + b_in + r * (W_hn h_(t-1) + b_hn))
        h_t = (1 - z) * n + z * h_(t-1)

    Cho and others: Learning phrase representations using RNN encoder-decoder (2014).

    Parameters
    ----------
    input_size, hidden_size, num_layers, bias
        The same as for `LSTM`.
    batch_first, dropout, bidirectional, dtype
        The same as for `LSTM`.

    Attributes
    ----------
    weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0
        The same as for `LSTM`, with the three blocks of r, z and n.

    Examples
    --------
    >>> import autocalc as ac
    >>> gru = ac.nn.GRU(10, 20, bidirectional=True)
    >>> output, h = gru(ac.randn(5, 3, 10))
    >>> output.shape, h.shape
    (autocalc.Size([5, 3, 40]), autocalc.Size([2, 3, 20]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: str | Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(
            "GRU",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            device=device,
            dtype=dtype,
        )
