# SPDX-License-Identifier: MIT
"""Run a program and keep its values: ``python values.py PROGRAM FOLDER``."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np

PROGRAMS = Path(__file__).with_name("programs")


def announce_operators() -> None:
    """Announce operators of torchvision, whose binary may be for another PyTorch."""
    import torch

    schema = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
    for name in ("nms", "qnms"):
        torch.library.define(f"torchvision::{name}", schema)


def main(program: str, folder: str) -> None:
    """Write the values of each run into a file of its own."""
    announce_operators()
    sys.path.insert(0, str(PROGRAMS))
    module = importlib.import_module(program)
    for name in module.NAMES:
        np.savez(Path(folder) / f"{name}.npz", **module.run(name))


if __name__ == "__main__":
    main(*sys.argv[1:])
