# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.nn import GRU as GRU
from autocalc.nn import LSTM as LSTM
from autocalc.nn import RNN as RNN
from autocalc.nn import GRUCell as GRUCell
from autocalc.nn import LSTMCell as LSTMCell
from autocalc.nn import RNNBase as RNNBase
from autocalc.nn import RNNCell as RNNCell
from autocalc.nn import RNNCellBase as RNNCellBase
