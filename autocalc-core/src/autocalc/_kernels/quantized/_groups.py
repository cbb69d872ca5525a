# SPDX-License-Identifier: MIT
"""The packed form of quantised numbers: groups of codes with a scale each.

A group is a scale of float16 (2 bytes), then the codes. With 8 bits a code is an int8
from -127 to 127. With 4 bits it is from 0 to 15, and 8 is subtracted from it. Of each
32 codes of 4 bits, byte j holds code j in its lower half and code j + 16 in its upper
half. With groups of 32 these are the blocks Q8_0 and Q4_0 of GGUF files.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autocalc._kernels.rules import one_of
from autocalc._kernels.spec import Array, DType, Meta, Shape
from autocalc.errors import ArgumentError, ShapeError

UINT8: DType = np.dtype(np.uint8)

#: The bits of a code, and the codes that are packed together.
BITS, CHUNK = (8, 4), 32


def group_bytes(bits: int, group: int) -> int:
    """Return the number of bytes of a group."""
    return 2 + group * bits // 8


def check_groups(where: str, bits: int, group: int) -> None:
    """Raise unless numbers can be packed so."""
    if bits not in BITS:
        raise ArgumentError(f"{where}: `bits` is {bits}; it must be 8 or 4.")
    if group < CHUNK or group % CHUNK:
        raise ArgumentError(
            f"{where}: `group` is {group}; it must be a positive multiple of {CHUNK}."
        )


def unpacked_shape(where: str, name: str, blocks: Meta, bits: int, group: int) -> Shape:
    """Return the shape of the numbers that `blocks` holds; raise if it is not right."""
    check_groups(where, bits, group)
    one_of(where, name, blocks, (UINT8,))
    each = group_bytes(bits, group)
    if len(blocks.shape) < 2 or blocks.shape[-1] != each:
        raise ShapeError(
            f"{where}: `{name}` has shape {blocks.shape}; with {bits} bits and groups "
            f"of {group} it must be [..., groups, {each}]."
        )
    return *blocks.shape[:-2], blocks.shape[-2] * group


def codes_of(xp: Any, blocks: Array, bits: int) -> Array:
    """Return the codes of `blocks` [..., bytes] as int8 [..., group]."""
    codes = xp.ascontiguousarray(blocks[..., 2:])
    if bits == 8:
        return codes.view(np.int8)
    *rows, size = codes.shape
    chunks = codes.reshape(*rows, 2 * size // CHUNK, CHUNK // 2)
    halves = xp.concatenate([chunks & 15, chunks >> 4], axis=-1).astype(np.int8)
    return halves.reshape(*rows, 2 * size) - np.int8(8)


def scales_of(xp: Any, blocks: Array) -> Array:
    """Return the scales of `blocks` [..., bytes] as float32 [...]."""
    scales = xp.ascontiguousarray(blocks[..., :2]).view(np.float16)
    return scales[..., 0].astype(np.float32)


def packed(xp: Any, scales: Array, codes: Array, bits: int) -> Array:
    """Pack scales of float16 [...] and int8 codes [..., group] as blocks."""
    if bits == 4:
        *rows, size = codes.shape
        chunks = (codes + 8).astype(np.uint8).reshape(*rows, size // CHUNK, CHUNK)
        low, high = chunks[..., : CHUNK // 2], chunks[..., CHUNK // 2 :]
        codes = (low | high << 4).reshape(*rows, size // 2)
    first = xp.ascontiguousarray(scales)[..., None].view(np.uint8)
    return xp.concatenate([first, codes.view(np.uint8)], axis=-1)
