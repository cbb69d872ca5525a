# SPDX-License-Identifier: MIT
"""How ranks tell the test what they have: a line of JSON each."""

from __future__ import annotations

import json
import os

import autocalc.distributed as dist


def tell(value):
    """Print a value with this rank's number, in one write, so that lines stay whole."""
    line = f"VALUE {json.dumps([dist.get_rank(), value])}\n"
    os.write(1, line.encode())
