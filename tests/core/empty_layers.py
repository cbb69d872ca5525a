# SPDX-License-Identifier: MIT
"""Layers, losses and modules with no samples; expressions as in `empty_calls`."""

from __future__ import annotations

import re

from tests.core.empty_calls import with_variants

#: Functions of (batch, channels, length or more) and of what else is in a batch.
_LAYERS = """
    F.linear(x(0,3),x(2,3),x(2))  F.linear(x(5,0,3),x(2,3),x(2))
    F.linear(x(2,0),x(4,0),x(4))  F.linear(x(2,3),x(0,3),x(0))
    F.bilinear(x(0,3),x(0,2),x(4,3,2),x(4))
    F.batch_norm(x(0,3),None,None,x(3),x(3),True)
    F.batch_norm(x(0,3,4),c(3),c(3),x(3),x(3),True)
    F.batch_norm(x(0,3),c(3),c(3),x(3),x(3))
    F.batch_norm(x(2,3,0),c(3),c(3),x(3),x(3),True)
    F.batch_norm(x(0,3,4,5),c(3),c(3),None,None,True)
    F.instance_norm(x(0,3,4),None,None,x(3),x(3))
    F.instance_norm(x(0,3,4),c(3),c(3),x(3),x(3),False)
    F.instance_norm(x(0,3,4),c(3),c(3),x(3),x(3),True)
    F.group_norm(x(0,4,5),2,x(4),x(4))  F.group_norm(x(2,4,0),2,x(4),x(4))
    F.layer_norm(x(0,3),(3,),x(3),x(3))  F.layer_norm(x(2,0,3),(3,),x(3),x(3))
    F.layer_norm(x(2,0),(0,))  F.rms_norm(x(0,3),(3,),x(3))  F.rms_norm(x(2,0),(0,))
    F.local_response_norm(x(0,3,4),2)  F.normalize(x(0,3),dim=1)
    F.normalize(x(2,0),dim=1)  F.channel_shuffle(x(0,4,3,3),2)
    F.pixel_shuffle(x(0,4,3,3),2)  F.pixel_unshuffle(x(0,1,4,4),2)  F.glu(x(0,4))
    F.glu(x(0,4),0)  F.prelu(x(0,3),x(1))  F.prelu(x(0,3),x(3))
    F.threshold(x(0,3),0.1,2.)  F.threshold_(v(0,3),0.1,2.)  F.one_hot(i(0),3)
    F.one_hot(i(0,2),3)  F.one_hot(i(0))  F.gumbel_softmax(x(0,3),dim=1)
    F.gumbel_softmax(x(0,3),hard=True,dim=1)  F.dropout1d(x(0,3,4))
    F.dropout2d(x(0,3,4,4))  F.dropout3d(x(0,3,2,2,2))  F.pad(x(0,3),(1,1))
    F.pad(x(0,3,4),(1,1),'reflect')  F.pad(x(0,3,4),(1,1),'replicate')
    F.pad(x(0,3,4),(1,1),'circular')  F.pad(x(0,3,4,4),(1,1,1,1),'reflect')
    F.pad(x(0,3,4,4),(1,1,1,1),'replicate')
    F.pad(x(0,3,2,2,2),(1,1,1,1,1,1),'replicate')  F.pad(x(2,0),(1,2))
    F.embedding(i(0),x(4,3))  F.embedding(i(0,2),x(4,3))
    F.embedding(i(0),x(4,3),padding_idx=1)  F.embedding(i(2),x(4,0))
    F.embedding_bag(i(0,2),x(4,3),mode='sum')
    F.embedding_bag(i(0,2),x(4,3),mode='mean')
    F.embedding_bag(i(0,2),x(4,3),mode='max')  F.embedding_bag(i(2,0),x(4,3),mode='sum')
    F.embedding_bag(i(2,0),x(4,3),mode='mean')
    F.embedding_bag(i(0),x(4,3),i(2),mode='sum')
    F.embedding_bag(i(0),x(4,3),i(2),mode='mean')
    F.embedding_bag(i(0),x(4,3),i(2),mode='max')
    F.embedding_bag(i(0),x(4,3),i(0),mode='sum')
    F.embedding_bag(i(0),x(4,3),i(0),mode='max')
    F.embedding_bag(i(2,0),x(4,3),mode='max')
    F.embedding_bag(i(0,2),x(4,3),mode='sum',per_sample_weights=x(0,2))
    F.embedding_bag(i(2),x(4,3),i(2),mode='max')
    F.scaled_dot_product_attention(x(0,2,3,4),x(0,2,5,4),x(0,2,5,4))
    F.scaled_dot_product_attention(x(2,0,4),x(2,5,4),x(2,5,4))
    F.scaled_dot_product_attention(x(2,3,4),x(2,0,4),x(2,0,4))
    F.scaled_dot_product_attention(x(2,3,4),x(2,0,4),x(2,0,4),c(3,0))
    F.scaled_dot_product_attention(x(2,3,0),x(2,5,0),x(2,5,4))
    F.scaled_dot_product_attention(x(0,3,4),x(0,3,4),x(0,3,4),is_causal=True)
    F.interpolate(x(0,3,4),8)  F.interpolate(x(0,3,4),8,mode='linear')
    F.interpolate(x(0,3,4),6,mode='nearest-exact')
    F.interpolate(x(0,3,4,4),6,mode='area')
    F.interpolate(x(0,3,4,4),(6,8),mode='bilinear')
    F.interpolate(x(0,3,4,4),(6,8),mode='bicubic')
    F.interpolate(x(0,3,4,4),(3,2),mode='bilinear',antialias=True)
    F.interpolate(x(0,3,2,2,2),4,mode='trilinear')  F.upsample(x(0,3,4),8)
    F.upsample_nearest(x(0,3,4,4),8)  F.upsample_bilinear(x(0,3,4,4),8)
    F.grid_sample(x(0,3,4,4),x(0,2,2,2),align_corners=False)
    F.grid_sample(x(0,3,2,2,2),x(0,2,2,2,3),align_corners=False)
    F.grid_sample(x(2,3,4,4),x(2,0,2,2),align_corners=False)
    F.grid_sample(x(2,0,4,4),x(2,2,2,2),align_corners=False)
    F.grid_sample(x(0,3,4,4),x(0,2,2,2),'nearest',align_corners=True)
    F.grid_sample(x(0,3,4,4),x(0,2,2,2),'bicubic','border',align_corners=False)
    F.affine_grid(x(0,2,3),(0,1,3,2),align_corners=False)
    F.affine_grid(x(0,3,4),(0,1,2,2,2),align_corners=False)  F.unfold(x(0,3,4,4),2)
    F.fold(x(0,8,4),(3,3),2)
"""
_CONVOLUTIONS = """
    F.conv1d(x(0,2,5),x(3,2,3),x(3))  F.conv2d(x(0,2,5,5),x(3,2,3,3),x(3))
    F.conv2d(x(0,2,5,5),x(3,2,3,3),x(3),1,1)
    F.conv2d(x(0,4,5,5),x(4,1,3,3),x(4),groups=4)
    F.conv2d(x(0,4,5,5),x(6,2,3,3),x(6),2,1,groups=2)
    F.conv2d(x(0,4,5,5),x(6,4,1,1),x(6))  F.conv2d(last(0,4,5,5),last(6,4,3,3),x(6),1,1)
    F.conv2d(last(0,4,5,5),last(4,1,3,3),x(4),groups=4)
    F.conv2d(x(0,16,8,8),x(16,16,3,3),x(16),1,1)
    F.conv3d(x(0,2,4,4,4),x(3,2,2,2,2),x(3))
    F.conv2d(x(0,2,5,5),x(3,2,3,3),x(3),padding='same')
    F.conv_transpose1d(x(0,2,5),x(2,3,3),x(3))
    F.conv_transpose2d(x(0,2,5,5),x(2,3,3,3),x(3),2,1,1)
    F.conv_transpose2d(x(0,4,5,5),x(4,3,3,3),x(6),groups=2)
    F.conv_transpose3d(x(0,2,4,4,4),x(2,3,2,2,2),x(3))
    F.conv1d(x(0,2,5),x(3,2,3),None,2,1,2)
    F.conv_transpose2d(last(0,2,5,5),x(2,3,3,3),x(3))
"""
_POOLS = """
    F.max_pool1d(x(0,2,4),2)  F.max_pool2d(x(0,2,4,4),2)  F.max_pool3d(x(0,2,4,4,4),2)
    F.max_pool2d(x(0,2,4,4),2,return_indices=True)  F.max_pool2d(last(0,2,4,4),2)
    F.avg_pool1d(x(0,2,4),2)  F.avg_pool2d(x(0,2,4,4),2)  F.avg_pool3d(x(0,2,4,4,4),2)
    F.avg_pool2d(last(0,2,4,4),2)  F.lp_pool1d(x(0,2,4),2,2)
    F.lp_pool2d(x(0,2,4,4),2,2)  F.lp_pool3d(x(0,2,4,4,4),2,2)
    F.adaptive_avg_pool1d(x(0,2,4),2)  F.adaptive_avg_pool2d(x(0,2,4,4),2)
    F.adaptive_avg_pool3d(x(0,2,4,4,4),2)  F.adaptive_max_pool1d(x(0,2,4),2)
    F.adaptive_max_pool2d(x(0,2,4,4),2)  F.adaptive_max_pool3d(x(0,2,4,4,4),2)
    F.adaptive_avg_pool2d(x(0,2,4,4),1)  F.adaptive_avg_pool2d(last(0,2,4,4),(1,3))
    F.max_unpool1d(x(0,2,2),i(0,2,2),2)  F.max_unpool2d(x(0,2,2,2),i(0,2,2,2),2)
    F.max_unpool3d(x(0,2,2,2,2),i(0,2,2,2,2),2)
    F.fractional_max_pool2d(x(0,2,4,4),2,2,_random_samples=c(0,2,2))
    F.fractional_max_pool3d(x(0,2,4,4,4),2,2,_random_samples=c(0,2,3))
    F.max_pool2d(x(2,0,4,4),2)  F.avg_pool2d(x(2,0,4,4),2)
    F.adaptive_max_pool2d(x(2,0,4,4),2)  F.max_unpool2d(x(2,0,2,2),i(2,0,2,2),2)
    F.adaptive_avg_pool2d(x(2,0,4,4),2)
"""
_LOSSES = """
    F.cross_entropy(x(0,3),i(0)*)  F.cross_entropy(x(0,3),x(0,3)*)
    F.cross_entropy(x(0,3,2),i(0,2)*)  F.cross_entropy(x(0,3),i(0),c(3)*)
    F.cross_entropy(x(2,3),i(2),ignore_index=0*)
    F.cross_entropy(x(0,3),i(0),label_smoothing=0.1*)  F.nll_loss(x(0,3),i(0)*)
    F.nll_loss(x(0,3,2),i(0,2)*)  F.nll_loss(x(2,3),i(2),ignore_index=0*)
    F.nll_loss(x(0,3),i(0),c(3)*)  F.cross_entropy(x(2,3),i(2),c(3),ignore_index=0*)
    F.multi_margin_loss(x(0,3),i(0)*)  F.multi_margin_loss(x(0,3),i(0),weight=c(3)*)
    F.multilabel_margin_loss(x(0,3),i(0,3)*)  F.gaussian_nll_loss(x(0,3),x(0,3),x(0,3)*)
    F.gaussian_nll_loss(x(0,3),x(0,3),x(0)*)  F.margin_ranking_loss(x(0),x(0),c(0)*)
    F.cosine_embedding_loss(x(0,3),x(0,3),c(0)*)
    F.triplet_margin_loss(x(0,3),x(0,3),x(0,3)*)
    F.triplet_margin_with_distance_loss(x(0,3),x(0,3),x(0,3)*)
    F.triplet_margin_loss(x(0,3),x(0,3),x(0,3),swap=True*)
    F.ctc_loss(x(4,0,3),i(0,2),i(0),i(0)*)  F.kl_div(x(0,3),x(0,3),log_target=True*)
    F.binary_cross_entropy(x(0,3),c(0,3),c(3)*)
    F.binary_cross_entropy_with_logits(x(0,3),c(0,3),c(3),pos_weight=c(3)*)
    F.multilabel_soft_margin_loss(x(0,3),c(0,3),c(3)*)
    F.hinge_embedding_loss(x(0,3),c(0,3)*)
"""
#: Functions that PyTorch does not have, or not on CPUs, and those whose results are
#: complex, sparse or nested, and so are made dense and real.
_OWN = """
    m.expand(x(0,3),(2,0,3))  m.expand(x(1,3),(0,3))
    F.linear_cross_entropy(x(0,3),x(4,3),i(0))
    F.linear_cross_entropy(x(0,3),x(4,3),i(0),reduction='sum')
    F.linear_cross_entropy(x(2,3),x(4,3),i(2),ignore_index=0)
    F.batch_norm_relu(x(0,3),c(3),c(3),x(3),x(3),training=True)
    F.rotary_embedding(x(0,2,3,4),c(2,2),c(2,2))
    net(m.nn.LinearCrossEntropyLoss(3,4))(x(0,3),i(0))
    F.grouped_mm(x(0,3),x(2,3,4),offs=i(2).to(m.int32))
    net(m.nn.QuantizedLinear(32,2))(x(0,32))  net(m.nn.QuantizedEmbedding(2,32))(i(0))
    m.view_as_real(c(0,3).cfloat())  m.view_as_real(c(0,3).cdouble())
    m.view_as_real(linalg.eigvals(c(0,3,3)))  m.view_as_real(linalg.eig(c(2,0,0))[1])
    m.stft(x(0,4),4,return_complex=False)  m.stft(x(0),4,return_complex=False)
    m.istft(m.view_as_complex(x(0,3,4,2)),4)
    x(0,3).to_sparse().to_dense()  x(0,3).to_sparse_coo().to_dense()
    x(0,3).to_sparse_csr().to_dense()  x(0,3).to_sparse_csc().to_dense()
    x(0,3).to_sparse().coalesce().to_dense()  x(0,3).to_sparse().values()
    x(0,3).sparse_mask(b(0,3).to_sparse()).to_dense()
    c(0,3).to_sparse().smm(c(3,2)).to_dense()
    c(0,3).to_sparse().indices()  m.tensor(c(0,3).to_sparse().is_coalesced())
    m.tensor(c(0,3).to_sparse().sparse_dim())  m.tensor(c(0,3).to_sparse().dense_dim())
    c(0,3).to_sparse_csr().crow_indices()  c(0,3).to_sparse_csr().col_indices()
    c(0,3).to_sparse_csc().ccol_indices()  c(0,3).to_sparse_csc().row_indices()
    m.nested.nested_tensor([c(0),c(2)]).to_padded_tensor(0.)
"""
#: Modules, and what they are called with.
_MODULES = """
    Linear(3,2) : x(0,3)  Bilinear(3,2,4) : x(0,3),x(0,2)  Identity() : x(0,3)
    DataParallel(m.nn.Linear(3,2)) : x(0,3)  Flatten() : x(0,3,4)
    Unflatten(1,(2,3)) : x(0,6)  BatchNorm1d(3) : x(0,3)  BatchNorm1d(3) : x(0,3,4)
    BatchNorm1d(3) : x(2,3,0)  BatchNorm1d(3,momentum=None) : x(0,3)
    BatchNorm1d(3,affine=False) : x(0,3)
    BatchNorm1d(3,track_running_stats=False) : x(0,3)  BatchNorm1d(3).eval() : x(0,3)
    BatchNorm2d(3) : x(0,3,4,4)  BatchNorm2d(3) : last(0,3,4,4)
    BatchNorm2d(3).eval() : last(0,3,4,4)  BatchNorm3d(3) : x(0,3,2,2,2)
    SyncBatchNorm(3) : x(0,3,4)
    InstanceNorm1d(3,affine=True,track_running_stats=True) : x(0,3,4)
    InstanceNorm2d(3,affine=True) : x(0,3,4,4)
    InstanceNorm3d(3,affine=True) : x(0,3,2,2,2)  GroupNorm(2,4) : x(0,4,3)
    LayerNorm(3) : x(0,3)  RMSNorm(3) : x(0,3)  LocalResponseNorm(2) : x(0,3,4)
    Conv1d(2,3,3) : x(0,2,5)  Conv2d(2,3,3,padding=1) : x(0,2,5,5)
    Conv2d(2,3,3,padding=1,padding_mode='reflect') : x(0,2,5,5)
    Conv3d(2,3,2) : x(0,2,4,4,4)  ConvTranspose1d(2,3,3) : x(0,2,5)
    ConvTranspose2d(2,3,3) : x(0,2,5,5)  ConvTranspose3d(2,3,2) : x(0,2,4,4,4)
    LazyLinear(2) : x(0,3)  LazyConv1d(3,3) : x(0,2,5)  LazyConv2d(3,3) : x(0,2,5,5)
    LazyConv3d(3,2) : x(0,2,4,4,4)  LazyConvTranspose1d(3,3) : x(0,2,5)
    LazyConvTranspose2d(3,3) : x(0,2,5,5)  LazyConvTranspose3d(3,2) : x(0,2,4,4,4)
    LazyBatchNorm1d() : x(0,3)  LazyBatchNorm2d() : x(0,3,4,4)
    LazyBatchNorm3d() : x(0,3,2,2,2)  LazyInstanceNorm1d(affine=True) : x(0,3,4)
    LazyInstanceNorm2d(affine=True) : x(0,3,4,4)
    LazyInstanceNorm3d(affine=True) : x(0,3,2,2,2)
    RNN(3,4,2,batch_first=True) : x(0,5,3)  RNN(3,4) : x(5,0,3)  RNN(3,4) : x(0,2,3)
    LSTM(3,4,2,bidirectional=True) : x(5,0,3)  LSTM(3,4,proj_size=2) : x(5,0,3)
    LSTM(3,4) : x(0,2,3)  GRU(3,4,2) : x(5,0,3)  GRU(3,4) : x(0,2,3)
    RNNCell(3,4) : x(0,3)  LSTMCell(3,4) : x(0,3)  GRUCell(3,4) : x(0,3)
    MultiheadAttention(4,2,batch_first=True) : x(0,3,4),x(0,5,4),x(0,5,4)
    MultiheadAttention(4,2) : x(3,0,4),x(5,0,4),x(5,0,4)
    MultiheadAttention(4,2) : x(0,2,4),x(5,2,4),x(5,2,4)
    MultiheadAttention(4,2) : x(3,2,4),x(0,2,4),x(0,2,4)
    TransformerEncoderLayer(4,2,8,batch_first=True) : x(0,3,4)
    TransformerDecoderLayer(4,2,8,batch_first=True) : x(0,3,4),x(0,5,4)
    Transformer(4,2,1,1,8,batch_first=True) : x(0,3,4),x(0,5,4)  Embedding(5,3) : i(0)
    Embedding(5,3,padding_idx=1) : i(0,2)  Embedding(5,3,max_norm=1.) : i(0)
    Embedding(5,3,scale_grad_by_freq=True) : i(0)  EmbeddingBag(5,3) : i(0,2)
    EmbeddingBag(5,3,mode='max') : i(0,2)  EmbeddingBag(5,3,mode='sum') : i(0),i(0)
    EmbeddingBag(5,3,mode='max') : i(0),i(2)
    AdaptiveLogSoftmaxWithLoss(4,6,[2,4]) : x(0,4),i(0)  PReLU() : x(0,3)
    PReLU(3) : x(0,3)  Upsample(scale_factor=2) : x(0,3,4)
    UpsamplingBilinear2d(scale_factor=2) : x(0,3,4,4)
    UpsamplingNearest2d(scale_factor=2) : x(0,3,4,4)  PixelShuffle(2) : x(0,4,3,3)
    PixelUnshuffle(2) : x(0,1,4,4)  ChannelShuffle(2) : x(0,4,3,3)
    Fold((3,3),2) : x(0,8,4)  Unfold(2) : x(0,3,4,4)  CosineSimilarity() : x(0,3),x(0,3)
    PairwiseDistance() : x(0,3),x(0,3)  Softmax2d() : x(0,3,4,4)  GLU() : x(0,4)
    Threshold(0.1,2.) : x(0,3)  Dropout() : x(0,3)  Dropout1d() : x(0,3,4)
    Dropout2d() : x(0,3,4,4)  Dropout3d() : x(0,3,2,2,2)  AlphaDropout() : x(0,3)
    FeatureAlphaDropout() : x(0,3,4)  AdaptiveAvgPool1d(2) : x(0,2,4)
    AdaptiveAvgPool2d(2) : x(0,2,4,4)  AdaptiveAvgPool3d(2) : x(0,2,4,4,4)
    AdaptiveMaxPool1d(2) : x(0,2,4)  AdaptiveMaxPool2d(2) : x(0,2,4,4)
    AdaptiveMaxPool3d(2) : x(0,2,4,4,4)  AvgPool1d(2) : x(0,2,4)
    AvgPool2d(2) : x(0,2,4,4)  AvgPool3d(2) : x(0,2,4,4,4)  MaxPool1d(2) : x(0,2,4)
    MaxPool2d(2) : x(0,2,4,4)  MaxPool3d(2) : x(0,2,4,4,4)  LPPool1d(2,2) : x(0,2,4)
    LPPool2d(2,2) : x(0,2,4,4)  LPPool3d(2,2) : x(0,2,4,4,4)
    FractionalMaxPool2d(2,2) : x(0,2,4,4)  FractionalMaxPool3d(2,2) : x(0,2,4,4,4)
    MaxUnpool1d(2) : x(0,2,2),i(0,2,2)  MaxUnpool2d(2) : x(0,2,2,2),i(0,2,2,2)
    MaxUnpool3d(2) : x(0,2,2,2,2),i(0,2,2,2,2)  ReflectionPad1d(1) : x(0,3,4)
    ReflectionPad2d(1) : x(0,3,4,4)  ReflectionPad3d(1) : x(0,3,4,4,4)
    ReplicationPad1d(1) : x(0,3,4)  ReplicationPad2d(1) : x(0,3,4,4)
    ReplicationPad3d(1) : x(0,3,4,4,4)  CircularPad1d(1) : x(0,3,4)
    CircularPad2d(1) : x(0,3,4,4)  CircularPad3d(1) : x(0,3,4,4,4)
    ConstantPad1d(1,2.) : x(0,3,4)  ConstantPad2d(1,2.) : x(0,3,4,4)
    ConstantPad3d(1,2.) : x(0,3,4,4,4)  ZeroPad1d(1) : x(0,3,4)
    ZeroPad2d(1) : x(0,3,4,4)  ZeroPad3d(1) : x(0,3,4,4,4)
    CrossEntropyLoss() : x(0,3),i(0)  NLLLoss() : x(0,3),i(0)
    MultiMarginLoss() : x(0,3),i(0)  MultiLabelMarginLoss() : x(0,3),i(0,3)
    MultiLabelSoftMarginLoss() : x(0,3),c(0,3)  GaussianNLLLoss() : x(0,3),x(0,3),x(0,3)
    MarginRankingLoss() : x(0),x(0),c(0)  CosineEmbeddingLoss() : x(0,3),x(0,3),c(0)
    TripletMarginLoss() : x(0,3),x(0,3),x(0,3)
    TripletMarginWithDistanceLoss() : x(0,3),x(0,3),x(0,3)
    CTCLoss() : x(4,0,3),i(0,2),i(0),i(0)  BCELoss() : x(0,3),c(0,3)
    BCEWithLogitsLoss() : x(0,3),c(0,3)  HingeEmbeddingLoss() : x(0,3),c(0,3)
    HuberLoss() : x(0,3),c(0,3)  KLDivLoss() : x(0,3),c(0,3)
    KLDivLoss(reduction='batchmean') : x(0,3),c(0,3)  L1Loss() : x(0,3),c(0,3)
    MSELoss() : x(0,3),c(0,3)  PoissonNLLLoss() : x(0,3),c(0,3)
    PoissonNLLLoss(full=True) : x(0,3),c(0,3)  SmoothL1Loss() : x(0,3),c(0,3)
    SoftMarginLoss() : x(0,3),c(0,3)
"""
_LONG = [
    (
        "Sequential(m.nn.Linear(3,4),m.nn.BatchNorm1d(4),m.nn.ReLU(),m.nn.Linear(4,2))"
        " : x(0,3)"
    ),
    (
        "Sequential(m.nn.Conv2d(3,4,3),m.nn.BatchNorm2d(4),m.nn.ReLU(),m.nn.Flatten(),"
        "m.nn.Linear(16,2)) : x(0,3,4,4)"
    ),
    (
        "TransformerEncoder(m.nn.TransformerEncoderLayer(4,2,8,batch_first=True),2)"
        " : x(0,3,4)"
    ),
    (
        "TransformerDecoder(m.nn.TransformerDecoderLayer(4,2,8,batch_first=True),2)"
        " : x(0,3,4),x(0,5,4)"
    ),
]
_ELEMENTWISE = """
    CELU ELU GELU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid Mish
    ReLU ReLU6 RReLU SELU SiLU Sigmoid Softplus Softshrink Softsign Tanh Tanhshrink
"""
_ALONG = "Softmax LogSoftmax Softmin"


def _split(text):
    return re.split(r"\s\s+", text.strip())


def _module(line):
    made, _, operands = line.strip().partition(" : ")
    return f"net(m.nn.{made})({operands})"


def _layers():
    for text in (_LAYERS, _CONVOLUTIONS, _POOLS):
        yield from _split(text)
    for loss in _split(_LOSSES):
        assert loss.endswith("*)"), loss
        for how in ("mean", "sum", "none"):
            yield loss.replace("*)", f",reduction='{how}')")


def _modules():
    yield from map(_module, [*_split(_MODULES), *_LONG])
    yield from (f"net(m.nn.{name}())(x(0,3))" for name in _ELEMENTWISE.split())
    yield from (f"net(m.nn.{name}(1))(x(0,3))" for name in _ALONG.split())


LAYERS = list(dict.fromkeys(with_variants(_layers())))
MODULES = list(dict.fromkeys(with_variants(_modules())))
OWN = list(with_variants(_split(_OWN)))
