# SPDX-License-Identifier: MIT
"""Calls in half precision beyond those of `derivative_cases`, and what has none.

`x` and `y` are (2, 3) and of any sign, `p` is between 0.1 and 0.9, `z` is of 0.1
and the like: numbers that halves round are part of the calls.
"""

from __future__ import annotations

import re

import autocalc as ac
from autocalc import special
from autocalc.nn import functional as F

ONE, TWO = ac.tensor([0, 0]), ac.tensor([1, 0])

_TEXT = """
    ac.heaviside(x,y)  ac.histc(x,5)  ac.histogram(x,3)  ac.histogramdd(x,[2,2,2])
    ac.linspace(x[0,0],x[0,1],7)  ac.logspace(p[0,0],p[0,1],7,base=3.3)
    ac.normal(x,p)  ac.normal(x,0.3)  ac.normal(0.1,p)
    ac.add(x,y,alpha=0.1)  ac.sub(x,y,alpha=0.1)  ac.rsub(x,y,alpha=0.1)
    ac.add(x,0.1)  ac.sub(x,1/3)  0.1-x  x*0.1  x/3  0.1/x  x**0.3  0.3**x  x*1e5
    ac.div(x,y,rounding_mode="floor")  ac.div(x,0.3,rounding_mode="trunc")
    ac.fmod(x,y)  ac.fmod(x,0.3)  ac.remainder(x,y)  ac.remainder(x,0.3)  x//0.3
    ac.sgn(x)
    ac.xlogy(x,p)  ac.xlogy(x,0.3)  ac.xlogy(0.3,p)  ac.float_power(p,0.1)
    ac.atan2(x,y)  ac.hypot(x,y)  ac.copysign(x,-0.1)  ac.ldexp(x,TWO[:,None]+9)
    ac.clamp(x,-0.1,0.1)  ac.maximum(x,y)  ac.where(x>0,x,0.1)
    x.masked_fill(x>0,0.1)  ac.index_add(x,0,ONE,y,alpha=0.1)
    ac.index_put(x,(ONE,),y,accumulate=True)  ac.scatter_add(x,0,ONE[None],y)
    ac.addcmul(x,y,p,value=0.1)  ac.addcdiv(x,y,p,value=0.1)  ac.lerp(x,y,0.1)
    ac.addmm(x[:,:2],x,y.T,beta=0.3,alpha=0.1)  ac.addmv(x[:,0],x,y[0],alpha=0.1)
    ac.addr(x,x[:,0],y[0],beta=0.3,alpha=0.1)
    ac.baddbmm(x[:,:2],x[None],y.T[None],beta=0,alpha=0.1)
    ac.addbmm(x[:,:2],x[None],y.T[None],alpha=0.1,beta=0.1)
    ac.trapezoid(x,dx=0.1)  ac.trapezoid(x,y)  ac.cumulative_trapezoid(x,dx=0.1)
    ac.cumulative_trapezoid(x,y)  ac.gradient(x,spacing=0.1)  ac.diff(x,2)
    ac.einsum("ij,kj,kl->il",x,y,p)  ac.tensordot(x,y.T,1)  ac.kron(x,y)
    ac.cdist(x,y,2.0)  ac.cdist(x,y,0.7)  F.pairwise_distance(x,y,1.3,0.1)
    ac.cov(x,aweights=p[0])  ac.renorm(x,2,0,0.1)  ac.nanmean(x)  ac.nansum(x)
    ac.quantile(x,p[0,0],1)  ac.nanquantile(x,0.3,1,interpolation="midpoint")
    ac.logsumexp(x,1)  ac.logcumsumexp(x,1)  ac.std(x)  ac.var(x,0)  ac.std_mean(x)
    F.leaky_relu(x,0.01)  F.elu(x,0.1)  F.celu(x,0.1)  F.softplus(x,0.1)
    F.hardshrink(x,0.1)  F.softshrink(x,0.1)  F.threshold(x,0.1,0.3)
    F.glu(x.reshape(6),0)  F.rrelu(x,0.1,0.3,True)  F.gumbel_softmax(x,0.3)
    F.dropout(x,0.3)
    F.alpha_dropout(x,0.3,True)  F.feature_alpha_dropout(x[None],0.3,True)
    F.dropout1d(x,0.3)  F.dropout2d(x[None],0.3)  F.normalize(x)
    F.mse_loss(x,y,reduction="sum")  F.mse_loss(x,y,reduction="none")
    F.smooth_l1_loss(x,y,beta=0.3)  F.huber_loss(x,y,delta=0.3)  F.l1_loss(x,y)
    F.kl_div(x,p,reduction="batchmean")  F.poisson_nll_loss(x,p,full=True)
    F.poisson_nll_loss(p,p,log_input=False)  F.gaussian_nll_loss(x,y,p,full=True)
    F.binary_cross_entropy(p,p)  F.binary_cross_entropy_with_logits(x,p,p,pos_weight=p)
    F.cross_entropy(x,TWO,label_smoothing=0.1)  F.cross_entropy(x,p)
    F.nll_loss(x,TWO)  F.multi_margin_loss(x,TWO,margin=0.3)
    F.triplet_margin_loss(x,y,p,0.3)  F.local_response_norm(x[None],2,0.1,0.3,0.1)
    F.interpolate(x[None],scale_factor=1.5,mode="linear")  F.lp_pool1d(p[None],3,2)
    F.scaled_dot_product_attention(x,y,p,scale=0.1)
    F.multi_head_attention_forward(x[:,None],y[:,None],y[:,None],3,1,x.repeat(5,1)[:9],None,None,None,False,0.0,x.repeat(2,1)[:3],None)
    F.batch_norm(x,None,None,p[0],y[0],True)  F.instance_norm(x[None],None,None,y[:,0])
    F.group_norm(x[None],1)  F.layer_norm(x,(3,),y[0])  F.rms_norm(x,(3,))
    F.batch_norm(x,y[0],p[0],p[1],y[1])  F.bilinear(x,y,p.reshape(1,2,3)[:,[0,1,0]])
    special.digamma(p)  special.entr(p)  special.erf(x)  special.erfc(x)
    special.erfcx(x)  special.erfinv(p)  special.exp2(x)  special.expit(x)
    special.expm1(x)  special.gammainc(p,p)  special.gammaincc(p,p)  special.gammaln(p)
    special.i0(x)  special.i0e(x)  special.i1(x)  special.i1e(x)  special.log1p(p)
    special.log_ndtr(x)  special.log_softmax(x,1)  special.logit(p)
    special.logsumexp(x,1)  special.multigammaln(p+2,3)  special.ndtr(x)
    special.ndtri(p)  special.polygamma(1,p)  special.psi(p)  special.round(x)
    special.sinc(x)  special.softmax(x,1)  special.xlog1py(x,p)  special.xlog1py(x,0.3)
    special.xlogy(x,p)  special.zeta(p+1,p)
"""
CALLS = re.split(r"\s\s+", _TEXT.strip())

#: (name of a function, places of tensors that have no gradient).
HELD = {
    "ldl_solve": (0,),
    **dict.fromkeys(("igamma", "igammac", "gammainc", "gammaincc", "zeta"), (0,)),
    "rotary_embedding": (1, 2),
    **dict.fromkeys(("floor_divide", "scatter_mul", "heaviside"), "all"),
}

_PLACES = """
    all allclose any argmax argmin argsort argwhere bincount bool bucketize byte char
    count_nonzero eq equal gcd ge greater greater_equal gt int isclose isfinite isin
    isinf isnan isneginf isposinf item lcm le less less_equal logical_and logical_not
    logical_or logical_xor long lt matrix_rank multinomial ne nonzero not_equal
    searchsorted short signbit tolist tril_indices triu_indices unravel_index
    is_nonzero
"""
_COPIES = """
    as_tensor asarray bfloat16 detach detach_copy empty empty_like fill float
    frombuffer from_dlpack from_numpy full full_like half new new_empty
    new_empty_strided new_full new_ones new_tensor new_zeros
    numpy ones ones_like scalar_tensor to_dense type
    storage unique unique_consecutive untyped_storage zeros_like
"""
_DRAWS = """
    bernoulli binomial poisson rand_like randint randint_like randn randn_like randperm
"""
_WINDOWS = "bartlett_window blackman_window hamming_window hann_window kaiser_window"
#: Public functions without a call here or in `derivative_cases`, by the reason.
WITHOUT = {
    "the result is no floating-point number": _PLACES,
    "one copy, number or draw, which is rounded once": _COPIES + _DRAWS,
    "NumPy computes it in float64, and it is rounded once": _WINDOWS,
    "it refuses halves": "nextafter",
    "it says what a tensor or the process is, or sets it": """
        as_subclass
        are_deterministic_algorithms_enabled backward broadcast_shapes callback can_cast
        compile cuda data_ptr dim element_size get_default_device get_default_dtype
        get_device get_float32_matmul_precision get_num_interop_threads get_num_threads
        get_rng_state initial_seed is_anomaly_check_nan_enabled is_anomaly_enabled
        is_complex is_conj is_neg isreal
        is_contiguous is_floating_point is_grad_enabled is_inference
        is_pinned is_same_size is_set_to is_shared is_signed is_tensor live_node_count
        load
        manual_seed ndimension nelement numel pin_memory promote_types register_hook
        register_post_accumulate_grad_hook result_type retain_grad save seed serial
        set_anomaly_enabled set_default_device set_default_dtype
        set_default_tensor_type set_float32_matmul_precision set_num_interop_threads
        set_num_threads set_printoptions set_rng_state size storage_offset stride
        use_deterministic_algorithms
    """,
    "its factors have no gradient": "ldl_factor ldl_factor_ex",
    "an old name of `interpolate`": "upsample upsample_bilinear upsample_nearest",
    "the result is complex64, see test_half_rounding": "cdouble cfloat eig eigvals",
    "it refuses halves, see test_half_rounding": "istft stft",
    "it makes or reads a sparse or nested tensor, see test_half_rounding": """
        ccol_indices coalesce col_indices crow_indices dense_dim indices is_coalesced
        row_indices smm sparse_dim sparse_mask to_padded_tensor to_sparse to_sparse_coo
        to_sparse_csc to_sparse_csr values
    """,
}

#: In-place methods without a function of the same name, and what is tried elsewhere.
IN_PLACE_WITHOUT = {
    "draws": "bernoulli_ cauchy_ exponential_ geometric_ log_normal_ normal_ random_ "
    "uniform_",
    "one copy or number": "copy_ fill_ fill_diagonal_ zero_ map_ map2_ apply_ "
    "conj_physical_",
    "no number changes": "detach_ requires_grad_ resize_ resize_as_ share_memory_ set_ "
    "resize_as_sparse_ sparse_resize_ sparse_resize_and_clear_",
    "the result is no floating-point number": "bitwise_and_ bitwise_left_shift_ "
    "bitwise_not_ bitwise_or_ bitwise_right_shift_ bitwise_xor_ eq_ gcd_ ge_ "
    "greater_ greater_equal_ gt_ lcm_ le_ less_ less_equal_ logical_and_ logical_not_ "
    "logical_or_ logical_xor_ lt_ ne_ not_equal_",
    "the result is float64, which halves do not hold": "float_power_",
    "it refuses halves": "nextafter_",
    "a view": "squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_",
}


def functions_called():
    """Return all functions that occur in the calls."""
    places = {"ac": ac, "F": F, "special": special}
    for place, name in re.findall(r"\b(ac|F|special)\.(\w+)", _TEXT):
        yield getattr(places[place], name)
