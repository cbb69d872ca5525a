# SPDX-License-Identifier: MIT
"""Sparse tensors: their products, sums and softmax, and SciPy's matrices.

A sparse tensor consists of dense tensors: of the indices of its entries, and of their
values.  `sparse_coo_tensor`, `sparse_csr_tensor`, `sparse_csc_tensor` and the method
`to_sparse` make them.
"""

from __future__ import annotations

from autocalc.sparse import _methods
from autocalc.sparse._conversion import from_scipy, to_scipy
from autocalc.sparse._creation import rows as rows
from autocalc.sparse._functions import addmm, mm, sum
from autocalc.sparse._invariants import check_sparse_tensor_invariants
from autocalc.sparse._matrices import sampled_addmm
from autocalc.sparse._reductions import log_softmax, softmax

__all__ = [
    "addmm",
    "check_sparse_tensor_invariants",
    "from_scipy",
    "log_softmax",
    "mm",
    "sampled_addmm",
    "softmax",
    "sum",
    "to_scipy",
]

_methods.attach()
