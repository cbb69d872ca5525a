# SPDX-License-Identifier: MIT
"""A part of the zoo: one model of each kind, on the best kernel set."""

import autocalc as ac
from benchmarks.zoo.rows import ZOO


class Zoo:
    """Whole steps and answers, as `benchmarks.side_by_side --zoo` has them."""

    params = [
        "ResNet-18, 1 of 32x32, inference",
        "MobileNetV2, 32 of 32x32, step",
        "U-Net, 2 of 96x96, step",
        "ViT d 192, 8 of 32x32, step",
        "BERT d 128, 4x64 tokens, step",
        "GRU 128, 32x50, step",
        "tabular MLP 256, batch 1, inference",
        "DLRM, batch 256, step",
        "graph of 1000 nodes, 8000 edges, step",
    ]
    param_names = ["row"]

    def setup(self, row):
        self.run = ZOO[row].prepare(ac)

    def time_row(self, row):
        self.run()
