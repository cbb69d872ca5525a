# SPDX-License-Identifier: MIT
"""Matrix products, float32, of the shapes that models have."""

import autocalc as ac
from benchmarks.common import KERNELS, OnEachSet


class Gemm(OnEachSet):
    """[M, K] @ [K, N], shapes written MxNxK."""

    params = [
        KERNELS,
        ["64x64x64", "256x256x256", "1024x1024x1024", "256x1024x784", "256x10x1024"],
    ]
    param_names = ["kernels", "shape"]

    def setup(self, kernels, shape):
        super().setup(kernels)
        m, n, k = map(int, shape.split("x"))
        self.a, self.b = ac.rand(m, k), ac.rand(k, n)
        self.a @ self.b

    def time_gemm(self, kernels, shape):
        self.a @ self.b
