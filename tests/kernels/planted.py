# SPDX-License-Identifier: MIT
"""Faults of kernels, each planted into the reference, for the conformance kit to find.

A fault is a kernel's name, a function that makes the faulty kernel of the right one,
the check that must find it, and what the report must say.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided


class Fault(NamedTuple):
    """A fault, and how the kit has to report it."""

    kernel: str
    plant: Callable[[Any], Any]
    check: str
    match: str
    dtype: str = "f4"
    #: Of the kernel set.
    more: Mapping[str, Any] = MappingProxyType({})


FAULTS: dict[str, Fault] = {}


def fault(kernel, check, match, dtype="f4", **more):
    """Add the decorated maker of a faulty kernel to `FAULTS`, by its name."""

    def add(plant):
        name = plant.__name__.replace("_", " ").strip()
        assert name not in FAULTS
        FAULTS[name] = Fault(kernel, plant, check, match, dtype, more)
        return plant

    return add


def flat(a):
    """Return an array's memory as if it were contiguous."""
    return as_strided(a, (a.size,), (a.itemsize,))


def address(a):
    return a.__array_interface__["data"][0]


# ---- memory --------------------------------------------------------------------------


@fault("relu", "layouts", "the kernel wrote between the elements of an operand; it")
def output_strides_ignored(right):
    def relu(out, a):
        if out.size:
            flat(out)[...] = np.maximum(a, 0).reshape(-1)

    return relu


@fault("neg", "layouts", r"neg on .*layouts=.*`out`")
def input_strides_ignored(right):
    return lambda out, a: right(out, flat(a).reshape(a.shape) if a.size else a)


@fault("add", "values", r"add on 'broadcast .*`out`")
def strides_of_0_taken_for_rows(right):
    def add(out, a, b):
        if a.size and a.size < out.size:
            a = np.resize(a, out.shape)
        right(out, a, b)

    return add


@fault("neg", "layouts", r"layouts=.*`out`")
def a_slow_path_that_is_wrong(right):
    def neg(out, a):
        right(out, a)
        if a.ndim > 2 and not a.flags.c_contiguous:
            out[..., -1] = 0

    return neg


@fault("neg", "layouts", r"layouts=\('offset',.*`out`")
def unaligned_operands(right):
    def neg(out, a):
        right(out, a)
        if address(a) % 64 and a.size > 3:
            out.reshape(-1)[3] = 0

    return neg


@fault("relu", "bounds", r"relu \(float32\) on .*: the kernel touched memory that is")
def a_read_after_the_end(right):
    def relu(out, a):
        ctypes.string_at(address(a) + a.nbytes, 1)
        right(out, a)

    return relu


@fault("relu", "bounds", r"relu \(float32\) on .*: the kernel touched memory that is")
def a_read_before_the_start(right):
    def relu(out, a):
        ctypes.string_at(address(a) - 1, 1)
        right(out, a)

    return relu


@fault("relu", "bounds", r"relu \(float32\) on .*: the kernel touched memory that is")
def the_last_vector_read_whole(right):
    def relu(out, a):
        ctypes.string_at(address(a), -(-a.nbytes // 32) * 32)
        right(out, a)

    return relu


@fault("neg", "values", "the kernel wrote outside its operands")
def a_write_after_the_end(right):
    def neg(out, a):
        right(out, a)
        if out.ndim == 1:
            ctypes.memset(address(out) + out.nbytes, 0, 4)

    return neg


@fault("neg", "values", "the kernel wrote outside its operands")
def a_write_before_the_start(right):
    def neg(out, a):
        right(out, a)
        if out.ndim == 1:
            ctypes.memset(address(out) - 4, 0, 4)

    return neg


@fault("neg", "values", r"neg on 'n=0'.*the kernel wrote outside its operands")
def a_write_into_an_empty_output(right):
    def neg(out, a):
        right(out, a)
        if out.shape == (0,):
            ctypes.memset(address(out), 0, 4)

    return neg


@fault("softmax", "offsets", r"softmax on .*layouts=\('far',\): `out`")
def offsets_of_32_bits(right):
    def softmax(out, a, axis):
        step = ctypes.c_int32(a.strides[0]).value if a.ndim > 1 else 0
        if a.ndim > 1 and a.strides[0] != step:
            a = as_strided(a, a.shape, (step, *a.strides[1:]))
        right(out, a, axis)

    return softmax


@fault("relu", "offsets", r"relu on .*layouts=\('far',\)")
def output_offsets_of_32_bits(right):
    def relu(out, a):
        step = ctypes.c_int32(out.strides[0]).value if out.ndim else 0
        if out.ndim and out.strides[0] != step:
            out = as_strided(out, out.shape, (step, *out.strides[1:]))
        right(out, a)

    return relu


@fault("mul", "values", "the input `a` changed during the call")
def an_input_that_is_changed(right):
    def mul(out, a, b):
        right(out, a, b)
        if a.flags.writeable and a.size:
            a.reshape(-1)[0] = 3

    return mul


@fault("tanh_backward", "aliasing", "alias=g")
def an_output_over_an_input(right):
    def tanh_backward(out, g, y):
        out[...] = 1 - y * y
        out *= g

    return tanh_backward


# ---- sizes ---------------------------------------------------------------------------


@fault("softmax", "values", r"softmax \(float32\) on .*: the kernel stopped at|SIGFPE")
def a_crash_for_rows_of_length_0(right):
    def softmax(out, a, axis):
        if a.ndim > 1 and a.shape[-1] == 0:
            os.kill(os.getpid(), 8)
        right(out, a, axis)

    return softmax


@fault("layer_norm", "lengths", r"layer_norm \(float32\) on '.*rows of 0': the kernel ")
def a_crash_of_a_norm_for_rows_of_length_0(right):
    def layer_norm(*operands):
        if operands[3].shape[-1] == 0:
            os.abort()
        right(*operands)

    return layer_norm


@fault("exp", "lengths", r"exp on 'n=70, rows of 11': `out`\[8\]")
def one_tail_of_a_vector_loop(right):
    def exp(out, a):
        right(out, a)
        if out.size % 64 == 11:
            out.reshape(-1)[8:] = 1

    return exp


@fault("sum", "lengths", r"sum on '.*rows of 53'")
def one_tail_of_a_reduction(right):
    def sum_(out, a, axes, keepdim):
        right(out, a[..., :52] if a.ndim and a.shape[-1] == 53 else a, axes, keepdim)

    return sum_


@fault("add", "values", r"add on 'n=1': `out`.*nan")
def elements_not_written(right):
    def add(out, a, b):
        n = out.size // 4 * 4
        out.reshape(-1)[:n] = (a + b).reshape(-1)[:n]

    return add


@fault("mul", "values", r"mul on 'large': `out`\[20000\d\]")
def the_last_block_of_large_arrays(right):
    def mul(out, a, b):
        right(out, a, b)
        if out.size > 100_000:
            out[-3:] = 0

    return mul


@fault("sum", "values", r"sum on 'large, alike .*off by")
def long_rows_added_one_by_one(right):
    def sum_(out, a, axes, keepdim):
        right(out, a, axes, keepdim)
        if a.size > 1000 and out.size == 1:
            out[...] = np.cumsum(a.reshape(-1), dtype="f4")[-1]

    return sum_


# ---- values --------------------------------------------------------------------------


@fault("exp", "values", r"exp on .*ULP\), allowed")
def values_off_by_some_ulp(right):
    def exp(out, a):
        with np.errstate(all="ignore"):
            out[...] = np.exp(a.astype("f8")) * (1 + 3e-7)

    return exp


@fault("tanh", "values", r"tanh on 'special'.*expected -0.0")
def the_sign_of_zero(right):
    def tanh(out, a):
        right(out, a)
        out[out == 0] = 0

    return tanh


@fault("gather", "specials", r"`out`\[.*is .*0.0.*expected -0.0: the kernel moves")
def the_sign_of_a_zero_that_is_moved(right):
    def gather(out, a, index, axis):
        right(out, a, index, axis)
        out += 0

    return gather


@fault("maximum", "values", r"maximum on 'special'.*expected nan")
def nan_lost(right):
    def maximum(out, a, b):
        out[...] = np.fmax(a, b)

    return maximum


@fault("linear", "specials", r"linear on .*holding NaN': `out`.*the kernel lost a NaN")
def nan_lost_in_a_product(right):
    def linear(*operands):
        right(*operands)
        np.nan_to_num(operands[0], copy=False)

    return linear


@fault("softmax", "values", r"softmax on .*expected")
def infinity_between(right):
    def softmax(out, a, axis):
        with np.errstate(all="ignore"):
            e = np.exp(a)
            out[...] = e / e.sum(axis=axis, keepdims=True)

    return softmax


@fault("mul", "values", "mul on 'special'.*off by")
def subnormals_flushed(right):
    def mul(out, a, b):
        right(out, a, b)
        out[np.abs(out) < np.finfo("f4").tiny] = 0

    return mul


@fault("softmax", "subnormals", r"softmax on 'falling': `out`\[.*, expected 0")
def subnormals_kept(right):
    def softmax(out, a, axis):
        e = np.exp(a.astype("f8") - a.max(axis=axis, keepdims=True, initial=-np.inf))
        out[...] = e / e.sum(axis=axis, keepdims=True)

    return softmax


@fault("mul", "values", r"mul on .*off by", dtype="f8")
def a_dtype_that_is_narrowed(right):
    def mul(out, a, b):
        with np.errstate(all="ignore"):
            out[...] = a.astype("f4") * b.astype("f4")

    return mul


@fault("mul", "values", r"mul on .*expected", dtype="i8")
def integers_computed_in_float64(right):
    def mul(out, a, b):
        with np.errstate(all="ignore"):
            out[...] = (a.astype("f8") * b).astype("i8")

    return mul


@fault("add", "values", r"add on .*expected", dtype="i4")
def integers_that_saturate(right):
    def add(out, a, b):
        out[...] = np.clip(a.astype("i8") + b, -(2**31), 2**31 - 1)

    return add


@fault("compare", "values", "` holds bytes that are not booleans; they must be 0")
def booleans_that_are_not_0_or_1(right):
    def compare(out, a, b, op):
        right(out, a, b, op)
        out.view(np.uint8)[...] *= 255

    return compare


@fault("gemm", "values", r"gemm on .*nan")
def an_uninitialised_output_that_is_read(right):
    def gemm(out, *rest):
        before = 0 * out
        right(out, *rest)
        out += before

    return gemm


@fault("gelu", "values", r"gelu on '.*tanh'")
def an_attribute_that_is_ignored(right):
    return lambda out, a, approximate: right(out, a, "none")


# ---- gradients and outputs -----------------------------------------------------------


@fault("layer_norm_backward", "values", r"layer_norm_backward on .*`dweight`")
def a_gradient_of_one_argument(right):
    def layer_norm_backward(dx, dweight, *rest):
        right(dx, dweight, *rest)
        if dweight is not None:
            dweight *= 1.001

    return layer_norm_backward


@fault("layer_norm_backward", "absent-outputs", r"layer_norm_backward on .*`dbias`")
def a_gradient_where_another_is_absent(right):
    def layer_norm_backward(dx, dweight, dbias, *rest):
        right(dx, dweight, dbias, *rest)
        if dx is None and dbias is not None:
            dbias *= 2

    return layer_norm_backward


@fault("var", "absent-outputs", r"var on .*the kernel raised TypeError")
def an_absent_output_that_is_written(right):
    def var(out, mean, *rest):
        mean[...] = 0
        right(out, mean, *rest)

    return var


@fault("gemm", "accumulation", r"gemm on .*accumulate=1")
def accumulation_ignored(right):
    return lambda out, pre, *rest: right(out, pre, *rest[:-1], 0)


@fault("neg", "values", "the kernel returned ndarray .*; it must write into its")
def a_result_that_is_returned(right):
    def neg(out, a):
        right(out, a)
        return -a

    return neg


@fault("embedding", "bad-indices", ": the kernel accepted it; it must raise")
def a_bad_index_that_is_accepted(right):
    def embedding(out, weight, indices):
        out[...] = weight[np.clip(indices, 0, len(weight) - 1)]

    return embedding


@fault("embedding", "bad-indices", ": the kernel accepted it; it must raise")
def indices_of_32_bits(right):
    def embedding(out, weight, indices):
        wrapped = np.where(indices < 2**31, indices, indices.astype("i4"))
        right(out, weight, wrapped)

    return embedding


#: The number of threads that a set was given.
CHUNKS = [1]

# ---- calls ---------------------------------------------------------------------------


@fault("mul", "threads", r"mul on .*, called by two threads at the same time: `out`")
def scratch_memory_that_threads_share(right):
    scratch = np.empty(1 << 20, "f4")

    def mul(out, a, b):
        part = scratch[: out.size].reshape(out.shape)
        np.multiply(a, b, out=part)
        time.sleep(0)
        np.copyto(out, part)

    return mul


@fault("linear", "state", r"linear on .*, in the arrays of an earlier call: `out`")
def a_weight_that_is_kept_by_its_address(right):
    packed = {}

    def linear(out, pre, x, weight, *rest):
        key = address(weight), weight.shape
        right(out, pre, x, packed.setdefault(key, weight.copy()), *rest)

    return linear


@fault("exp", "state", r"exp on .*, in the arrays of an earlier call: `out`")
def a_result_of_the_call_before(right):
    last = {}

    def exp(out, a):
        known = last.get((address(a), a.shape))
        right(out, a)
        last.clear()
        last[address(a), a.shape] = out.copy()
        if known is not None:
            out[...] = known

    return exp


@fault("sum", "threads", r"with 2 threads, sum on 'large", set_num_threads=lambda n: (
    CHUNKS.__setitem__(0, n)
), determinism="run")  # fmt: skip
def a_sum_that_depends_on_the_number_of_threads(right):
    def sum_(out, a, axes, keepdim):
        lost = a.shape[0] % CHUNKS[0] if a.ndim and a.size > 100_000 else 0
        right(out, a[: len(a) - lost] if lost else a, axes, keepdim)

    return sum_


@fault("sum", "determinism", r"promises .*'threads', but bits differ between 1 and 3",
       set_num_threads=lambda n: CHUNKS.__setitem__(0, n))  # fmt: skip
def bits_that_depend_on_the_number_of_threads(right):
    def sum_(out, a, axes, keepdim):
        right(out, a, axes, keepdim)
        out *= 1 + 2**-22 * (CHUNKS[0] == 3)

    return sum_


@fault("neg", "values", r"neg on 'n=3': the kernel raised OverflowError: no room")
def an_exception_that_is_thrown(right):
    def neg(out, a):
        if a.size == 3:
            raise OverflowError("no room")
        right(out, a)

    return neg


@fault("neg", "values", r"neg \(float32\) on 'n=3': the kernel aborted its process")
def a_process_that_is_aborted(right):
    def neg(out, a):
        if a.size == 3:
            os.abort()
        right(out, a)

    return neg


@fault("neg", "values", r"neg \(float32\) on 'n=3': the kernel ended its process with")
def a_process_that_is_ended(right):
    def neg(out, a):
        if a.size == 3:
            os._exit(7)
        right(out, a)

    return neg


@fault("neg", "values", r"neg \(float32\) on 'n=3' did not end within 0.5 s")
def a_call_that_does_not_end(right):
    def neg(out, a):
        if a.size == 3:
            threading.Event().wait()
        right(out, a)

    return neg


@fault("exp", "leaks", r"exp: 40 calls left 40 references to the operand `a`")
def an_operand_that_is_kept(right):
    kept = []

    def exp(out, a):
        right(out, a)
        kept.append(a)

    return exp


@fault("exp", "fork", ": a child process that was forked after a call")
def a_fork_that_is_not_survived(right):
    made = []

    def exp(out, a):
        right(out, a)
        made.append(os.getpid())
        if made[0] != os.getpid():
            out += 1

    return exp


@fault("sqrt", "environment", r"sqrt on .* changed the floating-point state")
def a_rounding_mode_that_stays(right):
    library = ctypes.CDLL(None)

    def sqrt(out, a):
        right(out, a)
        library.fesetround(0x800)  # upwards, on x86

    return sqrt
