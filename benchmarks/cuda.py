# SPDX-License-Identifier: MIT
"""CUDA kernels against cuBLAS called directly, a plain kernel, the CPU, and PyTorch.

::

    python -m benchmarks.cuda                # all tables, on a machine with a GPU
    python -m benchmarks.cuda products plain # some of them

`products`: 4096 x 4096 x 4096 in float32 and TF32, AutoCalc's `gemm` and cuBLAS by
turns.  `plain`: products of a transformer's shapes by cuBLAS, by a kernel of tiles in
shared memory as textbooks have it, and by the CPU's kernels.  `transformer`: a training
step of 6 layers of 512 features on 8 x 512 tokens, against PyTorch where it is
installed, and what the step spends its time on.

The GPU's own events tell the time; medians, the peers by turns.
"""

from __future__ import annotations

import contextlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import autocalc as ac
import autocalc.backends.cuda as settings

with contextlib.suppress(ImportError):  # asv imports every module of the package
    import cupy

    from autocalc_kernels_cuda._products import _DEFAULT_MATH, _TF32_MATH

#: Rows, columns of the first and columns of the second matrix: the hidden layer and
#: the projection of a small transformer, and the hidden layer of a larger one.
SHAPES = ((64, 768, 3072), (64, 768, 2304), (32, 1024, 4096))

#: Of the transformer.
LAYERS, FEATURES, BATCH = 6, 512, 8
#: Each runs in processes of its own, by turns, so often.
PEERS = ("AutoCalc", "PyTorch")
ROUNDS = 3

PLAIN = r"""
// C = A B of row-major matrices: a block of 16 x 16 threads has one tile of each
// operand in shared memory at a time, and each thread one element of the result.
extern "C" __global__ void plain(float* c, const float* a, const float* b, int m, int k,
                                 int n) {
    __shared__ float left[16][16], right[16][16];
    const int row = blockIdx.y * 16 + threadIdx.y;
    const int column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int start = 0; start < k; start += 16) {
        const int x = start + threadIdx.x, y = start + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = row < m && x < k ? a[row * k + x] : 0;
        right[threadIdx.y][threadIdx.x] = column < n && y < k ? b[y * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < 16; ++i) {
            sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        }
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}
"""


def on_gpu(run: Callable[[], object], times: int) -> float:
    """Return the seconds of a call, from the GPU's events around several of them."""
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    begin.record()
    for _ in range(times):
        run()
    end.record()
    end.synchronize()
    return float(cupy.cuda.get_elapsed_time(begin, end)) / 1e3 / times


def by_turns(
    peers: dict[str, Callable[[], object]], rounds: int, times: int
) -> dict[str, float]:
    """Return each peer's median time; they are run by turns, after a warm-up."""
    for run in peers.values():
        on_gpu(run, max(times // 4, 1))
    found: dict[str, list[float]] = {name: [] for name in peers}
    for _ in range(rounds):
        for name, run in peers.items():
            found[name].append(on_gpu(run, times))
    return {name: statistics.median(each) for name, each in found.items()}


def direct(out: Any, a: Any, b: Any, *, fast: bool = False) -> Callable[[], None]:
    """Return a call of cuBLAS itself: nothing is decided and nothing allocated."""
    from cupy.cuda import cublas, device

    handle, (m, n), k = device.get_cublas_handle(), out.shape, a.shape[1]
    numbers = np.array([1, 0], np.float32)
    one = numbers.ctypes.data
    operands = one, b.data.ptr, n, a.data.ptr, k, one + 4, out.data.ptr, n
    mode = _TF32_MATH if fast else _DEFAULT_MATH

    def run(kept: Any = numbers) -> None:
        cublas.setMathMode(handle, mode)
        cublas.sgemm(handle, 0, 0, n, m, k, *operands)

    return run


def products(size: int = 4096) -> None:
    """Print AutoCalc's products against cuBLAS's own."""
    a, b = (ac.randn(size, size).to("cuda") for _ in range(2))
    raw = cupy.empty((size, size), cupy.float32)
    for name, fast in (("float32", False), ("TF32", True)):
        settings.matmul.allow_tf32 = fast
        theirs = direct(raw, a._array.raw, b._array.raw, fast=fast)
        with ac.no_grad():
            found = by_turns({"AutoCalc": lambda: a @ b, "cuBLAS": theirs}, 7, 10)
        settings.matmul.allow_tf32 = False
        rates = {peer: 2e-12 * size**3 / t for peer, t in found.items()}
        share = rates["AutoCalc"] / rates["cuBLAS"]
        print(
            f"{size}^3 {name:8} AutoCalc {rates['AutoCalc']:6.1f} TFLOP/s, cuBLAS "
            f"{rates['cuBLAS']:6.1f}: {share:.3f}"
        )


def plain() -> None:
    """Print three shapes by the CPU, a plain kernel and cuBLAS, in GFLOP/s."""
    kernel = cupy.RawKernel(PLAIN, "plain")
    print(f"{'shape':18}{'CPU':>10}{'plain':>10}{'cuBLAS':>10}{'TF32':>10}")
    for m, k, n in SHAPES:
        a, b = ac.randn(m, k), ac.randn(k, n)
        there = a.to("cuda"), b.to("cuda")
        left, right = (x._array.raw for x in there)
        out = cupy.empty((m, n), cupy.float32)
        grid = (-(-n // 16), -(-m // 16))
        operands = out, left, right, *map(cupy.int32, (m, k, n))

        def simple(operands: Any = operands, grid: Any = grid) -> None:
            kernel(grid, (16, 16), operands)

        peers = {
            "plain": simple,
            "cuBLAS": direct(out, left, right),
            "TF32": direct(out, left, right, fast=True),
        }
        found = by_turns(peers, 7, 100)
        rates = [cpu_rate(a, b)]
        rates += [2e-9 * m * k * n / found[name] for name in peers]
        simple()
        error = float(cupy.abs(out - left @ right).max())
        assert error < 0.5, error
        print(f"{f'{m} x {k} x {n}':18}" + "".join(f"{rate:10.0f}" for rate in rates))


def cpu_rate(a: ac.Tensor, b: ac.Tensor) -> float:
    """Return GFLOP/s of the CPU's kernels, the median of rounds."""
    times = []
    with ac.no_grad():
        for _ in range(40):
            begin = time.perf_counter()
            _ = a @ b
            times.append(time.perf_counter() - begin)
    return 2e-9 * a.numel() * b.shape[1] / statistics.median(times)


def transformer() -> None:
    """Print a training step's time in AutoCalc and PyTorch, and where it goes."""
    for mode in ("float32", "TF32"):
        found: dict[str, list[float]] = {peer: [] for peer in PEERS}
        for _ in range(ROUNDS):
            for peer in PEERS:
                found[peer] += step_times(peer, mode)
        ours, theirs = (statistics.median(times or [0]) for times in found.values())
        beside = f", PyTorch {theirs:.2f} ms: {theirs / ours:.2f}" if theirs else ""
        print(f"step of {LAYERS} layers, d {FEATURES}, {BATCH} x 512 tokens, {mode}: "
              f"AutoCalc {ours:.2f} ms{beside}")  # fmt: skip
    print(answer("profile", "float32"))


def step_times(peer: str, mode: str) -> list[float]:
    """Return milliseconds of steps in a process of the peer's own, none without it."""
    try:
        return [float(word) for word in answer(peer, mode).split()]
    except subprocess.CalledProcessError as error:
        print(f"{peer}: {error.stderr.strip().splitlines()[-1]}")
        return []


def answer(peer: str, mode: str) -> str:
    """Return what a process prints that runs one peer, or AutoCalc's profile."""
    command = [sys.executable, "-m", "benchmarks.cuda", "--step", peer, mode]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout


def run_step(peer: str, mode: str) -> None:
    """Print the milliseconds of several rounds of steps, or the profile of one."""
    settings.matmul.allow_tf32 = mode == "TF32"
    if peer == "PyTorch":
        import torch

        torch.backends.cuda.matmul.allow_tf32 = mode == "TF32"
        step = their_step()
    else:
        step = our_step()
    for _ in range(5):  # what is compiled and allocated comes first
        step()
    if peer == "profile":
        profile(step)
        return
    for _ in range(7):
        cupy.cuda.Device().synchronize()
        begin = time.perf_counter()
        for _ in range(5):
            step()
        cupy.cuda.Device().synchronize()
        print(1e3 * (time.perf_counter() - begin) / 5)


def our_step() -> Callable[[], object]:
    """Return a training step of AutoCalc's decoder on the GPU."""
    ac.manual_seed(0)
    model = ac.models.Decoder(1024, 512, FEATURES, 8, LAYERS, tied=False).to("cuda")
    optimizer = ac.optim.AdamW(model.parameters(), lr=1e-4)
    tokens = ac.randint(0, 1024, (BATCH, 513)).to("cuda")
    inputs, targets = tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()

    def step() -> ac.Tensor:
        optimizer.zero_grad()
        loss = model.loss(inputs, targets)
        loss.backward()
        optimizer.step()
        return loss

    return step


def their_step() -> Callable[[], object]:
    """Return the same step in PyTorch, eager, with its fused optimizer."""
    import torch
    from torch import nn
    from torch.nn import functional

    size = FEATURES

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)
            self.qkv, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
            self.up, self.down = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)

        def forward(self, x: Any) -> Any:
            b, s, d = x.shape
            parts = self.qkv(self.norm1(x)).view(b, s, 3, 8, d // 8)
            q, k, v = parts.permute(2, 0, 3, 1, 4)
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(mixed.transpose(1, 2).reshape(b, s, d))
            return x + self.down(functional.gelu(self.up(self.norm2(x))))

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.places = nn.Embedding(1024, size), nn.Embedding(512, size)
            self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
            self.norm, self.head = nn.LayerNorm(size), nn.Linear(size, 1024, bias=False)

        def forward(self, tokens: Any) -> Any:
            places = torch.arange(tokens.shape[1], device=tokens.device)
            x = self.tokens(tokens) + self.places(places)
            return self.head(self.norm(self.blocks(x)))

    torch.manual_seed(0)
    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    tokens = torch.randint(0, 1024, (BATCH, 513), device="cuda")

    def step() -> Any:
        optimizer.zero_grad()
        logits = model(tokens[:, :-1])
        loss = functional.cross_entropy(
            logits.reshape(-1, 1024), tokens[:, 1:].reshape(-1)
        )
        loss.backward()
        optimizer.step()
        return loss

    return step


def profile(step: Callable[[], object], rows: int = 14) -> None:
    """Print how many kernels ran, the GPU's time of each, and the host's time."""
    step()
    cupy.cuda.Device().synchronize()
    begin = time.perf_counter()
    step()
    submitted = time.perf_counter() - begin
    cupy.cuda.Device().synchronize()
    whole = time.perf_counter() - begin
    events: list[tuple[str, str, Any, Any]] = []

    def timed(spec: Any, name: str, function: Any) -> Any:
        def call(*operands: Any) -> None:
            start, end = cupy.cuda.Event(), cupy.cuda.Event()
            start.record()
            function(*operands)
            end.record()
            events.append((spec.name, name, start, end))

        return call

    from autocalc._dispatch.selection.state import current, enter, leave

    token = enter(selection=current().selection.derive(wrap=timed))
    try:
        step()
        events.clear()
        step()
    finally:
        leave(token)
    cupy.cuda.Device().synchronize()
    found: dict[tuple[str, str], list[float]] = {}
    for kernel, name, start, end in events:
        took = cupy.cuda.get_elapsed_time(start, end)
        found.setdefault((kernel, name), []).append(took)
    print(f"  submitted in {1e3 * submitted:.2f} ms, done in {1e3 * whole:.2f}; "
          f"{len(events)} kernels")  # fmt: skip
    longest = sorted(found.items(), key=lambda item: -sum(item[1]))
    for (kernel, name), times in longest[:rows]:
        mean = 1e3 * sum(times) / len(times)
        print(f"  {kernel:24}{name:12}{len(times):5} x {mean:8.1f} us = "
              f"{sum(times):7.3f} ms")  # fmt: skip


TABLES: dict[str, Callable[[], None]] = {
    "products": products,
    "plain": plain,
    "transformer": transformer,
}

if __name__ == "__main__":
    if not ac.cuda.is_available():
        sys.exit("benchmarks.cuda needs a GPU: `autocalc kernels` says what is missing")
    if sys.argv[1:2] == ["--step"]:
        run_step(*sys.argv[2:4])
        sys.exit()
    for table in sys.argv[1:] or TABLES:
        TABLES[table]()
