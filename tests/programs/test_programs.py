# SPDX-License-Identifier: MIT
"""Training programs as users of PyTorch write them, which run under either import."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
PROGRAMS = sorted(p for p in HERE.glob("*.py") if not p.name.startswith("test_"))

#: Float32 sums in another order, through some 50 steps of training.
TOLERANCE = 2e-3


def run(path, library):
    """Run a program's `main` with `torch` replaced by `library` where it imports."""
    source = path.read_text(encoding="utf-8")
    if "einops" in source:
        pytest.importorskip("einops", reason="einops is not installed")
    source = source.replace("einops.layers.torch", f"einops.layers.{library}")
    alone, parts = r"(?m)^import torch$", r"(?m)^(from|import) torch\b"
    source = re.sub(alone, f"import {library} as torch", source)
    source = re.sub(parts, rf"\1 {library}", source)
    names = {"__name__": path.stem}
    exec(compile(source, str(path), "exec", dont_inherit=True), names)
    return names["main"]()


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_it_trains(path):
    losses = run(path, "autocalc")
    assert np.isfinite(losses).all()
    assert min(losses[1:10]) < losses[0]


@pytest.mark.torch
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_its_losses_are_those_of_pytorch(path):
    torch = pytest.importorskip("torch")
    # PyTorch's own test tools, once imported, refuse what the programs set.
    with torch.backends.__allow_nonbracketed_mutation():
        ours, theirs = run(path, "autocalc"), run(path, "torch")
    np.testing.assert_allclose(ours, theirs, rtol=TOLERANCE)
