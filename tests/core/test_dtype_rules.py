# SPDX-License-Identifier: MIT
"""The dtypes of results, over all dtypes and kinds of operands, are PyTorch's.

`against_torch/dtypes.txt` has PyTorch's answers, so that this holds without it; where
it is installed, the file is compared with it.
"""

from __future__ import annotations

import inspect
import re

import pytest
from tests.core.dtype_cases import expected, rows_of
from tests.core.dtype_operations import CALLS, OPERATIONS

import autocalc as ac

EXPECTED = expected()

_CUT = "the fraction of a float would be cut off: convert the tensor first"
#: Operations that refuse operands which PyTorch takes, and why.
REFUSED = {
    **dict.fromkeys(("masked_fill", "masked_fill_", "index_fill value"), _CUT),
    **dict.fromkeys(("index_fill_", "scatter src", "scatter_", "scatter add"), _CUT),
    **dict.fromkeys(("scatter multiply", "index_add alpha"), _CUT),
    **dict.fromkeys(("F.hardtanh to b", "F.threshold to b"), _CUT),
    **dict.fromkeys(("addmm alpha", "addmm beta", "addcmul value"), _CUT),
    **dict.fromkeys([f"F.avg_pool{n}d" for n in (1, 2, 3)], "means would be cut off"),
    **dict.fromkeys(
        ("F.local_response_norm", *(f"F.lp_pool{n}d" for n in (1, 2, 3))),
        "the means of int64 in them would be cut off",
    ),
    "cumsum_": "sums of booleans are integers, without dimensions, too",
    "cumprod_": "products of booleans are integers, without dimensions, too",
    "solve_triangular": "both are of one dtype, as those of `solve`",
    "F.ctc_loss targets": "the fraction of a label would be cut off",
}
#: Operations that take operands which PyTorch refuses, and why.
TAKEN = {
    "gradient": "uint8 becomes float before differences are taken of it",
    "gradient at b": "a distance without dimensions is a number; uint8 as above",
    "gradient by b": "one vector of places stands for a tuple of one; uint8 as above",
    "x[b] = 1": "a uint8 mask is written through as it is read through",
    "F.max_pool1d": "PyTorch takes integers only with `return_indices`, or over planes",
    "clamp between b and b": "one boolean limit is taken, so two are",
}
#: Operations whose result has another dtype, and why.
OTHER = {
    "F.binary_cross_entropy_with_logits": "PyTorch rounds the loss of float64 logits "
    "to the dtype of the targets",
    "clamp between a number and b": "a limit without dimensions keeps its dtype, and "
    "its gradient, with a number; PyTorch takes its number alone",
}


@pytest.mark.core
@pytest.mark.parametrize("name", OPERATIONS)
def test_dtypes(name):
    rows = rows_of(ac, name)
    theirs = {title: EXPECTED[title] for title in rows}
    reason = REFUSED.get(name) or TAKEN.get(name) or OTHER.get(name)
    if reason is None:
        assert rows == theirs
        return
    differing = {title: row for title, row in rows.items() if row != theirs[title]}
    assert differing, f"no exception any more: {reason}"
    for title, row in differing.items():
        pairs = list(zip(row.split(), theirs[title].split(), strict=True))
        assert all(_allowed(name, a, b) for a, b in pairs), title


def _allowed(name, mine, theirs):
    """Return whether outcomes differ only as the list of exceptions says."""
    if name in OTHER:
        return ("-" in mine) <= ("-" in theirs)
    less, more = (mine, theirs) if name in REFUSED else (theirs, mine)
    if set(less) == {"-"}:
        return True
    return all(a in {b, "-"} for a, b in zip(less, more, strict=True))


@pytest.mark.torch
@pytest.mark.parametrize("name", OPERATIONS)
def test_the_file_is_what_pytorch_does(name):
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")
    rows = rows_of(torch, name)
    assert rows == {title: EXPECTED[title] for title in rows}


#: Functions and methods that compute nothing from elements: they make tensors, move
#: elements, or tell what a tensor or the library is.
NOT_COMPUTING = {
    *("as_subclass", "is_set_to", "new_empty_strided", "resize_", "resize_as_", "set_"),
    *("are_deterministic_algorithms_enabled", "as_strided", "as_tensor", "asarray"),
    *("atleast_1d", "atleast_2d", "atleast_3d", "backward", "bfloat16"),
    *(
        "broadcast_shapes",
        "broadcast_to",
        "byte",
        "cdouble",
        "cfloat",
        "char",
        "chunk",
        "contiguous",
    ),
    *("cpu", "cuda", "data_ptr", "detach", "detach_", "diag_embed", "diagonal"),
    *("double", "dsplit", "element_size", "empty", "expand_as", "eye", "flip"),
    *("fliplr", "flipud", "from_dlpack", "from_numpy", "get_default_device"),
    *("get_default_dtype", "get_device", "get_float32_matmul_precision"),
    *("get_num_interop_threads", "get_num_threads", "get_rng_state", "half", "hsplit"),
    *("initial_seed", "int", "is_anomaly_check_nan_enabled", "is_anomaly_enabled"),
    *("conj", "is_conj", "is_neg", "resolve_conj", "resolve_neg"),
    *("is_complex", "is_contiguous", "is_floating_point", "is_grad_enabled"),
    *("is_inference", "is_pinned", "is_same_size", "is_shared", "is_signed"),
    *("is_tensor", "item", "live_node_count", "load", "long", "manual_seed"),
    *("moveaxis", "movedim", "narrow", "ndimension", "nelement", "new_empty"),
    "new",
    *("new_ones", "new_tensor", "new_zeros", "numel", "numpy", "ones", "permute"),
    *("pin_memory", "promote_types", "rand", "randint", "randint_like", "randn"),
    *("randperm", "register_hook", "repeat", "requires_grad_", "reshape_as"),
    *("retain_grad", "rot90", "save", "scalar_tensor", "seed", "select", "serial"),
    *("set_default_device", "set_default_dtype", "set_default_tensor_type"),
    *("set_float32_matmul_precision", "set_num_interop_threads", "set_num_threads"),
    *("set_printoptions", "set_rng_state", "share_memory_", "short", "size"),
    *("unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes"),
    *("split", "split_with_sizes", "squeeze", "squeeze_", "storage_offset"),
    *("stride", "sum_to_size", "swapaxes", "swapaxes_", "swapdims", "swapdims_"),
    *("t_", "tile", "to_dense", "tolist", "transpose", "transpose_", "tril_indices"),
    "storage",
    "untyped_storage",
    *("adjoint", "as_strided_copy", "as_strided_scatter", "bartlett_window"),
    "conj_physical_",
    *("blackman_window", "detach_copy", "diagonal_copy", "diagonal_scatter"),
    *("expand_copy", "hamming_window", "hann_window", "kaiser_window", "narrow_copy"),
    *("permute_copy", "select_copy", "select_scatter", "set_anomaly_enabled"),
    *("slice_copy", "slice_scatter", "split_copy", "split_with_sizes_copy"),
    *("squeeze_copy", "t_copy", "transpose_copy", "unbind_copy", "unfold_copy"),
    *("unsqueeze_copy", "view_copy", "callback", "can_cast", "compile"),
    "frombuffer",
    *("register_post_accumulate_grad_hook",),
    *("triu_indices", "type", "unbind", "unflatten", "unsqueeze", "unsqueeze_"),
    *("use_deterministic_algorithms", "view", "view_as", "vsplit"),
}
#: Functions of another form, with tests of their own, or without a twin in PyTorch.
ELSEWHERE = {
    "batch_norm_relu": "is not in PyTorch",
    "rotary_embedding": "is not in PyTorch",
    "interpolate": "see test_nn_resizing",
    **dict.fromkeys(("eig", "eigvals"), "see test_complex"),
    **dict.fromkeys(("istft", "stft"), "see test_fourier"),
    **dict.fromkeys(
        (
            *("ccol_indices", "coalesce", "col_indices", "crow_indices", "dense_dim"),
            *("indices", "is_coalesced", "row_indices", "smm", "sparse_dim"),
            *("sparse_mask", "to_padded_tensor", "to_sparse", "to_sparse_coo"),
            *("to_sparse_csc", "to_sparse_csr"),
        ),
        "is of sparse or nested tensors, see tests/sparse",
    ),
    **dict.fromkeys(
        ("ldl_factor", "ldl_factor_ex", "ldl_solve"), "see test_linalg_ldl"
    ),
    **dict.fromkeys(
        ("lu_solve", "lu_unpack", "triangular_solve"), "see test_linalg_lu"
    ),
    **dict.fromkeys(
        ("upsample", "upsample_bilinear", "upsample_nearest"), "see test_old_names"
    ),
    "multi_head_attention_forward": "see test_old_names",
    **dict.fromkeys(
        ("fractional_max_pool2d", "fractional_max_pool3d"),
        "see test_fractional_pooling_against_torch",
    ),
    "grouped_mm": "see test_grouped_products_against_torch",
    "linear_cross_entropy": "see test_linear_cross_entropy_against_torch",
    "geometric_": "see test_compositions_against_torch",
    "fill": "is not a function of PyTorch; fill_ is",
    "normal": "PyTorch takes integer deviations, which are no distributions' widths",
}


def test_every_public_function_of_elements_is_an_operation():
    places = (ac, ac.nn.functional, ac.linalg, ac.Tensor)
    public = {
        name
        for place in places
        for name in getattr(place, "__all__", dir(place))
        if name[0].islower() and inspect.isroutine(getattr(place, name, None))
    }
    tested = set(re.findall(r"\w+", " ".join([*CALLS, *CALLS.values()])))
    assert public - tested == NOT_COMPUTING | set(ELSEWHERE)


def test_the_file_has_nothing_else():
    titles = {title for name in OPERATIONS for title in _titles(name)}
    assert titles == set(EXPECTED)
    assert len(titles) > 800


def _titles(name):
    from tests.core.dtype_cases import kinds_of

    return [f"{name} ({', '.join(kinds)})" for kinds in kinds_of(name)]
