# SPDX-License-Identifier: MIT
"""How files of `torch.save` begin; what reads them is imported when one is met."""

from __future__ import annotations

#: A zip archive, and what `torch.save` wrote before it made archives.
ZIP = b"PK\x03\x04"
OLD = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."


def is_torch_file(head: bytes) -> bool:
    """Return whether a file that begins so is one of `torch.save`.

    A safetensors file may begin with the letters of an archive, which are a length
    there, but then has a brace where an archive has none.
    """
    return head.startswith(OLD) or (head.startswith(ZIP) and head[8:9] != b"{")
