# SPDX-License-Identifier: MIT
import pytest

from autocalc_kernels_blas._core_type import mkl_level, openblas_core_type

SSE = frozenset({"sse2", "sse4_2"})
AVX = SSE | {"avx"}
HASWELL = AVX | {"avx2", "fma", "f16c", "bmi2"}
SKYLAKEX = HASWELL | {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}
ZEN5 = SKYLAKEX | {"avx512_vnni", "avx512_bf16", "sse4a", "clzero"}
KNIGHTS = HASWELL | {"avx512f", "avx512cd", "avx512er", "avx512pf"}


@pytest.mark.parametrize(
    ("features", "name", "mkl"),
    [
        (ZEN5, "SKYLAKEX", "AVX512"),
        (SKYLAKEX, "SKYLAKEX", "AVX512"),
        (KNIGHTS, "HASWELL", "AVX2"),
        (HASWELL, "HASWELL", "AVX2"),
        (AVX, "SANDYBRIDGE", "SSE4_2"),
        (SSE, "NEHALEM", "SSE4_2"),
    ],
)
def test_features_choose_the_core_type(features, name, mkl):
    chosen = openblas_core_type(features)
    assert chosen is not None
    assert chosen.name == name
    level = mkl_level(features)
    assert level is not None
    assert level[1].name == mkl


def test_the_reason_names_the_deciding_features():
    assert "avx512f" in openblas_core_type(SKYLAKEX).reason
    assert "avx2" in openblas_core_type(HASWELL).reason


def test_hidden_features_lower_the_core_type():
    hidden = {name for name in SKYLAKEX if name.startswith("avx512")}
    assert openblas_core_type(SKYLAKEX - hidden).name == "HASWELL"


def test_the_oldest_x86_and_other_cpus():
    assert openblas_core_type(frozenset({"sse2"})).name == "PRESCOTT"
    assert mkl_level(frozenset({"sse2"})) is None
    assert openblas_core_type(frozenset({"asimd", "fp", "sve"})) is None
