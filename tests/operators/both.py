# SPDX-License-Identifier: MIT
"""What the comparisons with PyTorch's databases share: samples for both libraries."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch

import autocalc as ac

#: Of each operator and dtype; spread evenly over those that the database has.
MOST_SAMPLES = 16

#: What PyTorch's `assert_close` allows: (rtol, atol).
TOLERANCE = {torch.float32: (1.3e-6, 1e-5), torch.float64: (1e-7, 1e-7)}
COMPLEX_TOLERANCE = {
    torch.complex64: TOLERANCE[torch.float32],
    torch.complex128: TOLERANCE[torch.float64],
}


class Skipped(Exception):
    """A sample uses what AutoCalc does not have: another dtype, a sparse layout."""


@dataclass
class Result:
    """What became of one operator."""

    present: bool = True
    ran: int = 0
    forward: list[str] = field(default_factory=list)
    gradient: list[str] = field(default_factory=list)
    skipped: Counter = field(default_factory=Counter)

    @property
    def clean(self) -> bool:
        return self.present and self.ran > 0 and not (self.forward or self.gradient)


def read_lists(name):
    """Return the lists of names in a file, by their headings."""
    lists, section = {}, None
    for line in (Path(__file__).parent / name).read_text().splitlines():
        text = line.partition("#")[0].strip()
        if heading := re.fullmatch(r"\[(.*)\]", text):
            section = lists.setdefault(heading[1], [])
        elif text:
            section += text.split()
    return lists


# ---- the same call for both ----------------------------------------------------------


def taken_over(x):
    """Return a tensor of PyTorch as AutoCalc's, with memory of its own."""
    dtype, x = _dtype(x.dtype), x.detach().resolve_neg().resolve_conj()
    # PyTorch makes no arrays of bfloat16.
    x = x.float() if x.dtype is torch.bfloat16 else x.clone()
    return ac.from_numpy(x.numpy()).to(dtype)


def handed_over(x):
    """Return a tensor of AutoCalc as PyTorch's, with memory of its own."""
    dtype, x = getattr(torch, x.dtype.name), x.detach()
    x = x.float() if x.dtype is ac.bfloat16 else x
    return torch.from_numpy(np.array(x.numpy())).to(dtype)


def ours(x, leaves):
    """Return what a sample holds as AutoCalc has it; note pairs of leaves."""
    if isinstance(x, torch.Tensor):
        if x.layout is not torch.strided:
            raise Skipped(f"layout {x.layout}")
        mine = taken_over(x)
        if x.requires_grad:
            mine.requires_grad_()
            leaves.append((x, mine))
        return mine
    if isinstance(x, torch.dtype):
        return _dtype(x)
    if isinstance(x, torch.device):
        return ac.device(str(x))
    if isinstance(x, tuple) and type(x) is not tuple and not hasattr(x, "_fields"):
        return tuple(x)  # torch.Size
    if isinstance(x, (tuple, list)):
        return type(x)(ours(one, leaves) for one in x)
    if isinstance(x, dict):
        # A layout in memory has no name in AutoCalc, and values do not depend on it.
        words = {k: v for k, v in x.items() if k not in {"layout", "memory_format"}}
        return {key: ours(value, leaves) for key, value in words.items()}
    return x


def _dtype(dtype):
    name = str(dtype).removeprefix("torch.")
    names = "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 bool"
    if name not in f"{names} complex64 complex128".split():
        raise Skipped(name)
    return getattr(ac, name)


def theirs(x):
    """Return what a sample holds, its tensors leaves."""
    if isinstance(x, torch.Tensor):
        return x.detach().requires_grad_(x.requires_grad)
    if isinstance(x, (tuple, list)) and not isinstance(x, torch.Size):
        return type(x)(theirs(one) for one in x)
    if isinstance(x, dict):
        return {key: theirs(value) for key, value in x.items()}
    return x


def spread(samples, most=MOST_SAMPLES):
    """Return `most` of the samples at equal distances."""
    step = max(len(samples) / most, 1)
    return [samples[int(i * step)] for i in range(min(most, len(samples)))]


def tolerance(entry, dtype):
    """Return the (rtol, atol) of `assert_close`, or what the database widens it to."""
    from torch.testing._internal.common_device_type import toleranceOverride

    rtol, atol = (TOLERANCE | COMPLEX_TOLERANCE)[dtype]
    for info in entry.decorators:
        if getattr(info, "device_type", None) not in (None, "cpu"):
            continue
        for one in getattr(info, "decorators", None) or [info]:
            if isinstance(one, toleranceOverride) and dtype in one.d:
                rtol = max(rtol, one.d[dtype].rtol)
                atol = max(atol, one.d[dtype].atol)
    return {"rtol": rtol, "atol": atol, "equal_nan": True}


def flat(x):
    if isinstance(x, (tuple, list)):
        return [one for part in x for one in flat(part)]
    return [x]


def compare(mine, expected, close, *, values=True):
    mine, expected = flat(mine), flat(expected)
    assert len(mine) == len(expected), f"{len(mine)} results, not {len(expected)}"
    for a, b in zip(mine, expected, strict=True):
        if not isinstance(b, torch.Tensor):
            assert a == b, f"{a!r}, not {b!r}"
            continue
        assert isinstance(a, ac.Tensor), f"{type(a).__name__}, not a Tensor"
        assert a.dtype.name == str(b.dtype).removeprefix("torch."), (
            f"dtype {a.dtype.name}, not {b.dtype}"
        )
        assert a.shape == tuple(b.shape), f"shape {a.shape}, not {tuple(b.shape)}"
        if values:
            torch.testing.assert_close(
                handed_over(a), b.detach().resolve_neg().resolve_conj(), **close
            )


def gradients(out, expected, mine, inputs, close):
    """Compare the gradients of all results in all inputs of either library.

    Each result has a cotangent of its own.
    """
    out, expected = flat(out), flat(expected)
    pairs = [
        (a, b)
        for a, b in zip(out, expected, strict=True)
        if isinstance(b, torch.Tensor) and b.requires_grad
    ]
    if not pairs:
        return
    rng = np.random.default_rng(0)
    cotangents = [_cotangent(rng, b) for _, b in pairs]
    assert all(a.requires_grad for a, _ in pairs), "a result has no history"
    wanted = torch.autograd.grad(
        [b for _, b in pairs], inputs, cotangents, allow_unused=True
    )
    found = ac.autograd.grad(
        [a for a, _ in pairs],
        mine,
        [taken_over(g) for g in cotangents],
        allow_unused=True,
    )
    for a, b, x in zip(found, wanted, inputs, strict=True):
        zeros = torch.zeros_like(x)
        gradient = taken_over(zeros) if a is None else a
        compare(gradient, zeros if b is None else b, close)


def _cotangent(rng, like):
    drawn = rng.normal(size=like.shape)
    if like.is_complex():
        drawn = drawn + 1j * rng.normal(size=like.shape)
    return torch.from_numpy(np.asarray(drawn)).to(like.dtype)


def leaves_of(x):
    if isinstance(x, dict):
        x = list(x.values())
    if isinstance(x, (tuple, list)):
        return [one for part in x for one in leaves_of(part)]
    return [x] if isinstance(x, torch.Tensor) else []


def print_report(what, results, differentiable):
    """Print how many are wanted, there and clean, and which samples were left out."""
    present = [r for r in results.values() if r.present]
    skipped = sum((r.skipped for r in results.values()), Counter())
    clean = sum(r.clean for r in differentiable)
    print(f"\n{what} wanted {len(results)}, present {len(present)}")
    print(f"forward-clean {sum(r.ran > 0 and not r.forward for r in present)}")
    print(f"gradient-clean {clean} of {len(differentiable)} differentiable ones")
    print(f"samples run {sum(r.ran for r in present)}; left out:")
    for reason, count in skipped.most_common():
        print(f"  {count:5} {reason}")
