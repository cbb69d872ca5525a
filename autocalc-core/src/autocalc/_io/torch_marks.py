# SPDX-License-Identifier: MIT
"""The first bytes of `torch.save` files; their reader is only imported when needed."""

from __future__ import annotations

#: The first bytes of a zip archive, and of the older format of `torch.save`.
ZIP = b"PK\x03\x04"
OLD = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."


def is_torch_file(head: bytes) -> bool:
    """Return whether a file with these first bytes was written by `torch.save`.

    A safetensors file may begin with the letters of an archive, because they can be a
    length.  But then it has a brace in a place where an archive has none.
    """
    return head.startswith(OLD) or (head.startswith(ZIP) and head[8:9] != b"{")
