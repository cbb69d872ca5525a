# SPDX-License-Identifier: MIT
"""Test the packages that are installed in this environment.

Only the tests are taken from the checkout.  They are a selection that runs for two
minutes: the behaviour of each part of the core and of each installed kernel package.
Arguments that are files or folders of tests, such as ``tests/core``, replace the
selection; all other arguments are passed to pytest.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Maps the module of a package to the tests that are run.
TESTS = {
    "autocalc": [
        f"tests/core/test_{name}.py"
        for name in (
            *("import", "platform", "cpu", "config", "fit", "plugins", "dispatch"),
            *("dispatch_keys", "tensor", "creation", "dtypes", "views", "view_writes"),
            *("random", "threads", "autograd", "graph", "gradcheck", "attention", "io"),
            *("interchange", "memory_format", "eager", "nn_module", "nn_linear"),
            *(
                "nn_conv",
                "nn_norm",
                "nn_recurrent",
                "nn_loss",
                "nn_state",
                "data_digits",
            ),
            *("data_loader", "optim_formulas", "optim_state", "optim_scheduler"),
        )
    ],
    "autocalc_kernels_simd": [
        f"tests/simd/test_{name}.py"
        for name in ("libraries", "entry", "pool", "executor", "gemm")
    ],
    "autocalc_kernels_blas": [
        f"tests/blas/test_{name}.py" for name in ("plugin", "library", "gemm")
    ],
}


def installed() -> list[str]:
    """Return which packages are installed; end the program if one is the checkout's."""
    found = []
    for name in TESTS:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            continue
        if not Path(spec.origin).resolve().is_relative_to(Path(sys.prefix).resolve()):
            sys.exit(f"{name} is not installed in {sys.prefix}: it is {spec.origin}")
        found.append(name)
    if "autocalc" not in found:
        sys.exit(f"autocalc-core is not installed in {sys.prefix}")
    return found


def main() -> int:
    """Run the tests; return the exit status of pytest."""
    packages = installed()
    print(f"testing {', '.join(packages)} in {sys.prefix}", flush=True)
    given = sys.argv[1:]
    if not any((ROOT / word).exists() for word in given):
        given += [file for name in packages for file in TESTS[name]]
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow and not long"]
    return subprocess.run(
        [*command, "-p", "no:cacheprovider", *given], cwd=ROOT, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
