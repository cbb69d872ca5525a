# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.nn import Transformer as Transformer
from autocalc.nn import TransformerDecoder as TransformerDecoder
from autocalc.nn import TransformerDecoderLayer as TransformerDecoderLayer
from autocalc.nn import TransformerEncoder as TransformerEncoder
from autocalc.nn import TransformerEncoderLayer as TransformerEncoderLayer
from autocalc.nn._layers.attention.transformer_layers import (
    activation_by_name as activation_by_name,
)

_get_activation_fn = activation_by_name
