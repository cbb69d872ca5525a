# SPDX-License-Identifier: MIT
"""The operations whose dtypes are held to PyTorch's; see `dtype_cases`.

`m` is the one library or the other; `a` and `b` are tensors of three elements, tensors
without dimensions, or numbers.
"""

from __future__ import annotations

import re

DTYPES = ("float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool")

#: What words in capitals stand for.
SHORT = {
    "F": "m.nn.functional",
    "TWICE": "m.cat([a, a])",
    "CHOICES": "m.cat([a, a]).reshape(1, 1, -1)",
    "COUNT": "m.tensor([1])",
    "PLACES": "m.tensor([0, 1, 2])",
    "MASK": "m.tensor([True, False, True])",
    "ONE": "a.reshape(-1)[:1].reshape(1, 1)",
    "ONE_B": "b.reshape(-1)[:1].reshape(1, 1, 1)",
    "FIRST": "b.reshape(-1)[:1]",
    "SIGNAL": "a.reshape(1, 1, -1)",
    "SIGNAL_B": "b.reshape(1, 1, -1)",
    "IMAGE": "a.reshape(1, 1, 1, -1)",
    "IMAGE_B": "b.reshape(1, 1, 1, -1)",
    "VOLUME": "a.reshape(1, 1, 1, 1, -1)",
    "VOLUME_B": "b.reshape(1, 1, 1, 1, -1)",
    "COLUMN": "a.reshape(-1, 1)",
    "ROW_B": "b.reshape(1, -1)",
    "ROW": "a.reshape(1, -1)",
    "PILE": "a.reshape(1, -1, 1)",
}


def operator(text):
    """Return a call as a function of the library and its operands."""
    words = "|".join(SHORT)
    call = re.sub(rf"\b({words})\b", lambda word: SHORT[word[1]], text)
    return eval(f"lambda m, a, b: {call}")


def operations(forms, rows):
    """Return {name: call}.

    `forms` has what a name and a call look like, and the words in them; `rows` has
    names and calls, which two spaces part.
    """
    calls = {
        name.format(word): call.format(word)
        for (name, call), words in forms.items()
        for word in words.split()
    }
    calls |= dict(row.split(": ", 1) for row in re.split(r"\s\s+", rows.strip()))
    return calls


BINARY = operations(
    {
        ("{}", "a {} b"): """- * / // % ** & | ^ << >> == != < <= > >=""",
        ("{}", "m.{}(a, b)"): """
            add sub mul div true_divide floor_divide remainder pow float_power xlogy
            bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift
            logical_and logical_or logical_xor isclose heaviside subtract multiply
            divide rsub eq ne not_equal lt less le less_equal gt greater ge
            greater_equal maximum minimum fmax fmin atan2 arctan2 fmod copysign hypot
            logaddexp logaddexp2 clamp_min clamp_max dot vdot inner outer kron dist mv
            mm bmm searchsorted bucketize isin igamma igammac nextafter special.zeta
            special.xlog1py gcd lcm ldexp
        """,
        ("F.{} with b", "F.{}(a, b)"): """
            leaky_relu elu celu softplus hardshrink softshrink
        """,
    },
    """
    div floor: m.div(a, b, rounding_mode='floor')
    div trunc: m.div(a, b, rounding_mode='trunc')  add alpha: m.add(a, b, alpha=2)
    add alpha float: m.add(a, b, alpha=2.5)  sub alpha bool: m.sub(a, b, alpha=True)
    where: m.where(MASK, a, b)  cat: m.cat([a, b])  stack: m.stack([a, b])
    clamp from b: m.clamp(a, b)  clamp to b: m.clamp(a, None, b)
    clamp between b and b: m.clamp(a, b, b)
    clamp between a number and b: m.clamp(a, 1, b)  matmul: a @ b
    cross: m.cross(a, b, 0)  masked_scatter: a.masked_scatter(MASK, b)
    F.hardtanh to b: F.hardtanh(a, 0, b)  F.threshold to b: F.threshold(a, 1, b)
    trapezoid over b: m.trapezoid(a, b)  binomial: m.binomial(a, b / 4)
    F.prelu: F.prelu(a, b)
    """,
)

UNARY = operations(
    {
        ("{}", "m.{}(a)"): """
            angle conj_physical isreal
            abs neg positive sign sgn square sqrt rsqrt exp log reciprocal exp2 expm1
            log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh atanh
            sigmoid lgamma digamma erfinv i0 nanmedian alias_copy erf erfc floor ceil
            round trunc frac isnan isinf isfinite isposinf signbit logical_not relu
            bitwise_not deg2rad nan_to_num sinc logit zeros_like sum mean prod any all
            max min amax amin argmax argmin std var median nansum nanmean count_nonzero
            aminmax sort unique nonzero special.erfcx special.ndtr special.ndtri
            special.log_ndtr special.entr special.i0e special.i1 special.i1e
            special.expit special.gammaln special.psi norm trapezoid diff absolute acosh
            arccos arccosh arcsin arcsinh arctan arctanh rad2deg negative fix isneginf
            msort bernoulli std_mean var_mean unique_consecutive argwhere histc trapz
            combinations is_nonzero diag diagflat flatten ravel clone t rand_like
            randn_like ones_like empty_like cov corrcoef cumulative_trapezoid frexp
            poisson
        """,
        ("{} along 0", "m.{}(a, 0)"): """
            sum mean prod any all max min amax amin argmax argmin std median logsumexp
            nansum cumsum cumprod cummax cummin sort argsort softmax log_softmax
            count_nonzero
        """,
        **{
            (f"{name} in {{}}", f"m.{name}(a, 0, dtype=m.{{}})"): " ".join(DTYPES)
            for name in ("sum", "prod", "nansum", "cumsum", "cumprod")
        },
        ("{}", "a.{}()"): """
            sign_ square_ exp_ floor_ round_ frac_ neg_ lgamma_ digamma_ erfinv_ i0_
            abs_ absolute_ acos_ acosh_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_
            arctanh_ asin_ asinh_ atan_ atanh_ ceil_ cos_ cosh_ deg2rad_ erf_ erfc_
            exp2_ expm1_ fix_ log_ log10_ log1p_ log2_ logical_not_ logit_ nan_to_num_
            negative_ rad2deg_ reciprocal_ relu_ rsqrt_ sgn_ sigmoid_ sin_ sinc_ sinh_
            sqrt_ tan_ tanh_ trunc_ zero_ bitwise_not_ normal_ uniform_ exponential_
            bernoulli_ random_ cauchy_ log_normal_
        """,
        ("** {}", "a ** {}"): """-1 0 2 0.5 True False""",
        ("{} **", "{} ** a"): """2 0.5 True""",
        ("F.{}", "F.{}(a)"): """
            celu elu gelu hardshrink hardsigmoid hardswish hardtanh leaky_relu
            logsigmoid mish relu relu6 selu sigmoid silu softplus softshrink softsign
            tanh tanhshrink dropout alpha_dropout rrelu gumbel_softmax celu_ elu_
            hardtanh_ leaky_relu_ rrelu_ selu_
        """,
        ("F.{} in place", "F.{}(a, inplace=True)"): """
            relu relu6 hardtanh hardswish hardsigmoid elu celu selu leaky_relu silu mish
            dropout
        """,
        ("F.{} along 0", "F.{}(a, 0)"): """softmax log_softmax softmin""",
        ("F.pad {}", "F.pad(ROW, (1, 1), mode='{}')"): """
            constant reflect replicate circular
        """,
        ("{}", "m.{}(ONE)"): """
            det logdet slogdet inverse linalg.cholesky linalg.det linalg.eigh
            linalg.eigvalsh linalg.inv linalg.matrix_norm linalg.qr linalg.lu
            linalg.lu_factor linalg.lu_factor_ex lu linalg.slogdet
            linalg.svd linalg.svdvals trace tril triu cholesky_inverse linalg.pinv
            linalg.matrix_rank linalg.cond linalg.inv_ex linalg.cholesky_ex pinverse
        """,
    },
    """
    ~: ~a  +: +a  clamp: m.clamp(a, 0, 2)  clamp float: m.clamp(a, 0.5, 2)
    round digits: m.round(a, decimals=1)  topk: m.topk(a, 1)
    polygamma: m.polygamma(1, a)  mvlgamma: m.mvlgamma(a + 1, 2)
    renorm: m.renorm(COLUMN, 2, 0, 1)  matrix_exp: m.matrix_exp(a.reshape(-1, 1, 1))
    fill_diagonal_: COLUMN.fill_diagonal_(1)  polygamma_: a.polygamma_(1)
    mvlgamma_: a.mvlgamma_(1)  renorm_: COLUMN.renorm_(2, 0, 1)
    F.gelu tanh: F.gelu(a, approximate='tanh')  F.glu: F.glu(TWICE)
    F.threshold: F.threshold(a, 1, 2)  F.threshold of a float: F.threshold(a, 1.5, 2)
    F.threshold_: F.threshold_(a, 1, 2)  F.hardtanh from 0: F.hardtanh(a, 0, 2)
    F.normalize: F.normalize(a, dim=0)  logcumsumexp: m.logcumsumexp(a, 0)
    norm of float64: m.norm(a, dtype=m.float64)
    nanmean of float64: m.nanmean(a, dtype=m.float64)
    mean of float64: m.mean(a, dtype=m.float64)  mean of int64: m.mean(a, dtype=m.int64)
    softmax of float64: m.softmax(a, 0, dtype=m.float64)  roll: m.roll(a, 1)
    roll along 0: m.roll(a, 1, 0)  repeat_interleave alone: m.repeat_interleave(a)
    one_hot: F.one_hot(a, 9)  an index of a list: m.tensor([1, 2, 3, 4][a])
    a range: m.tensor(list(range(a)))  F.max_pool1d: F.max_pool1d(SIGNAL, 2)
    F.max_pool1d with places: F.max_pool1d(SIGNAL, 2, return_indices=True)
    F.max_pool2d: F.max_pool2d(IMAGE, (1, 2))  F.avg_pool1d: F.avg_pool1d(SIGNAL, 2)
    F.avg_pool2d: F.avg_pool2d(IMAGE, (1, 2))
    F.adaptive_avg_pool1d: F.adaptive_avg_pool1d(SIGNAL, 2)
    F.adaptive_max_pool1d: F.adaptive_max_pool1d(SIGNAL, 2)
    F.adaptive_avg_pool2d: F.adaptive_avg_pool2d(IMAGE, (1, 2))
    F.adaptive_max_pool2d: F.adaptive_max_pool2d(IMAGE, (1, 2))
    F.layer_norm: F.layer_norm(a, (3,))  F.rms_norm: F.rms_norm(a, (3,))
    F.group_norm: F.group_norm(ROW, 1)  F.instance_norm: F.instance_norm(SIGNAL)
    F.unfold: F.unfold(IMAGE, (1, 2))  F.fold: F.fold(SIGNAL, (1, 3), 1)
    F.pixel_shuffle: F.pixel_shuffle(m.cat([a, a[:1]]).reshape(1, 4, 1, 1), 2)
    F.pixel_unshuffle: F.pixel_unshuffle(m.cat([a, a[:1]]).reshape(1, 1, 2, 2), 2)
    F.embedding table: F.embedding(m.tensor([0]), COLUMN)
    multinomial: m.multinomial(a, 1)  matrix_power: m.matrix_power(ONE, 2)
    kthvalue: m.kthvalue(a, 1)  vector_norm: m.linalg.vector_norm(a)
    clip: m.clip(a, 0, 2)  clip_: a.clip_(0, 2)  tril_: ROW.tril_()  triu_: ROW.triu_()
    F.dropout2d: F.dropout2d(IMAGE, 0.5)  F.dropout1d: F.dropout1d(SIGNAL)
    F.feature_alpha_dropout: F.feature_alpha_dropout(SIGNAL)
    F.channel_shuffle: F.channel_shuffle(a.reshape(1, 3, 1, 1), 3)
    F.local_response_norm: F.local_response_norm(SIGNAL, 2)
    F.lp_pool1d: F.lp_pool1d(SIGNAL, 2, 2)  F.lp_pool2d: F.lp_pool2d(IMAGE, 2, (1, 2))
    F.lp_pool3d: F.lp_pool3d(VOLUME, 2, (1, 1, 2))  F.dropout3d: F.dropout3d(VOLUME)
    F.max_unpool3d: F.max_unpool3d(VOLUME, m.tensor([[[[[0, 2, 4]]]]]), (1, 1, 2))
    F.pdist: F.pdist(COLUMN)  F.max_pool3d: F.max_pool3d(VOLUME, (1, 1, 2))
    F.avg_pool3d: F.avg_pool3d(VOLUME, (1, 1, 2))
    F.adaptive_max_pool3d: F.adaptive_max_pool3d(VOLUME, (1, 1, 2))
    F.adaptive_avg_pool3d: F.adaptive_avg_pool3d(VOLUME, (1, 1, 2))
    F.max_unpool1d: F.max_unpool1d(SIGNAL, m.tensor([[[0, 2, 4]]]), 2)
    F.max_unpool2d: F.max_unpool2d(IMAGE, m.tensor([[[[0, 2, 4]]]]), (1, 2))
    F.affine_grid: F.affine_grid(TWICE.reshape(1, 2, 3), (1, 1, 2, 2))
    cumsum_: a.cumsum_(0)  vander: m.vander(a.reshape(-1), 3)
    unravel_index: m.unravel_index(a, (4, 2))  cumprod_: a.cumprod_(0)
    cumprod_ in float64: a.cumprod_(0, dtype=m.float64)
    cumsum_ in int64: a.cumsum_(0, dtype=m.int64)
    gradient: m.gradient(m.cat([a.reshape(-1), a.reshape(-1)]))
    histogram: m.histogram(a, 2)  histogramdd: m.histogramdd(COLUMN, 2).hist
    pinv hermitian: m.linalg.pinv(ONE, hermitian=True)
    linalg.vander: m.linalg.vander(a, N=3)  tensorinv: m.linalg.tensorinv(ONE, 1)
    """,
)

OTHERS = operations(
    {
        ("{}", "a.{}(b)"): """
            add_ sub_ mul_ div_ pow_ floor_divide_ remainder_ eq_ lt_ bitwise_and_
            bitwise_or_ bitwise_xor_ logical_and_ bitwise_left_shift_
            bitwise_right_shift_ copysign_ xlogy_ fmod_ copy_ subtract_ multiply_
            divide_ true_divide_ float_power_ atan2_ arctan2_ heaviside_ hypot_ ne_
            not_equal_ less_ le_ less_equal_ gt_ greater_ ge_ greater_equal_ logical_or_
            logical_xor_ clamp_min_ clamp_max_ clamp_ igamma_ igammac_ nextafter_ gcd_
            lcm_ ldexp_ repeat_interleave fill_ type_as
        """,
        ("scatter_reduce {}", "a.scatter_reduce(0, PLACES, b, '{}')"): """
            sum prod mean amax amin
        """,
        ("F.{}", "F.{}(a, b)"): """
            mse_loss l1_loss smooth_l1_loss huber_loss soft_margin_loss
            binary_cross_entropy_with_logits kl_div hinge_embedding_loss
            poisson_nll_loss pairwise_distance multilabel_soft_margin_loss
        """,
        ("{}", "m.{}(a, b)"): """
            block_diag cartesian_prod broadcast_tensors full_like allclose equal ger
            linalg.cross
        """,
    },
    """
    gather: TWICE.gather(0, b)  take: TWICE.take(b)
    take_along_dim: m.take_along_dim(TWICE, b, 0)
    index_select: TWICE.index_select(0, b)  index_add: TWICE.index_add(0, b, a)
    index_copy: TWICE.index_copy(0, b, a)  index_fill: TWICE.index_fill(0, b, 1)
    index_reduce: TWICE.index_reduce(0, b, a, 'amax')
    index_put: TWICE.index_put((b,), a)  put: TWICE.put(b, a)
    scatter: TWICE.scatter(0, b, a)  scatter value: TWICE.scatter(0, b, 1)
    scatter_add: TWICE.scatter_add(0, b, a)
    scatter_reduce: TWICE.scatter_reduce(0, b, a, 'amax')
    searchsorted sorter: m.searchsorted(a, a, sorter=b - 1)  x[b]: TWICE[b]
    x[b] = 1: (a.__setitem__(b - b, 1), a)[1]  tensor_split: TWICE.tensor_split(b)
    embedding: F.embedding(b, TWICE.reshape(-1, 1))
    embedding_bag: F.embedding_bag(b.reshape(-1, 1), TWICE.reshape(-1, 1))
    masked_fill mask: a.masked_fill(b, 1)  masked_scatter mask: a.masked_scatter(b, a)
    masked_select mask: a.masked_select(b)  where condition: m.where(b, a, a)
    bincount: m.bincount(b)  bincount weights: m.bincount(PLACES, b)
    index_add source: a.index_add(0, PLACES, b)
    index_add alpha: a.index_add(0, PLACES, a, alpha=b)
    index_copy source: a.index_copy(0, PLACES, b)
    index_fill value: a.index_fill(0, PLACES, b)
    index_reduce source: a.index_reduce(0, PLACES, b, 'amax')
    index_reduce mean: a.index_reduce(0, PLACES, b, 'mean')
    index_reduce prod: a.index_reduce(0, PLACES, b, 'prod')
    index_put values: a.index_put((PLACES,), b)
    index_put accumulate: a.index_put((PLACES,), b, accumulate=True)
    put source: a.put(PLACES, b)  put accumulate: a.put(PLACES, b, True)
    scatter src: a.scatter(0, PLACES, b)
    scatter add: a.scatter(0, PLACES, b, reduce='add')
    scatter multiply: a.scatter(0, PLACES, b, reduce='multiply')
    scatter_add src: a.scatter_add(0, PLACES, b)  masked_fill: a.masked_fill(MASK, b)
    index_add_: a.index_add_(0, PLACES, b)  index_copy_: a.index_copy_(0, PLACES, b)
    index_fill_: a.index_fill_(0, PLACES, b)
    index_reduce_: a.index_reduce_(0, PLACES, b, 'amin')
    index_put_: a.index_put_((PLACES,), b)  put_: a.put_(PLACES, b)
    scatter_: a.scatter_(0, PLACES, b)  scatter_add_: a.scatter_add_(0, PLACES, b)
    scatter_reduce_: a.scatter_reduce_(0, PLACES, b, 'sum')
    masked_fill_: a.masked_fill_(MASK, b)  masked_scatter_: a.masked_scatter_(MASK, b)
    x[mask] = y: (a.__setitem__(m.tensor([True, True, True]), b), a)[1]
    x[list] = y: (a.__setitem__([0, 1, 2], b), a)[1]
    x[index] = y: (a.__setitem__(PLACES, b), a)[1]
    x[slice] = y: (a.__setitem__(slice(0, 3), b), a)[1]
    x[...] = y: (a.__setitem__(..., b), a)[1]
    gradient at b: m.gradient(a.reshape(-1), spacing=(b,))
    gradient by b: m.gradient(a.reshape(-1), spacing=b)
    histogram edges: m.histogram(a, b)  histogram weight: m.histogram(a, 2, weight=b)
    F.cross_entropy: F.cross_entropy(a, b.min() - 1)
    F.nll_loss: F.nll_loss(a, b.min() - 1)
    F.multi_margin_loss: F.multi_margin_loss(a, b.min() - 1)
    F.multilabel_margin_loss: F.multilabel_margin_loss(a, b - 1)
    F.cross_entropy of probabilities: F.cross_entropy(a, b)
    F.cross_entropy weight: F.cross_entropy(a, m.tensor(1), b)
    F.nll_loss weight: F.nll_loss(a, m.tensor(1), b)
    F.multi_margin_loss weight: F.multi_margin_loss(a, m.tensor(1), weight=b)
    F.gaussian_nll_loss: F.gaussian_nll_loss(a, b, abs(a))
    F.gaussian_nll_loss variance: F.gaussian_nll_loss(a, a, b)
    F.margin_ranking_loss: F.margin_ranking_loss(a, b, a)
    F.margin_ranking_loss target: F.margin_ranking_loss(a, a, b)
    F.cosine_embedding_loss: F.cosine_embedding_loss(a, b, a.max())
    F.cosine_embedding_loss target: F.cosine_embedding_loss(a, a, b.max())
    F.cosine_similarity: F.cosine_similarity(a, b, 0)
    F.triplet_margin_loss: F.triplet_margin_loss(a, b, a)
    F.triplet_margin_loss negative: F.triplet_margin_loss(a, a, b)
    F.mse_loss of two shapes: F.mse_loss(COLUMN, b)
    F.mse_loss of elements: F.mse_loss(a, b, reduction='none')
    F.l1_loss of elements: F.l1_loss(a, b, reduction='none')
    F.smooth_l1_loss of elements: F.smooth_l1_loss(a, b, reduction='none')
    F.multilabel_soft_margin_loss weight: F.multilabel_soft_margin_loss(a, a, b)
    F.binary_cross_entropy: F.binary_cross_entropy(a * 0, b * 0)
    F.binary_cross_entropy weight: F.binary_cross_entropy(a * 0, a * 0, b)
    F.logits weight: F.binary_cross_entropy_with_logits(a, a, b)
    F.logits pos_weight: F.binary_cross_entropy_with_logits(a, a, pos_weight=b)
    F.poisson_nll_loss of rates: F.poisson_nll_loss(a, b, log_input=False)
    F.poisson_nll_loss full: F.poisson_nll_loss(a, b, full=True)
    addmm: m.addmm(a, COLUMN, ROW_B)  addmm input: m.addmm(b, COLUMN, ROW)
    addmm alpha: m.addmm(a, COLUMN, ROW, alpha=b)
    addmm beta: m.addmm(a, COLUMN, ROW, beta=b)  addmv: m.addmv(a, COLUMN, FIRST)
    addmv input: m.addmv(b, COLUMN, a.reshape(-1)[:1])
    addr: m.addr(a, a.reshape(-1)[:1], b.reshape(-1))
    addr input: m.addr(b, a.reshape(-1)[:1], a.reshape(-1))
    baddbmm: m.baddbmm(a, PILE, SIGNAL_B)  baddbmm input: m.baddbmm(b, PILE, SIGNAL)
    addbmm: m.addbmm(a, PILE, SIGNAL_B)  addbmm input: m.addbmm(b, PILE, SIGNAL)
    mm of columns: m.mm(COLUMN, ROW_B)  bmm of columns: m.bmm(PILE, SIGNAL_B)
    tensordot: m.tensordot(a, b, 1)  einsum: m.einsum('i,i', a, b)
    chain_matmul: m.chain_matmul(COLUMN, ROW_B)  cdist: m.cdist(ROW, ROW_B)
    addcmul: m.addcmul(a, b, b)  addcmul second: m.addcmul(a, a, b)
    addcmul input: m.addcmul(b, a, a)  addcmul value: m.addcmul(a, a, a, value=b)
    addcdiv: m.addcdiv(a, b, b)  addcdiv second: m.addcdiv(a, a, b)
    addcdiv value: m.addcdiv(a, a, a, value=b)  lerp: m.lerp(a, b, 0.5)
    lerp weight: m.lerp(a, a, b)  hstack: m.hstack([a, b])  vstack: m.vstack([a, b])
    dstack: m.dstack([a, b])  column_stack: m.column_stack([a, b])
    meshgrid: m.meshgrid(a, b, indexing='ij')
    diff with b in front: m.diff(a, prepend=b)  quantile at b: m.quantile(a, b / 4)
    nanquantile at b: m.nanquantile(a, b / 4)  full: m.full((2,), b)
    new_full: a.new_full((2,), b)  result_type: m.zeros(1, dtype=m.result_type(a, b))
    linalg.solve: m.linalg.solve(ONE, FIRST)  linspace: m.linspace(a, b, 3)
    logspace: m.logspace(a, b, 3)  arange: m.arange(b)  F.linear: F.linear(a, ROW_B)
    F.linear bias: F.linear(a, ROW, FIRST)
    F.bilinear: F.bilinear(a, b, PILE.expand(1, 3, 3))
    F.conv1d: F.conv1d(SIGNAL, SIGNAL_B)  F.conv1d bias: F.conv1d(SIGNAL, SIGNAL, FIRST)
    F.rms_norm weight: F.rms_norm(a, (3,), b)  F.conv2d: F.conv2d(IMAGE, IMAGE_B)
    F.conv_transpose1d: F.conv_transpose1d(SIGNAL, SIGNAL_B)
    F.layer_norm weight: F.layer_norm(a, (3,), b)
    F.group_norm weight: F.group_norm(ROW, 1, b)
    F.batch_norm weight: F.batch_norm(COLUMN, None, None, FIRST, training=True)
    F.attention: F.scaled_dot_product_attention(SIGNAL, SIGNAL_B, SIGNAL_B)
    addmm_: ROW.addmm_(ONE, ROW_B)  addmv_: a.addmv_(COLUMN, FIRST)
    addr_: COLUMN.addr_(a.reshape(-1), FIRST)  baddbmm_: PILE.baddbmm_(PILE, ONE_B)
    addbmm_: COLUMN.addbmm_(PILE, ONE_B)  addcmul_: a.addcmul_(b, b)
    addcdiv_: a.addcdiv_(b, b)  lerp_: a.lerp_(b, 0.5)  lerp_ weight: a.lerp_(a, b)
    concat: m.concat([a, b])  concatenate: m.concatenate([a, b])
    row_stack: m.row_stack([a, b])  multi_dot: m.linalg.multi_dot([a, b])
    F.triplet_margin_with_distance_loss: F.triplet_margin_with_distance_loss(a, b, a)
    F.conv_transpose2d: F.conv_transpose2d(IMAGE, IMAGE_B)
    F.conv3d: F.conv3d(VOLUME, VOLUME_B)
    F.conv_transpose3d: F.conv_transpose3d(VOLUME, VOLUME_B)
    F.max_unpool places: F.max_unpool1d(SIGNAL, SIGNAL_B, 2)
    F.grid_sample: F.grid_sample(IMAGE, m.cat([b, b[:1]]).reshape(1, 1, 2, 2))
    F.ctc_loss: F.ctc_loss(CHOICES, m.tensor([[1]]), FIRST * 0 + 1, COUNT)
    F.ctc_loss targets: F.ctc_loss(CHOICES, FIRST.reshape(1, 1), COUNT, COUNT)
    cholesky_solve: m.cholesky_solve(COLUMN[:1], FIRST.reshape(1, 1))
    solve_ex: m.linalg.solve_ex(ONE, ONE_B[0])  vecdot: m.linalg.vecdot(a, b)
    lstsq: m.linalg.lstsq(ONE, ONE_B[0])
    tensorsolve: m.linalg.tensorsolve(ONE, ONE_B[0, 0])
    householder_product: m.linalg.householder_product(ONE, ONE_B[0, 0])
    solve_triangular: m.linalg.solve_triangular(ONE, ONE_B[0], upper=True)
    pinv atol: m.linalg.pinv(ONE, atol=ONE_B[0, 0, 0])
    rank tol: m.linalg.matrix_rank(ONE, ONE_B[0, 0, 0])
    """,
)
CALLS = {**BINARY, **UNARY, **OTHERS}
OPERATIONS = {name: operator(call) for name, call in CALLS.items()}
