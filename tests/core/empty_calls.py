# SPDX-License-Identifier: MIT
"""A call of every public function and module with tensors that have no elements.

Expressions of `m`, the one library or the other, `F`, its `nn.functional`, `D`, its
`distributions`, and of what `empty_cases.Operands` makes: `x` are numbers that require
a gradient, `v` the same after one operation, to be written into, `c` numbers that do
not, `i` indices of zero, `b` truth values, `net` a module in the dtype of the numbers.
"""

from __future__ import annotations

import re

_ONE = """
    abs absolute acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan
    atanh ceil clone cos cosh deg2rad digamma erf erfc erfinv exp exp2 expm1 fix floor
    frac i0 lgamma log log10 log1p log2 logit nan_to_num neg negative positive rad2deg
    reciprocal relu round rsqrt sgn sigmoid sign sin sinc sinh sqrt square tan tanh
    trunc isfinite isinf isnan isneginf isposinf signbit logical_not frexp detach ravel
    special.digamma special.entr special.erf special.erfc special.erfcx special.erfinv
    special.exp2 special.expit special.expm1 special.gammaln special.i0 special.i0e
    special.i1 special.i1e special.log1p special.log_ndtr special.logit special.ndtr
    special.ndtri special.psi special.round special.sinc alias_copy detach_copy
    empty_like ones_like zeros_like rand_like randn_like nonzero argwhere unique
    unique_consecutive t t_copy count_nonzero sum mean prod any all std var std_mean
    var_mean median nanmedian nansum nanmean max min amax amin aminmax argmax argmin
    norm flatten fliplr flipud rot90 msort sort argsort atleast_1d atleast_2d atleast_3d
    squeeze squeeze_copy diagflat diag_embed mode trapezoid trapz cumulative_trapezoid
    adjoint cov corrcoef trace diag diagonal diagonal_copy combinations pdist is_nonzero
    angle real conj conj_physical resolve_conj resolve_neg is_conj is_neg isreal
    numel is_complex is_floating_point is_signed tril triu unbind unbind_copy diff
    gradient cartesian_prod block_diag vander histc bernoulli poisson is_tensor
    linalg.norm linalg.vector_norm nn.functional.celu nn.functional.elu
    nn.functional.gelu nn.functional.hardshrink nn.functional.hardsigmoid
    nn.functional.hardswish nn.functional.hardtanh nn.functional.leaky_relu
    nn.functional.logsigmoid nn.functional.mish nn.functional.relu nn.functional.relu6
    nn.functional.rrelu nn.functional.selu nn.functional.sigmoid nn.functional.silu
    nn.functional.softplus nn.functional.softshrink nn.functional.softsign
    nn.functional.tanh nn.functional.tanhshrink nn.functional.dropout
    nn.functional.alpha_dropout nn.functional.feature_alpha_dropout
    nn.functional.normalize
"""
_ALONG = """
    sum mean prod any all max min amax amin argmax argmin std var std_mean var_mean
    median nanmedian nansum nanmean count_nonzero logsumexp softmax log_softmax cumsum
    cumprod cummax cummin logcumsumexp sort argsort mode quantile:0.5 nanquantile:0.5
    kthvalue:1 topk:2 topk:0 norm:2 norm:m.inf norm:0 roll:1 unbind unbind_copy chunk:2
    tensor_split:2 split:2 squeeze squeeze_copy unsqueeze unsqueeze_copy
    repeat_interleave:2 special.softmax special.log_softmax special.logsumexp
    nn.functional.softmax nn.functional.log_softmax nn.functional.softmin
"""
_TWO = """
    add sub mul div true_divide floor_divide remainder pow float_power xlogy subtract
    multiply divide rsub maximum minimum fmax fmin atan2 arctan2 fmod copysign hypot
    logaddexp logaddexp2 clamp_min clamp_max eq ne not_equal lt less le less_equal gt
    greater ge greater_equal logical_and logical_or logical_xor isclose heaviside
    nextafter dist allclose equal special.xlogy special.xlog1py igamma igammac
    special.gammainc special.gammaincc special.zeta ldexp isin broadcast_tensors
    is_same_size clamp clip kron nn.functional.mse_loss nn.functional.l1_loss
    nn.functional.smooth_l1_loss nn.functional.huber_loss nn.functional.kl_div
    nn.functional.poisson_nll_loss nn.functional.soft_margin_loss
    nn.functional.binary_cross_entropy nn.functional.binary_cross_entropy_with_logits
    nn.functional.hinge_embedding_loss nn.functional.multilabel_soft_margin_loss
    nn.functional.pairwise_distance nn.functional.cosine_similarity
"""
_LOSSES = """
    mse_loss l1_loss smooth_l1_loss huber_loss kl_div poisson_nll_loss soft_margin_loss
    binary_cross_entropy binary_cross_entropy_with_logits hinge_embedding_loss
    multilabel_soft_margin_loss
"""
_IN_PLACE = """
    abs_ absolute_ acos_ acosh_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ asin_
    asinh_ atan_ atanh_ ceil_ cos_ cosh_ deg2rad_ detach_ digamma_ erf_ erfc_ erfinv_
    exp2_ exp_ expm1_ fix_ floor_ frac_ i0_ lgamma_ log10_ log1p_ log2_ log_
    logical_not_ logit_ nan_to_num_ neg_ negative_ rad2deg_ reciprocal_ relu_ round_
    rsqrt_ sgn_ sigmoid_ sign_ sin_ sinc_ sinh_ sqrt_ square_ squeeze_ t_ tan_ tanh_
    tril_ triu_ trunc_ zero_ bernoulli_ cauchy_ exponential_ log_normal_ normal_ random_
    uniform_ geometric_:0.5 cumprod_:0 cumsum_:0 fill_:1 fill_diagonal_:1 swapaxes_:0,1
    swapdims_:0,1 transpose_:0,1 unsqueeze_:0 polygamma_:1 mvlgamma_:2 renorm_:2,0,1
    clamp_:0,1 clip_:0,1 requires_grad_ retain_grad clamp_max_:1 clamp_min_:1 add_:x(3)
    mul_:x(3) div_:x(3) sub_:x(3) subtract_:x(3) multiply_:x(3) divide_:x(3)
    true_divide_:x(3) pow_:x(3) atan2_:x(3) arctan2_:x(3) copysign_:x(3) copy_:x(3)
    eq_:x(3) ne_:x(3) not_equal_:x(3) lt_:x(3) less_:x(3) le_:x(3) less_equal_:x(3)
    gt_:x(3) greater_:x(3) ge_:x(3) greater_equal_:x(3) floor_divide_:c(3) fmod_:c(3)
    heaviside_:c(3) hypot_:x(3) igamma_:c(3) igammac_:c(3) ldexp_:i(3) lerp_:x(3),0.5
    logical_and_:c(3) logical_or_:c(3) logical_xor_:c(3) nextafter_:c(3) remainder_:c(3)
    xlogy_:x(3) addcdiv_:x(3),x(3) addcmul_:x(3),x(3) masked_fill_:b(3),1
    masked_fill_:b(0,3),1 masked_scatter_:b(0,3),x(0) put_:i(0),x(0)
    index_add_:0,i(0),x(0,3) index_copy_:0,i(0),x(0,3) index_fill_:0,i(0),1
    index_put_:(i(0),),x(0,3) index_reduce_:0,i(0),x(0,3),'amax'
    scatter_:0,i(0,3),x(0,3) scatter_add_:0,i(0,3),x(0,3)
    scatter_reduce_:0,i(0,3),x(0,3),'sum' addmm_:x(0,2),x(2,3) addbmm_:x(2,0,4),x(2,4,3)
"""
_FUNCTIONAL_IN_PLACE = "celu_ elu_ hardtanh_ leaky_relu_ relu_ rrelu_ selu_"
_VIEWS = """
    x(0,3).reshape(3,0)  x(2,0,4).reshape(0,4)  x(0,3).view(3,0)  m.reshape(x(0,3),(0,))
    x(0,3).view_as(x(3,0))  x(0,3).reshape_as(x(3,0))  m.view_copy(x(0,3),(3,0))
    x(2,0,4).transpose(0,1)  m.transpose_copy(x(2,0,4),0,1)  m.permute(x(2,0,4),(2,0,1))
    m.permute_copy(x(2,0,4),(2,0,1))  m.movedim(x(2,0,4),0,2)  m.moveaxis(x(2,0,4),0,2)
    m.swapaxes(x(2,0,4),0,1)  m.swapdims(x(2,0,4),0,1)  x(2,0,4).mT  x(0,3).T
    m.fill(x(0,3),1)  m.broadcast_to(x(0,3),(2,0,3))  x(0,3).expand(2,0,3)
    x(1,3).expand(0,3)  x(1,3).expand_as(x(0,3))  m.expand_copy(x(1,3),(0,3))
    m.broadcast_to(x(3),(0,3))  m.narrow(x(2,3),1,1,0)  m.narrow_copy(x(2,3),1,1,0)
    m.narrow(x(0,3),1,1,2)  m.select(x(0,3),1,1)  m.select_copy(x(0,3),1,1)
    m.slice_copy(x(2,3),1,1,1)  m.split(x(0,3),[1,2],1)
    m.split_with_sizes_copy(x(0,3),[1,2],1)  m.split(x(0,3),2)
    m.split_with_sizes(x(0,3),[1,2],1)  m.split_copy(x(0,3),2,1)  m.split(x(0,3),[0,0])
    m.hsplit(x(0,4),2)  m.vsplit(x(0,4),2)  m.dsplit(x(0,2,4),2)  m.chunk(x(0,3),2)
    m.tensor_split(x(2,0,4),3)  m.tensor_split(x(2,3),(0,0,2))  m.unbind(x(2,0,4),2)
    m.tile(x(0,3),(2,2))  m.tile(x(2,3),(0,2))  x(0,3).repeat(2,2)  x(2,3).repeat(0,1)
    m.flip(x(0,3),(0,1))  m.roll(x(0,3),1)  m.roll(x(2,0,4),(1,1),(0,1))
    m.as_strided(x(2,3),(0,3),(3,1))  m.as_strided_copy(x(2,3),(0,3),(3,1))
    m.as_strided_scatter(x(2,3),x(0,3),(0,3),(3,1))  x(0,3).unfold(1,2,1)
    m.unfold_copy(x(0,3),1,2,1)  m.unflatten(x(0,6),1,(2,3))
    m.unflatten(x(2,0),1,(0,2))  m.diagonal(x(2,0,4),0,0,1)
    m.diagonal_scatter(x(0,3),x(0))  m.diag(x(0))  m.diagonal_scatter(x(3,3),x(0),3)
    m.select_scatter(x(0,3),x(0),1,1)  m.slice_scatter(x(0,3),x(0,1),1,1,2)
    m.slice_scatter(x(2,3),x(2,0),1,1,1)  m.unsqueeze(x(0,3),1)  m.squeeze(x(0,1))
    x(2,3).sum_to_size(1,3)  x(0,3).sum_to_size(1,3)  m.flatten(x(2,0,4),1)
    m.atleast_3d(x(0))  x(2,3)[:,:0]  x(0,3)[None]  x(0,3)[...,0]  x(0,3)[:,1:]
    x(2,3)[2:]  x(2,3)[i(0)]  x(2,3)[b(2)]  x(2,3)[i(0),i(0)]  x(2,3)[[]]
    x(2,3)[b(2,3)]  x(0,3)[i(0)]  x(0,3)[b(0)]  x(0,3)[b(0,3)]  x(0,3)[:,i(2)]
    x(2,3)[:,i(0)]  x(2,3)[i(0,4)]  x(0,3)[i(0,4)]  setitem(v(2,3),i(0),x(0,3))
    setitem(v(2,3),b(2),1.0)  setitem(v(0,3),slice(None),1.0)
    setitem(v(2,3),slice(0,0),x(3))  setitem(v(0,3),(slice(None),1),x(0))
    setitem(v(2,3),(i(0),i(0)),x(1))  setitem(v(2,3),b(2,3),x(1))
"""
_JOINED = """
    m.cat([x(0,3),x(2,3)])  m.cat([x(0,3),x(0,3)])  m.cat([x(0),x(2,3)])
    m.cat([x(2,0),x(2,3)],1)  m.concat([x(0,3),x(2,3)])
    m.concatenate([x(2,0,4),x(2,0,4)],1)  m.stack([x(0,3),x(0,3)],2)
    m.hstack([x(0,3),x(0,2)])  m.vstack([x(0,3),x(2,3)])  m.dstack([x(0,3),x(0,3)])
    m.row_stack([x(0,3),x(2,3)])  m.column_stack([x(0),x(0,3)])  m.hstack([x(0),x(2)])
    m.block_diag(x(0,3),x(2,2))  m.meshgrid(x(0),x(3),indexing='ij')
    m.cartesian_prod(x(0),x(3))  m.combinations(x(1))  m.broadcast_tensors(x(0,3),x(3))
    m.repeat_interleave(x(0,3),i(0),0)  m.repeat_interleave(x(2,3),i(2),0)
    m.where(b(0,3),x(0,3),x(3))  m.where(b(0,3),x(3),1.0)  m.where(b(3),x(0,3),x(0,3))
    m.masked_fill(x(0,3),b(0,3),1.0)  m.masked_fill(x(0,3),b(3),1.0)  m.where(b(0,3))
    m.masked_scatter(x(0,3),b(0,3),x(0))  m.masked_scatter(x(2,3),b(2,3),x(0))
    m.masked_select(x(0,3),b(0,3))  m.masked_select(x(2,3),b(2,3))
    m.masked_select(x(0,3),b(3))
"""
_INDEXED = """
    m.gather(x(2,3),1,i(2,0))  m.gather(x(0,3),0,i(0,3))  m.gather(x(0,3),1,i(0,5))
    m.take(x(2,3),i(0))  m.take(x(0,3),i(0))  m.take_along_dim(x(0,3),i(0,2),1)
    m.take_along_dim(x(0,3),i(0))  m.take_along_dim(x(2,3),i(2,0),1)
    m.index_select(x(2,3),1,i(0))  m.index_select(x(0,3),0,i(0))
    m.index_select(x(0,3),1,i(2))  m.index_add(x(2,3),1,i(0),x(2,0))
    m.index_add(x(0,3),1,i(2),x(0,2))  m.index_add(x(0,3),0,i(0),x(0,3))
    m.index_copy(x(2,3),1,i(0),x(2,0))  m.index_copy(x(0,3),1,i(2),x(0,2))
    m.index_fill(x(2,3),1,i(0),2.0)  m.index_fill(x(0,3),1,i(1),2.0)
    m.index_put(x(2,3),(i(0),),x(0,3))  m.index_put(x(2,3),(i(0),),x(1),accumulate=True)
    m.index_put(x(0,3),(i(0),),x(3))  m.put(x(2,3),i(0),x(0))  m.put(x(0,3),i(0),x(0))
    m.put(x(2,3),i(0),x(0),True)  m.scatter(x(2,3),1,i(2,0),x(2,3))
    m.scatter(x(2,3),0,i(0,3),x(0,3))  m.scatter(x(2,3),0,i(0,3),1.0)
    m.scatter(x(0,3),1,i(0,3),x(0,3))  m.scatter(x(2,3),0,i(0),x(2,3))
    m.scatter_add(x(2,3),1,i(2,0),x(2,3))  m.scatter_add(x(2,3),0,i(0,3),x(2,3))
    m.scatter_add(x(0,3),1,i(0,3),x(0,3))  m.scatter_add(x(4),0,i(0),x(0))
    v(2,3).scatter_add_(1,i(2,0),x(2,3))  c(2,3).scatter_(1,i(2,0),x(2,3))
    c(2,3).scatter_add_(0,i(0,3),x(0,3))  c(2,3).scatter_reduce_(0,i(0,3),x(0,3),'amax')
    c(2,3).index_add_(1,i(0),x(2,0))  c(2,3).index_copy_(1,i(0),x(2,0))
    c(2,3).index_put_((i(0),),x(0,3))  c(2,3).put_(i(0),x(0))
    c(2,3).masked_scatter_(b(2,3),x(0))  setitem(c(2,3),i(0),x(0,3))
    setitem(c(2,3),b(2,3),x(1))  setitem(c(2,3),slice(0,0),x(3))
    m.scatter_add(x(2,3),0,i(0),x(2,3))  m.bincount(i(0))  m.bincount(i(0),minlength=3)
    m.bincount(i(0),c(0).double(),3)  m.unravel_index(i(0),(2,3))
    m.searchsorted(c(3),c(0))  m.searchsorted(c(0),c(2))  m.searchsorted(c(0,3),c(0,2))
    m.bucketize(c(0),c(3))  m.bucketize(c(2),c(0))  m.histc(c(0),3,0.,1.)
    m.histogram(c(0),3)  m.histogram(c(0),3,range=(0.,1.))  m.histogramdd(c(0,2),[2,3])
    m.histogramdd(c(0,2),[2,3],range=(0.,1.,0.,1.))  m.isin(c(0,3),c(0))
    m.isin(c(2),c(0))  m.tril_indices(0,3)  m.triu_indices(3,0)  m.multinomial(c(0,3),2)
    m.normal(c(0),c(0))  m.normal(0.,c(0))  m.binomial(c(0),c(0))
    m.randint_like(c(0),9)  m.full_like(c(0,3),1)  m.topk(x(2,0),0)  m.topk(x(2,3),0)
    m.unique(c(0),return_inverse=True,return_counts=True)
    m.unique_consecutive(c(0),return_inverse=True,return_counts=True)
    m.unique(c(0,3),dim=0)  m.unique(c(0,3),dim=1)  m.kthvalue(x(2,0,4),1,2)
    m.repeat_interleave(i(0))
"""
for _how in ("sum", "prod", "mean", "amax", "amin"):
    _INDEXED += f"""
    m.scatter_reduce(x(2,3),1,i(2,0),x(2,3),'{_how}')
    m.scatter_reduce(x(2,3),0,i(0,3),x(0,3),'{_how}',include_self=False)
    m.scatter_reduce(x(0,3),1,i(0,3),x(0,3),'{_how}')
    """
    if _how != "sum":
        _INDEXED += f"""
    m.index_reduce(x(2,3),1,i(0),x(2,0),'{_how}')
    m.index_reduce(x(0,3),1,i(2),x(0,2),'{_how}')
    m.index_reduce(x(2,3),1,i(0),x(2,0),'{_how}',include_self=False)
    """
_ARITHMETIC = """
    m.add(x(0,3),x(3),alpha=2)  m.sub(x(0,3),x(3),alpha=2)  x(0,3)+1
    c(0,3).double().float_power_(c(3))  2*x(0,3)  x(0,3)**2  m.lerp(x(0,3),x(3),0.5)
    m.lerp(x(0,3),x(3),x(0,3))  m.addcmul(x(3),x(0,3),x(3))  m.addcdiv(x(3),x(0,3),x(3))
    m.clamp(x(0,3),0,1)  m.clamp(x(0,3),x(3),x(3))
    m.div(x(0,3),x(3),rounding_mode='floor')  m.polygamma(1,x(0,3))
    m.mvlgamma(x(0,3),2)  special.multigammaln(x(0,3),2)  m.special.polygamma(1,x(0))
    m.renorm(x(0,3),2,0,1)  m.renorm(x(2,0,4),2,2,1)  m.renorm(x(2,0,4),2,1,1)
    m.round(x(0,3),decimals=1)  m.diff(x(0,3),dim=1)  m.diff(x(2,3),n=3)
    m.diff(x(0,3),dim=1,prepend=x(0,1))  m.trapezoid(x(0,3),dim=1)
    m.trapezoid(x(3,0),x(3,0),dim=0)  m.trapezoid(x(2,0))
    m.cumulative_trapezoid(x(0,3),dim=1)  m.cumulative_trapezoid(x(3,0),dim=0)
    m.gradient(x(0,3),dim=1)  m.gradient(x(3,0),dim=0)  m.vander(x(0),3)
    m.vander(x(2),0)  m.norm(x(0,3),3,1)  m.norm(x(0,3),3)  m.logsumexp(x(2,0,4),(0,2))
    m.logsumexp(x(2,0,4),1)  m.sum(x(2,0,4),(0,2))  m.amax(x(2,0,4),(0,2))
    m.amin(x(2,0,4),(0,2),True)  m.mean(x(2,0,4),(1,2))  m.var(x(0,3),1,correction=0)
    m.aminmax(x(0,3),dim=1)  m.aminmax(x(3,0),dim=0)  m.dist(x(0,3),x(3),1)
    m.cov(c(3,0))  m.quantile(x(0,3),c(2),1)  m.quantile(x(2,3),c(0),1)
    m.nanquantile(x(0,3),c(2),1)  m.bitwise_and(i(0),i(0))  m.bitwise_or(i(0),i(1))
    m.bitwise_xor(i(0,3),i(3))  m.bitwise_not(i(0))  m.bitwise_left_shift(i(0),i(0))
    m.bitwise_right_shift(i(0),i(0))  m.gcd(i(0,3),i(3))  m.lcm(i(0,3),i(3))
    i(0).bitwise_and_(i(0))  i(0).bitwise_or_(i(0))  i(0).bitwise_xor_(i(0))
    i(0).bitwise_not_()  i(0).bitwise_left_shift_(i(0))  i(0).bitwise_right_shift_(i(0))
    i(0).gcd_(i(0))  i(0).lcm_(i(0))  m.sum(i(0,3),0)  m.cumsum(b(0,3),1)
    m.max(i(0,3),1)  m.argmin(i(2,0,4),2)  m.median(i(0,3),1)  m.amax(b(0,3),1)
    m.sort(i(0,3),1)  m.mode(i(0,3),1)  m.prod(b(0,3),0)  m.mean(b(0,3).to(m.float64),1)
    m.cross(x(0,3),x(0,3),dim=1)  m.cross(x(3,0),x(3,0),dim=0)
"""
_MADE = """
    m.arange(0)  m.arange(3,3)  m.linspace(0,1,0)  m.logspace(0,1,0)  m.zeros(0,3)
    m.ones(0)  m.full((0,3),2.)  m.empty(0,3)  m.eye(0)  m.eye(0,3)  m.eye(3,0)
    m.rand(0,3)  m.randn(0,3)  m.randint(0,9,(0,3))  m.randperm(0)  m.tensor([])
    m.tensor([[],[]])  m.as_tensor([])  m.asarray([])  m.bartlett_window(0)
    m.blackman_window(0)  m.hamming_window(0)  m.hann_window(0)  m.kaiser_window(0)
    tuple(m.broadcast_shapes((0,1),(1,3)))  c(0).new_zeros(0,2)  c(0).new_ones(2,0)
    c(0).new_full((0,),1)  c(0).new_empty(0)  c(0).new_tensor([])  m.combinations(c(0))
    x(0,3).tolist()  tuple(x(0,3).size())  x(0,3).stride()  x(0,3).contiguous()
    x(0,3).numel()  x(0,3).to(m.float64)  x(0,3).double()  x(0,3).float()  x(0,3).half()
    x(0,3).bfloat16()  c(0,3).int()  c(0,3).long()  c(0,3).bool()  c(0,3).byte()
    c(0,3).char()  c(0,3).short()  x(0,3).type_as(i(0))  x(0,3).type(m.float64)
    x(0,3).cpu()  x(0).item()  x(0,3).nelement()  x(0,3).dim()  x(0,3).ndimension()
    x(0,3).is_contiguous()  x(0,3).storage_offset()
    m.frombuffer(bytearray(0),dtype=m.uint8)  m.scalar_tensor(1.).expand(0)
    c(0,3).numpy().shape  m.from_numpy(c(0,3).numpy())
"""
_PRODUCTS = """
    m.matmul(x(0,3),x(3,4))  m.matmul(x(2,0),x(0,4))  m.matmul(x(2,3),x(3,0))
    m.matmul(x(0,3),x(3))  m.matmul(x(0),x(0))  m.matmul(x(0),x(0,4))
    m.matmul(x(2,0),x(0))  m.matmul(x(0,2,3),x(0,3,4))  m.matmul(x(0,2,3),x(3,4))
    m.matmul(x(2,3,0),x(2,0,4))  m.matmul(x(5,0,3),x(3,4))  m.matmul(x(5,0,3),x(5,3,4))
    m.matmul(x(2,0,3),x(3))  m.mm(x(0,3),x(3,4))  m.mm(x(2,0),x(0,4))  m.mv(x(0,3),x(3))
    m.mv(x(3,0),x(0))  m.dot(x(0),x(0))  m.vdot(x(0),x(0))  m.inner(x(0,3),x(2,3))
    m.inner(x(2,0),x(3,0))  m.outer(x(0),x(3))  m.ger(x(3),x(0))
    m.bmm(x(0,2,3),x(0,3,4))  m.bmm(x(2,3,0),x(2,0,4))  m.bmm(x(2,0,3),x(2,3,4))
    m.addmm(x(4),x(0,3),x(3,4))  m.addmm(x(4),x(2,0),x(0,4))
    m.addmm(x(2,4),x(2,0),x(0,4),beta=2)  m.addmv(x(2),x(2,0),x(0))
    m.addmv(x(0),x(0,3),x(3))  m.addr(x(2,0),x(2),x(0))
    m.addbmm(x(3,4),x(0,3,2),x(0,2,4))  m.addbmm(x(3,4),x(2,3,0),x(2,0,4))
    m.baddbmm(x(0,3,4),x(0,3,2),x(0,2,4))  m.baddbmm(x(2,3,4),x(2,3,0),x(2,0,4))
    m.baddbmm(x(3,4),x(2,3,0),x(2,0,4),beta=0)  v(3,4).addbmm_(x(0,3,2),x(0,2,4))
    v(2,3,4).baddbmm_(x(2,3,0),x(2,0,4))  v(2).addmv_(x(2,0),x(0))
    v(2,0).addr_(x(2),x(0))  m.kron(x(0,3),x(2,2))  m.tensordot(x(0,3),x(3,4),1)
    m.tensordot(x(2,0),x(0,4),1)  m.tensordot(x(2,3),x(2,3),0)
    m.einsum('ij,jk->ik',x(0,3),x(3,4))  m.einsum('ij,jk->ik',x(2,0),x(0,4))
    m.einsum('bij,bjk->bik',x(0,2,3),x(0,3,4))  m.einsum('ij->j',x(0,3))
    m.einsum('ii->i',x(0,0))  m.chain_matmul(x(0,3),x(3,4),x(4,2))
    linalg.multi_dot([x(0,3),x(3,4),x(4,2)])  linalg.multi_dot([x(2,0),x(0,4),x(4,2)])
    m.cdist(x(0,3),x(2,3))  m.cdist(x(2,0),x(3,0))  m.cdist(x(0,2,3),x(0,4,3))
    m.cdist(x(2,0),x(3,0),1.)  m.cdist(x(0,3),x(2,3),m.inf)  m.pdist(x(1,3))
    m.pdist(x(3,0))  F.pdist(x(1,3))  m.matrix_power(x(0,0),2)
    m.matrix_power(x(0,2,2),3)  m.matrix_power(x(0,2,2),0)  linalg.matmul(x(0,3),x(3,4))
    linalg.vecdot(x(0,3),x(0,3))  linalg.vecdot(x(3,0),x(3,0))
    linalg.cross(x(0,3),x(0,3))  linalg.vander(x(0),N=3)  linalg.vander(x(2,0),N=2)
    linalg.diagonal(x(0,3,3))
"""
_MATRICES = """
    linalg.cholesky(X) linalg.cholesky_ex(X) linalg.det(X) linalg.eigh(X)
    linalg.eigvalsh(X) linalg.inv(X) linalg.inv_ex(X) linalg.matrix_exp(X)
    linalg.matrix_power(X,3) linalg.matrix_power(X,-1) linalg.pinv(X)
    linalg.pinv(X,hermitian=True) linalg.qr(X) linalg.qr(X,'complete') linalg.qr(X,'r')
    linalg.lu(X) linalg.lu_factor(X) linalg.lu_factor_ex(X) m.lu(X)
    m.lu(X,get_infos=True)
    linalg.slogdet(X) linalg.svd(X) linalg.svd(X,full_matrices=False) linalg.svdvals(X)
    linalg.matrix_rank(X) linalg.matrix_rank(X,hermitian=True) linalg.cond(X)
    linalg.cond(X,'fro') linalg.cond(X,1) linalg.cond(X,-2) linalg.cond(X,'nuc')
    linalg.matrix_norm(X) linalg.matrix_norm(X,'nuc') linalg.matrix_norm(X,1)
    linalg.matrix_norm(X,2) linalg.matrix_norm(X,-2) linalg.matrix_norm(X,m.inf)
    m.det(X) m.inverse(X) m.logdet(X) m.slogdet(X) m.pinverse(X) m.matrix_exp(X)
    m.cholesky_inverse(X) m.trace(X) m.tril(X) m.triu(X) linalg.norm(X)
    linalg.norm(X,'nuc') linalg.norm(X,2) linalg.diagonal(X)
"""
_SYSTEMS = """
    linalg.solve(x(0,3,3),x(0,3,2))  linalg.solve(x(0,0),x(0,2))
    linalg.solve(x(2,0,0),x(2,0,1))  linalg.solve(x(3,3),x(3,0))
    linalg.solve_ex(x(0,3,3),x(0,3,2))  linalg.solve_ex(x(0,0),x(0))
    linalg.solve_triangular(x(0,3,3),x(0,3,2),upper=True)
    linalg.solve_triangular(x(0,0),x(0,2),upper=True)
    linalg.solve_triangular(x(3,3),x(3,0),upper=False)
    m.cholesky_solve(x(0,3,2),x(0,3,3))  m.cholesky_solve(x(0,2),x(0,0))
    m.cholesky_solve(x(3,0),x(3,3))  linalg.lstsq(x(0,3,2),x(0,3,1))
    linalg.lstsq(x(0,3),x(0,1))  linalg.lstsq(x(3,2),x(3,0))
    m.triangular_solve(x(0,3,2),x(0,3,3))  m.triangular_solve(x(0,2),x(0,0))
    m.triangular_solve(x(3,0),x(3,3))  linalg.lu(x(3,0))  linalg.lu(x(0,3))
    linalg.lu_factor(x(2,0,3))  linalg.lu_solve(*linalg.lu_factor(x(0,3,3)),x(0,3,2))
    linalg.lu_solve(*linalg.lu_factor(x(0,0)),x(0,2))  m.lu_unpack(*m.lu(x(0,3)))
    m.lu_solve(x(0,2),*m.lu(x(0,0)))
    linalg.lstsq(x(3,0),x(3,2))  linalg.qr(x(3,0))  linalg.qr(x(0,3))
    linalg.qr(x(3,0),'complete')  linalg.svd(x(3,0))  linalg.svd(x(0,3))
    linalg.svd(x(2,0,3))  linalg.svdvals(x(3,0))  linalg.pinv(x(3,0))
    linalg.pinv(x(2,0,3))  linalg.matrix_rank(x(3,0))  linalg.matrix_norm(x(3,0))
    linalg.matrix_norm(x(3,0),'nuc')  linalg.matrix_norm(x(0,3,2))
    linalg.householder_product(x(0,3,2),x(0,2))  linalg.householder_product(x(3,0),x(0))
    linalg.householder_product(x(3,2),x(0))  linalg.tensorinv(x(0,2,0,2),2)
    linalg.tensorsolve(x(0,2,0,2),x(0,2))  linalg.vector_norm(x(0,3),1)
    linalg.vector_norm(x(0,3),m.inf,1)  linalg.vector_norm(x(2,0),m.inf,1)
    linalg.vector_norm(x(2,0),3,1)  linalg.norm(x(0,3),dim=1)
"""


def _split(text):
    return re.split(r"\s\s+", text.strip())


def _call(name, operands):
    """Return ``m.name(operand, more)`` of ``name:more``."""
    name, _, more = name.partition(":")
    name = f"m.{name}" if not name.startswith("nn.functional.") else f"F.{name[14:]}"
    return f"{name}({', '.join(filter(None, (operands, more)))})"


def _along(name, shape, dim):
    name, _, more = name.partition(":")
    return _call(f"{name}:{more + ',' if more else ''}{dim}", f"x({shape})")


def _functions():
    """Yield the expressions of functions and methods."""
    for name in _ONE.split():
        yield from (_call(name, f"x({s})") for s in ("0", "0,3", "2,0,4"))
    for name in _ALONG.split():
        for shape, dim in (("0,3", 0), ("0,3", 1), ("2,0,4", 2), ("2,0,4", -2)):
            yield _along(name, shape, dim)
    for name in _TWO.split():
        yield _call(name, "x(0,3), x(0,3)")
        yield _call(name, "x(0,3), x(3)")
        yield _call(name, "x(2,1,4), x(0,1)")
    for name in _LOSSES.split():
        for how in ("none", "sum"):
            yield f"F.{name}(x(0,3), x(0,3), reduction='{how}')"
    for name, _, more in (word.partition(":") for word in _IN_PLACE.split()):
        yield f"v(0,3).{name}({more})"
    for name in _FUNCTIONAL_IN_PLACE.split():
        yield f"F.{name}(v(0,3))"
    for name in _MATRICES.split():
        yield from (name.replace("X", f"x({s})") for s in ("0,0", "0,3,3", "2,0,0"))
    for text in (_VIEWS, _JOINED, _INDEXED, _ARITHMETIC, _MADE, _PRODUCTS, _SYSTEMS):
        yield from _split(text)


def with_variants(expressions):
    """Yield each expression, and the same with a first operand that is a constant.

    So the history of a result rests on the other operands alone.
    """
    for expression in dict.fromkeys(expressions):
        yield expression
        if expression.count("x(") + expression.count("net(") > 1:
            yield re.sub(r"\bx\(", "c(", expression, count=1)


FUNCTIONS = list(dict.fromkeys(with_variants(_functions())))
