# SPDX-License-Identifier: MIT
"""Recurrent networks of several layers, in one direction or both."""

from __future__ import annotations

from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc.nn._layers.recurrent.base import RNNBase, check_nonlinearity


class RNN(RNNBase):
    """Elman network: h_t = tanh(W_ih x_t + b_ih + W_hh h_(t-1) + b_hh).

    The formula is applied to each step t of a sequence, in each layer.

    Elman: Finding structure in time (1990).

    Parameters
    ----------
    input_size, hidden_size, num_layers
        The number of features of the input, the number of features of the state, and
        the number of layers.
    nonlinearity
        ``"tanh"`` or ``"relu"``.  It is the fourth positional argument.
    bias, batch_first, dropout, bidirectional, device, dtype
        The same as for `LSTM`.
    proj_size
        It must be 0; only an LSTM has a projection.

    Attributes
    ----------
    weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0
        The parameters of layer 0.  Their shapes are (hidden_size, input_size),
        (hidden_size, hidden_size), (hidden_size,) and (hidden_size,).  The parameters
        of the second direction have names that end with ``_reverse``.

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
        proj_size: int = 0,
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
            proj_size,
            device,
            dtype,
        )
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory: a recurrent network of one or more layers.

    At each step t, each layer computes the following, where ``*`` is elementwise::

        i = sigmoid(W_ii x_t + b_ii + W_hi h_(t-1) + b_hi)
        f = sigmoid(W_if x_t + b_if + W_hf h_(t-1) + b_hf)
        g = tanh(W_ig x_t + b_ig + W_hg h_(t-1) + b_hg)
        o = sigmoid(W_io x_t + b_io + W_ho h_(t-1) + b_ho)
        c_t = f * c_(t-1) + i * g
        h_t = o * tanh(c_t)

    With `proj_size`, h_t is then multiplied by a matrix W_hr, so that the state h has
    fewer features.

    Hochreiter, Schmidhuber: Long short-term memory (1997).  Sak et al. (2014) describe
    the projection.

    Parameters
    ----------
    input_size
        The number of features of the input.
    hidden_size
        The number of features of the states h and c.
    num_layers
        The number of layers.  Each layer gets the outputs of the layer before it.
    bias
        True for the biases of the gates.
    batch_first
        True for sequences of shape (B, T, features), False for (T, B, features).  The
        states have the shape (num_layers * directions, B, features) in both cases.
    dropout
        The probability that an element of the output of a layer is set to 0 in
        training. It does not apply to the last layer.
    bidirectional
        True to add a second direction to each layer.  It runs from the last step to the
        first.  The outputs of the two directions are concatenated.
    proj_size
        The number of features of h after the projection; less than `hidden_size`. 0
        means no projection.  A layer with a projection is slower, because no single
        kernel computes it.
    device, dtype
        The device and the floating-point dtype of the parameters.  None means the
        default device and the default dtype.

    Attributes
    ----------
    weight_ih_l0, weight_hh_l0
        The matrices of the gates i, f, g and o of layer 0, concatenated in this order.
        Their shapes are (4 hidden_size, input_size) and (4 hidden_size, hidden_size).
        The parameters of the second direction have names that end with ``_reverse``.
        All initial values are uniform on [-k, k], where k = 1 / sqrt(hidden_size).
    bias_ih_l0, bias_hh_l0
        The biases of the gates i, f, g and o, each of shape (4 hidden_size,).
    weight_hr_l0
        The matrix W_hr of the projection, of shape (proj_size, hidden_size).

    Raises
    ------
    ShapeError
        If the shape of the input or of the states is wrong.

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
    """Gated recurrent units: a recurrent network of one or more layers.

    At each step t, each layer computes the following, where ``*`` is elementwise::

        r = sigmoid(W_ir x_t + b_ir + W_hr h_(t-1) + b_hr)
        z = sigmoid(W_iz x_t + b_iz + W_hz h_(t-1) + b_hz)
        n = tanh(W_in x_t + b_in + r * (W_hn h_(t-1) + b_hn))
        h_t = (1 - z) * n + z * h_(t-1)

    Cho et al.: Learning phrase representations using RNN encoder-decoder (2014).

    Parameters
    ----------
    input_size, hidden_size, num_layers, bias
        The same as for `LSTM`.
    batch_first, dropout, bidirectional, device, dtype
        The same as for `LSTM`.

    Attributes
    ----------
    weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0
        The same as for `LSTM`, but for the three gates r, z and n.

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
        proj_size: int = 0,
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
            proj_size,
            device,
            dtype,
        )
