# SPDX-License-Identifier: MIT
"""ONNX Runtime as a peer: the answers of the zoo's models from graphs of ONNX.

PyTorch exports each model with the weights that it has in a run of its own, constants
folded.  What runs is what a trial finds fastest: attention as one operator of the graph
or as several, threads that spin or sleep, operands that are bound or given.
"""

from __future__ import annotations

import importlib
import itertools
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.side_by_side.images import trial
from benchmarks.worker import Run
from benchmarks.zoo.work import Row, Work, answer

PEER = "onnxruntime"
#: Versions of ONNX's operators: attention is one of them from 23 on.
OPSETS = (18, 23)
#: Error of one answer against another, of its largest element.
TOLERANCE = 1e-3
#: Set by `start`: threads of a session.
_THREADS = [1]


def start(threads: int) -> str:
    """Remember the number of threads; return name and version."""
    _THREADS[0] = threads
    return f"{PEER} {importlib.import_module(PEER).__version__}"


def prepare(row: Row | None) -> Run | None:
    """Return what to time: one answer; None where a row trains or is no model."""
    if row is None or row.trains:
        return None
    torch = importlib.import_module("torch")
    torch.manual_seed(0)
    work = row.make(torch, lambda given: given)
    expected: Any = answer(torch, work)()
    given = [x.numpy() for x in work.inputs]
    with tempfile.TemporaryDirectory() as folder:
        paths = [_export(torch, work, Path(folder), opset) for opset in OPSETS]
        every = itertools.product(paths, ("1", "0"), (True, False))
        runs = [
            _session(path, given, spinning, bound) for path, spinning, bound in every
        ]
    run = min(runs, key=trial)
    found = _first(run())
    error = abs(found - expected.numpy()).max() / abs(found).max()
    if error > TOLERANCE:
        raise SystemExit(f"onnxruntime: its answer is not PyTorch's: {error:.1e} off.")
    return run


def _first(results: Any) -> Any:
    return results[0]


def _export(torch: Any, work: Work, folder: Path, opset: int) -> Path:
    """Write the graph of a model, weights within; return where it is."""
    path = folder / f"{opset}.onnx"
    torch.onnx.export(
        work.model,
        work.inputs,
        str(path),
        dynamo=True,
        external_data=False,
        opset_version=opset,
        verbose=False,
    )
    return path


def _session(path: Path, given: list[Any], spinning: str, bound: bool) -> Run:
    """Return a run of a session: its threads spin or sleep, operands bound or not."""
    runtime = importlib.import_module(PEER)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = _THREADS[0]
    options.inter_op_num_threads = 1
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.add_session_config_entry("session.intra_op.allow_spinning", spinning)
    session = runtime.InferenceSession(
        str(path), options, providers=["CPUExecutionProvider"]
    )
    names = [operand.name for operand in session.get_inputs()]
    feeds = dict(zip(names, given, strict=True))
    if not bound:
        return lambda: session.run(None, feeds)
    binding = session.io_binding()
    for name, array in feeds.items():
        binding.bind_cpu_input(name, array)
    for output in session.get_outputs():
        binding.bind_output(output.name)

    def run() -> Any:
        session.run_with_iobinding(binding)
        return binding.copy_outputs_to_cpu()

    return run
