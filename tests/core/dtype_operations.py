# SPDX-License-Identifier: MIT
"""The operations whose dtypes are held to PyTorch's; see `dtype_cases`.

`m` is the one library or the other; `a` and `b` are tensors of three elements, tensors
without dimensions, or numbers.
"""

from __future__ import annotations

DTYPES = ("float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool")


def operator(text):
    return eval(f"lambda m, a, b: {text}")


_PLAIN = ("+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>")
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_FUNCTIONS = (
    *("add", "sub", "mul", "div", "true_divide", "floor_divide", "remainder", "pow"),
    *("float_power", "xlogy", "bitwise_and", "bitwise_or", "bitwise_xor"),
    *("bitwise_left_shift", "bitwise_right_shift", "logical_and", "logical_or"),
    *("logical_xor", "isclose", "heaviside", "subtract", "multiply", "divide", "rsub"),
    *("eq", "ne", "not_equal", "lt", "less", "le", "less_equal", "gt", "greater"),
    *("ge", "greater_equal", "maximum", "minimum", "fmax", "fmin", "atan2", "arctan2"),
    *("fmod", "copysign", "hypot", "logaddexp", "logaddexp2", "clamp_min"),
    *("clamp_max", "dot", "vdot", "inner", "outer", "kron", "dist", "mv", "mm", "bmm"),
)
_IN_PLACE = (
    *("add_", "sub_", "mul_", "div_", "pow_", "floor_divide_", "remainder_", "eq_"),
    *("lt_", "bitwise_and_", "bitwise_or_", "bitwise_xor_", "logical_and_"),
    *("bitwise_left_shift_", "bitwise_right_shift_", "copysign_", "xlogy_", "fmod_"),
    *("copy_", "subtract_", "multiply_", "divide_", "true_divide_", "float_power_"),
    *("atan2_", "arctan2_", "heaviside_", "hypot_", "ne_", "not_equal_", "less_"),
    *("le_", "less_equal_", "gt_", "greater_", "ge_", "greater_equal_", "logical_or_"),
    *("logical_xor_", "clamp_min_", "clamp_max_", "clamp_"),
)
BINARY = {
    **{op: operator(f"a {op} b") for op in (*_PLAIN, *_COMPARISONS)},
    **{name: operator(f"m.{name}(a, b)") for name in _FUNCTIONS},
    "div floor": operator("m.div(a, b, rounding_mode='floor')"),
    "div trunc": operator("m.div(a, b, rounding_mode='trunc')"),
    "add alpha": operator("m.add(a, b, alpha=2)"),
    "add alpha float": operator("m.add(a, b, alpha=2.5)"),
    "sub alpha bool": operator("m.sub(a, b, alpha=True)"),
    "where": operator("m.where(m.tensor([True, False, True]), a, b)"),
    "cat": operator("m.cat([a, b])"),
    "stack": operator("m.stack([a, b])"),
    "clamp from b": operator("m.clamp(a, b)"),
    "clamp to b": operator("m.clamp(a, None, b)"),
    "clamp between b and b": operator("m.clamp(a, b, b)"),
    "clamp between a number and b": operator("m.clamp(a, 1, b)"),
    "matmul": operator("a @ b"),
    "cross": operator("m.cross(a, b, 0)"),
    "masked_scatter": operator("a.masked_scatter(m.tensor([True, False, True]), b)"),
}
IN_PLACE = {name: operator(f"a.{name}(b)") for name in _IN_PLACE}
_UNARY = (
    *("abs", "neg", "positive", "sign", "sgn", "square", "sqrt", "rsqrt", "exp", "log"),
    *("reciprocal", "exp2", "expm1", "log2", "log10", "log1p", "sin", "cos", "tan"),
    *("asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "atanh", "sigmoid"),
    *("lgamma", "digamma", "erfinv", "i0", "nanmedian", "alias_copy"),
    *("erf", "erfc", "floor", "ceil", "round", "trunc", "frac"),
    *("isnan", "isinf", "isfinite", "isposinf", "signbit", "logical_not", "relu"),
    *("bitwise_not", "deg2rad", "nan_to_num", "sinc", "logit", "zeros_like"),
    *("sum", "mean", "prod", "any", "all", "max", "min", "amax", "amin", "argmax"),
    *("argmin", "std", "var", "median", "nansum", "nanmean", "count_nonzero"),
    *("aminmax", "sort", "unique", "nonzero"),
)
_ALONG = (
    *("sum", "mean", "prod", "any", "all", "max", "min", "amax", "amin", "argmax"),
    *("argmin", "std", "median", "logsumexp", "nansum", "cumsum", "cumprod", "cummax"),
    *("cummin", "sort", "argsort", "softmax", "log_softmax", "count_nonzero"),
)
_WITH_DTYPE = ("sum", "prod", "nansum", "cumsum", "cumprod")
_IN_PLACE_OF_ONE = ("sign_", "square_", "exp_", "floor_", "round_", "frac_", "neg_")
UNARY = {
    **{name: operator(f"m.{name}(a)") for name in _UNARY},
    **{f"{name} along 0": operator(f"m.{name}(a, 0)") for name in _ALONG},
    **{
        f"{name} in {dtype}": operator(f"m.{name}(a, 0, dtype=m.{dtype})")
        for name in _WITH_DTYPE
        for dtype in DTYPES
    },
    **{name: operator(f"a.{name}()") for name in _IN_PLACE_OF_ONE},
    **{f"** {n}": operator(f"a ** {n}") for n in (-1, 0, 2, 0.5, True, False)},
    **{f"{n} **": operator(f"{n} ** a") for n in (2, 0.5, True)},
    "~": operator("~a"),
    "+": operator("+a"),
    "clamp": operator("m.clamp(a, 0, 2)"),
    "clamp float": operator("m.clamp(a, 0.5, 2)"),
    "round digits": operator("m.round(a, decimals=1)"),
    "topk": operator("m.topk(a, 1)"),
}

_PLACES = "m.tensor([0, 1, 2])"
_INDEX = {
    "gather": "m.cat([a, a]).gather(0, b)",
    "take": "m.cat([a, a]).take(b)",
    "take_along_dim": "m.take_along_dim(m.cat([a, a]), b, 0)",
    "index_select": "m.cat([a, a]).index_select(0, b)",
    "index_add": "m.cat([a, a]).index_add(0, b, a)",
    "index_copy": "m.cat([a, a]).index_copy(0, b, a)",
    "index_fill": "m.cat([a, a]).index_fill(0, b, 1)",
    "index_reduce": "m.cat([a, a]).index_reduce(0, b, a, 'amax')",
    "index_put": "m.cat([a, a]).index_put((b,), a)",
    "put": "m.cat([a, a]).put(b, a)",
    "scatter": "m.cat([a, a]).scatter(0, b, a)",
    "scatter value": "m.cat([a, a]).scatter(0, b, 1)",
    "scatter_add": "m.cat([a, a]).scatter_add(0, b, a)",
    "scatter_reduce": "m.cat([a, a]).scatter_reduce(0, b, a, 'amax')",
    "searchsorted sorter": "m.searchsorted(a, a, sorter=b - 1)",
    "x[b]": "m.cat([a, a])[b]",
    "x[b] = 1": "(a.__setitem__(b - b, 1), a)[1]",
    "repeat_interleave": "a.repeat_interleave(b)",
    "tensor_split": "m.cat([a, a]).tensor_split(b)",
    "embedding": "m.nn.functional.embedding(b, m.cat([a, a]).reshape(-1, 1))",
    "embedding_bag": "m.nn.functional.embedding_bag(b.reshape(-1, 1), "
    "m.cat([a, a]).reshape(-1, 1))",
    "masked_fill mask": "a.masked_fill(b, 1)",
    "masked_scatter mask": "a.masked_scatter(b, a)",
    "masked_select mask": "a.masked_select(b)",
    "where condition": "m.where(b, a, a)",
    "bincount": "m.bincount(b)",
    "bincount weights": f"m.bincount({_PLACES}, b)",
}
_WRITTEN = {
    "index_add source": f"a.index_add(0, {_PLACES}, b)",
    "index_add alpha": f"a.index_add(0, {_PLACES}, a, alpha=b)",
    "index_copy source": f"a.index_copy(0, {_PLACES}, b)",
    "index_fill value": f"a.index_fill(0, {_PLACES}, b)",
    "index_reduce source": f"a.index_reduce(0, {_PLACES}, b, 'amax')",
    "index_reduce mean": f"a.index_reduce(0, {_PLACES}, b, 'mean')",
    "index_reduce prod": f"a.index_reduce(0, {_PLACES}, b, 'prod')",
    "index_put values": f"a.index_put(({_PLACES},), b)",
    "index_put accumulate": f"a.index_put(({_PLACES},), b, accumulate=True)",
    "put source": f"a.put({_PLACES}, b)",
    "put accumulate": f"a.put({_PLACES}, b, True)",
    "scatter src": f"a.scatter(0, {_PLACES}, b)",
    "scatter add": f"a.scatter(0, {_PLACES}, b, reduce='add')",
    "scatter multiply": f"a.scatter(0, {_PLACES}, b, reduce='multiply')",
    "scatter_add src": f"a.scatter_add(0, {_PLACES}, b)",
    **{
        f"scatter_reduce {how}": f"a.scatter_reduce(0, {_PLACES}, b, '{how}')"
        for how in ("sum", "prod", "mean", "amax", "amin")
    },
    "masked_fill": "a.masked_fill(m.tensor([True, False, True]), b)",
    "index_add_": f"a.index_add_(0, {_PLACES}, b)",
    "index_copy_": f"a.index_copy_(0, {_PLACES}, b)",
    "index_fill_": f"a.index_fill_(0, {_PLACES}, b)",
    "index_reduce_": f"a.index_reduce_(0, {_PLACES}, b, 'amin')",
    "index_put_": f"a.index_put_(({_PLACES},), b)",
    "put_": f"a.put_({_PLACES}, b)",
    "scatter_": f"a.scatter_(0, {_PLACES}, b)",
    "scatter_add_": f"a.scatter_add_(0, {_PLACES}, b)",
    "scatter_reduce_": f"a.scatter_reduce_(0, {_PLACES}, b, 'sum')",
    "masked_fill_": "a.masked_fill_(m.tensor([True, False, True]), b)",
    "masked_scatter_": "a.masked_scatter_(m.tensor([True, False, True]), b)",
    "fill_": "a.fill_(b)",
    "x[mask] = y": "(a.__setitem__(m.tensor([True, True, True]), b), a)[1]",
    "x[list] = y": "(a.__setitem__([0, 1, 2], b), a)[1]",
    "x[index] = y": f"(a.__setitem__({_PLACES}, b), a)[1]",
    "x[slice] = y": "(a.__setitem__(slice(0, 3), b), a)[1]",
    "x[...] = y": "(a.__setitem__(..., b), a)[1]",
}
#: Of a tensor that is read or written at indices, and the indices or values.
INDEX = {name: operator(text) for name, text in {**_INDEX, **_WRITTEN}.items()}
BINARY |= {
    name: operator(f"m.{name}(a, b)") for name in ("searchsorted", "bucketize", "isin")
}
_SPECIAL = (
    *("erfcx", "ndtr", "ndtri", "log_ndtr", "entr", "i0e", "i1", "i1e", "expit"),
    *("gammaln", "psi"),
)
UNARY |= {
    **{f"special.{name}": operator(f"m.special.{name}(a)") for name in _SPECIAL},
    "polygamma": operator("m.polygamma(1, a)"),
    "mvlgamma": operator("m.mvlgamma(a + 1, 2)"),
    "renorm": operator("m.renorm(a.reshape(-1, 1), 2, 0, 1)"),
    "matrix_exp": operator("m.matrix_exp(a.reshape(-1, 1, 1))"),
    "fill_diagonal_": operator("a.reshape(-1, 1).fill_diagonal_(1)"),
    **{
        name: operator(f"a.{name}()")
        for name in ("lgamma_", "digamma_", "erfinv_", "i0_")
    },
    "polygamma_": operator("a.polygamma_(1)"),
    "mvlgamma_": operator("a.mvlgamma_(1)"),
    "renorm_": operator("a.reshape(-1, 1).renorm_(2, 0, 1)"),
}
IN_PLACE |= {
    name: operator(f"a.{name}(b)") for name in ("igamma_", "igammac_", "nextafter_")
}
BINARY |= {
    name: operator(f"m.{name}(a, b)") for name in ("igamma", "igammac", "nextafter")
}
BINARY |= {
    f"special.{name}": operator(f"m.special.{name}(a, b)")
    for name in ("zeta", "xlog1py")
}
_WITH_A_NUMBER = (
    *("leaky_relu", "elu", "celu", "softplus", "hardshrink", "softshrink"),
)
BINARY |= {
    "F.prelu": operator("m.nn.functional.prelu(a, b)"),
    **{
        f"F.{name} with b": operator(f"m.nn.functional.{name}(a, b)")
        for name in _WITH_A_NUMBER
    },
    "F.hardtanh to b": operator("m.nn.functional.hardtanh(a, 0, b)"),
    "F.threshold to b": operator("m.nn.functional.threshold(a, 1, b)"),
    "trapezoid over b": operator("m.trapezoid(a, b)"),
}
_F = "m.nn.functional."
_ACTIVATIONS = (
    *("celu", "elu", "gelu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh"),
    *("leaky_relu", "logsigmoid", "mish", "relu", "relu6", "selu", "sigmoid", "silu"),
    *("softplus", "softshrink", "softsign", "tanh", "tanhshrink", "dropout"),
)
_CAN_BE_IN_PLACE = (
    *("relu", "relu6", "hardtanh", "hardswish", "hardsigmoid", "elu", "celu", "selu"),
    *("leaky_relu", "silu", "mish", "dropout"),
)
_ON_PIXELS = "a.reshape(1, -1), (1, 1), mode="
UNARY |= {
    **{f"F.{name}": operator(f"{_F}{name}(a)") for name in _ACTIVATIONS},
    **{
        f"F.{name} in place": operator(f"{_F}{name}(a, inplace=True)")
        for name in _CAN_BE_IN_PLACE
    },
    **{
        f"F.{name} along 0": operator(f"{_F}{name}(a, 0)")
        for name in ("softmax", "log_softmax", "softmin")
    },
    **{
        f"F.pad {mode}": operator(f"{_F}pad({_ON_PIXELS}'{mode}')")
        for mode in ("constant", "reflect", "replicate", "circular")
    },
    "F.gelu tanh": operator(f"{_F}gelu(a, approximate='tanh')"),
    "F.glu": operator(f"{_F}glu(m.cat([a, a]))"),
    "F.threshold": operator(f"{_F}threshold(a, 1, 2)"),
    "F.threshold of a float": operator(f"{_F}threshold(a, 1.5, 2)"),
    "F.threshold_": operator(f"{_F}threshold_(a, 1, 2)"),
    "F.hardtanh from 0": operator(f"{_F}hardtanh(a, 0, 2)"),
    "F.normalize": operator(f"{_F}normalize(a, dim=0)"),
    "logcumsumexp": operator("m.logcumsumexp(a, 0)"),
    "norm": operator("m.norm(a)"),
    "norm of float64": operator("m.norm(a, dtype=m.float64)"),
    "nanmean of float64": operator("m.nanmean(a, dtype=m.float64)"),
    "mean of float64": operator("m.mean(a, dtype=m.float64)"),
    "mean of int64": operator("m.mean(a, dtype=m.int64)"),
    "softmax of float64": operator("m.softmax(a, 0, dtype=m.float64)"),
    "trapezoid": operator("m.trapezoid(a)"),
    "diff": operator("m.diff(a)"),
    "roll": operator("m.roll(a, 1)"),
    "roll along 0": operator("m.roll(a, 1, 0)"),
    "repeat_interleave alone": operator("m.repeat_interleave(a)"),
    "one_hot": operator("m.nn.functional.one_hot(a, 9)"),
    "an index of a list": operator("m.tensor([1, 2, 3, 4][a])"),
    "a range": operator("m.tensor(list(range(a)))"),
}

_LOSSES = (
    *("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss"),
    *("binary_cross_entropy_with_logits", "kl_div", "hinge_embedding_loss"),
    *("poisson_nll_loss", "pairwise_distance"),
)
_OF_LABELS = {
    "cross_entropy": "cross_entropy(a, b.min() - 1)",
    "nll_loss": "nll_loss(a, b.min() - 1)",
    "multi_margin_loss": "multi_margin_loss(a, b.min() - 1)",
    "multilabel_margin_loss": "multilabel_margin_loss(a, b - 1)",
    "cross_entropy of probabilities": "cross_entropy(a, b)",
    "cross_entropy weight": "cross_entropy(a, m.tensor(1), b)",
    "nll_loss weight": "nll_loss(a, m.tensor(1), b)",
    "multi_margin_loss weight": "multi_margin_loss(a, m.tensor(1), weight=b)",
}
_OF_PAIRS = {
    "gaussian_nll_loss": "gaussian_nll_loss(a, b, abs(a))",
    "gaussian_nll_loss variance": "gaussian_nll_loss(a, a, b)",
    "margin_ranking_loss": "margin_ranking_loss(a, b, a)",
    "margin_ranking_loss target": "margin_ranking_loss(a, a, b)",
    "cosine_embedding_loss": "cosine_embedding_loss(a, b, a.max())",
    "cosine_embedding_loss target": "cosine_embedding_loss(a, a, b.max())",
    "cosine_similarity": "cosine_similarity(a, b, 0)",
    "triplet_margin_loss": "triplet_margin_loss(a, b, a)",
    "triplet_margin_loss negative": "triplet_margin_loss(a, a, b)",
    "mse_loss of two shapes": "mse_loss(a.reshape(-1, 1), b)",
    "mse_loss of elements": "mse_loss(a, b, reduction='none')",
    "l1_loss of elements": "l1_loss(a, b, reduction='none')",
    "smooth_l1_loss of elements": "smooth_l1_loss(a, b, reduction='none')",
    "multilabel_soft_margin_loss": "multilabel_soft_margin_loss(a, b)",
    "multilabel_soft_margin_loss weight": "multilabel_soft_margin_loss(a, a, b)",
    "binary_cross_entropy": "binary_cross_entropy(a * 0, b * 0)",
    "binary_cross_entropy weight": "binary_cross_entropy(a * 0, a * 0, b)",
    "logits weight": "binary_cross_entropy_with_logits(a, a, b)",
    "logits pos_weight": "binary_cross_entropy_with_logits(a, a, pos_weight=b)",
    "poisson_nll_loss of rates": "poisson_nll_loss(a, b, log_input=False)",
    "poisson_nll_loss full": "poisson_nll_loss(a, b, full=True)",
}
#: Of an input and its target, labels or weight.
LOSSES = {
    **{f"F.{name}": operator(f"{_F}{name}(a, b)") for name in _LOSSES},
    **{
        f"F.{name}": operator(_F + text)
        for name, text in {**_OF_LABELS, **_OF_PAIRS}.items()
    },
}

_COLUMN, _ROW = "reshape(-1, 1)", "reshape(1, -1)"
_PRODUCTS = {
    "addmm": f"m.addmm(a, a.{_COLUMN}, b.{_ROW})",
    "addmm input": f"m.addmm(b, a.{_COLUMN}, a.{_ROW})",
    "addmm alpha": f"m.addmm(a, a.{_COLUMN}, a.{_ROW}, alpha=b)",
    "addmm beta": f"m.addmm(a, a.{_COLUMN}, a.{_ROW}, beta=b)",
    "addmv": f"m.addmv(a, a.{_COLUMN}, b.reshape(-1)[:1])",
    "addmv input": f"m.addmv(b, a.{_COLUMN}, a.reshape(-1)[:1])",
    "addr": "m.addr(a, a.reshape(-1)[:1], b.reshape(-1))",
    "addr input": "m.addr(b, a.reshape(-1)[:1], a.reshape(-1))",
    "baddbmm": "m.baddbmm(a, a.reshape(1, -1, 1), b.reshape(1, 1, -1))",
    "baddbmm input": "m.baddbmm(b, a.reshape(1, -1, 1), a.reshape(1, 1, -1))",
    "addbmm": "m.addbmm(a, a.reshape(1, -1, 1), b.reshape(1, 1, -1))",
    "addbmm input": "m.addbmm(b, a.reshape(1, -1, 1), a.reshape(1, 1, -1))",
    "mm of columns": f"m.mm(a.{_COLUMN}, b.{_ROW})",
    "bmm of columns": "m.bmm(a.reshape(1, -1, 1), b.reshape(1, 1, -1))",
    "tensordot": "m.tensordot(a, b, 1)",
    "einsum": "m.einsum('i,i', a, b)",
    "chain_matmul": f"m.chain_matmul(a.{_COLUMN}, b.{_ROW})",
    "cdist": f"m.cdist(a.{_ROW}, b.{_ROW})",
    "addcmul": "m.addcmul(a, b, b)",
    "addcmul second": "m.addcmul(a, a, b)",
    "addcmul input": "m.addcmul(b, a, a)",
    "addcmul value": "m.addcmul(a, a, a, value=b)",
    "addcdiv": "m.addcdiv(a, b, b)",
    "addcdiv second": "m.addcdiv(a, a, b)",
    "addcdiv value": "m.addcdiv(a, a, a, value=b)",
    "lerp": "m.lerp(a, b, 0.5)",
    "lerp weight": "m.lerp(a, a, b)",
    "block_diag": "m.block_diag(a, b)",
    "hstack": "m.hstack([a, b])",
    "vstack": "m.vstack([a, b])",
    "dstack": "m.dstack([a, b])",
    "column_stack": "m.column_stack([a, b])",
    "cartesian_prod": "m.cartesian_prod(a, b)",
    "meshgrid": "m.meshgrid(a, b, indexing='ij')",
    "broadcast_tensors": "m.broadcast_tensors(a, b)",
    "diff with b in front": "m.diff(a, prepend=b)",
    "quantile at b": "m.quantile(a, b / 4)",
    "nanquantile at b": "m.nanquantile(a, b / 4)",
    "full": "m.full((2,), b)",
    "full_like": "m.full_like(a, b)",
    "new_full": "a.new_full((2,), b)",
    "type_as": "a.type_as(b)",
    "result_type": "m.zeros(1, dtype=m.result_type(a, b))",
    "linalg.solve": "m.linalg.solve(a.reshape(-1)[:1].reshape(1, 1), "
    "b.reshape(-1)[:1])",
    "linspace": "m.linspace(a, b, 3)",
    "logspace": "m.logspace(a, b, 3)",
    "arange": "m.arange(b)",
}
_LAYERS = {
    "linear": f"linear(a, b.{_ROW})",
    "linear bias": f"linear(a, a.{_ROW}, b.reshape(-1)[:1])",
    "bilinear": "bilinear(a, b, a.reshape(1, -1, 1).expand(1, 3, 3))",
    "conv1d": "conv1d(a.reshape(1, 1, -1), b.reshape(1, 1, -1))",
    "conv1d bias": "conv1d(a.reshape(1, 1, -1), a.reshape(1, 1, -1), "
    "b.reshape(-1)[:1])",
    "rms_norm weight": "rms_norm(a, (3,), b)",
    "conv2d": "conv2d(a.reshape(1, 1, 1, -1), b.reshape(1, 1, 1, -1))",
    "conv_transpose1d": "conv_transpose1d(a.reshape(1, 1, -1), b.reshape(1, 1, -1))",
    "layer_norm weight": "layer_norm(a, (3,), b)",
    "group_norm weight": f"group_norm(a.{_ROW}, 1, b)",
    "batch_norm weight": f"batch_norm(a.{_COLUMN}, None, None, b.reshape(-1)[:1], "
    "training=True)",
    "attention": "scaled_dot_product_attention(a.reshape(1, 1, -1), "
    "b.reshape(1, 1, -1), b.reshape(1, 1, -1))",
}
#: Of two operands of products, joins and layers.
PRODUCTS = {
    **{name: operator(text) for name, text in _PRODUCTS.items()},
    **{f"F.{name}": operator(_F + text) for name, text in _LAYERS.items()},
}
_ONE_LAYER = {
    "max_pool1d": "max_pool1d(a.reshape(1, 1, -1), 2)",
    "max_pool1d with places": "max_pool1d(a.reshape(1, 1, -1), 2, return_indices=True)",
    "max_pool2d": "max_pool2d(a.reshape(1, 1, 1, -1), (1, 2))",
    "avg_pool1d": "avg_pool1d(a.reshape(1, 1, -1), 2)",
    "avg_pool2d": "avg_pool2d(a.reshape(1, 1, 1, -1), (1, 2))",
    "adaptive_avg_pool1d": "adaptive_avg_pool1d(a.reshape(1, 1, -1), 2)",
    "adaptive_max_pool1d": "adaptive_max_pool1d(a.reshape(1, 1, -1), 2)",
    "adaptive_avg_pool2d": "adaptive_avg_pool2d(a.reshape(1, 1, 1, -1), (1, 2))",
    "adaptive_max_pool2d": "adaptive_max_pool2d(a.reshape(1, 1, 1, -1), (1, 2))",
    "layer_norm": "layer_norm(a, (3,))",
    "rms_norm": "rms_norm(a, (3,))",
    "group_norm": f"group_norm(a.{_ROW}, 1)",
    "instance_norm": "instance_norm(a.reshape(1, 1, -1))",
    "unfold": "unfold(a.reshape(1, 1, 1, -1), (1, 2))",
    "fold": "fold(a.reshape(1, 1, -1), (1, 3), 1)",
    "pixel_shuffle": "pixel_shuffle(m.cat([a, a[:1]]).reshape(1, 4, 1, 1), 2)",
    "pixel_unshuffle": "pixel_unshuffle(m.cat([a, a[:1]]).reshape(1, 1, 2, 2), 2)",
    "embedding table": f"embedding(m.tensor([0]), a.{_COLUMN})",
}
UNARY |= {f"F.{name}": operator(_F + text) for name, text in _ONE_LAYER.items()}
_MORE = (
    *("absolute", "acosh", "arccos", "arccosh", "arcsin", "arcsinh", "arctan"),
    *("arctanh", "rad2deg", "negative", "fix", "isneginf", "msort", "bernoulli"),
    *("std_mean", "var_mean", "unique_consecutive", "argwhere", "histc", "trapz"),
    *("combinations", "multinomial", "is_nonzero", "diag", "diagflat", "flatten"),
    *("ravel", "clone", "t", "rand_like", "randn_like", "ones_like", "empty_like"),
)
_ONE = "b.reshape(-1)[:1].reshape(1, 1, 1)"
_OF_A_MATRIX = (
    *("det", "logdet", "slogdet", "inverse", "linalg.cholesky", "linalg.det"),
    *("linalg.eigh", "linalg.eigvalsh", "linalg.inv", "linalg.matrix_norm"),
    *("linalg.qr", "linalg.slogdet", "linalg.svd", "linalg.svdvals", "trace", "tril"),
    "triu",
)
_MORE_IN_PLACE = (
    *("abs_", "absolute_", "acos_", "acosh_", "arccos_", "arccosh_", "arcsin_"),
    *("arcsinh_", "arctan_", "arctanh_", "asin_", "asinh_", "atan_", "atanh_", "ceil_"),
    *("cos_", "cosh_", "deg2rad_", "erf_", "erfc_", "exp2_", "expm1_", "fix_", "log_"),
    *("log10_", "log1p_", "log2_", "logical_not_", "logit_", "nan_to_num_"),
    *("negative_", "rad2deg_", "reciprocal_", "relu_", "rsqrt_", "sgn_", "sigmoid_"),
    *("sin_", "sinc_", "sinh_", "sqrt_", "tan_", "tanh_", "trunc_", "zero_"),
    *("bitwise_not_", "normal_"),
    *("uniform_", "exponential_", "bernoulli_", "random_"),
)
UNARY |= {
    **{name: operator(f"m.{name}(a)") for name in _MORE if name != "multinomial"},
    **{
        name: operator(f"m.{name}(a.reshape(-1)[:1].reshape(1, 1))")
        for name in _OF_A_MATRIX
    },
    **{name: operator(f"a.{name}()") for name in _MORE_IN_PLACE},
    "multinomial": operator("m.multinomial(a, 1)"),
    "matrix_power": operator("m.matrix_power(a.reshape(-1)[:1].reshape(1, 1), 2)"),
    "kthvalue": operator("m.kthvalue(a, 1)"),
    "vector_norm": operator("m.linalg.vector_norm(a)"),
    "clip": operator("m.clip(a, 0, 2)"),
    "clip_": operator("a.clip_(0, 2)"),
    "tril_": operator(f"a.{_ROW}.tril_()"),
    "triu_": operator(f"a.{_ROW}.triu_()"),
    "F.dropout2d": operator(f"{_F}dropout2d(a.reshape(1, 1, 1, -1), 0.5)"),
}
_OF_THREE_IN_PLACE = {
    "addmm_": f"a.{_ROW}.addmm_(a.reshape(-1)[:1].reshape(1, 1), b.{_ROW})",
    "addmv_": f"a.addmv_(a.{_COLUMN}, b.reshape(-1)[:1])",
    "addr_": f"a.{_COLUMN}.addr_(a.reshape(-1), b.reshape(-1)[:1])",
    "baddbmm_": f"a.reshape(1, -1, 1).baddbmm_(a.reshape(1, -1, 1), {_ONE})",
    "addbmm_": f"a.{_COLUMN}.addbmm_(a.reshape(1, -1, 1), {_ONE})",
    "addcmul_": "a.addcmul_(b, b)",
    "addcdiv_": "a.addcdiv_(b, b)",
    "lerp_": "a.lerp_(b, 0.5)",
    "lerp_ weight": "a.lerp_(a, b)",
}
_OF_TWO_MORE = {
    "allclose": "m.allclose(a, b)",
    "equal": "m.equal(a, b)",
    "ger": "m.ger(a, b)",
    "concat": "m.concat([a, b])",
    "concatenate": "m.concatenate([a, b])",
    "row_stack": "m.row_stack([a, b])",
    "multi_dot": "m.linalg.multi_dot([a, b])",
    "F.triplet_margin_with_distance_loss": f"{_F}triplet_margin_with_distance_loss"
    "(a, b, a)",
    "F.conv_transpose2d": f"{_F}conv_transpose2d(a.reshape(1, 1, 1, -1), "
    "b.reshape(1, 1, 1, -1))",
}
PRODUCTS |= {
    name: operator(text) for name, text in (_OF_THREE_IN_PLACE | _OF_TWO_MORE).items()
}
_CHOICES = "m.cat([a, a]).reshape(1, 1, -1)"
_VOLUME = "a.reshape(1, 1, 1, 1, -1)"
_LATER_LAYERS = {
    **{
        f"{name}": f"{name}(a)" for name in ("alpha_dropout", "rrelu", "gumbel_softmax")
    },
    **{
        name: f"{name}(a)"
        for name in ("celu_", "elu_", "hardtanh_", "leaky_relu_", "rrelu_", "selu_")
    },
    "dropout1d": "dropout1d(a.reshape(1, 1, -1))",
    "feature_alpha_dropout": "feature_alpha_dropout(a.reshape(1, 1, -1))",
    "channel_shuffle": "channel_shuffle(a.reshape(1, 3, 1, 1), 3)",
    "local_response_norm": "local_response_norm(a.reshape(1, 1, -1), 2)",
    "lp_pool1d": "lp_pool1d(a.reshape(1, 1, -1), 2, 2)",
    "lp_pool2d": "lp_pool2d(a.reshape(1, 1, 1, -1), 2, (1, 2))",
    "lp_pool3d": f"lp_pool3d({_VOLUME}, 2, (1, 1, 2))",
    "dropout3d": f"dropout3d({_VOLUME})",
    "max_unpool3d": f"max_unpool3d({_VOLUME}, m.tensor([[[[[0, 2, 4]]]]]), (1, 1, 2))",
    "pdist": f"pdist(a.{_COLUMN})",
    "max_pool3d": f"max_pool3d({_VOLUME}, (1, 1, 2))",
    "avg_pool3d": f"avg_pool3d({_VOLUME}, (1, 1, 2))",
    "adaptive_max_pool3d": f"adaptive_max_pool3d({_VOLUME}, (1, 1, 2))",
    "adaptive_avg_pool3d": f"adaptive_avg_pool3d({_VOLUME}, (1, 1, 2))",
    "max_unpool1d": "max_unpool1d(a.reshape(1, 1, -1), m.tensor([[[0, 2, 4]]]), 2)",
    "max_unpool2d": "max_unpool2d(a.reshape(1, 1, 1, -1), m.tensor([[[[0, 2, 4]]]]), "
    "(1, 2))",
    "affine_grid": "affine_grid(m.cat([a, a]).reshape(1, 2, 3), (1, 1, 2, 2))",
}
_OF_A_VOLUME = {
    "conv3d": f"conv3d({_VOLUME}, b.reshape(1, 1, 1, 1, -1))",
    "conv_transpose3d": f"conv_transpose3d({_VOLUME}, b.reshape(1, 1, 1, 1, -1))",
    "max_unpool places": "max_unpool1d(a.reshape(1, 1, -1), b.reshape(1, 1, -1), 2)",
    "grid_sample": "grid_sample(a.reshape(1, 1, 1, -1), m.cat([b, b[:1]])"
    ".reshape(1, 1, 2, 2))",
    "ctc_loss": f"ctc_loss({_CHOICES}, m.tensor([[1]]), b.reshape(-1)[:1] * 0 + 1, "
    "m.tensor([1]))",
    "ctc_loss targets": f"ctc_loss({_CHOICES}, b.reshape(-1)[:1].reshape(1, 1), "
    "m.tensor([1]), m.tensor([1]))",
}
UNARY |= {f"F.{name}": operator(_F + text) for name, text in _LATER_LAYERS.items()}
PRODUCTS |= {f"F.{name}": operator(_F + text) for name, text in _OF_A_VOLUME.items()}

#: Statistics, divisors and powers of two; draws in place.
UNARY |= {
    "cov": operator("m.cov(a)"),
    "corrcoef": operator("m.corrcoef(a)"),
    "cumsum_": operator("a.cumsum_(0)"),
    "cumulative_trapezoid": operator("m.cumulative_trapezoid(a)"),
    "frexp": operator("m.frexp(a)"),
    "cholesky_inverse": operator("m.cholesky_inverse(a.reshape(-1)[:1].reshape(1, 1))"),
    "cauchy_": operator("a.cauchy_()"),
    "log_normal_": operator("a.log_normal_()"),
}
BINARY |= {name: operator(f"m.{name}(a, b)") for name in ("gcd", "lcm")}
IN_PLACE |= {name: operator(f"a.{name}(b)") for name in ("gcd_", "lcm_")}
PRODUCTS |= {
    "cholesky_solve": operator(
        f"m.cholesky_solve(a.{_COLUMN}[:1], b.reshape(-1)[:1].reshape(1, 1))"
    ),
}

#: Powers, differences and places of elements.
UNARY |= {
    "vander": operator("m.vander(a.reshape(-1), 3)"),
    "unravel_index": operator("m.unravel_index(a, (4, 2))"),
    "cumprod_": operator("a.cumprod_(0)"),
    "cumprod_ in float64": operator("a.cumprod_(0, dtype=m.float64)"),
    "cumsum_ in int64": operator("a.cumsum_(0, dtype=m.int64)"),
    "gradient": operator("m.gradient(m.cat([a.reshape(-1), a.reshape(-1)]))"),
}
BINARY |= {"ldexp": operator("m.ldexp(a, b)")}
IN_PLACE |= {"ldexp_": operator("a.ldexp_(b)")}
INDEX |= {
    "gradient at b": operator("m.gradient(a.reshape(-1), spacing=(b,))"),
    "gradient by b": operator("m.gradient(a.reshape(-1), spacing=b)"),
}

#: Draws of counts, histograms.
UNARY |= {
    "poisson": operator("m.poisson(a)"),
    "histogram": operator("m.histogram(a, 2)"),
    "histogramdd": operator("m.histogramdd(a.reshape(-1, 1), 2).hist"),
}
BINARY |= {"binomial": operator("m.binomial(a, b / 4)")}
INDEX |= {
    "histogram edges": operator("m.histogram(a, b)"),
    "histogram weight": operator("m.histogram(a, 2, weight=b)"),
}

#: Of `linalg`.
_ONE_BY_ONE = "a.reshape(-1)[:1].reshape(1, 1)"
UNARY |= {
    **{
        f"linalg.{name}": operator(f"m.linalg.{name}({_ONE_BY_ONE})")
        for name in ("pinv", "matrix_rank", "cond", "inv_ex", "cholesky_ex")
    },
    "pinverse": operator(f"m.pinverse({_ONE_BY_ONE})"),
    "pinv hermitian": operator(f"m.linalg.pinv({_ONE_BY_ONE}, hermitian=True)"),
    "linalg.vander": operator("m.linalg.vander(a, N=3)"),
    "tensorinv": operator("m.linalg.tensorinv(a.reshape(-1)[:1].reshape(1, 1), 1)"),
}
PRODUCTS |= {
    "linalg.cross": operator("m.linalg.cross(a, b)"),
    "solve_ex": operator(f"m.linalg.solve_ex({_ONE_BY_ONE}, {_ONE}[0])"),
    "vecdot": operator("m.linalg.vecdot(a, b)"),
    "lstsq": operator(f"m.linalg.lstsq({_ONE_BY_ONE}, {_ONE}[0])"),
    "tensorsolve": operator(f"m.linalg.tensorsolve({_ONE_BY_ONE}, {_ONE}[0, 0])"),
    "householder_product": operator(
        f"m.linalg.householder_product({_ONE_BY_ONE}, {_ONE}[0, 0])"
    ),
    "solve_triangular": operator(
        f"m.linalg.solve_triangular({_ONE_BY_ONE}, {_ONE}[0], upper=True)"
    ),
    "pinv atol": operator(f"m.linalg.pinv({_ONE_BY_ONE}, atol={_ONE}[0, 0, 0])"),
    "rank tol": operator(f"m.linalg.matrix_rank({_ONE_BY_ONE}, {_ONE}[0, 0, 0])"),
}

OPERATIONS = {**BINARY, **IN_PLACE, **INDEX, **LOSSES, **PRODUCTS, **UNARY}
