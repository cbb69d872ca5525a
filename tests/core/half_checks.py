# SPDX-License-Identifier: MIT
"""Calls in half precision against the same calls in float32 and float64.

A call is right where each element is a rounding of what float64 makes of the same
values, float32's own error allowed: so it overflows where the result does, and is 0
where the result is.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

import autocalc as ac

EPS = 2.0**-23

#: Functions whose gradients are made of the rounded result, as it is all that is kept:
#: where terms cancel, a rounding of it is many of theirs. PyTorch keeps the same.
OF_RESULTS = frozenset({"scaled_dot_product_attention"})


def converted(x, dtype):
    """Return an argument with its floating-point tensors in another dtype."""
    if isinstance(x, ac.Tensor):
        return x.detach().clone().to(dtype) if x.is_floating_point() else x
    if isinstance(x, ac.DType):
        return dtype if x.is_half else x
    if isinstance(x, (tuple, list)):
        parts = [converted(one, dtype) for one in x]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    if isinstance(x, Mapping):
        return {name: converted(one, dtype) for name, one in x.items()}
    return x


def tensors_in(x):
    """Return the tensors in arguments or results, in their order."""
    if isinstance(x, ac.Tensor):
        return [x]
    if isinstance(x, Mapping):
        x = list(x.values())
    if isinstance(x, (tuple, list)):
        return [one for part in x for one in tensors_in(part)]
    return []


def called(function, *args, **words):
    """Return the tensors that a call returns, of the same random numbers each time."""
    ac.manual_seed(3)
    return tensors_in(function(*args, **words))


def derived(function, dtype, args, words, seeds, held):
    """Return the gradients of a call's tensors, but those whose places are `held`."""
    args, words = converted(args, dtype), converted(words, dtype)
    floats = [x for x in tensors_in((args, words)) if x.is_floating_point()]
    leaves = [x for i, x in enumerate(floats) if i not in held]
    for x in leaves:
        x.requires_grad_()
    found = zip(called(function, *args, **words), seeds, strict=False)
    pairs = [(y, g.to(y.dtype)) for y, g in found if y.requires_grad]
    if not pairs:
        return []
    ys, cotangents = zip(*pairs, strict=True)
    slopes = ac.autograd.grad(ys, leaves, cotangents, allow_unused=True)
    return [g for g in slopes if g is not None]


def check(function, half, args, words, what, *, held=(), led=99):
    """Raise unless a call in `half` is right, and so are its gradients.

    Arguments are of `half`.  No gradient is asked for of tensors whose places are
    `held`, nor of results after the first `led`, statistics in float32; "all" holds
    every tensor.
    """
    kinds = half, ac.float32, ac.float64
    given = [(converted(args, kind), converted(words, kind)) for kind in kinds]
    if what == "scaled_dot_product_attention":  # kernels of bfloat16 round weights, too
        function = on_references(function)
    found, single, double = (called(function, *a, **w) for a, w in given)
    for results, kind in ((slice(led), half), (slice(led, None), ac.float32)):
        compare(found[results], single[results], double[results], kind, what)
    if held == "all":
        return
    rng = np.random.default_rng(1)
    seeds = [ac.tensor(rng.uniform(0.5, 1.5, y.shape)).to(half) for y in double[:led]]
    found, single, double = (
        derived(function, kind, args, words, seeds, held) for kind in kinds
    )
    compare(found, single, double, half, f"{what}, gradient")


def on_references(function):
    """Return a function that runs on the reference kernels."""

    def run(*args, **words):
        with ac.kernels.use("reference"):
            return function(*args, **words)

    return run


def compare(found, single, double, half, what):
    """Raise unless `found` is a rounding of `double`, with the error of `single`."""
    assert len(found) == len(single) == len(double)
    for a, b, c in zip(found, single, double, strict=True):
        assert a.shape == c.shape, what
        if c.dtype is ac.float64 and b.dtype is ac.float32:
            assert a.dtype is half, f"{what}: {a.dtype}"
            check_rounded(*(x.detach().double().numpy() for x in (a, b, c)), half, what)
        elif not c.is_floating_point():
            same = a.numpy() == c.numpy()
            assert np.all(same | (b.numpy() != c.numpy())), f"{what}: {a} {c}"


def check_rounded(found, single, double, half, what):
    """Raise unless numbers are roundings to `half`; all are given in float64.

    A tensor that an operator is given twice gets the sum of two rounded gradients,
    which below the normal numbers is off by one step more.
    """
    least = float(ac.finfo(half).smallest_normal) * float(ac.finfo(half).eps)
    with np.errstate(all="ignore"):
        room = 4 * np.abs(single - double) + 8 * EPS * np.abs(double)
        room = np.nan_to_num(room) + (least / 2 if "gradient" in what else 0.0)
        if what.removesuffix(", gradient") in OF_RESULTS and "gradient" in what:
            largest = np.abs(double[np.isfinite(double)]).max(initial=0.0)
            room += 16 * float(ac.finfo(half).eps) * largest
        low, high = (
            (double + sign * room).astype(half.numpy).astype(np.float64)
            for sign in (-1, 1)
        )
    right = (low <= found) & (found <= high)
    right |= np.isnan(found) & (np.isnan(double) | np.isnan(single))
    right |= ~np.isfinite(single) & np.isfinite(double)  # lost to float32 already
    right |= ~np.isfinite(double) & (found == single)
    assert np.all(right), (
        f"{what}: {found[~right][:3]} for {double[~right][:3]} (float32 makes "
        f"{single[~right][:3]})"
    )


class Checked:
    """A module whose functions are checked at each call with tensors of half precision.

    `check` is called with (function, its name, args, words).
    """

    def __init__(self, place, half, check):
        self._place, self._half, self._check = place, half, check

    def __getattr__(self, name):
        function = getattr(self._place, name)
        if not callable(function) or isinstance(function, type):
            return function

        def call(*args, **words):
            given = tensors_in((args, words))
            if any(x.dtype is self._half for x in given):
                self._check(function, name, args, words)
            return function(*args, **words)

        return call
