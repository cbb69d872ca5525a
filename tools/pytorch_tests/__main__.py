# SPDX-License-Identifier: MIT
"""Run PyTorch's own tests under PyTorch and under AutoCalc, and print a table.

``.venv-torch/bin/python -m tools.pytorch_tests FOLDER`` takes the folder ``test`` of
PyTorch's sources, which are not part of this repository.  Each file runs in its own
process on the CPU, without the tests over databases of operators.  For the tests that
pass under PyTorch, the table states three things: how many AutoCalc passes, how many
are excluded and why (``exclusions.txt``), and why the others fail (``failures.txt``).
The tests need pytest, scipy, psutil, hypothesis and expecttest.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.pytorch_tests import running, table

#: The files that run if none is named.
FILES = (
    *("test_torch", "test_autograd", "test_nn", "nn/test_convolution"),
    *("nn/test_dropout", "nn/test_embedding", "nn/test_init", "nn/test_lazy_modules"),
    *("nn/test_load_state_dict", "nn/test_module_hooks", "nn/test_multihead_attention"),
    *("nn/test_packed_sequence", "nn/test_parametrization", "nn/test_pooling"),
    *("nn/test_pruning", "test_optim", "optim/test_lrscheduler", "optim/test_optim"),
    *("optim/test_swa_utils", "test_indexing", "test_view_ops", "test_type_promotion"),
    *("test_tensor_creation_ops", "test_reductions", "test_sort_and_select"),
    *("test_shape_ops", "test_binary_ufuncs", "test_unary_ufuncs", "test_linalg"),
    *("test_dataloader", "test_serialization", "distributions/test_constraints"),
    *("distributions/test_distributions", "distributions/test_transforms"),
    *("distributions/test_utils", "test_utils", "test_numpy_interop", "test_modules"),
    *("test_stateless", "test_scatter_gather_ops", "autograd/test_functional"),
    *("test_dlpack", "test_type_info"),
    *("functorch/test_eager_transforms", "functorch/test_vmap"),
)


def arguments() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(
        "pytorch_tests", description=(__doc__ or "").replace("``", "")
    )
    parser.add_argument("folder", type=Path, help="the folder test of PyTorch")
    parser.add_argument("files", nargs="*", help="some files, as nn/test_init")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(".pytorch-tests"),
        help="where outcomes are kept: a file that is there is not run again",
    )
    parser.add_argument(
        "--pytorch",
        default=sys.executable,
        metavar="PYTHON",
        help="the interpreter that has PyTorch, if another",
    )
    parser.add_argument("--seconds", type=int, default=60, help="the limit of a test")
    parser.add_argument("--all", action="store_true", help="print each failure")
    return parser.parse_args()


def main() -> int:
    """Run what has not been run yet, write ``outcomes.json``, and print the table."""
    chosen = arguments()
    out = chosen.out.resolve()
    with_torch = running.Interpreter(chosen.pytorch)
    rows: list[table.Row] = []
    for name in [file.removesuffix(".py") for file in chosen.files or FILES]:
        for under in ("pytorch", "autocalc"):
            outcomes = out / under / f"{name.replace('/', '_')}.jsonl"
            if not outcomes.exists():
                job = running.Job(f"{name}.py", under, outcomes, chosen.seconds)
                running.run(job, chosen.folder, with_torch)
        rows += table.rows(out, name.replace("/", "_"))
    table.write(rows, out / "outcomes.json")
    return table.show(rows, every=chosen.all)


if __name__ == "__main__":
    sys.exit(main())
