# SPDX-License-Identifier: MIT
"""Libraries for PyTorch under AutoCalc: ``make test-libraries``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
#: A Python that has PyTorch and the libraries; its values are compared with.
TORCH = os.environ.get("LIBRARIES_TORCH")

if "autocalc.torch.pytest" not in sys.modules:
    # Other runs do not have the libraries.
    collect_ignore_glob = ["test_*.py"]
else:
    sys.path.insert(0, str(HERE / "programs"))


@pytest.fixture(scope="session")
def reference(tmp_path_factory):
    """Return a function: PyTorch's values of a run, None where there is no PyTorch."""
    folders = {}

    def values(program, name):
        if not TORCH:
            return None
        if program not in folders:
            folders[program] = tmp_path_factory.mktemp(program)
            others = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
            libraries = os.environ.get("LIBRARIES_PATH", "")
            subprocess.run(
                [TORCH, HERE / "values.py", program, folders[program]],
                check=True,
                env={**others, "PYTHONPATH": libraries},
            )
        return dict(np.load(folders[program] / f"{name}.npz"))

    return values
