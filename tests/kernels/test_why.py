# SPDX-License-Identifier: MIT
"""`explain` tells why SIMD runs a product and not BLAS, and when it is otherwise."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from tests.dispatcher import KernelCall, config, detected_features, tuning
from tests.kernel_table import TABLE

import autocalc as ac

SHAPE = (96, 96)

WHY = """
import autocalc as ac
found = ac.kernels.explain("gemm", ac.ones(96, 96), ac.ones(96, 96))
print(found.chosen, found.why, sep="|")
"""


def installed(family):
    return next((n for n in ac.kernels.available() if n.startswith(family)), None)


pytestmark = pytest.mark.skipif(
    not (installed("simd") and installed("blas")),
    reason="needs the packages of SIMD and BLAS kernels",
)


def asked(**variables):
    """Return the choice and the reason in a fresh process."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("AUTOCALC_")}
    done = subprocess.run(
        [sys.executable, "-c", WHY], capture_output=True, text=True, check=True,
        env={**env, "AUTOCALC_TUNE": "off", **variables},
    )  # fmt: skip
    chosen, _, why = done.stdout.strip().partition("|")
    return chosen, why


def test_by_rank():
    chosen, why = asked()
    assert chosen.startswith("simd-")
    rank = 300 if "avx512" in chosen else 250 if "sse2" not in chosen else 200
    assert why.startswith(f"its rank of {rank} is the highest (")
    assert f"{installed('blas')} 10" in why
    # After that come sets that this CPU cannot run, that refuse small products or
    # that the precision does not allow, and none of another device.
    why, *others = why.split("; ")
    assert why.endswith("), and nothing else was chosen or measured")
    assert all(other.startswith(("simd-", "split-", "bf")) for other in others)


@pytest.mark.skipif("avx512f" not in detected_features(), reason="needs AVX-512")
def test_with_a_feature_masked():
    chosen, why = asked(AUTOCALC_CPU_FEATURES="-avx512f")
    assert chosen == "simd-avx2"
    assert why.startswith("its rank of 250 is the highest (")
    assert "; simd-avx512 (300) is not used: avx512bw, " in why
    assert "hidden by AUTOCALC_CPU_FEATURES" in why


def test_with_a_record_in_favour_of_blas(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOCALC_TUNE", "read")
    monkeypatch.setenv("AUTOCALC_CACHE_DIR", str(tmp_path))
    config.reload()
    ac.kernels.reload()
    try:
        simd, blas = installed("simd"), installed("blas")
        a = np.ones(SHAPE, np.float32)
        key = KernelCall(TABLE["gemm"]).key(a, a, None)
        tuning.write([tuning.measured(key, "96x96x96", {simd: 2e-5, blas: 1e-5})])
        told = ac.kernels.explain("gemm", a, a)
        assert told.chosen == blas
        assert told.why == (
            f"`autocalc tune` found it the fastest: measured 10 us at 96x96x96, "
            f"{simd} measured 20 us at 96x96x96"
        )
        with ac.kernels.count() as calls:
            ac.from_numpy(a) @ ac.from_numpy(a)
        assert calls["gemm", blas] == 1
    finally:
        monkeypatch.undo()
        config.reload()
        ac.kernels.reload()
