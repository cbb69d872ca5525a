# SPDX-License-Identifier: MIT
"""The kernels for NVIDIA's GPUs beside cuBLAS, a plain kernel, the CPU and PyTorch.

::

    python -m benchmarks.cuda [products] [shapes] [step] [profile]

``products``: 4096 x 4096 x 4096 in float32 and TF32, by AutoCalc's `gemm` and by cuBLAS
called directly, in turn.  ``shapes``: three shapes of a transformer on cuBLAS, on the
plain tiled kernel `plain_gemm.cu`, and on the CPU.  ``step``: a training step of a
transformer, eager, in AutoCalc and in PyTorch on the same GPU.  ``profile``: where
AutoCalc's time in that step goes, by kernel.

Times of the GPU are between CUDA events; each figure is a median.
"""

from __future__ import annotations

import dataclasses
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import contextmanager

import numpy as np

from autocalc.plugin import KernelImpl

#: M, N, K of the products of a transformer: its name in the table.
SHAPES = {
    "ffn_up_s": (64, 3072, 768),
    "attn_qkv": (64, 2304, 768),
    "ffn_up_m": (32, 4096, 1024),
}
ROUNDS = 21
STEPS = 10


def timed(run: Callable[[], object], calls: int = 1) -> float:
    """Return the GPU's seconds for a call, from one event to another."""
    import cupy

    start, end = cupy.cuda.Event(), cupy.cuda.Event()
    start.record()
    for _ in range(calls):
        run()
    end.record()
    end.synchronize()
    return cupy.cuda.get_elapsed_time(start, end) / 1e3 / calls


def alternating(*runs: Callable[[], object], calls: int = 1) -> list[float]:
    """Return the median seconds of each, measured in turn after a warm-up."""
    for run in runs:
        timed(run, 3)
    rounds = [[timed(run, calls) for run in runs] for _ in range(ROUNDS)]
    return [statistics.median(each) for each in zip(*rounds, strict=True)]


def gemm() -> Callable[..., object]:
    """Return AutoCalc's kernel."""
    from autocalc_kernels_cuda._table import kernels

    function = kernels()["gemm"].function
    return lambda out, a, b: function(out, None, a, b, None, 1.0, 1.0, "none", 0)


def cublas_call(out, a, b, tf32: bool = False) -> Callable[[], object]:
    """Return cuBLAS's product of matrices in row order, called directly."""
    import ctypes

    from cupy.cuda import cublas, device

    one, zero = ctypes.c_float(1), ctypes.c_float(0)
    (m, k), n = a.shape, b.shape[1]
    handle = device.get_cublas_handle()

    def run(kept=(one, zero)) -> None:
        cublas.setMathMode(handle, 3 if tf32 else 0)
        cublas.sgemm(
            handle, 0, 0, n, m, k, ctypes.addressof(one), b.data.ptr, n,
            a.data.ptr, k, ctypes.addressof(zero), out.data.ptr, n,
        )  # fmt: skip

    return run


def matrices(m: int, n: int, k: int):
    """Return [M, K], [K, N] and room for their product on the GPU."""
    import cupy

    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(s, np.float32) for s in ((m, k), (k, n)))
    return cupy.asarray(a), cupy.asarray(b), cupy.empty((m, n), np.float32)


def products() -> None:
    """Compare `gemm` with cuBLAS itself."""
    import autocalc_kernels_cuda as cuda

    size = 4096
    a, b, out = matrices(size, size, size)
    ours = gemm()
    print("4096 x 4096 x 4096    AutoCalc       cuBLAS    AutoCalc / cuBLAS (rate)")
    for tf32 in (False, True):
        with cuda.tf32(tf32):
            mine, theirs = alternating(
                lambda: ours(out, a, b), cublas_call(out, a, b, tf32), calls=5
            )
        rates = [2 * size**3 / s / 1e12 for s in (mine, theirs)]
        name = "TF32" if tf32 else "float32"
        print(
            f"{name:16} {rates[0]:8.1f} TFLOP/s {rates[1]:6.1f} TFLOP/s"
            f" {theirs / mine:8.3f}"
        )


def shapes() -> None:
    """Compare cuBLAS, the plain kernel and the CPU."""
    import cupy

    from autocalc_kernels_cuda._nvrtc import kernel

    ours, plain = gemm(), kernel("plain_gemm.cu", "plain_gemm")
    print("GFLOP/s                        CPU     plain    cuBLAS    cuBLAS / plain")
    for name, (m, n, k) in SHAPES.items():
        a, b, out = matrices(m, n, k)
        grid = -(-n // 32), -(-m // 32)
        arguments = (a, b, out, *map(np.int32, (m, n, k)))
        other = cupy.empty_like(out)
        ours(other, a, b)
        plain(grid, (32, 8), arguments)
        np.testing.assert_allclose(out.get(), other.get(), rtol=1e-3, atol=1e-3)
        by_cublas, by_plain = alternating(
            lambda a=a, b=b, out=out: ours(out, a, b),
            lambda grid=grid, arguments=arguments: plain(grid, (32, 8), arguments),
            calls=20,
        )
        by_cpu = on_cpu(m, n, k)
        rates = [2e-9 * m * n * k / s for s in (by_cpu, by_plain, by_cublas)]
        shape = f"{name} ({m} x {k} x {n})"
        print(f"{shape:26}" + "".join(f"{rate:9.0f} " for rate in rates), end="")
        print(f"{rates[2] / rates[1]:12.2f}")


def on_cpu(m: int, n: int, k: int) -> float:
    """Return the seconds of AutoCalc's product on the CPU."""
    import autocalc as ac

    a, b = ac.randn(m, k), ac.randn(k, n)
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(5):
            ac.matmul(a, b)
        times.append((time.perf_counter() - start) / 5)
    return statistics.median(times[3:])


# ------------------------------------------------------------ a training step


def step() -> None:
    """Compare a training step with PyTorch's."""
    import autocalc_kernels_cuda as cuda

    libraries = {"AutoCalc": _autocalc()}
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed: AutoCalc alone.")
    else:
        libraries["PyTorch"] = torch
    print("d 512, 6 layers, 8 heads, batch 8 x 512 tokens: ms for a step")
    for tf32 in (False, True):
        for name, ml in libraries.items():
            if name == "PyTorch":
                ml.backends.cuda.matmul.allow_tf32 = tf32
            with cuda.tf32(tf32):
                run, synchronize = prepared(ml)
                loss = float(run())
                seconds, launching = wall(run, synchronize)
                kind = "TF32" if tf32 else "float32"
                print(
                    f"{name:9} {kind:8} {seconds * 1e3:9.2f}, of which the program "
                    f"takes {launching * 1e3:.2f} to ask; first loss {loss:.4f}",
                    flush=True,
                )


def _autocalc():
    import autocalc as ac

    return ac


def prepared(ml) -> tuple[Callable[[], object], Callable[[], object]]:
    """Return a step on the GPU, and what waits for it."""
    from benchmarks.side_by_side import language

    sizes = language.Sizes(8, 512, 512, 8, 6, 2048)
    with on_gpu(ml):
        run = language.step(sizes)(ml)
    return run, ml.cuda.synchronize


@contextmanager
def on_gpu(ml):
    """Make new tensors on the GPU."""
    before = ml.get_default_device()
    ml.set_default_device("cuda")
    try:
        yield
    finally:
        ml.set_default_device(before)


def wall(run, synchronize) -> tuple[float, float]:
    """Return the median seconds of a step, and of asking for it without waiting."""
    whole, asking = [], []
    for _ in range(3):
        run()
    for _ in range(STEPS):
        synchronize()
        start = time.perf_counter()
        run()
        asking.append(time.perf_counter() - start)
        synchronize()
        whole.append(time.perf_counter() - start)
    return statistics.median(whole), statistics.median(asking)


def profile() -> None:
    """Print where a step's time goes, in a process of its own.

    There each kernel of the set has events around it, which take time themselves.
    """
    code = "from benchmarks.cuda import print_profile; print_profile()"
    subprocess.run([sys.executable, "-c", code], check=True)


def print_profile() -> None:
    """Print the set's kernels by the GPU's time between events around their calls."""
    import cupy

    spans: list[tuple[str, cupy.cuda.Event, cupy.cuda.Event]] = []
    with_events(spans)
    run, synchronize = prepared(_autocalc())
    for _ in range(3):
        run()
    synchronize()
    spans.clear()
    whole = timed(run) * 1e3
    total: dict[str, float] = defaultdict(float)
    count: dict[str, int] = defaultdict(int)
    for name, start, end in spans:
        total[name] += cupy.cuda.get_elapsed_time(start, end)
        count[name] += 1
    print("kernel                        calls   ms of the GPU     share")
    for name in sorted(total, key=lambda n: -total[n]):
        share = total[name] / whole
        print(f"{name:28} {count[name]:6} {total[name]:13.3f} {share:11.1%}")
    rest = whole - sum(total.values())
    print(f"{'references, and waiting':28} {'':6} {rest:13.3f} {rest / whole:11.1%}")
    print(f"{'the step':28} {len(spans):6} {whole:13.3f}")


def with_events(spans: list) -> None:
    """Put events around each kernel of the set, before AutoCalc loads it."""
    import cupy

    from autocalc_kernels_cuda import _table

    kernels = _table.kernels

    def measured(name, function):
        def call(*arguments):
            start, end = cupy.cuda.Event(), cupy.cuda.Event()
            start.record()
            function(*arguments)
            end.record()
            spans.append((name, start, end))

        return call

    def replaced():
        found = {}
        for name, kernel in kernels().items():
            if isinstance(kernel, KernelImpl):
                function = measured(name, kernel.function)
                found[name] = dataclasses.replace(kernel, function=function)
            else:
                found[name] = measured(name, kernel)
        return found

    _table.kernels = replaced


def main(names: list[str]) -> None:
    """Run what is named, or all."""
    parts = {
        "products": products,
        "shapes": shapes,
        "step": step,
        "profile": profile,
    }
    import cupy

    device = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.runtime.getDevice())
    print(f"{device['name'].decode()}, CuPy {cupy.__version__}, NumPy {np.__version__}")
    for name in names or parts:
        parts[name]()
        print(flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
