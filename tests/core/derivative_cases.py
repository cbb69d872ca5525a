# SPDX-License-Identifier: MIT
"""A call of every public function that has a derivative; see `test_derivatives`.

Expressions of `x`, `y`, `z`, `w`: normal numbers of the given shapes.  A function that
is a kernel's operator itself needs none, being tried at its kernel's samples.
"""

from __future__ import annotations

import re

import autocalc as ac
import autocalc.nn.functional as F
from autocalc import linalg, special

I = ac.tensor  # noqa: E741  an index
ROWS = ac.tensor([2, 0])
LABELS, SIGNS = ac.tensor([1, 0]), ac.tensor([1.0, -1.0], dtype=ac.float64)
MASK = ac.tensor([[True, False, True], [False, True, True]])
BITS = ac.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]], dtype=ac.float64)
WEIGHT = ac.tensor([0.5, 2.0, 1.5], dtype=ac.float64)
PLACES = ac.tensor([[0, 2, 1], [2, 2, 0]])
SYMMETRIC = linalg.ldl_factor(ac.eye(3, dtype=ac.float64) + 0.5)


def drawn(seed=5):
    """Return a generator in the same state at each call."""
    return ac.Generator().manual_seed(seed)


def seeded(function, *args, **words):
    """Call a function with the same random numbers each time."""
    ac.manual_seed(3)
    return function(*args, **words)


M, S = (2, 3), (3, 3)
ELEMENTWISE = """
    ac.angle(x)+x  ac.real(x)  ac.conj(x)*x  ac.conj_physical(x)*x  ac.resolve_conj(x)*x
    ac.resolve_neg(x)*x
    ac.i0(x)  ac.polygamma(1,x.exp()+0.5)  ac.mvlgamma(x*x+2,3)  ac.alias_copy(x)
    ac.igamma(BITS+1.5,x*x+0.5)  ac.igammac(BITS+1.5,x*x+0.5)  ac.nanmedian(x,1)[0]
    ac.renorm(x,2,0,0.5)
    ac.acosh(x.exp() + 1.1)  ac.asinh(x)  ac.atanh(x.tanh())  ac.positive(x)
    ac.ceil(x)+x  ac.floor(x)+x  ac.round(x)+x  ac.trunc(x)+x  ac.frac(x)
    ac.clamp(x,-0.5,1)  ac.clamp_max(x,0.1)  ac.clamp_min(x,0.1)
    ac.deg2rad(x)  ac.rad2deg(x)  ac.clone(x)  ac.frexp(x)[0]  ac.logit(x.sigmoid())
    ac.ldexp(x,PLACES)  ac.nan_to_num(x)  ac.reciprocal(x)  ac.square(x)  ac.sinc(x)
    ac.amax(x,1)  ac.amin(x,1)  ac.aminmax(x,dim=1)  ac.max(x,1)[0]  ac.min(x,1)[0]
    ac.max(x)  ac.min(x)  ac.median(x,1)[0]  ac.mode(x,1)[0]  ac.kthvalue(x,2,1)[0]
    ac.nanmean(x,1)  ac.nansum(x,1)  ac.mean(x,1)  ac.sum(x,0)  ac.prod(x,1)
    ac.std(x,1)  ac.var(x,1)  ac.std_mean(x,1)  ac.var_mean(x,0)  ac.cov(x)
    ac.corrcoef(x)  ac.quantile(x,0.3,1)  ac.nanquantile(x,0.7)  ac.logsumexp(x,1)
    ac.cummax(x,1)[0]  ac.cummin(x,1)[0]  ac.cumprod(x,1)  ac.cumsum(x,1)
    ac.logcumsumexp(x,1)  ac.cumulative_trapezoid(x)  ac.trapezoid(x)  ac.diff(x)
    ac.gradient(x)  ac.vander(x[0])  ac.sort(x)[0]  ac.msort(x)  ac.topk(x,2)[0]
    ac.softmax(x,1)  ac.log_softmax(x,1)  F.softmin(x,1)  ac.norm(x,3)
    ac.dist(x,y)  ac.copysign(x,y)  ac.fmax(x,y)  ac.fmin(x,y)  ac.hypot(x,y)
    ac.lerp(x,y,0.3)  ac.lerp(x,y,z)  ac.logaddexp(x,y)  ac.logaddexp2(x,y)
    ac.add(x,y,alpha=2)  ac.sub(x,y,alpha=2)  ac.rsub(x,y)  ac.div(x,y)
    ac.pow(x.exp(),y)  ac.float_power(x.exp(),y)  ac.xlogy(x,y.exp())
    ac.addcdiv(x,y,z)  ac.addcmul(x,y,z)  ac.where(MASK,x,y)  x.where(MASK,y)
    ac.tril(x)  ac.triu(x)  ac.flip(x,(0,1))  ac.fliplr(x)  ac.flipud(x)  ac.rot90(x)
    ac.roll(x,1,0)  ac.t(x)  x.T  ac.ravel(x)  ac.flatten(x)  ac.reshape(x,(3,2))
    x.reshape(3,2)  x.view(3,2)  x.view_as(y)  x.reshape_as(y)  x.type_as(y)
    x.to(ac.float64)  x.double()  ac.expand(x,(2,2,3))  x.expand(2,2,3)
    x.expand_as(ac.zeros(2,2,3))  x.unfold(1,2,1)  x.contiguous()  x.cpu()
    ac.block_diag(x,y)  ac.cat([x,y])  ac.stack([x,y])  ac.hstack([x,y])
    ac.vstack([x,y])  ac.dstack([x,y])  ac.column_stack([x,y])
    ac.broadcast_tensors(x,y[0])  ac.broadcast_to(x,(2,2,3))  ac.meshgrid(x[0],y[0])
    ac.cartesian_prod(x[0],y[0])  ac.combinations(x[0])  ac.diag(x[0])
    ac.diagflat(x)  ac.diag_embed(x)  ac.diagonal(x)  ac.trace(x)  ac.tile(x,(2,2))
    x.repeat(2,1)  ac.repeat_interleave(x,2,1)  ac.narrow(x,1,1,2)  ac.select(x,1,0)
    ac.unsafe_chunk(x,2,1)  ac.unsafe_split(x,2,1)
    ac.unsafe_split_with_sizes(x,[1,2],1)
    ac.chunk(x,2,1)  ac.split(x,2,1)  ac.split_with_sizes(x,[1,2],1)  ac.unbind(x)
    ac.tensor_split(x,2,1)  ac.hsplit(x,3)  ac.vsplit(x,2)  ac.dsplit(x[None],3)
    ac.movedim(x,0,1)  ac.swapaxes(x,0,1)  ac.swapdims(x,0,1)  ac.transpose(x,0,1)
    ac.permute(x,(1,0))  ac.squeeze(x[None])  ac.unsqueeze(x,0)  x.sum_to_size(1,3)
    ac.unflatten(x,1,(3,1))  ac.adjoint(x)  ac.atleast_1d(x)  ac.atleast_2d(x[0])
    ac.atleast_3d(x)  ac.as_strided(x,(2,2),(1,2))  ac.as_strided_copy(x,(2,2),(1,2))
    ac.diagonal_copy(x)  ac.expand_copy(x,(2,2,3))  ac.narrow_copy(x,1,1,2)
    ac.permute_copy(x,(1,0))  ac.select_copy(x,1,0)  ac.slice_copy(x,1,0,2)
    ac.split_copy(x,2,1)  ac.split_with_sizes_copy(x,[1,2],1)  ac.squeeze_copy(x)
    ac.t_copy(x)  ac.transpose_copy(x,0,1)  ac.unbind_copy(x)  ac.unfold_copy(x,1,2,1)
    ac.unsqueeze_copy(x,0)  ac.view_copy(x,(3,2))  ac.moveaxis(x,0,1)
    ac.diagonal_scatter(x,y[0,:2])  ac.select_scatter(x,y[0],0,1)
    ac.slice_scatter(x,y[:,:2],1,1)  ac.as_strided_scatter(x,y[0,:2],(2,),(2,))
    ac.gather(x,1,PLACES)  ac.take(x,PLACES)  ac.take_along_dim(x,PLACES,1)
    ac.index_add(x,1,ROWS,y[:,:2])  ac.index_copy(x,1,ROWS,y[:,:2])
    ac.index_fill(x,1,ROWS,2.0)  ac.index_put(x,(LABELS,),y)  ac.index_select(x,1,ROWS)
    ac.index_put(x,(LABELS,),y,accumulate=True)  ac.put(x,PLACES[0],y[0])
    ac.index_reduce(x,1,ROWS,y[:,:2],"prod")  ac.index_reduce(x,1,ROWS,y[:,:2],"mean")
    ac.index_reduce(x,1,ROWS,y[:,:2],"amax")  ac.index_reduce(x,1,ROWS,y[:,:2],"amin")
    ac.scatter(x,1,ac.tensor([[0,2,1],[2,1,0]]),y)  ac.scatter_add(x,1,PLACES,y)
    ac.scatter_reduce(x,1,PLACES,y,"sum")  ac.scatter_reduce(x,1,PLACES,y,"mean")
    ac.scatter_reduce(x,1,PLACES,y,"amax")  ac.scatter_reduce(x,1,PLACES,y,"amin")
    ac.scatter_reduce(x,1,PLACES,y,"prod")
    ac.scatter_reduce(x,1,PLACES,y,"prod",include_self=False)
    ac.masked_fill(x,MASK,1.0)  ac.masked_scatter(x,MASK,y)  ac.masked_select(x,MASK)
    F.celu(x)  F.elu(x,0.7)  F.gelu(x)  F.gelu(x,approximate="tanh")  F.hardshrink(x)
    F.hardsigmoid(x)  F.hardswish(x)  F.hardtanh(x)  F.leaky_relu(x,0.3)
    F.logsigmoid(x)  F.mish(x)  F.prelu(x,y[0])  F.relu(x)  F.relu6(x)  F.selu(x)
    F.silu(x)  F.softplus(x)  F.softplus(x,2.0,1.0)  F.softshrink(x)  F.softsign(x)
    F.tanhshrink(x)  F.threshold(x,0.1,2.0)  F.normalize(x)  F.one_hot(LABELS)*x[0,:2]
    seeded(F.alpha_dropout,x)  seeded(F.dropout,x)  seeded(F.rrelu,x,training=True)
    F.rrelu(x)  seeded(F.gumbel_softmax,x)  seeded(F.dropout1d,x)
    seeded(F.feature_alpha_dropout,x)  F.pad(x,(1,1))  F.pad(x,(1,2),"reflect")
    F.pad(x,(1,1),"replicate")  F.pad(x,(2,1),"circular")
    F.mse_loss(x,y)  F.l1_loss(x,y)  F.smooth_l1_loss(x,y,beta=0.3)  F.huber_loss(x,y)
    F.kl_div(x,y.exp(),reduction="sum")  F.poisson_nll_loss(x,y)
    F.kl_div(x,y,log_target=True,reduction="none")
    F.gaussian_nll_loss(x,y,z.exp())  F.hinge_embedding_loss(x,2*BITS-1)
    F.margin_ranking_loss(x,y,2*BITS-1,0.3)  F.soft_margin_loss(x,2*BITS-1)
    F.binary_cross_entropy(x.sigmoid(),y.sigmoid())
    F.binary_cross_entropy_with_logits(x,y,z.exp(),pos_weight=z[0].exp())
    F.multilabel_soft_margin_loss(x,y,z[0])  F.multilabel_margin_loss(x,PLACES)
    F.multi_margin_loss(x,LABELS,p=2)  F.nll_loss(x,LABELS)  F.cross_entropy(x,LABELS)
    F.cross_entropy(x,y,label_smoothing=0.2)  F.pairwise_distance(x,y,3.0)
    F.cosine_similarity(x,y)  F.cosine_embedding_loss(x,y,SIGNS)
    F.triplet_margin_loss(x,y,z)  F.triplet_margin_with_distance_loss(x,y,z)
    ac.pdist(x)  ac.pdist(x,3.0)  ac.cdist(x,y)  ac.cdist(x,y,1.0)
    ac.cdist(x,y,ac.inf)
    ac.outer(x[0],y[1])  ac.inner(x,y)  ac.dot(x[0],y[0])  ac.vdot(x[0],y[0])
    ac.kron(x,y)  ac.mv(x,y[0])  ac.mm(x,y.T)  ac.matmul(x,y.T)
    ac.bmm(x[None],y.T[None])
    ac.tensordot(x,y.T,1)  ac.einsum("ij,kj->ik",x,y)  ac.cross(x,y)
    F.linear(x,y,z[0,:2])
    ac.chain_matmul(x,y.T,z)  linalg.multi_dot([x,y.T,z])  ac.addmm(z[:,:2],x,y.T)
    ac.addmv(z[:,0],x,y[0])  ac.addr(z,x[:,0],y[0])
    ac.addbmm(z[:,:2],x[None],y.T[None])
    ac.baddbmm(z[:,:2],x[None],y.T[None])  F.bilinear(x,y,z.reshape(1,2,3)[:,[0,1,0]])
    linalg.vector_norm(x,4)  linalg.norm(x)  linalg.matrix_norm(x)
    linalg.matrix_norm(x,1)  linalg.matrix_norm(x,2)  linalg.svdvals(x)
    F.layer_norm(x,(3,),y[0],z[0])  F.rms_norm(x,(3,),y[0])  F.glu(x[:,:2])
    F.embedding(ROWS,x.T)  F.embedding_bag(PLACES[:,:2],x.T,mode="sum")
    F.embedding_bag(PLACES[:,:2],x.T,mode="max")
    ac.log_softmax(x,0)  F.softmax(x,0)
"""
#: Of square matrices.
SQUARE = """
    ac.det(x)  ac.logdet(x@x.T+ac.eye(3))  ac.slogdet(x)[1]  ac.inverse(x+3*ac.eye(3))
    linalg.inv(x+3*ac.eye(3))  ac.matrix_power(x,3)  linalg.solve(x+3*ac.eye(3),y)
    linalg.cholesky(x@x.T+ac.eye(3))  linalg.eigvalsh(x+x.T)  linalg.eigh(x+x.T)[0]
    linalg.qr(x)[1].abs()  linalg.svd(x)[1]  ac.cholesky_solve(y,x.tril()+3*ac.eye(3))
    linalg.lu(x)[1]  linalg.lu(x)[2]  ac.lu(x)[0]  linalg.lu_factor(x)[0]
    linalg.lu_factor_ex(x)[0]  linalg.lu_solve(*linalg.lu_factor(x+3*ac.eye(3)),y)
    ac.lu_solve(y,*ac.lu(x+3*ac.eye(3)))  ac.lu_unpack(*ac.lu(x))[1]
    ac.triangular_solve(y,x+3*ac.eye(3))[0]
    linalg.ldl_solve(SYMMETRIC[0].to(x.dtype),SYMMETRIC[1],x)
    ac.triangular_solve(y,x,upper=False,transpose=True,unitriangular=True)[0]
    ac.cholesky_inverse(x.tril()+3*ac.eye(3))
    linalg.matrix_norm(x+3*ac.eye(3),"nuc")  ac.matrix_exp(x)
    linalg.pinv(x+3*ac.eye(3))  linalg.pinv(x+x.T+8*ac.eye(3),hermitian=True)
    linalg.pinv(x[:,:2])  linalg.pinv(x[:2])  ac.pinverse(x[:,:2]+y[:,:2])
    linalg.pinv(x[:,:2]@y[:2],rtol=1e-9)  linalg.lstsq(x[:,:2],y)[0]
    linalg.lstsq(x[:,:2],y,driver="gels")[1]  linalg.lstsq(x[:2],y[:2])[0]
    linalg.solve_triangular(x+3*ac.eye(3),y,upper=True)
    linalg.solve_triangular(x,y,upper=False,left=False,unitriangular=True)
    linalg.tensorinv(x.reshape(3,1,3)+3*ac.eye(3)[:,None],1)  linalg.diagonal(x)
    linalg.tensorsolve(x.reshape(3,1,3)+3*ac.eye(3)[:,None],y[:,:1])
    linalg.householder_product(x,y[0])  linalg.cross(x,y)  linalg.vecdot(x,y)
    linalg.vander(x)  linalg.cond(x+3*ac.eye(3))  linalg.cond(x+3*ac.eye(3),"fro")
    linalg.inv_ex(x+3*ac.eye(3))[0]  linalg.solve_ex(x+3*ac.eye(3),y)[0]
    linalg.cholesky_ex(x@x.T+ac.eye(3))[0]
    linalg.cond(x+3*ac.eye(3),1)  linalg.cond(x+3*ac.eye(3),"nuc")
    F.grouped_mm(x,y[None].expand(2,3,3),offs=ac.tensor([1,3],dtype=ac.int32))
    F.linear_cross_entropy(x,y,ac.tensor([2,0,1]))
"""
#: Of (batch, channels, length or more); the second input is a weight.
LAYERS = {
    (1, 2, 4): """
        F.adaptive_avg_pool1d(x,3)  F.adaptive_max_pool1d(x,3)  F.avg_pool1d(x,2,1,1)
        F.max_pool1d(x,2,1)  F.lp_pool1d(x.abs(),3,2)  F.lp_pool1d(x,2,2)
        F.max_unpool1d(x[:,:,:2],ac.tensor([[[0,3],[1,2]]]),2)
        F.interpolate(x,7,mode="linear")  F.interpolate(x,7)
        F.interpolate(x,7,mode="nearest-exact")  F.interpolate(x,3,mode="area")
        F.batch_norm(x,None,None,training=True)  F.instance_norm(x)
        F.group_norm(x,2)  F.local_response_norm(x,2)
        F.channel_shuffle(x,2)  seeded(F.dropout1d,x)
        F.batch_norm_relu(x,None,None,training=True)
        F.scaled_dot_product_attention(x,x.flip(1),x*x)
    """,
    (1, 2, 4, 4): """
        F.adaptive_avg_pool2d(x,3)  F.adaptive_max_pool2d(x,3)  F.avg_pool2d(x,2,1,1)
        F.max_pool2d(x,2,1)  F.lp_pool2d(x,2,2)  seeded(F.dropout2d,x)
        F.max_unpool2d(x[:,:,:1,:1],ac.tensor([[[[3]],[[0]]]]),2)
        F.interpolate(x,(3,5),mode="bilinear")  F.interpolate(x,(3,5),mode="bicubic")
        F.interpolate(x,(5,6),mode="bicubic",align_corners=True)
        F.interpolate(x,(3,2),mode="bilinear",antialias=True)
        F.interpolate(x,(3,2),mode="bicubic",antialias=True)
        F.fractional_max_pool2d(x,2,2,_random_samples=ac.zeros(1,2,2,dtype=ac.float64))
        F.unfold(x,2)  F.fold(x.reshape(1,8,4),(3,3),2)  F.pixel_unshuffle(x,2)
        F.pixel_shuffle(x.reshape(1,8,2,2),2)  F.pad(x,(1,1,1,2),"reflect")
        F.rotary_embedding(x,*ac.rand(2,2,2,dtype=ac.float64,generator=drawn()))
    """,
    (1, 2, 2, 2, 3): """
        F.adaptive_avg_pool3d(x,(1,2,2))  F.adaptive_max_pool3d(x,(1,2,2))
        F.avg_pool3d(x,2,1)  F.max_pool3d(x,2,1)  F.lp_pool3d(x,2,2)
        F.fractional_max_pool3d(x,1,1,_random_samples=ac.zeros(1,2,3,dtype=ac.float64))
        F.max_unpool3d(x[:,:,:1,:1,:1],ac.tensor([7,0]).reshape(1,2,1,1,1),2)
        F.interpolate(x,(3,2,2),mode="trilinear")  F.interpolate(x,(3,2,2))
        seeded(F.dropout3d,x)  F.pad(x,(1,1,1,1,1,1),"replicate")
    """,
}
#: Expression -> shapes of its inputs.
OTHERS = {
    "F.conv1d(x,y,z,2,1)": ((1, 2, 5), (2, 2, 3), (2,)),
    "F.conv2d(x,y,z,1,1,groups=2)": ((1, 2, 3, 3), (2, 1, 2, 2), (2,)),
    "F.conv3d(x,y,z,(1,1,2),1)": ((1, 1, 2, 2, 3), (2, 1, 2, 2, 2), (2,)),
    "F.conv_transpose1d(x,y,z,2,1,1)": ((1, 2, 3), (2, 2, 3), (2,)),
    "F.conv_transpose2d(x,y,z,2)": ((1, 2, 2, 2), (2, 1, 2, 2), (1,)),
    "F.conv_transpose3d(x,y,z,2)": ((1, 1, 2, 2, 2), (1, 2, 2, 2, 2), (2,)),
    "F.affine_grid(x,(1,1,3,2))": ((1, 2, 3),),
    "F.affine_grid(x,(1,1,2,2,2),True)": ((1, 3, 4),),
    "F.grid_sample(x,y.tanh())": ((1, 2, 3, 3), (1, 2, 2, 2)),
    "F.grid_sample(x,1.3*y,'bilinear','reflection')": ((1, 1, 3, 3), (1, 2, 2, 2)),
    "F.grid_sample(x,y.tanh(),'bicubic','border',True)": ((1, 1, 4, 4), (1, 2, 2, 2)),
    "F.grid_sample(x,y.tanh(),'nearest')": ((1, 1, 3, 3), (1, 2, 2, 2)),
    "F.grid_sample(x,y.tanh())+0": ((1, 1, 2, 2, 3), (1, 1, 2, 2, 3)),
    "F.ctc_loss(x.log_softmax(2),PLACES[:,1:]%2+1,ac.tensor([5,4]),ac.tensor([2,1]))": (
        (5, 2, 3),
    ),
    "F.ctc_loss(x,ac.tensor([[1,1]]),ac.tensor([5]),ac.tensor([2]))": ((5, 1, 3),),
    "F.group_norm(x,2,y,z)": ((2, 4, 2), (4,), (4,)),
    "F.instance_norm(x,None,None,y,z)": ((2, 2, 3), (2,), (2,)),
    "F.batch_norm(x,None,None,y,z,True)": ((2, 2, 3), (2,), (2,)),
    "F.embedding_bag(PLACES[:,:2],x,mode='sum',per_sample_weights=y)": ((3, 2), (2, 2)),
    "F.scaled_dot_product_attention(x,y,z,w)": ((2, 3), (4, 3), (4, 2), (2, 4)),
    "SOFTMAX(x,ROWS)[0]": ((2, 4),),
    "linalg.qr(x)[0]": ((4, 2),),
    "linalg.svd(x,full_matrices=False)[0].abs()": ((3, 2),),
    "linalg.eigh(x@x.T+ac.diag(ac.arange(3)))[1].abs()": ((3, 3),),
}

#: Of one tensor of any shape, and of two that broadcast.
ONE = """
    -x  ac.abs(x)  ac.exp(x)  ac.log(x*x+0.5)  ac.sqrt(x*x+0.5)  ac.rsqrt(x*x+0.5)
    ac.sin(x)  ac.cos(x)  ac.tan(x)  ac.tanh(x)  ac.erf(x)  ac.erfc(x)  ac.sigmoid(x)
    ac.relu(x)  F.hardtanh(x,-0.7,1.1)  F.leaky_relu(x,0.3)  F.elu(x,-1.5)  F.selu(x)
    F.celu(x,0.7)  F.hardswish(2*x)  F.silu(x)  F.gelu(x)  F.gelu(x,"tanh")
    F.softplus(x)  F.softplus(x,1.7,2.3)  ac.clone(x)  x**2  1/(x*x+0.5)  2.0**x  1.5-x
    x.to(ac.float64)*2  x.clamp(-1.03,1.07)  x.clamp(min=-1.03)  x.clamp(max=1.07)
    x.round()*x  ac.exp2(x)  ac.expm1(x)  ac.atan(x)  ac.sinh(x)  ac.cosh(x)
    ac.asin(x.tanh())  ac.acos(x.tanh())  ac.log1p(x*x)  ac.sign(x)*x  ac.frac(x)
    ac.log2(x*x+0.5)  ac.log10(x*x+0.5)  ac.asinh(x)  ac.atanh(x.tanh())  ac.sinc(x)
    ac.acosh(x*x+1.1)  ac.lgamma(x*x+0.5)  ac.digamma(x*x+0.5)
"""
SHAPES = ((), (1,), (0, 2), (1, 2, 1, 2))
TWO = """
    x+y  x-y  x*y  x/(y*y+0.5)  (x*x+0.5)**y  ac.maximum(x,y)  ac.minimum(x,y)
    ac.where(x>0,x,y)
"""
PAIRS = (
    *(((2, 3), (3,)), ((2, 1), (1, 3)), ((2, 3), ()), ((), ()), ((3,), (2, 2, 3))),
    ((0, 3), (3,)),
)
REDUCTIONS = """
    ac.sum(x,{})  ac.mean(x,{})  ac.var(x,{})  ac.var(x,{},correction=0)  ac.std(x,{})
    linalg.vector_norm(x,2,{})  ac.amax(x,{})  ac.amin(x,{})  ac.logsumexp(x,{})
"""
#: Shape, dimensions, and whether they are kept.
AXES = (
    *(((2, 3), None, False), ((2, 3), 0, False), ((2, 3), -1, True)),
    *(((2, 3, 2), (0, 2), False), ((2, 3, 2), (0, 2), True), ((2, 3, 2), (1,), False)),
    *(((), None, False), ((3, 1), 1, False)),
)

#: More forms of arguments: shapes of x, y, z, w -> expressions.
FORMS = {
    (M, M, M): """
        x.softmax(0)*y  x.min(0,keepdim=True)[0]  ac.clamp(x,y-2,y+0.5)  x*x+x
        (x.exp()*x.sin()).sum()*x.tanh()  x**3+x**-2  x.T@y  x[0]@y[0]  x[0]@y.T
        F.cross_entropy(x,LABELS,reduction="none")  F.cross_entropy(x[0],ac.tensor(1))
        F.cross_entropy(x,LABELS,reduction="sum")  F.cross_entropy(x,LABELS,WEIGHT)
        F.cross_entropy(x,ac.tensor([1,-100]),WEIGHT,label_smoothing=0.1)
        F.cross_entropy(x,y.softmax(1),WEIGHT,label_smoothing=0.1)
        F.nll_loss(x,LABELS,reduction="sum")  F.nll_loss(x,LABELS,WEIGHT,ignore_index=0)
        F.nll_loss(x,ac.tensor([0,2]),WEIGHT,ignore_index=2,reduction="none")
        F.kl_div(x,y,log_target=True,reduction="batchmean")  F.prelu(x,y[0,:1])
        F.relu6(4*x)  F.hardsigmoid(3*x)  F.hardswish(3*x)  F.mse_loss(x,y)
        F.hinge_embedding_loss(x,2*BITS-1,0.9)  F.cosine_embedding_loss(x,y,SIGNS,-1.0)
        F.multi_margin_loss(x,LABELS,2,0.7,WEIGHT)  F.triplet_margin_loss(x,y,z,9.0)
        F.multilabel_margin_loss(x,ac.tensor([[2,-1,0],[1,0,-1]]))
        F.multilabel_soft_margin_loss(x,BITS,WEIGHT)
        F.triplet_margin_with_distance_loss(x,y,z,swap=True)
        F.poisson_nll_loss(x,y.exp()+1,full=True)
        F.gaussian_nll_loss(x,y,z[:,:1].exp())
        x.t().reshape(6)*2  x[1:,::2]  x[-1,None,...,2]  x[:1]*x[1:]  x[I([1,0,1])]
        x[I([[0,-1]])]  x.index_select(1,I([1,1,0]))  x.gather(1,I([[0,0],[2,1]]))
        F.embedding(I([1,0,1,0]),x,padding_idx=0)[0::2]  F.layer_norm(x*y,3,y[0])
        F.layer_norm(x,3)  F.layer_norm(x,3,y[0])  F.layer_norm(x,(2,3),y,z,0.1)
        F.rms_norm(x,(2,3),eps=0.3)  ac.cat([x,y,x],1)  ac.stack([x,y],-1)
        ac.cat([ac.zeros(0,dtype=ac.float64),x],1)  x.as_strided((3,2),(1,2),1)
        x.t().as_strided((3,2),(1,2),1)  x.t().unfold(0,2,3)  F.linear(x,y)
        F.linear(x[0],y)  ac.heaviside(ac.tensor([0.0,2.0,-1.0]).double(),x*x)
        ac.addmm(x[:,:2],x,y.T,beta=0.3,alpha=2)  ac.fmod(x,y)  ac.remainder(x,y)
        ac.div(x,y,rounding_mode="floor")*x  ac.div(x,y,rounding_mode="trunc")*y
        ac.lerp(x,y,x*y)  ac.addcmul(x,x,y,value=0.7)  ac.addcdiv(x,x,y,value=0.7)
        ac.rsub(x,y,alpha=0.4)  ac.clamp_min(x,y)  ac.clamp_max(x,y)
        ac.nan_to_num(x*y)  ac.xlogy(x,y*y)  special.xlog1py(x,y*y)  ac.copysign(x,y)*y
        ac.atan2(x,y)  ac.hypot(x,y)  ac.norm(x,1,1)  ac.norm(x,2,1)  ac.norm(x,0.5,1)
        ac.norm(x,ac.inf,1)  linalg.vector_norm(x,-ac.inf)  linalg.norm(x,1)
        linalg.norm(x,ac.inf,keepdim=True)  linalg.matrix_norm(x,-2,keepdim=True)
        ac.renorm(x,1,0,0.5)  ac.renorm(x,3.5,1,0.5)  ac.renorm(x,ac.inf,1,0.5)
        ac.prod(x)  x.prod(0,keepdim=True)  x.cumsum(-2)  x.cumprod(0)  ac.median(x)
        x.sort(0,descending=True)[0]  x.topk(1,0,largest=False).values
        x.median(0,keepdim=True).values  ac.mode(x.round(decimals=0)+x,1).values
        x.aminmax(dim=1).min*x.aminmax(dim=1).max  x.masked_select(x.detach()>0)
        ac.var_mean(x,1)[0]*ac.var_mean(x,1)[1]  ac.std_mean(x,(0,1),correction=0)[0]
        ac.scatter_reduce(x,1,PLACES,y,"sum",include_self=False)
        ac.scatter_reduce(x,1,PLACES,y,"mean",include_self=False)
        ac.scatter_reduce(x,1,PLACES,y,"amax",include_self=False)
        ac.scatter_reduce(x,1,PLACES,y,"amin",include_self=False)
        ac.index_reduce(x,1,ROWS,y[:,:2],"mean",include_self=False)
        ac.diff(x,2)  special.i0e(x)  special.i1(x)  special.i1e(x)  special.entr(x*x)
        special.ndtr(x)  special.log_ndtr(3*x)  special.ndtri(x.sigmoid())
        special.zeta(BITS+2,x*x+0.5)  ac.erfinv(x.tanh())  special.erfcx(x)
        ac.polygamma(2,x*x+0.3)  ac.put(x,I([5,-1]),y[0,:2])
    """,
    ((3, 4),): """
        x[I([[0],[2]]),I([1,-1,1])]  x.reshape(3,2,2)[[0,2],:,[1,1]]  x[1:,[0,0,3]]
        x[x.detach()>0]  x[I([True,False,True]),None,1:3]  x.gather(1,I([[0,0],[2,1]]))
        x.take_along_dim(I([[0,-1]]),1)  ac.take_along_dim(x,I([5,0,5]))
        x.index_fill(1,I([0,-1]),2.5)  x.masked_fill(x.detach()>0,-1.5)
        x.scatter(0,I([[1,0],[1,2]]),0.5)  x.select(1,-1)  x.narrow(1,I(-3),2)
        x.split(3,1)[0]*x.split(3,1)[1]  x.chunk(2,-1)[1]*x.chunk(2,-1)[0]
        x.unbind(1)[0]*x.unbind(1)[3]  ac.tensor_split(x,[1,3],1)[1]  x.diagonal(1)
        x.diag(-1)*x[0].diag(1)[:2,1:3].diag()  x.diag_embed(-1,0,2)
        x.tril(-1)+x.triu(1)  x.reshape(3,2,2).movedim((0,1),(-1,0))
        x.unflatten(1,(2,-1))  x[:,:1].expand_as(x)  x.sum_to_size(3,1)  x.repeat(2,1,2)
        x.tile(2)  x.repeat_interleave(2,0)  x.repeat_interleave(I([0,3,1]),dim=0)
        x.roll((1,-1),(0,1))*x.roll(5)  x.flip(0,1)
        ac.meshgrid(x[0],x[:,1],indexing="xy")[0]  F.pad(x,(1,-1,-1,2),value=1.5)
        F.pad(x,(2,1,0,1),"reflect")  F.pad(x,(1,5),"replicate")
        F.pad(x,(3,-1,1,0),"circular")
        ac.vstack([ac.hstack([x,x]),x[0].tile(2),x.repeat(1,2)])
    """,
    ((3, 4), (2, 4)): """
        x.index_put((I([2,0]),),y)  ac.index_put(x,(I([1,1]),),y)
        x.index_put((I([1,1]),),y,accumulate=True)
        x.reshape(3,2,2).index_put((I([2,0]),None,I([0,1])),y[:,:2])
        x.index_put((x.detach()>1.0,),y[0,:1])  x.index_add(0,I([2,2]),y,alpha=1.5)
        x.index_copy(0,I([2,0]),y)  x.t().index_copy(1,I([2,2]),y.t())
        x.index_fill(0,I([1]),y[0,0])  x.masked_fill(I([True,False,True,False]),y[1,1])
        x.masked_scatter(x.detach()>0,y.repeat(2,1))
        x.scatter(0,I([[2,0,1,1],[0,1,2,0]]),y)  x.scatter(1,I([[1,1,1],[0,3,0]]),y)
        x.scatter(1,I([[1,1]]),y,reduce="add")  x.scatter_add(0,I([[2,2],[2,1]]),y)
        (x*1).index_add_(0,I([0,0]),y).index_copy_(0,I([1,2]),y)
        (x*1).masked_fill_(x.detach()>1.5,3.0).scatter_(1,I([[0],[1]]),y)
        (x*1).scatter_add_(1,I([[2],[2]]),y).index_put_((I([0]),I([3])),y[0,:1])
        (x*1).index_fill_(1,I([1]),y[1,1]).tril_(2)
    """,
    ((3, 3), (3, 3)): """
        linalg.cond(x+3*ac.eye(3),-1)  linalg.cond(x+3*ac.eye(3),-2)
        linalg.cond(x+3*ac.eye(3),ac.inf)  linalg.cond(x+3*ac.eye(3),-ac.inf)
        linalg.solve_triangular(x+3*ac.eye(3),y,upper=True,left=False)
        linalg.solve_triangular(x,y,upper=False,unitriangular=True)
    """,
    ((2, 1, 2, 2), (3, 2, 2)): """
        linalg.inv(x+3*ac.eye(2))  linalg.det(x)  ac.logdet(x@x.mT+ac.eye(2))
        linalg.slogdet(x)[1]  linalg.cholesky(x@x.mT+ac.eye(2))
        linalg.cholesky(x@x.mT+ac.eye(2),upper=True)  linalg.eigh(x+x.mT)[0]
        linalg.eigh(x+x.mT,"U")[1].abs()  linalg.matrix_power(x,3)
        ac.matrix_power(x+3*ac.eye(2),-2)  linalg.qr(x+3*ac.eye(2))[0]
        linalg.qr(x,"r")[1]  linalg.svd(x,False)[0].abs()  linalg.svd(x)[1]
        linalg.matrix_norm(x,"nuc")  linalg.solve(x+3*ac.eye(2),y)
    """,
    ((2, 2), (2,)): "linalg.solve(x+3*ac.eye(2),y)",
    ((3, 2, 2), (3, 2)): "linalg.solve(x+3*ac.eye(2),y)",
    ((2, 2), (3, 2)): "linalg.solve(x+3*ac.eye(2),y,left=False)",
    ((2, 3), (3, 4), (4, 1), (1, 2)): "linalg.multi_dot([x,y,z,w])",
    ((3,), (3, 2), (2,)): "linalg.multi_dot([x,y,z])",
    ((2, 4),): """
        linalg.qr(x,'complete')[0]  linalg.qr(x,'complete')[1]  linalg.lu(x)[1]
        linalg.lu(x)[2]
    """,
    ((2, 4, 3),): "linalg.lu(x)[1]  linalg.lu(x)[2]  linalg.lu_factor(x)[0]",
    ((2, 3, 3), (2, 3, 2)): """
        linalg.lu_solve(*linalg.lu_factor(x+3*ac.eye(3)),y,adjoint=True)
        linalg.lu_solve(*linalg.lu_factor(x+3*ac.eye(3)),y.mT,left=False)
        linalg.lu_solve(*linalg.lu_factor(x+3*ac.eye(3)),y.mT,left=False,adjoint=True)
    """,
    ((2, 2, 3),): "linalg.matrix_norm(x,2,dim=(0,2))  F.cross_entropy(x,PLACES%2)",
    ((2, 3, 2),): "linalg.pinv(x)  x.log_softmax(1)  x.flatten(1)  x.permute(2,0,1)",
    ((3, 2, 3),): "x.diagonal(-1,2,0)",
    ((1, 3, 1),): "x.squeeze()",
    ((), (4,)): "ac.inner(x,y)  x.softmax(0)*y",
    ((2, 3, 4), (3, 4), (4, 2)): """
        ac.inner(x,y)  ac.tensordot(x,y,2)  ac.matmul(x,y[0])  ac.kron(x,y)
        F.linear(x,y)  F.linear(x,y[:1],y[0,:1])
    """,
    ((2, 3, 4), (4, 2)): "ac.tensordot(x,y,([0,-1],[1,0]))",
    ((2, 3, 4), (2, 4, 3)): "ac.baddbmm(y[:,0:1],x,y,alpha=0.5)  ac.addbmm(y[0,0],x,y)",
    ((2, 1, 2, 3), (2, 3, 2)): "ac.matmul(x,y)",
    ((3, 4), (3,)): "x.sum()+ac.addr(x[0,0],x[0],y,beta=2)",
    ((4,), (2,)): "ac.tensordot(x,y,0)  ac.block_diag(x,y)",
    ((3, 4), (2, 4), (2, 2)): "ac.cdist(x,y)  ac.cross(x[:2,:3],y[:,:3])  ac.kron(x,z)",
    ((2, 3, 2), (2, 5)): "F.grouped_mm(x,y,offs=ac.tensor([2,5],dtype=ac.int32))",
    ((3, 5), (5, 2)): "F.grouped_mm(x,y,offs=ac.tensor([0,5],dtype=ac.int32))",
    ((1, 2, 3, 2), (1, 2, 4, 2), (1, 2, 4, 2)): """
        F.scaled_dot_product_attention(x,y,z,is_causal=True)
        seeded(F.scaled_dot_product_attention,x,y,z,dropout_p=0.4)
    """,
    ((1, 4, 2, 2), (1, 2, 2, 2), (1, 2, 2, 2)): """
        F.scaled_dot_product_attention(x,y,z,enable_gqa=True)
    """,
    ((2, 4, 6),): """
        F.lp_pool1d(x.exp(),3,2)  F.lp_pool2d(x.exp(),2,(1,2),ceil_mode=True)
        F.max_unpool1d(*F.max_pool1d(x,2,return_indices=True),2)
        F.local_response_norm(x,3,0.5)  F.pdist(x[0],3)
    """,
    ((1, 1, 4, 4),): """
        F.max_pool2d(x,(3,2),(2,1),(1,0),(1,2),ceil_mode=True)
        F.avg_pool2d(x,(3,2),(2,1),(1,1),True,False)  F.avg_pool2d(x,2,2,0,True,True,3)
        F.adaptive_avg_pool2d(x,(3,2))  F.adaptive_max_pool2d(x,(3,3))
        F.interpolate(x,scale_factor=1.5,mode="bicubic",align_corners=True)
        F.interpolate(x,(2,7),mode="nearest-exact")  F.interpolate(x,(3,2),mode="area")
        F.interpolate(x,(3,2),mode="bilinear")
    """,
    ((1, 2, 2, 4),): "F.unfold(x,2,(1,2),(1,0),(1,2))",
    ((1, 4, 3),): "F.fold(x,(2,4),2,(1,2),(1,0),(1,2))",
    ((1, 1, 3, 4, 3),): """
        F.max_pool3d(x,(3,2,3),2,(1,0,1))
        F.max_pool3d(x,(2,3,2),(2,2,1),ceil_mode=True)
        F.avg_pool3d(x,(3,2,3),2,(1,0,1),count_include_pad=False)
        F.avg_pool3d(x,2,2,ceil_mode=True,divisor_override=3)
    """,
    ((1, 2, 4, 3), (2, 1, 2, 2), (2,)): "F.conv2d(x,y,z,(2,1),1,(1,2),2)",
    ((1, 2, 3, 3), (2, 1, 2, 2), (2,)): "F.conv_transpose2d(x,y,z,(2,1),1,0,2,(1,2))",
    ((1, 2, 3), (1, 2, 2)): "F.conv1d(x,y,None,1,'same')",
    ((1, 1, 2, 2), (1, 2, 2, 3), (2,)): "F.conv_transpose2d(x,y,z,2,1,1)",
    ((1, 2, 3, 3, 2), (2, 1, 2, 2, 2), (2,)): "F.conv3d(x,y,z,(2,1,1),1,(1,2,1),2)",
    ((2, 2, 3), (2,), (2,), (2, 2, 3)): """
        F.batch_norm_relu(x,None,None,y,z,training=True,residual=w)
        F.batch_norm(x,*ac.ones(2,2,dtype=ac.float64),y,z)
        F.batch_norm(x*y[:,None],None,None,y,training=True,eps=0.1)
    """,
    ((1, 2, 3, 4), (1, 2, 3)): """
        F.grid_sample(x,F.affine_grid(y,(1,2,2,3)),"bilinear","border")
        F.grid_sample(x,F.affine_grid(y,(1,2,2,3)),"bicubic","zeros")
        F.grid_sample(x,F.affine_grid(y,(1,2,2,3)),"bicubic","reflection")
    """,
    ((1, 2, 2, 3, 4), (1, 2, 2, 1, 3)): "F.grid_sample(x,y.tanh(),'nearest')",
}

SOFTMAX = ac.nn.AdaptiveLogSoftmaxWithLoss(4, 4, [2], dtype=ac.float64)


def split(text):
    """Return the expressions of a text, which two spaces part."""
    return re.split(r"\s\s+", text.strip())


def calls():
    """Yield (expression, shapes of its inputs)."""
    for shape, text in {M: ELEMENTWISE, S: SQUARE, **LAYERS}.items():
        for expression in split(text):
            used = [name for name in "xyzw" if _uses(expression, name)]
            yield expression, (shape,) * len(used)
    yield from OTHERS.items()


def forms():
    """Yield the same of further forms of arguments."""
    for shapes, text in FORMS.items():
        for expression in split(text):
            last = max("xyzw".index(n) for n in "xyzw" if _uses(expression, n))
            yield expression, shapes[: last + 1]
    yield from ((expression, (shape,)) for expression in split(ONE) for shape in SHAPES)
    yield from ((expression, shapes) for expression in split(TWO) for shapes in PAIRS)
    for expression in split(REDUCTIONS):
        for shape, dim, keepdim in AXES:
            # The deviation of one value is undefined, or 0 with a kink.
            if shape in {(), (3, 1)} and re.search("var|std", expression):
                continue
            if dim is not None or "logsumexp" not in expression:
                yield expression.format(f"dim={dim},keepdim={keepdim}"), (shape,)


def function_of(expression, shapes):
    """Return an expression as a function of tensors."""
    names = ", ".join("xyzw"[: len(shapes)])
    return eval(f"lambda {names}: {expression}", globals())


def called():
    """Return all functions and methods that occur in the expressions."""
    text = " ".join(expression for expression, _ in calls())
    places = {"ac": ac, "F": F, "linalg": linalg, "special": special}
    for place, name in re.findall(r"\b(ac|F|linalg|special)\.(\w+)", text):
        yield getattr(places[place], name)
    for name in re.findall(r"[\w\])]\.(\w+)\(", text):
        yield getattr(ac.Tensor, name, None)


def _uses(expression, name):
    return re.search(rf"\b{name}\b", expression) is not None


#: Functions whose results have no derivative, that make tensors or tell what they are.
_WITHOUT = """
    all allclose any callback can_cast compile frombuffer nextafter
    register_post_accumulate_grad_hook
    as_subclass is_set_to new_empty_strided
    are_deterministic_algorithms_enabled argmax argmin argsort
    argwhere as_tensor asarray backward bartlett_window bernoulli bfloat16 bincount
    binomial blackman_window bool broadcast_shapes bucketize byte char
    count_nonzero cuda data_ptr detach detach_copy dim element_size empty empty_like
    eq equal fill float from_dlpack from_numpy full full_like gcd ge get_default_device
    get_default_dtype get_device get_float32_matmul_precision
    get_num_interop_threads get_num_threads get_rng_state greater greater_equal gt
    half hamming_window hann_window heaviside histc histogram histogramdd
    initial_seed int
    is_anomaly_check_nan_enabled is_anomaly_enabled is_complex is_contiguous
    is_conj is_neg isreal
    is_floating_point is_grad_enabled is_inference is_nonzero is_pinned is_same_size
    is_shared is_signed is_tensor isclose isfinite isin isinf isnan isneginf
    isposinf item kaiser_window lcm le less less_equal linspace live_node_count load
    logical_and logical_not logical_or logical_xor logspace long lt manual_seed
    matrix_rank multinomial ndimension ne nelement new new_empty new_full
    new_ones new_tensor
    new_zeros ldl_factor ldl_factor_ex
    nonzero normal not_equal numel numpy ones ones_like pin_memory poisson
    promote_types rand_like randint randint_like randn randn_like randperm
    register_hook result_type retain_grad save scalar_tensor searchsorted seed
    serial set_anomaly_enabled set_default_device set_default_dtype
    set_default_tensor_type set_float32_matmul_precision set_num_interop_threads
    set_num_threads set_printoptions set_rng_state short signbit size storage_offset
    stride to_dense tolist tril_indices triu_indices type unique unique_consecutive
    storage unravel_index untyped_storage use_deterministic_algorithms zeros_like
"""
WITHOUT = set(_WITHOUT.split())
#: Old names of `interpolate`, and the steps of a layer, tried by `test_old_names`.
ELSEWHERE = {"cdouble", "cfloat", "eig", "eigvals", "istft", "sgn", "stft"}
ELSEWHERE |= {"upsample", "upsample_bilinear", "upsample_nearest"}
ELSEWHERE |= {"multi_head_attention_forward"}
#: Of sparse and nested tensors, tried by tests/sparse.
ELSEWHERE |= {"ccol_indices", "coalesce", "col_indices", "crow_indices", "dense_dim"}
ELSEWHERE |= {"indices", "is_coalesced", "row_indices", "smm", "sparse_dim"}
ELSEWHERE |= {"sparse_mask", "to_padded_tensor", "to_sparse", "to_sparse_coo"}
ELSEWHERE |= {"to_sparse_csc", "to_sparse_csr", "values"}
