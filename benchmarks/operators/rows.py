# SPDX-License-Identifier: MIT
"""The rows: what is called on which operands, in names that both peers have.

Expressions see the module as `m`, its functions of `nn` as `F`, and the operands of
`benchmarks.operators.cases.operands`: square matrices `a`, `b`, `c` of numbers between
0.1 and 0.9, `s` of both signs, `w` that is written into, `large` above 1, integers
`i` and `j`, booleans `mask` and `other`, a `vector`, `labels` of rows, `shape` of the
matrices and their `side`.
"""

from __future__ import annotations

#: Functions of one matrix between 0.1 and 0.9.
UNARY = """
abs acos asin asinh atan atanh ceil cos cosh deg2rad digamma erf erfc erfinv exp exp2
expm1 fix floor frac isfinite isinf isnan isneginf isposinf lgamma log log10
log1p log2 logit nan_to_num neg positive rad2deg reciprocal round rsqrt sgn sigmoid
sign signbit sin sinc sinh sqrt square tan tanh trunc i0 special.i0e special.i1
special.i1e special.ndtr special.ndtri special.entr special.erfcx special.log_ndtr
"""
#: Functions of `nn` of one matrix of both signs.
ACTIVATIONS = """
celu elu gelu hardshrink hardsigmoid hardswish hardtanh leaky_relu logsigmoid mish relu
relu6 selu silu softplus softshrink softsign tanhshrink
"""
#: Functions of two matrices.
BINARY = """
add atan2 copysign div eq float_power floor_divide fmax fmin fmod ge gt heaviside hypot
isclose ldexp le logaddexp logaddexp2 lt maximum minimum mul ne nextafter pow remainder
sub true_divide xlogy special.xlog1py matmul mm dist allclose equal inner
cdist
"""
#: Functions of two integer matrices, of two boolean ones, and of one each.
INTEGER_BINARY = "bitwise_and bitwise_or bitwise_xor gcd lcm add mul eq"
BOOLEAN_BINARY = "logical_and logical_or logical_xor bitwise_and"
#: Reductions of a matrix: of all, and along its last dimension.
REDUCTIONS = """
sum mean prod amax amin std var norm count_nonzero argmax argmin nansum
nanmean
"""
ALONG = """
max min sum mean prod amax amin argmax argmin std var logsumexp softmax log_softmax
cumsum cumprod cummax cummin logcumsumexp median sort argsort aminmax norm
count_nonzero nansum std_mean var_mean unbind
"""
OF_ALL = "max min median std_mean var_mean any all aminmax flatten ravel t numel"
#: Methods that write a matrix, without and with another one.
UNARY_IN_PLACE = """
abs_ ceil_ cos_ exp_ floor_ neg_ reciprocal_ round_ rsqrt_ sigmoid_ sin_ sqrt_ square_
tanh_ trunc_ relu_ zero_ log_
"""
BINARY_IN_PLACE = "add_ sub_ mul_ div_ copy_ pow_"

VIEWS = {
    "transpose": "a.transpose(0, 1)",
    "permute": "a.permute(1, 0)",
    "T": "a.T",
    "mT": "a.mT",
    "view": "a.view(-1)",
    "reshape": "a.reshape(-1)",
    "reshape after transpose": "a.T.reshape(-1)",
    "unsqueeze": "a.unsqueeze(0)",
    "squeeze": "row.squeeze(0)",
    "expand": "row.expand(side, side)",
    "expand_as": "row.expand_as(a)",
    "broadcast_to": "m.broadcast_to(row, shape)",
    "narrow": "a.narrow(0, 1, 2)",
    "select": "a.select(0, 1)",
    "diagonal": "a.diagonal()",
    "unfold": "a.unfold(1, 2, 1)",
    "chunk in 3": "a.chunk(3)",
    "split in parts": "a.split(3)",
    "tensor_split": "a.tensor_split(2)",
    "hsplit": "m.hsplit(a, 2)",
    "vsplit": "m.vsplit(a, 2)",
    "movedim": "a.movedim(0, 1)",
    "swapaxes": "a.swapaxes(0, 1)",
    "unflatten": "a.unflatten(1, (2, -1))",
    "detach": "a.detach()",
    "view_as": "a.view_as(b)",
    "as_strided": "a.as_strided((2, 2), (1, 1))",
    "a[0]": "a[0]",
    "a[:, -1]": "a[:, -1]",
    "a[1:3]": "a[1:3]",
    "a[None]": "a[None]",
    "a[..., ::2]": "a[..., ::2]",
}
INDEXING = {
    "a[labels]": "a[labels]",
    "a[mask]": "a[mask]",
    "index_select": "a.index_select(0, labels)",
    "gather": "a.gather(1, j)",
    "take": "m.take(a, labels)",
    "take_along_dim": "m.take_along_dim(a, j, 1)",
    "masked_select": "a.masked_select(mask)",
    "masked_fill": "a.masked_fill(mask, 2.0)",
    "where": "m.where(mask, a, b)",
    "where(a > 0.5, a, b)": "m.where(a > 0.5, a, b)",
    "where with a number": "m.where(mask, a, 0.0)",
    "scatter": "a.scatter(1, j, b)",
    "scatter_add": "a.scatter_add(1, j, b)",
    "scatter_reduce": "a.scatter_reduce(1, j, b, 'amax')",
    "index_add": "a.index_add(0, labels, b)",
    "index_copy": "a.index_copy(0, labels, b)",
    "index_fill": "a.index_fill(0, labels, 2.0)",
    "embedding": "F.embedding(labels, a)",
    "one_hot": "F.one_hot(labels, side)",
    "nonzero": "mask.nonzero()",
    "tril": "a.tril()",
    "triu": "a.triu()",
    "diag": "m.diag(a)",
    "diag_embed": "m.diag_embed(vector)",
    "topk": "a.topk(2)",
    "kthvalue": "a.kthvalue(2)",
    "unique": "m.unique(labels)",
    "searchsorted": "m.searchsorted(sorted, a)",
    "bucketize": "m.bucketize(a, sorted)",
    "bincount": "m.bincount(labels)",
    "isin": "m.isin(labels, j)",
    "trace": "a.trace()",
    "a[0] = 1": "w.__setitem__(0, 1.0)",
    "a[:, 1] = v": "w.__setitem__((slice(None), 1), vector)",
}
JOINS = {
    "cat of 2": "m.cat([a, b])",
    "cat along columns": "m.cat([a, b], 1)",
    "stack of 2": "m.stack([a, b])",
    "hstack": "m.hstack([a, b])",
    "vstack": "m.vstack([a, b])",
    "dstack": "m.dstack([a, b])",
    "flip": "a.flip(0)",
    "fliplr": "m.fliplr(a)",
    "roll": "a.roll(1, 0)",
    "rot90": "m.rot90(a)",
    "repeat": "a.repeat(2, 1)",
    "tile": "m.tile(a, (2, 1))",
    "repeat_interleave": "a.repeat_interleave(2, 0)",
    "pad": "F.pad(a, (1, 1))",
    "clone": "a.clone()",
    "contiguous after transpose": "a.T.contiguous()",
    "meshgrid": "m.meshgrid(vector, vector, indexing='ij')",
    "block_diag": "m.block_diag(a, b)",
    "cartesian_prod": "m.cartesian_prod(sorted[:4], sorted[:4])",
    "combinations": "m.combinations(sorted[:4])",
}
NUMBERS = {
    "a + 2": "a + 2.0",
    "1 - a": "1 - a",
    "a * 2": "a * 2.0",
    "2 / a": "2 / a",
    "a > 0.5": "a > 0.5",
    "a == 0.5": "a == 0.5",
    "a ** 2": "a ** 2",
    "a ** 3": "a ** 3",
    "a ** 0.5": "a ** 0.5",
    "2 ** a": "2.0 ** a",
    "a // 0.3": "a // 0.3",
    "a % 0.3": "a % 0.3",
    "a + row": "a + row",
    "a * column": "a * column",
    "i + 1": "i + 1",
    "i // 2": "i // 2",
    "clamp": "a.clamp(0.3, 0.6)",
    "clamp_min": "a.clamp(min=0.3)",
    "clamp of tensors": "m.clamp(a, b, c)",
    "lerp": "m.lerp(a, b, 0.3)",
    "lerp of tensors": "m.lerp(a, b, c)",
    "addcmul": "m.addcmul(a, b, c)",
    "addcdiv": "m.addcdiv(a, b, c)",
    "polygamma": "m.polygamma(1, a)",
    "mvlgamma": "m.mvlgamma(large, 2)",
    "arccosh": "large.acosh()",
    "igamma": "m.special.gammainc(a, b)",
    "zeta": "m.special.zeta(large, a)",
    "logical_not": "mask.logical_not()",
    "bitwise_not": "i.bitwise_not()",
    "bitwise_left_shift": "i << 1",
    "add with alpha": "m.add(a, b, alpha=2)",
    "round decimals": "m.round(a, decimals=1)",
    "diff": "a.diff()",
    "trapezoid": "m.trapezoid(a)",
    "renorm": "a.renorm(2, 0, 1.0)",
    "quantile": "a.quantile(0.3)",
    "histc": "m.histc(a, 4)",
    "corrcoef": "m.corrcoef(a)",
    "cov": "m.cov(a)",
}
CREATION = {
    "zeros": "m.zeros(side, side)",
    "ones": "m.ones(side, side)",
    "full": "m.full(shape, 2.0)",
    "empty": "m.empty(side, side)",
    "eye": "m.eye(side)",
    "arange": "m.arange(side * side)",
    "linspace": "m.linspace(0, 1, side * side)",
    "zeros_like": "m.zeros_like(a)",
    "ones_like": "m.ones_like(a)",
    "full_like": "m.full_like(a, 2.0)",
    "empty_like": "m.empty_like(a)",
    "new_zeros": "a.new_zeros(shape)",
    "tensor of numbers": "m.tensor(numbers)",
    "tensor([[1]])": "m.tensor([[1]])",
    "rand": "m.rand(side, side)",
    "randn": "m.randn(side, side)",
    "randint": "m.randint(0, 9, shape)",
    "rand_like": "m.rand_like(a)",
    "randperm": "m.randperm(side * side)",
    "bernoulli": "m.bernoulli(a)",
    "multinomial": "m.multinomial(vector, 3, True)",
    "tril_indices": "m.tril_indices(side, side)",
    "to float64": "a.double()",
    "to int64": "a.long()",
    "to bool": "a.bool()",
    "from int": "i.float()",
    "a[0, 0].item()": "a[0, 0].item()",
    "item": "scalar.item()",
    "tolist": "a.tolist()",
    "numpy": "a.numpy()",
    "len": "len(a)",
    "shape": "a.shape",
    "bool of one": "bool(scalar)",
}
PRODUCTS = {
    "a @ b": "a @ b",
    "a @ b.T": "a @ b.T",
    "a @ v": "a @ vector",
    "dot": "vector.dot(vector)",
    "outer": "vector.outer(vector)",
    "kron": "m.kron(a, b[:4, :4])",
    "bmm": "m.bmm(a[None], b[None])",
    "addmm": "m.addmm(a, b, c)",
    "addmv": "m.addmv(vector, a, vector)",
    "addr": "m.addr(a, vector, vector)",
    "baddbmm": "m.baddbmm(a[None], b[None], c[None])",
    "einsum": "m.einsum('ij,kj->ik', a, b)",
    "tensordot": "m.tensordot(a, b, 1)",
    "linear": "F.linear(a, b, vector)",
    "linear without bias": "F.linear(a, b)",
    "bilinear": "F.bilinear(a[:, :4], b[:, :4], cube)",
    "vecdot": "m.linalg.vecdot(a, b)",
    "cross": "m.linalg.cross(a[:, :3], b[:, :3])",
    "multi_dot": "m.linalg.multi_dot([a, b, c])",
    "vector_norm": "m.linalg.vector_norm(a)",
    "matrix_norm": "m.linalg.matrix_norm(a)",
    "chain_matmul": "a @ b @ c",
}
LINALG = {
    "det": "m.linalg.det(a)",
    "slogdet": "m.linalg.slogdet(a)",
    "inv": "m.linalg.inv(regular)",
    "solve": "m.linalg.solve(regular, b)",
    "cholesky": "m.linalg.cholesky(regular)",
    "qr": "m.linalg.qr(a)",
    "svd": "m.linalg.svd(a)",
    "eigh": "m.linalg.eigh(regular)",
    "matrix_power": "m.linalg.matrix_power(a, 3)",
}
NETWORK = {
    "layer_norm": "F.layer_norm(a, (side,))",
    "layer_norm with weights": "F.layer_norm(a, (side,), vector, vector)",
    "rms_norm": "F.rms_norm(a, (side,), vector)",
    "batch_norm": "F.batch_norm(a, None, None, training=True)",
    "batch_norm in evaluation": "F.batch_norm(a, vector, vector)",
    "group_norm": "F.group_norm(a[None], 2)",
    "instance_norm": "F.instance_norm(a[None])",
    "normalize": "F.normalize(a)",
    "dropout": "F.dropout(a)",
    "dropout in evaluation": "F.dropout(a, training=False)",
    "glu": "F.glu(a)",
    "prelu": "F.prelu(a, vector[:1])",
    "rrelu": "F.rrelu(s)",
    "threshold": "F.threshold(a, 0.5, 0.0)",
    "gumbel_softmax": "F.gumbel_softmax(a)",
    "cross_entropy": "F.cross_entropy(a, labels)",
    "cross_entropy of probabilities": "F.cross_entropy(a, b)",
    "nll_loss": "F.nll_loss(a, labels)",
    "mse_loss": "F.mse_loss(a, b)",
    "l1_loss": "F.l1_loss(a, b)",
    "smooth_l1_loss": "F.smooth_l1_loss(a, b)",
    "huber_loss": "F.huber_loss(a, b)",
    "binary_cross_entropy": "F.binary_cross_entropy(a, b)",
    "binary_cross_entropy_with_logits": "F.binary_cross_entropy_with_logits(a, b)",
    "kl_div": "F.kl_div(a, b, reduction='batchmean')",
    "poisson_nll_loss": "F.poisson_nll_loss(a, b)",
    "gaussian_nll_loss": "F.gaussian_nll_loss(a, b, c)",
    "hinge_embedding_loss": "F.hinge_embedding_loss(a, b)",
    "margin_ranking_loss": "F.margin_ranking_loss(a, b, c)",
    "soft_margin_loss": "F.soft_margin_loss(a, b)",
    "multi_margin_loss": "F.multi_margin_loss(a, labels)",
    "triplet_margin_loss": "F.triplet_margin_loss(a, b, c)",
    "cosine_embedding_loss": "F.cosine_embedding_loss(a, b, vector)",
    "cosine_similarity": "F.cosine_similarity(a, b)",
    "pairwise_distance": "F.pairwise_distance(a, b)",
    "conv1d": "F.conv1d(a[None], window, padding=1)",
    "conv2d": "F.conv2d(image, kernel, padding=1)",
    "conv_transpose2d": "F.conv_transpose2d(image, kernel)",
    "max_pool2d": "F.max_pool2d(image, 2)",
    "avg_pool2d": "F.avg_pool2d(image, 2)",
    "adaptive_avg_pool2d": "F.adaptive_avg_pool2d(image, 1)",
    "adaptive_max_pool2d": "F.adaptive_max_pool2d(image, 1)",
    "max_pool1d": "F.max_pool1d(a[None], 2)",
    "lp_pool2d": "F.lp_pool2d(image, 2, 2)",
    "interpolate": "F.interpolate(image, scale_factor=2)",
    "interpolate bilinear": "F.interpolate(image, scale_factor=2, mode='bilinear')",
    "pixel_shuffle": "F.pixel_shuffle(m.cat([image] * 4, 1), 2)",
    "fold": "F.fold(F.unfold(image, 2), (side, side), 2)",
    "unfold of images": "F.unfold(image, 2)",
    "local_response_norm": "F.local_response_norm(image, 2)",
    "attention": "F.scaled_dot_product_attention(a[None], b[None], c[None])",
    "causal attention": (
        "F.scaled_dot_product_attention(a[None], b[None], c[None], is_causal=True)"
    ),
    "attention, 1 query, 200 keys": (
        "F.scaled_dot_product_attention(query, keys, keys)"
    ),
    "embedding_bag": "F.embedding_bag(labels[None], a)",
    "grid_sample": "F.grid_sample(image, grid, align_corners=False)",
    "lstm_cell by hand": ("m.sigmoid(a) * m.tanh(b) + m.sigmoid(c) * m.tanh(a)"),
}
IN_PLACE = {
    "add_ number": "w.add_(0.0)",
    "mul_ number": "w.mul_(1.0)",
    "add_ with alpha": "w.add_(a, alpha=0.0)",
    "fill_": "w.fill_(0.5)",
    "clamp_": "w.clamp_(0.1, 0.9)",
    "addcmul_": "w.addcmul_(a, b, value=0.0)",
    "addcdiv_": "w.addcdiv_(a, b, value=0.0)",
    "lerp_": "w.lerp_(a, 0.5)",
    "masked_fill_": "w.masked_fill_(mask, 0.5)",
    "index_add_": "w.index_add_(0, labels, a)",
    "index_copy_": "w.index_copy_(0, labels, a)",
    "index_fill_": "w.index_fill_(0, labels, 0.5)",
    "index_put_": "w.index_put_((labels,), a)",
    "put_": "w.put_(labels, vector)",
    "scatter_reduce_": "w.scatter_reduce_(1, j, a, 'amax')",
    "scatter_": "w.scatter_(1, j, a)",
    "uniform_": "w.uniform_()",
    "normal_": "w.normal_()",
    "bernoulli_": "w.bernoulli_()",
    "w += a": "w.__iadd__(a)",
    "w *= a": "w.__imul__(a)",
}


def _named(names: str, expression: str, label: str = "{}") -> dict[str, str]:
    return {label.format(n): expression.format(n) for n in names.split()}


def rows() -> dict[str, str]:
    """Return every row: its name and its expression."""
    return {
        **_named(UNARY, "m.{}(a)"),
        **_named(ACTIVATIONS, "F.{}(s)"),
        **_named(BINARY, "m.{}(a, b)"),
        **_named(INTEGER_BINARY, "m.{}(i, j)", "{} of integers"),
        **_named(BOOLEAN_BINARY, "m.{}(mask, other)", "{} of booleans"),
        **_named(REDUCTIONS, "m.{}(a)", "{} of all"),
        **_named(OF_ALL, "m.{}(a)", "{} of all"),
        **_named(ALONG, "m.{}(a, dim=1)", "{} along"),
        **_named(UNARY_IN_PLACE, "w.{}()"),
        **_named(BINARY_IN_PLACE, "w.{}(a)"),
        **VIEWS,
        **INDEXING,
        **JOINS,
        **NUMBERS,
        **CREATION,
        **PRODUCTS,
        **LINALG,
        **NETWORK,
        **IN_PLACE,
    }
