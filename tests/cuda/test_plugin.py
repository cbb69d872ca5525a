# SPDX-License-Identifier: MIT
"""The plugin on machines without a GPU: cheap to import, and plain about what lacks."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType, SimpleNamespace

import pytest

pytest.importorskip("autocalc_kernels_cuda", reason="the package is not installed")

import autocalc as ac
from autocalc.errors import PluginError
from autocalc_kernels_cuda import _plugin, tf32, tf32_allowed
from autocalc_kernels_cuda._nvrtc import source

pytestmark = pytest.mark.no_gpu


def test_importing_the_plugin_imports_neither_cupy_nor_numbers_of_it():
    code = (
        "import sys, autocalc_kernels_cuda._plugin as p; p.autocalc_kernel_sets;"
        "print('cupy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def test_without_cupy_the_set_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)  # `import cupy` raises ImportError
    with pytest.raises(PluginError, match=r"pip install autocalc-kernels-cuda\[cuda13"):
        _plugin.load()


def stand_in_for_cupy(monkeypatch, count, nvrtc_version):
    """Let `import cupy` find a module that answers for the driver and NVRTC."""

    class CUDARuntimeError(RuntimeError):
        pass

    def device_count():
        if count is None:
            raise CUDARuntimeError("the driver is missing")
        return count

    cupy, cuda = ModuleType("cupy"), ModuleType("cupy.cuda")
    cupy.cuda = cuda
    cuda.runtime = SimpleNamespace(
        getDeviceCount=device_count, CUDARuntimeError=CUDARuntimeError
    )
    cuda.nvrtc = SimpleNamespace(getVersion=nvrtc_version)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setitem(sys.modules, "cupy.cuda", cuda)


def no_library():
    raise RuntimeError("libnvrtc.so is not there")


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (None, "no GPU that it can use .the driver is missing.*Install NVIDIA's"),
        (0, "finds no GPU.*CUDA_VISIBLE_DEVICES"),
        (1, r"libnvrtc.so is not there.*pip install .cupy-cuda13x\[ctk\]"),
    ],
)
def test_what_is_missing_is_named_with_what_to_do(monkeypatch, count, words):
    stand_in_for_cupy(monkeypatch, count, no_library)
    with pytest.raises(PluginError, match=words):
        _plugin.load()


def test_tf32_is_off_and_a_block_restores_it():
    assert not tf32_allowed()
    with tf32():
        assert tf32_allowed()
        with tf32(False):
            assert not tf32_allowed()
        assert tf32_allowed()
    assert not tf32_allowed()
    ac.set_float32_matmul_precision("high")
    try:
        assert tf32_allowed()
        with tf32(False):
            assert not tf32_allowed()
    finally:
        ac.set_float32_matmul_precision("highest")
    assert not tf32_allowed()


def test_headers_are_put_in_once_in_place_of_their_names():
    text = source("elementwise.cu")
    assert '#include "' not in text
    assert text.count("constexpr int BLOCK = 256") == 1
