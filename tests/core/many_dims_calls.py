# SPDX-License-Identifier: MIT
"""Calls of every function of tensors that has no limit of its own on dimensions.

A call is a text whose names are operands of shape ``(*lead, 3, 3)``: it does with all
leading dimensions what it does with one, or reduces every element.  So 9 to 12
dimensions are held to 3.
"""

from __future__ import annotations

import inspect
import itertools
import math
from functools import cache
from typing import NamedTuple

import numpy as np
from tests.kernel_table import MOST_DIMS

import autocalc as ac

F = ac.nn.functional


class Layout(NamedTuple):
    """How operands of many dimensions are stored."""

    lead: tuple[int, ...]
    reverse: bool = False  # the last dimension is the outermost in memory
    repeat: bool = False  # every other leading dimension repeats its elements


#: The first become few dimensions for a native kernel; the others stay more than 8.
LAYOUTS = {
    "contiguous": Layout((2, 1, 2, 1, 1, 2, 1, 2, 1, 1)),
    "reversed": Layout((2,) * 7, reverse=True),
    "expanded": Layout((2,) * 8, repeat=True),
}
#: As many dimensions as NumPy has.
MOST = Layout((2, *[1] * (MOST_DIMS - 4), 2))
TAIL = (3, 3)

#: Operands: numbers, where most functions are smooth; small integers, and positive
#: ones; truths; matrices that have a Cholesky factor; labels; a permutation; a vector.
FLOATS, INTEGERS, TRUTHS = ("x", "y", "z"), ("n", "m"), ("mask", "other")


class Operands:
    """The operands of one layout, or of three dimensions."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        count, numbers = math.prod(layout.lead), np.random.default_rng(7)
        shape = (count, *TAIL)
        self.low = {name: numbers.uniform(0.1, 0.9, shape) for name in FLOATS}
        self.low |= {name: numbers.integers(0, 3, shape) for name in INTEGERS}
        self.low["m"] += 1
        self.low |= {name: numbers.random(shape) < 0.5 for name in TRUTHS}
        a = self.low["x"]
        self.low["spd"] = a @ a.transpose(0, 2, 1) + np.eye(3)
        if layout.repeat:
            self.low = {name: self._repeated(a) for name, a in self.low.items()}
        self.fixed = {
            "line": np.array([2, 0, 1]),
            "w": numbers.uniform(0.1, 0.9, 3),
            "table": numbers.uniform(0.1, 0.9, (3, 4)),
            "matrix": numbers.uniform(0.1, 0.9, (3, 3)),
        }

    def _repeated(self, a: np.ndarray) -> np.ndarray:
        whole = a.reshape((*self.layout.lead, *TAIL))
        return np.ascontiguousarray(self._expanded(whole)).reshape(a.shape)

    def _expanded(self, whole: np.ndarray) -> np.ndarray:
        once = whole[tuple([slice(None), slice(1)] * (len(self.layout.lead) // 2))]
        return np.broadcast_to(once, whole.shape)

    def few(self) -> dict[str, ac.Tensor]:
        """Return new tensors of three dimensions."""
        return {k: ac.tensor(a) for k, a in (self.low | self.fixed).items()}

    def many(self) -> dict[str, ac.Tensor]:
        """Return new tensors of the same elements with all leading dimensions."""
        fixed = {k: ac.tensor(a) for k, a in self.fixed.items()}
        return {k: self.lifted(a) for k, a in self.low.items()} | fixed

    def lifted(self, a: np.ndarray) -> ac.Tensor:
        """Return an array of three dimensions with all leading ones."""
        whole = a.reshape((*self.layout.lead, *a.shape[1:]))
        if self.layout.reverse:
            return ac.from_numpy(whole.T.copy()).permute(*range(whole.ndim)[::-1])
        if self.layout.repeat and a.ndim == 3:
            once = whole[tuple([slice(None), slice(1)] * (len(self.layout.lead) // 2))]
            return ac.tensor(np.ascontiguousarray(once)).expand(whole.shape)
        return ac.from_numpy(whole.copy())


#: Tried in this order; the first that three dimensions take is the call.
PATTERNS = (
    *("x", "x, y", "x, -1", "x, -1, -2", "n, m", "n", "mask", "mask, other"),
    *("mask, x, y", "x, y, z", "x, .5", "x, y, .5", "[x, y]", "x, -1, line"),
    *("x, -1, n", "x, -1, n, y", "x, -1, line, y", "x, mask, .5", "x, mask, y"),
    *("x, mask", "x, 1, -1", "x, (3,)", "x, y, -1", "n, 3", "x, w", "x, 2, -1, 1."),
    *("1, x", "x, -1, 0, 2", "x, -1, 1, 1", "x, -1, n, y, 'sum'"),
    "x, -1, line, y, 'amax'",
)

#: Calls of what no pattern fits, by the name without its place; `f` is the function.
CALLS = {
    "as_strided_scatter": "f(x, y.flatten()[:2], (2,), (1,))",
    "broadcast_tensors": "f(x, w)",
    "cosine_similarity": "f(x, y, -1)",
    "linalg.diagonal": "f(x)",
    "cumprod_": "f(x, -1)",
    "cumsum_": "f(x, -1)",
    "diagonal": "f(x, 0, -2, -1)",
    "diagonal_copy": "f(x, 0, -2, -1)",
    "diagonal_scatter": "f(x, y[..., 0], 0, -2, -1)",
    "embedding": "f(n, table)",
    "as_subclass": "f(x, ac.Tensor)",
    "glu": "f(x[..., :2], -1)",
    "lu_solve": "f(y, *ac.lu(spd))",
    "linalg.lu_solve": "f(*ac.lu(spd), y)",
    "lu_unpack": "f(*ac.lu(spd))",
    "pca_lowrank": "f(spd, 2, center=False)",
    "gradient": "f(x, dim=(-2, -1))",
    "histogram": "f(x, 4)",
    "histogramdd": "f(x, 2)",
    "householder_product": "f(x, x[..., 0])",
    "index_fill": "f(x, -1, line[:2], .5)",
    "index_fill_": "f(x, -1, line[:2], .5)",
    "index_put": "f(x, (mask,), y[mask])",
    "index_put_": "f(x, (mask,), y[mask])",
    "cholesky": "f(spd)",
    "linear": "f(x, matrix)",
    "logdet": "f(spd)",
    "mvlgamma_": "f(x + 1, 2)",
    "normalize": "f(x, dim=-1)",
    "pad": "f(x, (1, 0, 2, 1), 'constant', .5)",
    "pixel_shuffle": "f(x.flatten(-2)[..., None, None], 3)",
    "pixel_unshuffle": "f(x[..., None, :, :], 3)",
    "poisson_nll_loss": "f(x, y, True, False, 1e-8, 1)",
    "F.poisson_nll_loss": "f(x, y)",
    "prelu": "f(x, w[0])",
    "bilinear": "f(x, y, table[None, :, :3].expand(2, 3, 3))",
    "polygamma": "f(1, x) if f is not ac.Tensor.polygamma else f(x, 1)",
    "polygamma_": "f(x, 1)",
    "put": "f(x, n, y, True)",
    "put_": "f(x, n, y, True)",
    "searchsorted": "f(x.sort(-1)[0], y)",
    "sort": "f(x, -2)",
    "rot90": "f(x, 1, (-2, -1))",
    "select_scatter": "f(x, y[..., 0], -1, 0)",
    "slice_copy": "f(x, -1, 1, 3)",
    "slice_scatter": "f(x, y[..., 1:], -1, 1, 3)",
    "solve_triangular": "f(spd, y, upper=True)",
    "split_with_sizes": "f(x, (1, 2), -1)",
    "split_with_sizes_copy": "f(x, (1, 2), -1)",
    "unsafe_split_with_sizes": "f(x, (1, 2), -1)",
    "linalg.ldl_solve": "f(*ac.linalg.ldl_factor(spd), y)",
    "softmax": "f(x, -2)",
    "log_softmax": "f(x, -2)",
    "softmin": "f(x, -2)",
    "take_along_dim": "f(x, n, -1)",
    "stft": "f(x, 2, return_complex=True)",
    "istft": "f(x * 1j, 4)",
    "tensordot": "f(x, matrix, 1)",
    "tensor_split": "f(x, 2, -1)",
    "unbind": "f(x, -2)",
    "unbind_copy": "f(x, -2)",
    "sparse_mask": "f(x, mask.to_sparse()).to_dense()",
    "to_sparse": "f(x).to_dense()",
    "to_sparse_coo": "f(x).to_dense()",
    "view_as_complex": "ac.view_as_real(f(x[..., :2] * 1))",
    "where": "f(mask, x, y) if f is ac.where else f(x, mask, y)",
}

#: Calls of what tells leading dimensions apart, and the same in NumPy: `a` has the
#: elements of `x`, `s` is its shape, `d` its number of dimensions.
NUMPY = {
    "argwhere": ("f(mask)", "np.argwhere(t)"),
    "atleast_1d": ("f(x)", "a"),
    "atleast_2d": ("f(x)", "a"),
    "atleast_3d": ("f(x)", "a"),
    "as_strided": (
        "f(x.contiguous(), (2,) * 9, (1,) * 9)",
        "a.reshape(-1)[sum(np.indices((2,) * 9))]",
    ),
    "as_strided_copy": (
        "f(x.contiguous(), (2,) * 9, (1,) * 9)",
        "a.reshape(-1)[sum(np.indices((2,) * 9))]",
    ),
    "broadcast_shapes": ("ac.ones(f(x.shape, (2, *x.shape)))", "np.ones((2, *s))"),
    "broadcast_to": ("f(x, (2, *x.shape))", "np.broadcast_to(a, (2, *s))"),
    "cartesian_prod": (
        "f(*[w[:2]] * 11)",
        "np.array(list(itertools.product(v[:2], repeat=11)))",
    ),
    "column_stack": ("f([x, y])", "np.column_stack([a, b])"),
    "channel_shuffle": (
        "f(x.swapaxes(1, -2).repeat(1, 2, *[1] * (x.ndim - 2)), 3)",
        "np.tile(a.swapaxes(1, -2), (1, 2, *[1] * (d - 2)))[:, [0, 2, 4, 1, 3, 5]]",
    ),
    "diag_embed": ("f(x, 0, 0, -1)", "np.moveaxis(a[..., None] * np.eye(3), -2, 0)"),
    "dsplit": ("f(x, [1])", "np.dsplit(a, [1])"),
    "dstack": ("f([x, y])", "np.dstack([a, b])"),
    "expand": ("f(x, (2, *x.shape))", "np.broadcast_to(a, (2, *s))"),
    "expand_copy": ("f(x, (2, *x.shape))", "np.broadcast_to(a, (2, *s))"),
    "flip": ("f(x, tuple(range(x.ndim)))", "np.flip(a)"),
    "fliplr": ("f(x)", "np.fliplr(a)"),
    "flipud": ("f(x)", "np.flipud(a)"),
    "group_norm": (
        "f(x, 1, eps=0.0) if f is F.group_norm else f(x, 1, None, None, 0.0)",
        "standard(a.reshape(s[0], -1))",
    ),
    "hsplit": ("f(x, [1])", "np.hsplit(a, [1])"),
    "hstack": ("f([x, y])", "np.hstack([a, b])"),
    "kron": ("f(x, y[0])", "np.kron(a, b[0])"),
    "moveaxis": ("f(x, (0, 5), (-1, 2))", "np.moveaxis(a, (0, 5), (-1, 2))"),
    "movedim": ("f(x, (0, 5), (-1, 2))", "np.moveaxis(a, (0, 5), (-1, 2))"),
    "nonzero": ("f(mask)", "np.argwhere(t)"),
    "permute": ("f(x, tuple(range(x.ndim))[::-1])", "a.T"),
    "permute_copy": ("f(x, tuple(range(x.ndim))[::-1])", "a.T"),
    "repeat": (
        "f(x, 2, *[1, 2] * (x.ndim // 2))",
        "np.tile(a, (2, *[1, 2] * (d // 2)))",
    ),
    "reshape": ("f(x, (*x.shape[:-2], 9, 1))", "a.reshape(*s[:-2], 9, 1)"),
    "roll": (
        "f(x, (1,) * x.ndim, tuple(range(x.ndim)))",
        "np.roll(a, (1,) * d, tuple(range(d)))",
    ),
    "row_stack": ("f([x, y])", "np.vstack([a, b])"),
    "msort": ("f(x)", "np.sort(a, 0)"),
    "instance_norm": ("f(x, eps=0.0)", "standard(a.reshape(*s[:2], -1))"),
    "einsum": (
        "f('...ij,...kj->ik...', x, y)",
        "np.einsum('...ij,...kj->ik...', a, b)",
    ),
    "squeeze": ("f(x[:, :1])", "np.squeeze(a[:, :1])"),
    "squeeze_copy": ("f(x[:, :1])", "np.squeeze(a[:, :1])"),
    "squeeze_": ("f(x[:, :1])", "np.squeeze(a[:, :1])"),
    "segment_reduce": (
        "f(x, 'sum', lengths=ac.tensor([0, x.shape[0]]))",
        "np.stack([0 * a[0], a.sum(0)])",
    ),
    "stack": ("f([x, y], 4)", "np.stack([a, b], 4)"),
    "sum_to_size": ("f(x, x.shape[3:])", "a.sum((0, 1, 2))"),
    "swapaxes": ("f(x, 0, -1)", "a.swapaxes(0, -1)"),
    "swapaxes_": ("f(x, 0, -1)", "a.swapaxes(0, -1)"),
    "swapdims": ("f(x, 0, -1)", "a.swapaxes(0, -1)"),
    "swapdims_": ("f(x, 0, -1)", "a.swapaxes(0, -1)"),
    "tile": ("f(x, (2,) * (x.ndim + 1))", "np.tile(a, (2,) * (d + 1))"),
    "transpose": ("f(x, 0, -1)", "a.swapaxes(0, -1)"),
    "transpose_": ("f(x, 0, -1)", "a.swapaxes(0, -1)"),
    "transpose_copy": ("f(x, 0, -1)", "a.swapaxes(0, -1)"),
    "view": ("f(x.contiguous(), (*x.shape[:-2], 9, 1))", "a.reshape(*s[:-2], 9, 1)"),
    "view_copy": (
        "f(x.contiguous(), (*x.shape[:-2], 9, 1))",
        "a.reshape(*s[:-2], 9, 1)",
    ),
    "unique_consecutive": (
        "f(n)",
        "(r := i.reshape(-1))[np.r_[True, r[1:] != r[:-1]]]",
    ),
    "vsplit": ("f(x, [1])", "np.vsplit(a, [1])"),
    "vstack": ("f([x, y])", "np.vstack([a, b])"),
    "empty": ("f(x.shape).zero_()", "a * 0"),
    "full": ("f(x.shape, 2.0)", "a * 0 + 2"),
    "empty_permuted": ("f(x.shape, (*range(x.ndim),)).zero_()", "a * 0"),
    "empty_strided": ("f(x.shape, x.contiguous().stride()).zero_()", "a * 0"),
    "new_empty": ("f(x, x.shape).zero_()", "a * 0"),
    "new_empty_strided": ("f(x, x.shape, x.contiguous().stride()).zero_()", "a * 0"),
    "resize_": ("f(x.contiguous(), x.shape)", "a"),
    "new_full": ("f(x, x.shape, 2.0)", "a * 0 + 2"),
    "new_ones": ("f(x, x.shape)", "a * 0 + 1"),
    "new_zeros": ("f(x, x.shape)", "a * 0"),
    "empty_like": ("f(x).zero_()", "a * 0"),
    "ones": ("f(x.shape)", "a * 0 + 1"),
    "zeros": ("f(x.shape)", "a * 0"),
    "rand": ("f(x.shape).zero_()", "a * 0"),
    "randn": ("f(x.shape).zero_()", "a * 0"),
    "randint": ("f(2, 3, x.shape)", "a * 0 + 2"),
    "from_numpy": ("f(x.contiguous().numpy())", "a"),
    "tensor": ("f(x.tolist(), dtype=ac.float64)", "a"),
    "asarray": ("f(x.numpy())", "a"),
    "meshgrid": (
        "f(*[w[:2]] * 11, indexing='ij')[10]",
        "np.meshgrid(*[v[:2]] * 11, indexing='ij')[10]",
    ),
    "nll_loss": (
        "f(x.swapaxes(1, -1), n[..., 0].movedim(1, -1), reduction='none')",
        "np.moveaxis(-np.take_along_axis(a, i[..., :1], -1)[..., 0], 1, -1)",
    ),
    "tensorinv": (
        "f(x.flatten()[:64].reshape([2] * 6 + [1] * 4), 3)",
        "np.linalg.tensorinv(a.reshape(-1)[:64].reshape([2] * 6 + [1] * 4), 3)",
    ),
    "tensorsolve": (
        "f(x.flatten()[:64].reshape([2] * 6 + [1] * 4), w[:2].expand(2, 2, 2))",
        "np.linalg.solve(a.reshape(-1)[:64].reshape(8, 8), np.tile(v[:2], 4))",
    ),
    "dropout2d": ("f(x, 0.5, False)", "a"),
    "feature_alpha_dropout": ("f(x, 0.5, False)", "a"),
    "is_nonzero": ("ac.tensor(f(x[(slice(1),) * x.ndim]))", "True"),
    "item": ("ac.tensor(f(x[(slice(1),) * x.ndim]), dtype=ac.float64)", "a.flat[0]"),
    "dim": ("ac.tensor(f(x))", "d"),
    "ndimension": ("ac.tensor(f(x))", "d"),
    "dense_dim": ("ac.tensor(f(x))", "d"),
    "size": ("ac.tensor(f(x))", "np.array(s)"),
    "stride": ("ac.tensor(f(x.contiguous()))", "np.array(np.empty(s).strides) // 8"),
    "to_dlpack": ("ac.from_dlpack(x)", "a"),
    "numpy": ("ac.tensor(f(x))", "a"),
    "requires_grad_": ("f(x).detach()", "a"),
    "fill_diagonal_": (
        "f(ac.zeros((2,) * 10, dtype=ac.float64), 1)",
        "(np.indices((2,) * 10).sum(0) % 10 == 0).astype(float)",
    ),
    "cross_entropy": (
        "f(x.swapaxes(1, -1), y.swapaxes(1, -1), reduction='none')",
        "np.moveaxis((b * (np.log(np.exp(a).sum(-1))[..., None] - a)).sum(-1), 1, -1)",
    ),
}


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


#: What gives, or makes on its way, one dimension more, by the name without its place.
ADDING = words(
    "bilinear cdist embedding inner one_hot pixel_shuffle pixel_unshuffle "
    "repeat_interleave unfold unfold_copy unsqueeze unsqueeze_ unsqueeze_copy vander"
)

#: What takes tensors of few dimensions alone, by the name without its place.  Of more
#: dimensions they raise an error of AutoCalc.
FEW_ALONE = words(
    "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d "
    "adaptive_max_pool2d adaptive_max_pool3d addbmm addbmm_ addmm addmm_ addmv addmv_ "
    "addr addr_ affine_grid avg_pool1d avg_pool2d avg_pool3d baddbmm baddbmm_ "
    "batch_norm batch_norm_relu bincount block_diag bmm chain_matmul combinations "
    "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d corrcoef "
    "cosine_embedding_loss cov ctc_loss diag dot dropout1d dropout3d dsmm "
    "embedding_bag fold fractional_max_pool2d fractional_max_pool3d ger grid_sample "
    "grouped_mm interpolate istft linear_cross_entropy lp_pool1d lp_pool2d lp_pool3d "
    "max_pool1d max_pool2d max_pool3d max_unpool1d max_unpool2d max_unpool3d mm "
    "multi_dot multi_head_attention_forward multi_margin_loss multilabel_margin_loss "
    "multinomial mv outer pdist rotary_embedding smm spmm stft t t_ t_copy "
    "to_sparse_csc to_sparse_csr trace unfold upsample "
    "upsample_bilinear upsample_nearest vander vdot "
)

#: `unfold` is two functions: the method takes windows along any dimension.
FEW_BUT = {".unfold", "linalg.vander"}

#: What makes a tensor of one or two dimensions, reads or changes a setting or a state,
#: or neither takes nor makes a tensor of one shape, or refuses all that are real.
NO_OPERANDS = words(
    "arange are_deterministic_algorithms_enabled backward bartlett_window "
    "blackman_window callback can_cast compile cuda data_ptr eye frombuffer "
    "from_dlpack get_autocast_dtype get_default_device get_default_dtype "
    "get_deterministic_debug_mode get_float32_matmul_precision "
    "get_num_interop_threads get_num_threads get_rng_state hamming_window hann_window "
    "imag initial_seed is_anomaly_check_nan_enabled is_anomaly_enabled is_contiguous "
    "is_deterministic_algorithms_warn_only_enabled "
    "get_autocast_cpu_dtype is_autocast_cpu_enabled is_inference_mode_enabled "
    "is_grad_enabled kaiser_window linspace live_node_count load logspace manual_seed "
    "promote_types randperm register_hook register_post_accumulate_grad_hook "
    "retain_grad save scalar_tensor seed serial set_anomaly_enabled "
    "set_default_device set_default_dtype set_default_tensor_type "
    "set_float32_matmul_precision set_num_interop_threads set_num_threads "
    "set_deterministic_debug_mode set_printoptions set_rng_state tril_indices "
    "triu_indices use_deterministic_algorithms view_as_real "
    # A model is given, or the parts of a sparse tensor.
    "quantize sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor "
    "sparse_csr_tensor "
    # They refuse all tensors that are neither sparse nor nested.
    "ccol_indices coalesce col_indices crow_indices indices is_coalesced "
    "row_indices to_padded_tensor values "
)


def standard(rows: np.ndarray) -> np.ndarray:
    """Return rows less their means, divided by their deviations."""
    return (rows - rows.mean(-1, keepdims=True)) / rows.std(-1, keepdims=True)


def bare(name: str) -> str:
    """Return a name without the place of what it names."""
    return name.rpartition(".")[2]


@cache
def functions() -> dict[str, object]:
    """Return every public function and method by its name."""
    found = {}
    places = {"": ac, "linalg.": ac.linalg, "special.": ac.special, "F.": F}
    for place, where in {**places, ".": ac.Tensor}.items():
        for name in dir(where):
            function = None if name.startswith("_") else getattr(where, name, None)
            if callable(function) and not inspect.isclass(function):
                found[place + name] = function
    return found


def names() -> list[str]:
    """Return the names of what is called, functions before methods."""
    return [name for name in functions() if bare(name) not in NO_OPERANDS]


def takes_few(name: str) -> bool:
    """Return whether a function refuses many dimensions."""
    return bare(name) in FEW_ALONE and name not in FEW_BUT


def in_numpy(text: str, operands: dict[str, ac.Tensor]) -> list[np.ndarray]:
    """Return what an expression of NumPy answers: all arrays, if it is several."""
    a = operands["x"].numpy()
    known = {"a": a, "b": operands["y"].numpy(), "s": a.shape, "d": a.ndim}
    known |= {"i": operands["n"].numpy(), "t": operands["mask"].numpy()}
    known |= {"v": operands["w"].numpy(), "np": np}
    found = eval(text, {**known, "itertools": itertools, "standard": standard})
    return found if isinstance(found, list) else [found]


def run(text: str, function: object, operands: dict[str, ac.Tensor]) -> object:
    """Return what a call answers; it draws the same numbers each time."""
    ac.manual_seed(3)
    known = {"ac": ac, "F": F, "np": np, "itertools": itertools}
    return eval(text, {**operands, **known, "f": function})


@cache
def call_of(name: str) -> str:
    """Return the call of a function, found by what three dimensions take."""
    told = CALLS.get(name) or CALLS.get(bare(name))
    if told is not None:
        return told
    function, operands = functions()[name], Operands(LAYOUTS["contiguous"])
    for pattern in PATTERNS:
        text = f"f({pattern})"
        try:
            found = run(text, function, operands.few())
        except Exception:  # whatever is said of operands that do not fit
            continue
        if found is not NotImplemented:
            return text
    return ""
