# SPDX-License-Identifier: MIT
"""Every primitive of the kernel table, written without a look at the references.

Plain NumPy into the output, in the dtype of the operands: float32 stays float32 where
the error budget allows it.  `gemm` refuses its optional parts, which then run as
kernels of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autocalc.errors import kernel_data_error
from autocalc.plugin import DispatchKey, KernelImpl

Array = Any
Kernel = Callable[..., None]

KERNELS: dict[str, Kernel | KernelImpl] = {}


def kernel(function: Kernel) -> Kernel:
    """Enter a kernel into the table under its name; what overflows is a value here."""

    def quiet(*args: Any) -> None:
        with np.errstate(all="ignore"):
            function(*args)

    KERNELS[function.__name__.rstrip("_")] = quiet
    return quiet


# ---- elementwise -------------------------------------------------------------------

for name, ufunc in {
    "add": np.add,
    "mul": np.multiply,
    "div": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "neg": np.negative,
}.items():

    def elementwise(out: Array, *args: Array, ufunc: Any = ufunc) -> None:
        ufunc(*args, out=out)

    elementwise.__name__ = name
    kernel(elementwise)

# NumPy's float32 functions are off by up to 4 ULP; the budget of some is 2.
for name, ufunc in {
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "sin": np.sin,
    "cos": np.cos,
    "erf": np.frompyfunc(math.erf, 1, 1),
}.items():

    def transcendental(out: Array, a: Array, ufunc: Any = ufunc) -> None:
        out[...] = ufunc(a.astype("f8"))

    transcendental.__name__ = name
    kernel(transcendental)


@kernel
def copy(out: Array, a: Array) -> None:
    np.copyto(out, a, casting="unsafe")


@kernel
def fill(out: Array, value: Array) -> None:
    out.fill(value[()])


@kernel
def pow_(out: Array, a: Array, b: Array) -> None:
    if out.dtype.kind == "f":
        out[...] = np.float_power(a, b)
        return
    one = (a == 1) | ((a == -1) & (b % 2 == 0))
    whole = a ** np.maximum(b, 0)
    out[...] = np.where(b >= 0, whole, np.where(one, 1, np.where(a == -1, a, 0)))


COMPARE = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


@kernel
def compare(out: Array, a: Array, b: Array, op: str) -> None:
    COMPARE[op](a, b, out=out)


@kernel
def where(out: Array, condition: Array, a: Array, b: Array) -> None:
    # A condition may be the output's own memory, so it is read before that is written.
    choice = condition.copy()
    other = np.array(a)
    np.copyto(out, b)
    np.copyto(out, other, where=choice)


@kernel
def round_(out: Array, a: Array, mode: str) -> None:
    {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "even": np.rint}[mode](
        a, out=out
    )


@kernel
def axpy(y: Array, alpha: Array, x: Array) -> None:
    y += alpha * x


# ---- reductions --------------------------------------------------------------------


@kernel
def sum_(out: Array, a: Array, axes: tuple[int, ...], keepdim: bool) -> None:
    wide = np.float64 if out.dtype.kind == "f" else np.int64
    out[...] = np.add.reduce(a, axis=tuple(axes), keepdims=keepdim, dtype=wide)


@kernel
def max_(out: Array, a: Array, axes: tuple[int, ...], keepdim: bool) -> None:
    np.maximum.reduce(a, axis=tuple(axes), keepdims=keepdim, out=out)


@kernel
def argmax(out: Array, a: Array, axis: int, keepdim: bool) -> None:
    out[...] = a.argmax(axis=axis, keepdims=keepdim)


@kernel
def softmax(out: Array, a: Array, axis: int) -> None:
    if not a.size:
        return
    e = np.exp(np.subtract(a, a.max(axis=axis, keepdims=True), dtype="f8"))
    out[...] = e / e.sum(axis=axis, keepdims=True)
    out[out < np.finfo(out.dtype).tiny] = 0  # as the spec's `flushes` says


@kernel
def rms_norm(out: Array, rstd: Array, x: Array, weight: Array, eps: float) -> None:
    wide = x.astype("f8")
    scale = (np.mean(wide * wide, axis=-1, keepdims=True) + eps) ** -0.5
    out[...] = wide * scale if weight is None else wide * scale * weight
    if rstd is not None:
        rstd[...] = scale


# ---- matrix product ----------------------------------------------------------------


def plain_gemm(
    out: Array,
    pre: None,
    a: Array,
    b: Array,
    bias: None,
    alpha: float,
    beta: float,
    activation: str,
    accumulate: int,
) -> None:
    with np.errstate(all="ignore"):
        np.matmul(a, b, out=out)
        if alpha != 1:
            out *= alpha


def only_plain(key: DispatchKey) -> str | None:
    """Refuse everything but alpha * a @ b."""
    _, pre, _, _, bias = key.dtypes
    if bias is not None or pre is not None or key.accumulate:
        return "only the plain product: no bias, no pre-activation, nothing added into"
    if key.attributes[2] != "none":
        return f"only the plain product: no activation {key.attributes[2]}"
    return None


KERNELS["gemm"] = KernelImpl(plain_gemm, supports=only_plain)

# ---- indices -----------------------------------------------------------------------


def check(kernel_name: str, operand: str, index: Array, size: int) -> None:
    """Raise for the first index that is not one of `size`."""
    for place, value in enumerate(index.ravel().tolist()):
        if not 0 <= value < size:
            raise kernel_data_error(kernel_name, operand, place, value)


def along(index: Array, axis: int) -> tuple[Array, ...]:
    """Return the tuple that indexes along `axis` at `index`, elsewhere in place."""
    places = list(np.ix_(*map(range, index.shape)))
    places[axis] = index
    return tuple(places)


@kernel
def gather(out: Array, a: Array, index: Array, axis: int) -> None:
    check("gather", "index", index, a.shape[axis])
    out[...] = a[along(index, axis)]


@kernel
def scatter_add(out: Array, a: Array, index: Array, src: Array, axis: int) -> None:
    check("scatter_add", "index", index, a.shape[axis])
    out[...] = a
    np.add.at(out, along(index, axis), src)


@kernel
def embedding(out: Array, weight: Array, indices: Array) -> None:
    check("embedding", "indices", indices, weight.shape[0])
    out[...] = weight.take(indices, axis=0)


# ---- random numbers ----------------------------------------------------------------


@kernel
def random_bits(out: Array, seed: Array, offset: Array, bits: int) -> None:
    n = out.size * (1 if bits <= 32 else 2)
    place = np.arange(n, dtype=np.uint64) + np.uint64(offset)
    words = philox(int(seed) % 2**64, place // np.uint64(4))
    words = words[place % np.uint64(4), np.arange(n)]
    if bits > 32:
        words = (words[0::2] << np.uint64(32)) + words[1::2]
    taken = words >> np.uint64((32 if bits <= 32 else 64) - bits)
    out[...] = taken.reshape(out.shape).astype(out.dtype)


def philox(seed: int, block: Array) -> Array:
    """Return the four words of each block as rows."""
    low = np.uint64(2**32 - 1)
    high, zero = np.uint64(32), np.zeros_like(block)
    x = [block & low, block >> high, zero, zero]
    key = [seed % 2**32, seed // 2**32]
    for _ in range(10):
        left = x[0] * np.uint64(0xD2511F53)
        right = x[2] * np.uint64(0xCD9E8D57)
        x = [
            right >> high ^ x[1] ^ np.uint64(key[0]),
            right & low,
            left >> high ^ x[3] ^ np.uint64(key[1]),
            left & low,
        ]
        key = [(key[0] + 0x9E3779B9) % 2**32, (key[1] + 0xBB67AE85) % 2**32]
    return np.stack(x)
