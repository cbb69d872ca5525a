# SPDX-License-Identifier: MIT
"""Every collective on every rank, compared with what NumPy makes of all tensors."""

from __future__ import annotations

import functools
import re
import sys

import numpy as np
import pytest
from tell import tell

import autocalc as ac
import autocalc.distributed as dist
from autocalc.errors import ArgumentError, DTypeError, ShapeError

DTYPES = "float32 float64 float16 bfloat16 int8 int16 int32 int64 uint8"
OPS = {
    dist.ReduceOp.SUM: np.add,
    dist.ReduceOp.PRODUCT: np.multiply,
    dist.ReduceOp.MIN: np.minimum,
    dist.ReduceOp.MAX: np.maximum,
}


BITS = {
    dist.ReduceOp.BAND: np.bitwise_and,
    dist.ReduceOp.BOR: np.bitwise_or,
    dist.ReduceOp.BXOR: np.bitwise_xor,
}


def values(rank, shape=(3, 5), kind=np.float64):
    """Return small whole numbers, which all dtypes hold exactly, sums included."""
    draw = np.random.default_rng(rank).integers(1, 4, shape)
    return draw.astype(kind)


def everybody(**words):
    return [values(r, **words) for r in range(dist.get_world_size())]


def same(tensor, expected):
    np.testing.assert_array_equal(tensor.detach().to(ac.float64).numpy(), expected)


def layouts(array, dtype):
    """Yield tensors of the values: contiguous, transposed, every other, 0-d parts."""
    x = ac.tensor(array).to(dtype)
    yield x.clone()
    yield x.t().contiguous().t()
    wide = ac.zeros(*array.shape[:-1], 2 * array.shape[-1], dtype=dtype)
    wide[..., ::2] = x
    yield wide[..., ::2]


def reduces(rank, n):
    for name in DTYPES.split():
        dtype = getattr(ac, name)
        for op, combine in OPS.items():
            expected = functools.reduce(combine, everybody())
            for x in layouts(values(rank), dtype):
                dist.all_reduce(x, op)
                same(x, expected)
            own = ac.tensor(values(rank)).to(dtype)
            dist.reduce(own, n - 1, op)
            same(own, expected if rank == n - 1 else values(rank))
        for op, combine in {} if dtype.is_floating_point else BITS.items():
            x = ac.tensor(values(rank)).to(dtype)
            dist.all_reduce(x, op)
            same(x, functools.reduce(combine, everybody(kind=np.int64)))
        if dtype.is_floating_point:
            total = ac.tensor(values(rank)).to(dtype)
            dist.all_reduce(total, dist.ReduceOp.AVG)
            mean = functools.reduce(np.add, everybody()) / n
            np.testing.assert_allclose(total.to(ac.float64), mean, rtol=1e-2)


def scatters(rank, n):
    for name in DTYPES.split():
        dtype = getattr(ac, name)
        joined = [values(100 * r + 7, shape=(n, 4)) for r in range(n)]
        expected = functools.reduce(np.add, joined)[rank]
        out = ac.zeros(4, dtype=dtype)
        dist.reduce_scatter(out, [ac.tensor(row).to(dtype) for row in joined[rank]])
        same(out, expected)
        out.zero_()
        dist.reduce_scatter_tensor(out, ac.tensor(joined[rank]).to(dtype))
        same(out, expected)


def copies(rank, n):
    for name in [*DTYPES.split(), "bool"]:
        dtype = getattr(ac, name)
        kind = np.float64 if name != "bool" else bool
        for x in layouts(values(rank), dtype):
            dist.broadcast(x, n - 1)
            same(x, values(n - 1).astype(kind))
            own = ac.tensor(values(rank)).to(dtype)
            parts = [next(layouts(values(99), dtype)).t() for _ in range(n)]
            dist.all_gather(parts, own.t())
            for part, expected in zip(parts, everybody(), strict=True):
                same(part, expected.astype(kind).T)
            whole = ac.zeros(n, 3, 5, dtype=dtype)
            dist.all_gather_into_tensor(whole, own)
            same(whole, np.stack(everybody()).astype(kind))


def messages(rank, n):
    if n == 1:
        return
    right, left = (rank + 1) % n, (rank - 1) % n
    for x in layouts(values(rank), ac.bfloat16):
        got = ac.zeros(5, 3, dtype=ac.bfloat16).t()
        sending = dist.isend(x, right, tag=3)
        receiving = dist.irecv(got, left, tag=3)
        assert receiving.wait()
        assert sending.wait()
        assert receiving.is_completed()
        assert receiving.source_rank() == left
        same(got, values(left))
    if rank == 0:
        found = []
        for _ in range(n - 1):
            x = ac.zeros(2)
            source = dist.recv(x)
            same(x, [source, 1])
            found.append(source)
        assert sorted(found) == list(range(1, n))
    else:
        dist.send(ac.tensor([float(rank), 1.0]), 0)


def asynchronous(rank, n):
    """Several calls at once, ended in another order, one never waited for."""
    tensors = [ac.full((1000,), float(rank + i)) for i in range(5)]
    works = [dist.all_reduce(x, async_op=True) for x in tensors]
    dist.all_reduce(ac.ones(10), async_op=True)  # ends with the group
    for i in reversed(range(5)):
        assert works[i].wait(timeout=30)
        same(tensors[i], np.full(1000, n * (n - 1) / 2 + n * i))
    work = dist.barrier(async_op=True)
    while not work.is_completed():
        pass


def counts_as_a_write(rank, n):
    """What backward needs and a collective overwrites is an error."""
    x = ac.ones(3, requires_grad=True)
    y = x.exp()
    dist.all_reduce(y)
    if n > 1:
        refuses(y.sum().backward, ac.errors.GradError, "changed in place")
    w = ac.nn.Parameter(ac.full((3,), float(rank)))
    dist.broadcast(w, n - 1)
    same(w, np.full(3, n - 1))
    assert w.is_leaf


def empties(rank, n):
    x = ac.zeros(0, 3)
    dist.all_reduce(x)
    dist.broadcast(x, 0)
    zero_d = ac.tensor(float(rank))
    dist.all_reduce(zero_d)
    same(zero_d, n * (n - 1) / 2)


def in_order(rank, n):
    """Sums in the order of ranks have the bits of that order, at every size."""
    ac.use_deterministic_algorithms(True)
    for size in (1, 2, 7, 1000, 100_003):
        for dtype in (ac.float32, ac.float64):
            make = [np.random.default_rng(9 * size + r) for r in range(n)]
            kind = np.float32 if dtype is ac.float32 else np.float64
            drawn = [g.standard_normal(size).astype(kind) for g in make]
            expected = functools.reduce(np.add, drawn)
            x = ac.tensor(drawn[rank])
            works = [dist.all_reduce(y, async_op=True) for y in (x, x.clone())]
            for work in works:
                work.wait()
            np.testing.assert_array_equal(x, expected)
            y = ac.tensor(drawn[rank])
            dist.reduce(y, 0)
            np.testing.assert_array_equal(y, drawn[rank] if rank else expected)
            if size > 1000:
                continue
            z, wide = ac.zeros(size, dtype=dtype), ac.tensor(drawn[rank]).repeat(n, 1)
            dist.reduce_scatter_tensor(z, wide)
            np.testing.assert_array_equal(z, expected)
            np.testing.assert_array_equal(wide[0], drawn[rank])
    reduces(rank, n)
    scatters(rank, n)
    ac.use_deterministic_algorithms(False)


def refuses(call, kind, text):
    with pytest.raises(kind, match=re.escape(text)):
        call()


def errors(rank, n):
    x = ac.ones(2)
    refuses(lambda: dist.broadcast(x, n), ArgumentError, f"`src` is {n}; ")
    refuses(lambda: dist.reduce(x, -1), ArgumentError, "`dst` is -1; ")
    refuses(lambda: dist.all_reduce(ac.ones(2) > 0), DTypeError, ": `tensor` is")
    avg = dist.ReduceOp.AVG
    refuses(lambda: dist.all_reduce(x.int(), avg), DTypeError, "is AVG and `tensor` is")
    wide = ac.ones(1).expand(4)
    refuses(lambda: dist.all_reduce(wide), ArgumentError, "is expanded or has")
    refuses(lambda: dist.all_gather([], x), ShapeError, "`tensor_list` has tensors of")
    other = [ac.ones(2, dtype=ac.float64)] * n
    refuses(lambda: dist.all_gather(other, x), ShapeError, "float64")
    refuses(
        lambda: dist.reduce_scatter_tensor(x, ac.ones(2 * n + 1)),
        ShapeError,
        "times as many elements as `output`, of the same dtype.",
    )
    refuses(
        lambda: dist.all_gather_into_tensor(ac.ones(2 * n + 1), x),
        ShapeError,
        "times as many elements as the input, of the same dtype.",
    )
    if n > 1:
        refuses(lambda: dist.send(x, rank), ArgumentError, "this rank itself")
        refuses(lambda: dist.recv(x, n + 1), ArgumentError, f"ranks are 0 to {n - 1}")
        refuses(lambda: dist.send(x, 1 - rank if rank < 2 else 0, tag=-1),
                ArgumentError, ": `tag` is -1; it must be between 0")  # fmt: skip


def main():
    dist.init_process_group(backend="mpi")
    rank, n = dist.get_rank(), dist.get_world_size()
    assert dist.get_backend() == "mpi" or n == 1
    parts = (reduces, scatters, copies, messages, asynchronous, counts_as_a_write,
             empties, in_order, errors)  # fmt: skip
    for part in parts:
        part(rank, n)
    dist.barrier()
    tell({"rank": rank, "size": n, "local": dist.get_node_local_rank()})
    dist.destroy_process_group()
    assert not dist.is_initialized()


if __name__ == "__main__":
    sys.exit(main())
