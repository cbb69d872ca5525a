# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.nn import Transformer as Transformer
from autocalc.nn import TransformerDecoder as TransformerDecoder
from autocalc.nn import TransformerDecoderLayer as TransformerDecoderLayer
from autocalc.nn import TransformerEncoder as TransformerEncoder
from autocalc.nn import TransformerEncoderLayer as TransformerEncoderLayer
