# SPDX-License-Identifier: MIT
"""Calls of the functions that run from short programs, on operands of fixed shapes."""

from __future__ import annotations

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


CALLS = {
    "smooth.gelu": lambda d: F.gelu(d.a),
    "smooth.logsigmoid": lambda d: F.logsigmoid(d.a),
    "smooth.mish": lambda d: F.mish(d.a),
    "smooth.glu": lambda d: F.glu(d.a),
    "smooth.softplus": lambda d: F.softplus(d.a, 2.0, 1.0),
    "smooth.softsign": lambda d: F.softsign(d.a),
    "smooth.tanhshrink": lambda d: F.tanhshrink(d.a),
    "dot_product.scaled_dot_product_attention": lambda d: (
        F.scaled_dot_product_attention(d.x, d.y, d.x, dropout_p=0.5)
    ),
    "avg_pooling.adaptive_avg_pool1d": lambda d: F.adaptive_avg_pool1d(d.x, 2),
    "avg_pooling.adaptive_avg_pool2d": lambda d: F.adaptive_avg_pool2d(d.image, 4),
    "avg_pooling.adaptive_avg_pool3d": lambda d: F.adaptive_avg_pool3d(d.volume, 2),
    "avg_pooling.avg_pool1d": lambda d: F.avg_pool1d(d.x, 2),
    "avg_pooling.avg_pool2d": lambda d: F.avg_pool2d(d.image, 3, 2, 1),
    "avg_pooling.avg_pool3d": lambda d: F.avg_pool3d(d.volume, 2),
    "batch_norm.batch_norm": lambda d: F.batch_norm(d.a, d.v, d.w.abs(), d.u, d.v),
    "batch_norm.batch_norm_activation": lambda d: F.batch_norm_relu(
        d.a, d.v, d.w.abs(), d.u, d.v
    ),
    "group_norm.group_norm": lambda d: F.group_norm(d.image, 2, d.u, d.v),
    "group_norm.instance_norm": lambda d: F.instance_norm(d.x),
    "binary_losses.binary_cross_entropy_with_logits": lambda d: (
        F.binary_cross_entropy_with_logits(d.a, d.b)
    ),
    "clamping.clamp": lambda d: ac.clamp(d.a, -0.5, 0.5),
    "clamping.nan_to_num": lambda d: ac.nan_to_num(d.a),
    "classification_losses.cross_entropy": lambda d: F.cross_entropy(d.a, d.labels),
    "classification_losses.nll_loss": lambda d: F.nll_loss(
        d.a, d.labels, d.w, ignore_index=1
    ),
    "comparison.isneginf": lambda d: ac.isneginf(d.a),
    "comparison.isposinf": lambda d: ac.isposinf(d.a),
    "comparison.signbit": lambda d: ac.signbit(d.a),
    "conversion.to": lambda d: (d.a.double(), d.n.to(ac.bool), d.a.to(d.b)),
    "comparison.isclose": lambda d: ac.isclose(d.a, d.b, equal_nan=True),
    "conv.conv1d": lambda d: F.conv1d(d.x, d.y[:, :, :3], padding=1),
    "conv.conv2d": lambda d: F.conv2d(d.image, d.floats(2, 4, 3, 3)),
    "conv.conv3d": lambda d: F.conv3d(d.volume, d.floats(1, 2, 2, 2, 2)),
    "conv_transpose.conv_transpose1d": lambda d: F.conv_transpose1d(
        d.x, d.a[..., None]
    ),
    "conv_transpose.conv_transpose2d": lambda d: F.conv_transpose2d(
        d.image, d.a.reshape(4, 1, 2, 2)
    ),
    "conv_transpose.conv_transpose3d": lambda d: F.conv_transpose3d(
        d.volume, d.a.reshape(2, 1, 2, 2, 2)
    ),
    "diagonal.diag": lambda d: ac.diag(d.a, 1),
    "diagonal.diag_embed": lambda d: ac.diag_embed(d.a),
    "diagonal.diagflat": lambda d: ac.diagflat(d.v),
    "diagonal.trace": lambda d: ac.trace(d.a),
    "diagonal.tril": lambda d: ac.tril(d.a, -1),
    "diagonal.triu": lambda d: ac.triu(d.strided(4, 4)),
    "distance.cdist": lambda d: ac.cdist(d.a, d.b),
    "distance.cosine_similarity": lambda d: F.cosine_similarity(d.a, d.b),
    "distance.dist": lambda d: ac.dist(d.a, d.b, 3.0),
    "distance.normalize": lambda d: F.normalize(d.a),
    "distance.pairwise_distance": lambda d: F.pairwise_distance(d.a, d.a),
    "einsum.einsum": lambda d: ac.einsum("bij,jk->bk", d.x, d.a),
    "einsum.tensordot": lambda d: ac.tensordot(d.x, d.a, 1),
    "rows.embedding": lambda d: F.embedding(d.i, d.a),
    "exponential.logaddexp": lambda d: ac.logaddexp(d.a, d.v),
    "exponential.logaddexp2": lambda d: ac.logaddexp2(d.a, d.b),
    "exponential.logit": lambda d: ac.logit(d.a, 0.1),
    "exponential.xlogy": lambda d: ac.xlogy(d.a, d.b),
    "extrema.aminmax": lambda d: ac.aminmax(d.a, dim=1),
    "extrema.argmin": lambda d: ac.argmin(d.a, 1),
    "constants.empty": lambda d: ac.empty(2, 3, dtype=ac.int64).zero_(),
    "constants.eye": lambda d: ac.eye(3, 4),
    "indexing.gather": lambda d: ac.gather(d.a, 1, d.index),
    "indexing.index_select": lambda d: ac.index_select(d.a, 1, d.i),
    "indexing.take_along_dim": lambda d: ac.take_along_dim(d.a, d.index, 1),
    "joining.column_stack": lambda d: ac.column_stack([d.u, d.v]),
    "joining.dstack": lambda d: ac.dstack((d.a, d.b)),
    "joining.hstack": lambda d: ac.hstack([d.a, d.b]),
    "joining.vstack": lambda d: ac.vstack([d.u, d.a]),
    "layer_norm.layer_norm": lambda d: F.layer_norm(d.x, (4,), d.u, d.v),
    "layer_norm.rms_norm": lambda d: F.rms_norm(d.x, (4,), d.u),
    "likelihood_losses.kl_div": lambda d: F.kl_div(d.a, d.b, reduction="sum"),
    "linalg_vectors.cross": lambda d: ac.linalg.cross(d.x[:, :, :3], d.y[:, :, :3]),
    "linalg_vectors.vecdot": lambda d: ac.linalg.vecdot(d.a, d.b),
    "logical.logical_and": lambda d: ac.logical_and(d.a, d.mask),
    "logical.logical_not": lambda d: ac.logical_not(d.a),
    "logical.logical_or": lambda d: ac.logical_or(d.a, d.b),
    "logical.logical_xor": lambda d: ac.logical_xor(d.mask, d.n),
    "margin_losses.hinge_embedding_loss": lambda d: F.hinge_embedding_loss(
        d.v, d.signs
    ),
    "margin_losses.margin_ranking_loss": lambda d: F.margin_ranking_loss(
        d.u, d.v, d.signs, 0.1
    ),
    "margin_losses.soft_margin_loss": lambda d: F.soft_margin_loss(d.v, d.signs),
    "masking.masked_fill": lambda d: d.a.masked_fill(d.mask, 2.0),
    "matmul.bilinear": lambda d: F.bilinear(d.a, d.b, d.x, d.u[:2]),
    "matmul.linear": lambda d: F.linear(d.x, d.a, d.v),
    "max_pooling.max_pool1d": lambda d: F.max_pool1d(d.x, 2, return_indices=True),
    "max_pooling.max_pool2d": lambda d: F.max_pool2d(d.image, 2),
    "max_pooling.max_pool3d": lambda d: F.max_pool3d(d.volume, 2),
    "mode.mode": lambda d: ac.mode(d.n, 0, True),
    "nan_reductions.nanmean": lambda d: ac.nanmean(d.a, 1),
    "nan_reductions.nansum": lambda d: ac.nansum(d.a),
    "nextafter.nextafter": lambda d: ac.nextafter(d.a, d.b),
    "padding.pad": lambda d: F.pad(d.image, (1, 2, 0, 1), mode="reflect"),
    "products.addbmm": lambda d: ac.addbmm(d.a, d.x, d.y, beta=0.5, alpha=2),
    "products.addmm": lambda d: ac.addmm(d.v, d.a, d.b),
    "products.addmv": lambda d: ac.addmv(d.v, d.a, d.u),
    "products.addr": lambda d: ac.addr(d.a, d.u, d.v),
    "products.baddbmm": lambda d: ac.baddbmm(d.a, d.x, d.y),
    "products.cross": lambda d: ac.cross(d.x[:, :, :3], d.y[:, :, :3]),
    "products.dot": lambda d: ac.dot(d.v, d.v),
    "products.inner": lambda d: ac.inner(d.a, d.b),
    "products.kron": lambda d: ac.kron(d.a, d.v),
    "products.mv": lambda d: ac.mv(d.a, d.v),
    "products.outer": lambda d: ac.outer(d.u, d.v),
    "random_draws.rand": lambda d: ac.rand(2, 3),
    "random_draws.randint": lambda d: ac.randint(-2, 5, (4,)),
    "random_draws.randn": lambda d: ac.randn((2, 3)),
    "random_draws.randperm": lambda d: ac.randperm(7),
    "ranges.arange": lambda d: ac.arange(2, 9, 3),
    "ranges.linspace": lambda d: ac.linspace(-1, 0.5, 7),
    "rearranging._reversed_for_turn": lambda d: ac.rot90(d.x, 3, (1, 2)),
    "rearranging.flip": lambda d: ac.flip(d.x, (0, 2)),
    "rearranging.repeat": lambda d: d.a.repeat(2, 1, 2),
    "rearranging.roll": lambda d: ac.roll(d.x, (1, -2), (0, 1)),
    "rearranging.tile": lambda d: ac.tile(d.a, (2,)),
    "rectifiers.celu": lambda d: F.celu(d.a, 0.5),
    "rectifiers.elu": lambda d: F.elu(d.a),
    "rectifiers.hardsigmoid": lambda d: F.hardsigmoid(d.a),
    "rectifiers.hardswish": lambda d: F.hardswish(d.a),
    "rectifiers.hardtanh": lambda d: F.hardtanh(d.a, -0.5, 0.25),
    "rectifiers.leaky_relu": lambda d: F.leaky_relu(d.a, 0.2),
    "rectifiers.prelu": lambda d: F.prelu(d.a, d.v),
    "rectifiers.relu6": lambda d: F.relu6(d.a),
    "rectifiers.selu": lambda d: F.selu(d.a),
    "reduction.all": lambda d: ac.all(d.a, 1),
    "reduction.any": lambda d: ac.any(d.n),
    "reduction.count_nonzero": lambda d: ac.count_nonzero(d.a, 0),
    "regression_losses.huber_loss": lambda d: F.huber_loss(d.a, d.b, delta=0.5),
    "regression_losses.l1_loss": lambda d: F.l1_loss(d.a, d.b, reduction="sum"),
    "regression_losses.mse_loss": lambda d: F.mse_loss(d.a, d.b),
    "regression_losses.smooth_l1_loss": lambda d: F.smooth_l1_loss(d.a, d.b),
    "resizing.channel_shuffle": lambda d: F.channel_shuffle(d.image, 2),
    "resizing.interpolate": lambda d: F.interpolate(d.image, size=(3, 9)),
    "resizing.pixel_shuffle": lambda d: F.pixel_shuffle(d.image, 2),
    "resizing.pixel_unshuffle": lambda d: F.pixel_unshuffle(d.image, 3),
    "rounding.ceil": lambda d: ac.ceil(d.a),
    "rounding.floor": lambda d: ac.floor(d.n),
    "rounding.trunc": lambda d: ac.trunc(d.a),
    "gamma_functions.igamma": lambda d: ac.igamma(d.a, d.v),
    "gamma_functions.igammac": lambda d: ac.igammac(d.a.abs(), d.b.abs()),
    "rounding.frac": lambda d: ac.frac(d.a),
    "rounding.round": lambda d: ac.round(d.a, decimals=2),
    "scans.cummax": lambda d: ac.cummax(d.a, 1),
    "scans.cummin": lambda d: ac.cummin(d.a, 0),
    "scans.diff": lambda d: ac.diff(d.a, 2, 0),
    "scans.trapezoid": lambda d: ac.trapezoid(d.a, dx=0.5),
    "scattering.index_add": lambda d: ac.index_add(d.a, 0, d.i, d.b[:3], alpha=2),
    "scattering.index_copy": lambda d: ac.index_copy(d.a, 0, d.i, d.b[:3]),
    "scattering.scatter": lambda d: ac.scatter(d.a, 1, d.index, d.b),
    "scattering.scatter_add": lambda d: ac.scatter_add(d.a, 0, d.index, d.b),
    "searching.searchsorted": lambda d: ac.searchsorted(d.v, d.a, right=True),
    "similarity_losses.triplet_margin_loss": lambda d: F.triplet_margin_loss(
        d.a, d.b, d.c, swap=True
    ),
    "sorting.argsort": lambda d: ac.argsort(d.a, 0, descending=True),
    "sorting.kthvalue": lambda d: ac.kthvalue(d.a, 2),
    "sorting.median": lambda d: ac.median(d.a, 1),
    "sorting.nanmedian": lambda d: ac.nanmedian(d.a),
    "sorting.sort": lambda d: ac.sort(d.n, 0),
    "sorting.topk": lambda d: ac.topk(d.a, 2, largest=False),
    "thresholds.hardshrink": lambda d: F.hardshrink(d.a),
    "thresholds.softshrink": lambda d: F.softshrink(d.a, 0.25),
    "thresholds.threshold": lambda d: F.threshold(d.a, 0.1, 20),
    "trigonometric.deg2rad": lambda d: ac.deg2rad(d.a),
    "trigonometric.hypot": lambda d: ac.hypot(d.a, d.b),
    "trigonometric.rad2deg": lambda d: ac.rad2deg(d.n),
    "unfolding.fold": lambda d: F.fold(d.x, (3, 3), (2, 2)),
    "unfolding.unfold": lambda d: F.unfold(d.image, 2, 2, 1),
    "variance.std": lambda d: ac.std(d.a, 1),
    "variance.std_mean": lambda d: ac.std_mean(d.a, 1, keepdim=True),
    "variance.var": lambda d: ac.var(d.a),
    "variance.var_mean": lambda d: ac.var_mean(d.a, correction=0),
    "vector_norms.norm": lambda d: ac.norm(d.a, 1, 1),
    "vector_norms.vector_norm": lambda d: ac.linalg.vector_norm(d.a, 3),
    "lerp.addcdiv": lambda d: ac.addcdiv(d.a, d.b, d.c, value=0.5),
    "lerp.addcmul": lambda d: ac.addcmul(d.a, d.a, d.b),
    "lerp.lerp": lambda d: ac.lerp(d.a, d.b, 0.25),
    "binary_losses._mean_entropy": lambda d: F.binary_cross_entropy(
        d.a.sigmoid(), d.mask.float(), d.v.abs()
    ),
    "broadcasting.expand_as": lambda d: d.v.expand_as(d.a),
    "creation.new_full": lambda d: d.a.new_full((2, 3), 1.5),
    "creation.new_ones": lambda d: d.n.new_ones(2, 3),
    "creation.new_zeros": lambda d: d.a.new_zeros((3,)),
    "diagonal.diagonal": lambda d: d.x[1].diagonal(1),
    "distributions.bernoulli": lambda d: ac.bernoulli(d.a.sigmoid()),
    "distributions._hits": lambda d: ac.bernoulli(d.a.sigmoid().requires_grad_()),
    "rows._one_hot": lambda d: F.one_hot(d.labels, 4),
    "extrema.max": lambda d: ac.max(d.a, 1, keepdim=True),
    "extrema.min": lambda d: ac.min(d.a, d.b),
    "constants.full": lambda d: ac.full((2, 3), 7),
    "constants.ones": lambda d: ac.ones(2, 3),
    "constants.zeros": lambda d: ac.zeros((2, 3)),
    "indexing._rows": lambda d: d.a[d.index],
    "joining.cat": lambda d: ac.cat([d.a, d.b], dim=-1),
    "joining.stack": lambda d: ac.stack((d.a, d.a, d.b)),
    "like.empty_like": lambda d: ac.empty_like(d.strided(2, 3)).zero_(),
    "like.full_like": lambda d: ac.full_like(d.a, -0.0),
    "like.ones_like": lambda d: ac.ones_like(d.strided(2, 3)),
    "like.zeros_like": lambda d: ac.zeros_like(d.n),
    "masking._all_rows": lambda d: ac.nonzero(d.x),
    "masking._where_method": lambda d: d.a.where(d.mask, d.b),
    "matmul._matmul_operator": lambda d: d.a @ d.v,
    "matmul.matmul": lambda d: ac.matmul(d.u, d.x),
    "named_views.reshape_as": lambda d: d.x.reshape_as(d.y),
    "named_views.unflatten": lambda d: ac.unflatten(d.a, 0, (2, -1)),
    "named_views.view_as": lambda d: d.v.view_as(d.a[:1]),
    "properties.T": lambda d: d.x.T,
    "rearranging.meshgrid": lambda d: ac.meshgrid(d.u, d.v, indexing="xy"),
    "rearranging.repeat_interleave": lambda d: ac.repeat_interleave(d.a, 2, 1),
    "searching._in_order": lambda d: ac.unique(d.n, return_inverse=True),
    "splitting.chunk": lambda d: d.x.chunk(3, 1),
    "splitting.narrow": lambda d: d.a.narrow(1, 1, 2),
    "splitting.select": lambda d: d.a.select(0, -1),
    "splitting.split": lambda d: d.a.split([1, 3]),
    "splitting.tensor_split": lambda d: ac.tensor_split(d.a, (1, 2)),
    "splitting.unbind": lambda d: d.a[1:].unbind(1),
    "quantiles._counts": lambda d: ac.bincount(d.labels, minlength=99),
    "view.clone": lambda d: d.strided(2, 3).clone(),
    "view.movedim": lambda d: d.x.movedim((0, 1), (2, 0)),
    "windows.unfold": lambda d: d.a.unfold(0, 2, 1),
    "arithmetic._sum_of_multiple": lambda d: ac.add(d.a, d.b, alpha=2),
    "comparison.heaviside": lambda d: ac.heaviside(d.a, d.v),
    "distributions.multinomial": lambda d: ac.multinomial(d.v.sigmoid(), 3, True),
    "distributions._again": lambda d: ac.multinomial(
        d.v.sigmoid().requires_grad_(), 3, True
    ),
    "distributions._hits_of": lambda d: ac.bernoulli(d.a.requires_grad_(), 0.25),
    "distributions._once": lambda d: ac.multinomial(d.a.sigmoid().requires_grad_(), 2),
    "divisors.gcd": lambda d: ac.gcd(d.n, d.index),
    "divisors.lcm": lambda d: ac.lcm(d.n, d.labels),
    "factorizations.cholesky": lambda d: ac.linalg.cholesky(d.a @ d.a.T),
    "factorizations.eigh": lambda d: ac.linalg.eigh(d.a + d.a.T),
    "factorizations.qr": lambda d: ac.linalg.qr(d.a),
    "factorizations.svd": lambda d: ac.linalg.svd(d.a),
    "indexing.take": lambda d: ac.take(d.a, d.index),
    "joining.block_diag": lambda d: ac.block_diag(d.a, d.v, d.b),
    "linear_systems.multi_dot": lambda d: ac.linalg.multi_dot([d.a, d.b, d.v]),
    "margin_losses.multi_margin_loss": lambda d: F.multi_margin_loss(d.a, d.labels),
    "rearranging.cartesian_prod": lambda d: ac.cartesian_prod(d.u, d.v),
    "scatter_reduction.scatter_reduce": lambda d: ac.scatter_reduce(
        d.a, 1, d.index, d.b, "amax"
    ),
    "scattering.index_fill": lambda d: ac.index_fill(d.a, 0, d.i, 2.0),
    "special_functions.xlog1py": lambda d: ac.special.xlog1py(d.a, d.b),
    "vector_norms.matrix_norm": lambda d: ac.linalg.matrix_norm(d.a),
    "vector_norms.renorm": lambda d: ac.renorm(d.a, 2, 0, 1.0),
    "view._reshaped": lambda d: d.a.T.reshape(-1),
    "view._reshaped_copy": lambda d: d.a.T.flatten(),
    "striding._seen_of_view": lambda d: d.a.as_strided((2, 3), (4, 1), 1),
    "diagonal._indices_of": lambda d: ac.tril_indices(3, 4, 1),
    "quantiles._sums": lambda d: ac.bincount(d.labels, d.u, 9),
    "quantiles.histc": lambda d: (ac.histc(d.b, 4, -1, 1), ac.histc(d.a, 3)),
    "quantiles._of_shares": lambda d: ac.quantile(d.a, 0.3, 1),
    "random_draws.rand_like": lambda d: ac.rand_like(d.a),
    "random_draws.randn_like": lambda d: ac.randn_like(d.a),
    "grid_sampling.grid_sample": lambda d: F.grid_sample(
        d.image, d.a.reshape(1, 2, 4, 2), "bicubic", "reflection"
    ),
    # In place: a clone has no version cell, its view has one.
    "_inplace.normal_": lambda d: d.a.clone().normal_(1.0, 2.0),
    "_inplace.uniform_": lambda d: d.a.clone()[0].uniform_(),
    "_inplace_indices.masked_fill_": lambda d: d.a.clone().masked_fill_(d.mask, 1.5),
    "_inplace.addcmul_": lambda d: d.a.clone().addcmul_(d.b, d.c, value=2),
    "_inplace.clamp_": lambda d: d.a.clone().clamp_(-1, 0.5),
    "_inplace.lerp_": lambda d: d.a.clone().lerp_(d.b, 0.5),
    "_inplace_indices.index_add_": lambda d: d.a.clone().index_add_(0, d.i, d.b[:3]),
    "_inplace_indices.index_fill_": lambda d: d.a.clone().index_fill_(0, d.i, 2.0),
    "_reductions.index_reduce_": lambda d: d.a.clone().index_reduce_(
        0, d.i, d.b[:3], "amax"
    ),
    "_reductions.scatter_reduce_": lambda d: d.a.clone().scatter_reduce_(
        1, d.index, d.b, "amax"
    ),
    "index_put.index_put_": lambda d: d.a.clone().index_put_((d.i,), d.b[:3]),
    "index_put.put_": lambda d: d.a.clone().put_(d.labels, d.v),
    "_inplace_indices.index_copy_": lambda d: d.a.clone().index_copy_(0, d.i, d.b[:3]),
    "_inplace_indices.scatter_": lambda d: d.a.clone().scatter_(1, d.index, d.b),
    "_inplace_indices.scatter_add_": lambda d: d.a.clone().scatter_add_(
        1, d.index, d.b
    ),
    "_inplace_indices._write_part": lambda d: written(d.a.clone(), (1, ...), d.v),
    "_writing.copy_": lambda d: d.a.clone().copy_(d.b),
}

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
}
CALLS |= {
    name: lambda d, name=name: FUNCTIONS[name](*PRIVATE[name](d)) for name in PRIVATE
}

#: Methods that write the result of a function into the tensor, and their arguments.
WRITES = {
    **dict.fromkeys(
        (
            *("ceil_", "deg2rad_", "floor_", "frac_", "i0_", "logical_not_"),
            *("logit_", "nan_to_num_", "rad2deg_", "round_", "square_", "tril_"),
            *("triu_", "trunc_"),
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
