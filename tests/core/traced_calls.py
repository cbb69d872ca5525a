# SPDX-License-Identifier: MIT
"""Calls of the functions that run from short programs, on operands of fixed shapes."""

from __future__ import annotations

import re

import numpy as np
from tests.operator_table import _inplace, traced

import autocalc as ac

F = ac.nn.functional
FUNCTIONS = traced.FUNCTIONS


class Data:
    """Operands of fixed shapes; `kind` says what their elements are."""

    def __init__(self, kind: str, seed: int) -> None:
        self.kind = kind
        self.numbers = np.random.default_rng(seed)
        self.a, self.b, self.c = self.floats(4, 4), self.floats(4, 4), self.floats(4, 4)
        self.u, self.v, self.w = self.floats(4), self.floats(4), self.floats(4)
        self.x = self.floats(2, 4, 4)
        self.y = self.floats(2, 4, 4)
        self.image = self.floats(1, 4, 6, 6)
        self.volume = self.floats(1, 2, 4, 4, 4)
        self.grid = self.a.reshape(1, 2, 4, 2)
        self.i = self.integers(3)
        self.index = self.integers(4, 4)
        self.labels = self.integers(4)
        self.mask = ac.from_numpy(self.numbers.random((4, 4)) < 0.5)
        self.n = self.integers(4, 4)
        self.signs = ac.from_numpy(
            np.sign(self.numbers.standard_normal(4)).astype("f4")
        )

    def floats(self, *shape: int) -> ac.Tensor:
        values = self.numbers.standard_normal(shape)
        if self.kind == "equal":
            values[...] = 1.0
        if self.kind == "wild":
            pick = self.numbers.random(shape)
            values = np.where(pick < 0.1, np.nan, values)
            values = np.where((pick > 0.1) & (pick < 0.2), np.inf, values)
            values = np.where((pick > 0.2) & (pick < 0.4), 0.0, values)
        return ac.from_numpy(values.astype("f4"))

    def integers(self, *shape: int) -> ac.Tensor:
        low, high = {"wild": (-2, 7), "equal": (1, 2)}.get(self.kind, (0, 4))
        return ac.from_numpy(self.numbers.integers(low, high, shape))

    def strided(self, rows: int, columns: int) -> ac.Tensor:
        return self.floats(columns, rows).t()


attend = F.scaled_dot_product_attention
of_volume = F.grad.conv3d_input
of_logits = F.binary_cross_entropy_with_logits
#: Name of a function in the table of traced functions: a call of it.
_CALLS = """
    smooth.gelu: F.gelu(a)  smooth.logsigmoid: F.logsigmoid(a)  smooth.mish: F.mish(a)
    smooth.glu: F.glu(a)  smooth.softplus: F.softplus(a, 2.0, 1.0)
    smooth.softsign: F.softsign(a)  smooth.tanhshrink: F.tanhshrink(a)
    dot_product.scaled_dot_product_attention: attend(x, y, x, dropout_p=0.5)
    avg_pooling.adaptive_avg_pool1d: F.adaptive_avg_pool1d(x, 2)
    avg_pooling.adaptive_avg_pool2d: F.adaptive_avg_pool2d(image, 4)
    avg_pooling.adaptive_avg_pool3d: F.adaptive_avg_pool3d(volume, 2)
    avg_pooling.avg_pool1d: F.avg_pool1d(x, 2)
    avg_pooling.avg_pool2d: F.avg_pool2d(image, 3, 2, 1)
    avg_pooling.avg_pool3d: F.avg_pool3d(volume, 2)
    batch_norm.batch_norm: F.batch_norm(a, v, w.abs(), u, v)
    batch_norm.batch_norm_activation: F.batch_norm_relu(a, v, w.abs(), u, v)
    group_norm.group_norm: F.group_norm(image, 2, u, v)
    group_norm.instance_norm: F.instance_norm(x)
    binary_losses.binary_cross_entropy_with_logits: of_logits(a, b)
    clamping.clamp: ac.clamp(a, -0.5, 0.5)  clamping.nan_to_num: ac.nan_to_num(a)
    classification_losses.cross_entropy: F.cross_entropy(a, labels)
    classification_losses.nll_loss: F.nll_loss(a, labels, w, ignore_index=1)
    comparison.isneginf: ac.isneginf(a)  comparison.isposinf: ac.isposinf(a)
    comparison.signbit: ac.signbit(a)
    conversion.to: (a.double(), n.to(ac.bool), a.to(b))
    comparison.isclose: ac.isclose(a, b, equal_nan=True)
    conv.conv1d: F.conv1d(x, y[:, :, :3], padding=1)
    gradients.conv1d_input: F.grad.conv1d_input(x.shape, floats(4, 4, 1), x)
    gradients.conv1d_weight: F.grad.conv1d_weight(x, (4, 4, 1), y)
    gradients.conv2d_input: F.grad.conv2d_input(image.shape, floats(4, 4, 1, 1), image)
    gradients.conv2d_weight: F.grad.conv2d_weight(image, (4, 4, 1, 1), image)
    gradients.conv3d_input: of_volume(volume.shape, floats(2, 2, 1, 1, 1), volume)
    gradients.conv3d_weight: F.grad.conv3d_weight(volume, (2, 2, 1, 1, 1), volume)
    conv.conv2d: F.conv2d(image, floats(2, 4, 3, 3))
    conv.conv3d: F.conv3d(volume, floats(1, 2, 2, 2, 2))
    conv_transpose.conv_transpose1d: F.conv_transpose1d(x, a[..., None])
    conv_transpose.conv_transpose2d: F.conv_transpose2d(image, a.reshape(4, 1, 2, 2))
    conv_transpose.conv_transpose3d: F.conv_transpose3d(volume, a.reshape(2,1,2,2,2))
    diagonal.diag: ac.diag(a, 1)  diagonal.diag_embed: ac.diag_embed(a)
    diagonal.diagflat: ac.diagflat(v)  diagonal.trace: ac.trace(a)
    diagonal.tril: ac.tril(a, -1)  diagonal.triu: ac.triu(strided(4, 4))
    distance.cdist: ac.cdist(a, b)
    distance.cosine_similarity: F.cosine_similarity(a, b)
    distance.dist: ac.dist(a, b, 3.0)  distance.normalize: F.normalize(a)
    distance.pairwise_distance: F.pairwise_distance(a, a)
    einsum.einsum: ac.einsum('bij,jk->bk', x, a)
    einsum.tensordot: ac.tensordot(x, a, 1)  rows.embedding: F.embedding(i, a)
    exponential.logaddexp: ac.logaddexp(a, v)
    exponential.logaddexp2: ac.logaddexp2(a, b)  exponential.logit: ac.logit(a, 0.1)
    exponential.xlogy: ac.xlogy(a, b)  extrema.aminmax: ac.aminmax(a, dim=1)
    extrema.argmin: ac.argmin(a, 1)
    constants.empty: ac.empty(2, 3, dtype=ac.int64).zero_()  constants.eye: ac.eye(3, 4)
    strided.empty_strided: ac.empty_strided((2, 3), (1, 2)).zero_()
    strided.empty_permuted: ac.empty_permuted((2, 3), (1, 0)).zero_()
    indexing.gather: ac.gather(a, 1, index)
    indexing.index_select: ac.index_select(a, 1, i)
    indexing.take_along_dim: ac.take_along_dim(a, index, 1)
    joining.column_stack: ac.column_stack([u, v])  joining.dstack: ac.dstack((a, b))
    joining.hstack: ac.hstack([a, b])  joining.vstack: ac.vstack([u, a])
    layer_norm.layer_norm: F.layer_norm(x, (4,), u, v)
    layer_norm.rms_norm: F.rms_norm(x, (4,), u)
    likelihood_losses.kl_div: F.kl_div(a, b, reduction='sum')
    linalg_vectors.cross: ac.linalg.cross(x[:, :, :3], y[:, :, :3])
    linalg_vectors.vecdot: ac.linalg.vecdot(a, b)
    logical.logical_and: ac.logical_and(a, mask)  logical.logical_not: ac.logical_not(a)
    logical.logical_or: ac.logical_or(a, b)
    logical.logical_xor: ac.logical_xor(mask, n)
    margin_losses.hinge_embedding_loss: F.hinge_embedding_loss(v, signs)
    margin_losses.margin_ranking_loss: F.margin_ranking_loss(u, v, signs, 0.1)
    margin_losses.soft_margin_loss: F.soft_margin_loss(v, signs)
    masking.masked_fill: a.masked_fill(mask, 2.0)
    matmul.bilinear: F.bilinear(a, b, x, u[:2])  matmul.linear: F.linear(x, a, v)
    max_pooling.max_pool1d: F.max_pool1d(x, 2, return_indices=True)
    max_pooling.max_pool2d: F.max_pool2d(image, 2)
    max_pooling.max_pool3d: F.max_pool3d(volume, 2)  mode.mode: ac.mode(n, 0, True)
    nan_reductions.nanmean: ac.nanmean(a, 1)  nan_reductions.nansum: ac.nansum(a)
    nextafter.nextafter: ac.nextafter(a, b)
    padding.pad: F.pad(image, (1, 2, 0, 1), mode='reflect')
    product_sums.addbmm: ac.addbmm(a, x, y, beta=0.5, alpha=2)
    product_sums.addmm: ac.addmm(v, a, b)  product_sums.addmv: ac.addmv(v, a, u)
    product_sums.addr: ac.addr(a, u, v)  product_sums.baddbmm: ac.baddbmm(a, x, y)
    products.cross: ac.cross(x[:, :, :3], y[:, :, :3])  products.dot: ac.dot(v, v)
    products.inner: ac.inner(a, b)  products.kron: ac.kron(a, v)
    products.mv: ac.mv(a, v)  products.outer: ac.outer(u, v)
    random_draws.rand: ac.rand(2, 3)  random_draws.randint: ac.randint(-2, 5, (4,))
    random_draws.randn: ac.randn((2, 3))  random_draws.randperm: ac.randperm(7)
    ranges.arange: ac.arange(2, 9, 3)  ranges.linspace: ac.linspace(-1, 0.5, 7)
    rearranging._reversed_for_turn: ac.rot90(x, 3, (1, 2))
    rearranging.flip: ac.flip(x, (0, 2))  rearranging.repeat: a.repeat(2, 1, 2)
    rearranging.roll: ac.roll(x, (1, -2), (0, 1))  rearranging.tile: ac.tile(a, (2,))
    rectifiers.celu: F.celu(a, 0.5)  rectifiers.elu: F.elu(a)
    rectifiers.hardsigmoid: F.hardsigmoid(a)  rectifiers.hardswish: F.hardswish(a)
    rectifiers.hardtanh: F.hardtanh(a, -0.5, 0.25)
    rectifiers.leaky_relu: F.leaky_relu(a, 0.2)  rectifiers.prelu: F.prelu(a, v)
    rectifiers.relu6: F.relu6(a)  rectifiers.selu: F.selu(a)
    reduction.all: ac.all(a, 1)  reduction.any: ac.any(n)
    reduction.count_nonzero: ac.count_nonzero(a, 0)
    regression_losses.huber_loss: F.huber_loss(a, b, delta=0.5)
    regression_losses.l1_loss: F.l1_loss(a, b, reduction='sum')
    regression_losses.mse_loss: F.mse_loss(a, b)
    regression_losses.smooth_l1_loss: F.smooth_l1_loss(a, b)
    resizing.channel_shuffle: F.channel_shuffle(image, 2)
    resizing.interpolate: F.interpolate(image, size=(3, 9))
    resizing.pixel_shuffle: F.pixel_shuffle(image, 2)
    resizing.pixel_unshuffle: F.pixel_unshuffle(image, 3)  rounding.ceil: ac.ceil(a)
    rounding.floor: ac.floor(n)  rounding.trunc: ac.trunc(a)
    gamma_functions.igamma: ac.igamma(a, v)
    gamma_functions.igammac: ac.igammac(a.abs(), b.abs())  rounding.frac: ac.frac(a)
    rounding.round: ac.round(a, decimals=2)  scans.cummax: ac.cummax(a, 1)
    scans.cummin: ac.cummin(a, 0)  scans.diff: ac.diff(a, 2, 0)
    scans.trapezoid: ac.trapezoid(a, dx=0.5)
    scattering.index_add: ac.index_add(a, 0, i, b[:3], alpha=2)
    scattering.index_copy: ac.index_copy(a, 0, i, b[:3])
    scattering.scatter: ac.scatter(a, 1, index, b)
    scattering.scatter_add: ac.scatter_add(a, 0, index, b)
    searching.searchsorted: ac.searchsorted(v, a, right=True)
    similarity_losses.triplet_margin_loss: F.triplet_margin_loss(a, b, c, swap=True)
    sorting.argsort: ac.argsort(a, 0, descending=True)
    sorting.kthvalue: ac.kthvalue(a, 2)  sorting.median: ac.median(a, 1)
    sorting.nanmedian: ac.nanmedian(a)  sorting.sort: ac.sort(n, 0)
    sorting.topk: ac.topk(a, 2, largest=False)  thresholds.hardshrink: F.hardshrink(a)
    thresholds.softshrink: F.softshrink(a, 0.25)
    thresholds.threshold: F.threshold(a, 0.1, 20)  trigonometric.deg2rad: ac.deg2rad(a)
    trigonometric.hypot: ac.hypot(a, b)  trigonometric.rad2deg: ac.rad2deg(n)
    unfolding.fold: F.fold(x, (3, 3), (2, 2))
    unfolding.unfold: F.unfold(image, 2, 2, 1)  variance.std: ac.std(a, 1)
    variance.std_mean: ac.std_mean(a, 1, keepdim=True)  variance.var: ac.var(a)
    variance.var_mean: ac.var_mean(a, correction=0)  vector_norms.norm: ac.norm(a, 1, 1)
    vector_norms.vector_norm: ac.linalg.vector_norm(a, 3)
    lerp.addcdiv: ac.addcdiv(a, b, c, value=0.5)  lerp.addcmul: ac.addcmul(a, a, b)
    lerp.lerp: ac.lerp(a, b, 0.25)
    binary_losses._mean_entropy: F.binary_cross_entropy(a.sigmoid(), mask*1.0, v.abs())
    broadcasting.expand_as: v.expand_as(a)  creation.new_full: a.new_full((2, 3), 1.5)
    creation.new_ones: n.new_ones(2, 3)  creation.new_zeros: a.new_zeros((3,))
    diagonal.diagonal: x[1].diagonal(1)
    distributions.bernoulli: ac.bernoulli(a.sigmoid())
    distributions._hits: ac.bernoulli(a.sigmoid().requires_grad_())
    rows._one_hot: F.one_hot(labels, 4)  extrema.max: ac.max(a, 1, keepdim=True)
    extrema.min: ac.min(a, b)  constants.full: ac.full((2, 3), 7)
    constants.ones: ac.ones(2, 3)  constants.zeros: ac.zeros((2, 3))
    indexing._rows: a[index]  joining.cat: ac.cat([a, b], dim=-1)
    joining.stack: ac.stack((a, a, b))
    like.empty_like: ac.empty_like(a).zero_()
    like.full_like: ac.full_like(a, -0.0)  like.ones_like: ac.ones_like(strided(2, 3))
    like.zeros_like: ac.zeros_like(n)  masking._all_rows: ac.nonzero(x)
    masking._where_method: a.where(mask, b)  matmul._matmul_operator: a @ v
    matmul.matmul: ac.matmul(u, x)  named_views.reshape_as: x.reshape_as(y)
    named_views.unflatten: ac.unflatten(a, 0, (2, -1))
    named_views.view_as: v.view_as(a[:1])  properties.T: x.T
    rearranging.meshgrid: ac.meshgrid(u, v, indexing='xy')
    rearranging.repeat_interleave: ac.repeat_interleave(a, 2, 1)
    searching._in_order: ac.unique(n, return_inverse=True)
    splitting.chunk: x.chunk(3, 1)  splitting.narrow: a.narrow(1, 1, 2)
    splitting.select: a.select(0, -1)  splitting.split: a.split([1, 3])
    splitting.tensor_split: ac.tensor_split(a, (1, 2))
    splitting.unbind: a[1:].unbind(1)
    quantiles._counts: ac.bincount(labels, minlength=99)
    view.clone: strided(2, 3).clone()  moving.movedim: x.movedim((0, 1), (2, 0))
    windows.unfold: a.unfold(0, 2, 1)
    arithmetic._sum_of_multiple: ac.add(a, b, alpha=2)
    comparison.heaviside: ac.heaviside(a, v)
    distributions.multinomial: ac.multinomial(v.sigmoid(), 3, True)
    distributions._again: ac.multinomial(v.sigmoid().requires_grad_(), 3, True)
    distributions._hits_of: ac.bernoulli(a.requires_grad_(), 0.25)
    distributions._once: ac.multinomial(a.sigmoid().requires_grad_(), 2)
    divisors.gcd: ac.gcd(n, index)  divisors.lcm: ac.lcm(n, labels)
    factorizations.cholesky: ac.linalg.cholesky(a @ a.T)
    factorizations.eigh: ac.linalg.eigh(a + a.T)  factorizations.qr: ac.linalg.qr(a)
    factorizations.svd: ac.linalg.svd(a)  indexing.take: ac.take(a, index)
    joining.block_diag: ac.block_diag(a, v, b)
    linear_systems.multi_dot: ac.linalg.multi_dot([a, b, v])
    margin_losses.multi_margin_loss: F.multi_margin_loss(a, labels)
    rearranging.cartesian_prod: ac.cartesian_prod(u, v)
    scatter_reduction.scatter_reduce: ac.scatter_reduce(a, 1, index, b, 'amax')
    scattering.index_fill: ac.index_fill(a, 0, i, 2.0)
    special_functions.xlog1py: ac.special.xlog1py(a, b)
    vector_norms.matrix_norm: ac.linalg.matrix_norm(a)
    vector_norms.renorm: ac.renorm(a, 2, 0, 1.0)
    conversion._contiguous: a.contiguous()  _writing.fill_: a.clone().fill_(0.5)
    _inplace.zero_: a.clone().zero_()  view.reshape: ac.reshape(a, (-1,))
    view._reshape_method: a.T.reshape(-1)  view._view_method: a.view(-1)
    view.flatten: a.T.flatten()  view.squeeze: a[None].squeeze(0)
    view.unsqueeze: a.unsqueeze(1)  view.permute: ac.permute(a, (1, 0))
    view._permute_method: a.permute(1, 0)  view.transpose: a.transpose(0, 1)
    view.t: a.t()  broadcasting._expand_method: a.expand(2, -1, -1)
    striding._seen_of_view: a.as_strided((2, 3), (4, 1), 1)
    diagonal._indices_of: ac.tril_indices(3, 4, 1)
    quantiles._sums: ac.bincount(labels, u, 9)
    quantiles.histc: (ac.histc(b, 4, -1, 1), ac.histc(a, 3))
    quantiles._of_shares: ac.quantile(a, 0.3, 1)
    random_draws.rand_like: ac.rand_like(a)  random_draws.randn_like: ac.randn_like(a)
    grid_sampling.grid_sample: F.grid_sample(image, grid, 'bicubic', 'reflection')
    _inplace.normal_: a.clone().normal_(1.0, 2.0)
    _inplace.uniform_: a.clone()[0].uniform_()
    _inplace_indices.masked_fill_: a.clone().masked_fill_(mask, 1.5)
    _inplace.addcmul_: a.clone().addcmul_(b, c, value=2)
    _inplace.clamp_: a.clone().clamp_(-1, 0.5)
    _inplace.lerp_: a.clone().lerp_(b, 0.5)
    _inplace_indices.index_add_: a.clone().index_add_(0, i, b[:3])
    _inplace_indices.index_fill_: a.clone().index_fill_(0, i, 2.0)
    _reductions.index_reduce_: a.clone().index_reduce_(0, i, b[:3], 'amax')
    _reductions.scatter_reduce_: a.clone().scatter_reduce_(1, index, b, 'amax')
    index_put.index_put_: a.clone().index_put_((i,), b[:3])
    index_put.put_: a.clone().put_(labels, v)
    _inplace_indices.index_copy_: a.clone().index_copy_(0, i, b[:3])
    _inplace_indices.scatter_: a.clone().scatter_(1, index, b)
    _inplace_indices.scatter_add_: a.clone().scatter_add_(1, index, b)
    _inplace_indices._write_part: written(a.clone(), (1, ...), v)
    _writing.copy_: a.clone().copy_(b)
"""


def call_of(expression):
    """Return an expression as a function of `Data`, whose operands are its names."""
    code = compile(expression, expression, "eval")

    def call(d):
        methods = {"floats": d.floats, "strided": d.strided, "np": np}
        return eval(code, {**globals(), **vars(d), **methods})

    return call


EXPRESSIONS = dict(row.split(": ", 1) for row in re.split(r"\s\s+", _CALLS.strip()))

CALLS = {name: call_of(expression) for name, expression in EXPRESSIONS.items()}

#: Functions that are not public, and their arguments.
PRIVATE = {
    "distance._by_product": lambda d: (d.a, d.b),
    "exponential._log_odds": lambda d: (d.a,),
    "margin_losses._margins_and_slopes": lambda d: (d.a, d.labels, 1.0, d.v, "mean"),
    "rectifiers._hardsigmoids": lambda d: (d.a,),
    "regression_losses._squares_or_lines": lambda d: (d.a, 0.5, 2.0, "mean"),
    "scans._evenly_spaced": lambda d: (d.x, 2.0, 1),
    "vector_norms._length": lambda d: (d.a, True),
    "distributions._extremes": lambda d: (d.a, True),
    "extrema._ends": lambda d: (d.a,),
    "view.view": lambda d: (d.a, (-1,)),
    "broadcasting.expand": lambda d: (d.a, (2, *d.a.shape)),
}
CALLS |= {
    name: lambda d, name=name: FUNCTIONS[name](*PRIVATE[name](d)) for name in PRIVATE
}

#: Methods that write the result of a function into the tensor, and their arguments.
WRITES = {
    **dict.fromkeys(
        (
            *("ceil_", "deg2rad_", "floor_", "frac_", "i0_", "logical_not_"),
            *("logit_", "nan_to_num_", "rad2deg_", "round_", "sgn_", "square_"),
            *("tril_", "triu_", "trunc_"),
        ),
        lambda d: (),
    ),
    **dict.fromkeys(
        (
            *("atan2_", "copysign_", "eq_", "ge_", "gt_", "heaviside_", "hypot_"),
            *("igamma_", "igammac_", "le_", "logical_and_", "logical_or_"),
            *("logical_xor_", "lt_", "ne_", "nextafter_", "xlogy_"),
        ),
        lambda d: (d.b,),
    ),
    **dict.fromkeys(("clamp_max_", "clamp_min_", "pow_"), lambda d: (0.5,)),
    **dict.fromkeys(("cumprod_", "cumsum_"), lambda d: (1,)),
    **dict.fromkeys(("addbmm_", "baddbmm_"), lambda d: (d.x, d.y)),
    "_multiple_added": lambda d: (d.b, 0.5, "add"),
    "addcdiv_": lambda d: (d.b, d.c),
    "addmm_": lambda d: (d.b, d.c),
    "addmv_": lambda d: (d.b, d.v),
    "addr_": lambda d: (d.u, d.v),
    "bernoulli_": lambda d: (0.25,),
    "exponential_": lambda d: (2.0,),
    "gcd_": lambda d: (d.index,),
    "lcm_": lambda d: (d.index,),
    "ldexp_": lambda d: (d.index,),
    "masked_scatter_": lambda d: (d.mask, d.b),
    "mvlgamma_": lambda d: (2,),
    "polygamma_": lambda d: (1,),
    "random_": lambda d: (3, 9),
    "renorm_": lambda d: (2, 0, 1.0),
}


def write_of(name):
    """Return a call that writes a new matrix, of integers or of floats."""

    def call(d: Data) -> ac.Tensor:
        x = d.n if name in ("gcd_", "lcm_") else d.x if name == "baddbmm_" else d.a
        if name == "addmv_":
            x = d.u
        method = getattr(ac.Tensor, name, None) or _inplace._multiple_added
        return method(x.clone(), *WRITES[name](d))

    return call


CALLS.update({f"_inplace.{name}": write_of(name) for name in WRITES})


def written(x: ac.Tensor, index: object, value: object) -> ac.Tensor:
    """Return `x` with a part overwritten."""
    x[index] = value
    return x
