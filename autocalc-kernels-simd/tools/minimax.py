# SPDX-License-Identifier: MIT
"""Derives the coefficients of csrc/generic/elementwise/vector_math.hpp and prints them.

Every polynomial is the weighted minimax fit of a Remez exchange in 60 digits. The
coefficients are then rounded to the target format one by one, the most important
first, and what is left is fitted again around each rounded value.

Run it with `python tools/minimax.py [name ...]`; it needs mpmath.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath as mp

mp.mp.dps = 60
Real = Any  # mpmath has no types
Function = Callable[[Real], Real]


@dataclass(frozen=True)
class Fit:
    """Approximate `target` by ``factor(x) * P(variable(x))`` on an interval.

    `weight` turns an absolute error into the one which is to be small.
    """

    target: Function
    factor: Function
    variable: Function
    weight: Function
    low: Real
    high: Real
    degree: int
    double: bool


def _round_to(value: Real, double: bool) -> Real:
    if double:
        return mp.mpf(float(value))
    # Twice rounded, but a coefficient may be off by half a unit in its last place.
    return mp.mpf(struct.unpack("f", struct.pack("f", float(value)))[0])


def _solve(fit: Fit, points: list[Real], fixed: list[Real]) -> list[Real]:
    """Coefficients which make the weighted error +-E at `points`."""
    free = range(len(fixed), fit.degree + 1)
    rows, right = [], []
    for i, x in enumerate(points):
        u, f, w = fit.variable(x), fit.factor(x), fit.weight(x)
        known = sum(c * u**j for j, c in enumerate(fixed))
        rows.append([w * f * u**j for j in free] + [mp.mpf(-1) ** i])
        right.append(w * (fit.target(x) - f * known))
    solution = mp.lu_solve(mp.matrix(rows), mp.matrix(right))
    return [*fixed, *list(solution)[:-1]]


def _error(fit: Fit, coefficients: list[Real], x: Real) -> Real:
    value = fit.factor(x) * mp.polyval(coefficients[::-1], fit.variable(x))
    return fit.weight(x) * (value - fit.target(x))


def _extrema(errors: list[tuple[Real, Real]], count: int) -> list[Real]:
    """The largest error of each run of equal sign; `count` of them, in order."""
    best: list[tuple[Real, Real]] = []
    for x, e in errors:
        if best and (e > 0) == (best[-1][1] > 0):
            if abs(e) > abs(best[-1][1]):
                best[-1] = (x, e)
        else:
            best.append((x, e))
    while len(best) > count:
        best.pop(0 if abs(best[0][1]) < abs(best[-1][1]) else -1)
    return [x for x, _ in best]


def _remez(fit: Fit, fixed: list[Real]) -> tuple[list[Real], Real]:
    count = fit.degree + 2 - len(fixed)
    middle, half = (fit.high + fit.low) / 2, (fit.high - fit.low) / 2
    points = [middle - half * mp.cos(mp.pi * i / (count - 1)) for i in range(count)]
    size = 60 * (fit.degree + 2)
    grid = [middle - half * mp.cos(mp.pi * i / size) for i in range(size + 1)]
    cached = {
        x: (fit.target(x), fit.factor(x), fit.variable(x), fit.weight(x)) for x in grid
    }
    coefficients: list[Real] = []
    largest = mp.mpf(0)
    for _ in range(12):
        coefficients = _solve(fit, points, fixed)
        errors = []
        for x in grid:
            t, f, u, w = cached[x]
            errors.append((x, w * (f * mp.polyval(coefficients[::-1], u) - t)))
        largest = max(abs(e) for _, e in errors)
        levelled = min(abs(_error(fit, coefficients, x)) for x in points)
        found = _extrema(errors, count)
        if len(found) < count or largest < levelled * mp.mpf("1.01"):
            break
        points = found
    return coefficients, largest


def derive(fit: Fit) -> tuple[list[Real], Real]:
    """Rounded coefficients, lowest power first, and the largest weighted error."""
    fixed: list[Real] = []
    error = mp.mpf(0)
    while len(fixed) <= fit.degree:
        coefficients, error = _remez(fit, fixed)
        if len(fixed) == fit.degree:
            last = _round_to(coefficients[-1], fit.double)
            return [*fixed, last], error
        fixed.append(_round_to(coefficients[len(fixed)], fit.double))
    return fixed, error


def _over(f: Function) -> Function:
    return lambda x: 1 / f(x)


def _square(x: Real) -> Real:
    return x * x


def _tail(f: Function, series: Function, order: int, first: Real) -> Function:
    """(f(x) - series(x)) / x^order, with its limit at zero."""
    return lambda x: first if x == 0 else (f(x) - series(x)) / x**order


def _one(_: Real) -> Real:
    return mp.mpf(1)


def _fits() -> dict[str, Fit]:
    half_ln2 = mp.log(2) / 2 * mp.mpf("1.0001")
    root = mp.sqrt(mp.mpf(1) / 2) - 1
    s_max = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1) * mp.mpf("1.0001")
    quarter = mp.pi / 4 * mp.mpf("1.0001")
    fits: dict[str, Fit] = {}

    def exp_tail(x: Real) -> Real:
        return mp.mpf(1) / 2 if x == 0 else (mp.expm1(x) - x) / x**2

    for name, degree, double in (("exp_f32", 4, False), ("exp_f64", 9, True)):
        fits[name] = Fit(
            exp_tail,
            _one,
            lambda x: x,
            lambda x: x * x / mp.exp(x),
            -half_ln2,
            half_ln2,
            degree,
            double,
        )
    fits["exp_fast_f32"] = Fit(
        exp_tail,
        _one,
        lambda x: x,
        lambda x: x * x / mp.exp(x),
        -half_ln2,
        half_ln2,
        3,
        False,
    )

    def log_tail(f: Real) -> Real:
        if abs(f) < mp.mpf("1e-12"):
            return mp.mpf(1) / 3 - f / 4
        return (mp.log1p(f) - f + f * f / 2) / f**3

    fits["log_f32"] = Fit(
        log_tail,
        _one,
        lambda x: x,
        lambda f: f * f if abs(f) < mp.mpf("1e-12") else abs(f**3 / mp.log1p(f)),
        root,
        mp.sqrt(2) - 1,
        9,
        False,
    )

    # log((1 + s) / (1 - s)) = 2 s + s z P(z), z = s^2
    def atanh_tail(s: Real) -> Real:
        return mp.mpf(2) / 3 if s == 0 else (2 * mp.atanh(s) - 2 * s) / s**3

    fits["log_f64"] = Fit(
        atanh_tail, _one, _square, lambda s: s * s / 2, mp.mpf(0), s_max, 6, True
    )
    fits["pow_log_f64"] = Fit(
        atanh_tail, _one, _square, lambda s: s * s / 2, mp.mpf(0), s_max, 4, True
    )
    fits["pow_exp2_f64"] = Fit(
        lambda x: mp.mpf(2) ** x,
        _one,
        lambda x: x,
        lambda x: mp.mpf(2) ** -x,
        mp.mpf("-0.5001"),
        mp.mpf("0.5001"),
        7,
        True,
    )

    def tanh_tail(x: Real) -> Real:
        return -mp.mpf(1) / 3 if x == 0 else (mp.tanh(x) - x) / x**3

    for name, degree, double in (("tanh_f32", 4, False), ("tanh_f64", 12, True)):
        fits[name] = Fit(
            tanh_tail,
            _one,
            _square,
            lambda x: x * x,
            mp.mpf(0),
            mp.mpf("0.626"),
            degree,
            double,
        )

    def erf_tail(x: Real) -> Real:  # erf(x) = x + x P(x^2)
        return (2 / mp.sqrt(mp.pi) if x == 0 else mp.erf(x) / x) - 1

    for name, high, degree, double in (
        ("erf_small_f32", "0.926", 5, False),
        ("erf_small_f64", "1.001", 12, True),
    ):
        fits[name] = Fit(
            erf_tail, _one, _square, _one, mp.mpf(0), mp.mpf(high), degree, double
        )
    # erf(x) = 1 - exp(P(x)): an error d of P is an error erfc(x) d of the result.
    for name, low, high, degree, double in (
        ("erf_large_f32", "0.92", "4", 6, False),
        ("erf_large_f64", "0.999", "6", 18, True),
    ):
        fits[name] = Fit(
            lambda x: mp.log(mp.erfc(x)),
            _one,
            lambda x: x,
            lambda x: mp.erfc(x) / mp.erf(x) + mp.mpf("1e-12") * mp.exp(-x),
            mp.mpf(low),
            mp.mpf(high),
            degree,
            double,
        )

    def sin_tail(x: Real) -> Real:
        return -mp.mpf(1) / 6 if x == 0 else (mp.sin(x) - x) / x**3

    def cos_tail(x: Real) -> Real:
        if abs(x) < mp.mpf("1e-10"):
            return mp.mpf(1) / 24 - x * x / 720
        return (mp.cos(x) - 1 + x * x / 2) / x**4

    for suffix, sin_degree, cos_degree in (("f32", 3, 2), ("f64", 6, 5)):
        fits[f"sin_{suffix}"] = Fit(
            sin_tail,
            _one,
            _square,
            lambda x: x * x,
            mp.mpf(0),
            quarter,
            sin_degree,
            True,
        )
        fits[f"cos_{suffix}"] = Fit(
            cos_tail,
            _one,
            _square,
            lambda x: x**4 / mp.cos(x),
            mp.mpf(0),
            quarter,
            cos_degree,
            True,
        )

    def atan_tail(x: Real) -> Real:
        return -mp.mpf(1) / 3 if x == 0 else (mp.atan(x) - x) / x**3

    def asin_tail(x: Real) -> Real:
        return mp.mpf(1) / 6 if x == 0 else (mp.asin(x) - x) / x**3

    eighth = mp.tan(mp.pi / 8) * mp.mpf("1.0001")
    for name, tail, high, degree, double in (
        ("atan_f32", atan_tail, eighth, 4, False),
        ("atan_f64", atan_tail, eighth, 10, True),
        ("asin_f32", asin_tail, mp.mpf("0.5001"), 4, False),
        ("asin_f64", asin_tail, mp.mpf("0.5001"), 13, True),
    ):
        fits[name] = Fit(
            tail, _one, _square, lambda x: x * x, mp.mpf(0), high, degree, double
        )

    return fits


def _erfcx_scaled(q: Real) -> Real:
    """(1 + 2 a) exp(a^2) erfc(a), where q = (a - 4) / (a + 4)."""
    a = 4 * (1 + q) / (1 - q)
    return (1 + 2 * a) * mp.exp(a * a) * mp.erfc(a)


def _print_erfcx() -> None:
    """Print a Chebyshev series, which so smooth a function needs; a from 4/9 to 28."""
    ends = [mp.mpf(-4) / 5, mp.mpf(3) / 4]
    coefficients, error = mp.chebyfit(_erfcx_scaled, ends, 21, error=True)
    print(f"// erfcx_f64: [-4 / 5, 3 / 4], degree 20, error {mp.nstr(error, 3)}")
    for c in reversed(coefficients):
        print(f"    {float(c):.17g},")


def main(names: list[str]) -> None:
    """Print the coefficients of the fits named, or of all."""
    fits = _fits()
    for name in names or [*fits, "erfcx_f64"]:
        if name == "erfcx_f64":
            _print_erfcx()
            continue
        fit = fits[name]
        coefficients, error = derive(fit)
        digits = 17 if fit.double else 9
        print(f"// {name}: [{mp.nstr(fit.low, 6)}, {mp.nstr(fit.high, 6)}], ", end="")
        print(f"degree {fit.degree}, error {mp.nstr(error, 3)}")
        for c in coefficients:
            print(f"    {float(c):.{digits}g},")


if __name__ == "__main__":
    main(sys.argv[1:])
