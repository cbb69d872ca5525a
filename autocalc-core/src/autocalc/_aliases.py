# SPDX-License-Identifier: MIT
"""PyTorch's other import paths: a table of them, and the finder that serves them.

Programs write ``from torch.nn.modules.conv import Conv2d`` for what is in `torch.nn`
as well. Such a path has no file here: its row in `TABLE` names what it holds. Python's
import system asks the finder for a module, which is then filled with these names.

Type checkers ask no finder; they read the stubs that `tools/alias_stubs.py` writes from
the table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, cast

from autocalc._absent import missing

#: For each path its names, as "module: names". "*" means all public names, and
#: "a=b" for the name `a`, called `b` there. Names with an underscore are not public.
TABLE: dict[str, str] = {
    "amp.autocast_mode": "amp: autocast",
    "amp.grad_scaler": "amp: GradScaler",
    "autograd.function": """
        autograd: Function FunctionContext=FunctionCtx once_differentiable
    """,
    "autograd.grad_mode": """
        autograd: enable_grad inference_mode no_grad set_grad_enabled
    """,
    "distributions.bernoulli": "distributions: Bernoulli",
    "distributions.beta": "distributions: Beta",
    "distributions.categorical": "distributions: Categorical Distribution",
    "distributions.cauchy": "distributions: Cauchy Distribution",
    "distributions.dirichlet": "distributions: Dirichlet",
    "distributions.distribution": "distributions: Distribution",
    "distributions.exponential": "distributions: Exponential",
    "distributions.gamma": "distributions: Gamma",
    "distributions.geometric": "distributions: Distribution Geometric",
    "distributions.gumbel": "distributions: Gumbel",
    "distributions.half_normal": "distributions: HalfNormal",
    "distributions.independent": "distributions: Distribution Independent",
    "distributions.laplace": "distributions: Distribution Laplace",
    "distributions.log_normal": "distributions: LogNormal",
    "distributions.multivariate_normal": """
        distributions: Distribution MultivariateNormal
    """,
    "distributions.normal": "distributions: Normal",
    "distributions.one_hot_categorical": """
        distributions: Distribution OneHotCategorical
    """,
    "distributions.relaxed_bernoulli": "distributions: Distribution RelaxedBernoulli",
    "distributions.transformed_distribution": """
        distributions: Distribution TransformedDistribution
    """,
    "distributions.uniform": "distributions: Distribution Uniform",
    "distributions.binomial": "distributions: Binomial Distribution",
    "distributions.chi2": "distributions: Chi2",
    "distributions.continuous_bernoulli": "distributions: ContinuousBernoulli",
    "distributions.exp_family": "distributions: Distribution ExponentialFamily",
    "distributions.fishersnedecor": "distributions: Distribution FisherSnedecor",
    "distributions.half_cauchy": "distributions: HalfCauchy",
    "distributions.inverse_gamma": "distributions: InverseGamma",
    "distributions.kumaraswamy": "distributions: Kumaraswamy",
    "distributions.lkj_cholesky": "distributions: Distribution LKJCholesky",
    "distributions.logistic_normal": "distributions: LogisticNormal",
    "distributions.lowrank_multivariate_normal": """
        distributions: Distribution LowRankMultivariateNormal
    """,
    "distributions.mixture_same_family": """
        distributions: Distribution MixtureSameFamily
    """,
    "distributions.multinomial": "distributions: Distribution Multinomial",
    "distributions.negative_binomial": "distributions: Distribution NegativeBinomial",
    "distributions.pareto": "distributions: Pareto",
    "distributions.poisson": "distributions: Poisson",
    "distributions.relaxed_categorical": """
        distributions: Distribution RelaxedOneHotCategorical
    """,
    "distributions.studentT": "distributions: Distribution StudentT",
    "distributions.von_mises": "distributions: Distribution VonMises",
    "distributions.weibull": "distributions: Weibull",
    "distributions.wishart": "distributions: Wishart",
    "nn.utils.stateless": "nn._old_names: functional_call",
    "nn.modules": "nn: *",
    "nn.modules.activation": """
        nn: CELU ELU GELU GLU SELU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU
            LogSigmoid LogSoftmax Mish MultiheadAttention PReLU ReLU ReLU6 RReLU Sigmoid
            SiLU Softmax Softmax2d Softmin Softplus Softshrink Softsign Tanh Tanhshrink
            Threshold
    """,
    "nn.modules.adaptive": "nn: AdaptiveLogSoftmaxWithLoss",
    "nn.modules.batchnorm": """
        nn: BatchNorm1d BatchNorm2d BatchNorm3d LazyBatchNorm1d LazyBatchNorm2d
            LazyBatchNorm3d SyncBatchNorm
        nn._layers.norms.batch_norm: _BatchNorm _ChannelNorm=_NormBase
    """,
    "nn.modules.channelshuffle": "nn: ChannelShuffle",
    "nn.modules.container": """
        nn: ModuleDict ModuleList ParameterDict ParameterList Sequential
    """,
    "nn.modules.conv": """
        nn: Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d
            LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d
            LazyConvTranspose3d
        nn._layers.convolutions.conv: ConvBase=_ConvNd
    """,
    "nn.modules.distance": "nn: CosineSimilarity PairwiseDistance",
    "nn.modules.dropout": """
        nn: AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout
    """,
    "nn.modules.flatten": "nn: Flatten Unflatten",
    "nn.modules.fold": "nn: Fold Unfold",
    "nn.modules.instancenorm": """
        nn: InstanceNorm1d InstanceNorm2d InstanceNorm3d LazyInstanceNorm1d
            LazyInstanceNorm2d LazyInstanceNorm3d
        nn._layers.norms.batch_norm: _InstanceNorm
    """,
    "nn.modules.lazy": "nn._layers.lazy.mixin: LazyModuleMixin",
    "nn.modules.linear": """
        nn: Bilinear Identity LazyLinear Linear Linear=NonDynamicallyQuantizableLinear
    """,
    "nn.modules.loss": """
        nn: BCELoss BCEWithLogitsLoss CosineEmbeddingLoss CrossEntropyLoss CTCLoss
            GaussianNLLLoss HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss
            LinearCrossEntropyLoss MarginRankingLoss MSELoss MultiLabelMarginLoss
            MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss PoissonNLLLoss SmoothL1Loss
            SoftMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss
        nn._layers.losses.loss: _Loss _WeightedLoss
    """,
    "nn.modules.module": """
        nn: Module
        nn._module.state: IncompatibleKeys=_IncompatibleKeys
            EXTRA=_EXTRA_STATE_KEY_SUFFIX
        nn._module.global_hooks: register_module_buffer_registration_hook
            register_module_forward_hook register_module_forward_pre_hook
            register_module_backward_hook
            register_module_full_backward_hook register_module_full_backward_pre_hook
            register_module_module_registration_hook
            register_module_parameter_registration_hook
    """,
    "nn.modules.normalization": "nn: GroupNorm LayerNorm LocalResponseNorm RMSNorm",
    "nn.modules.padding": """
        nn: CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d
            ConstantPad3d ReflectionPad1d ReflectionPad2d ReflectionPad3d
            ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad1d ZeroPad2d
            ZeroPad3d
    """,
    "nn.modules.pixelshuffle": "nn: PixelShuffle PixelUnshuffle",
    "nn.modules.pooling": """
        nn: AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d
            AdaptiveMaxPool2d AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d
            FractionalMaxPool2d FractionalMaxPool3d LPPool1d LPPool2d LPPool3d MaxPool1d
            MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d
    """,
    "nn.modules.rnn": "nn: GRU LSTM RNN GRUCell LSTMCell RNNBase RNNCell RNNCellBase",
    "nn.modules.sparse": "nn: Embedding EmbeddingBag",
    "nn.modules.transformer": """
        nn: Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder
            TransformerEncoderLayer
        nn._layers.attention.transformer_layers: activation_by_name=_get_activation_fn
    """,
    "nn.modules.upsampling": "nn: Upsample UpsamplingBilinear2d UpsamplingNearest2d",
    "nn.modules.utils": """
        nn._ntuple: _ntuple _pair _quadruple _single _triple
        nn._module.names: consume_prefix_in_state_dict_if_present
    """,
    "nn.utils.fusion": """
        nn.utils: fuse_conv_bn_eval fuse_conv_bn_weights fuse_linear_bn_eval
            fuse_linear_bn_weights
    """,
    "optim.adadelta": "optim: Adadelta",
    "optim.adagrad": "optim: Adagrad",
    "optim.adam": "optim: Adam",
    "optim.adamw": "optim: AdamW",
    "optim.adamax": "optim: Adamax",
    "optim.asgd": "optim: ASGD",
    "optim.lbfgs": "optim: LBFGS",
    "optim.nadam": "optim: NAdam",
    "optim.radam": "optim: RAdam",
    "optim.rmsprop": "optim: RMSprop",
    "optim.sparse_adam": "optim: SparseAdam",
    "optim.rprop": "optim: Rprop",
    "optim.sgd": "optim: SGD",
    "optim.optimizer": """
        optim: Optimizer
        optim._optimizer: Params=ParamsT Params=_params_t
        optim._for_own_optimizers: required
            default_to_foreach=_default_to_fused_or_foreach
            grad_for_step=_use_grad_for_differentiable
            capturable_devices=_get_capturable_supported_devices
        optim._hooks: register_optimizer_step_pre_hook register_optimizer_step_post_hook
    """,
    "utils.data": "data: *",
    "utils.data.dataloader": """
        data: DataLoader default_collate
        data._own_loaders: _DatasetKind _SingleProcessDataLoaderIter
    """,
    "utils.data.dataset": """
        data: ChainDataset ConcatDataset Dataset IterableDataset StackDataset Subset
            TensorDataset random_split
    """,
    "nn.parallel.distributed": "nn.parallel: DistributedDataParallel",
    "nn.parallel.data_parallel": "nn.parallel: DataParallel",
    "utils.hooks": "_tensor.hooks: RemovableHandle",
    "utils.data.distributed": "data: DistributedSampler",
    "utils.data.sampler": """
        data: BatchSampler RandomSampler Sampler SequentialSampler SubsetRandomSampler
            WeightedRandomSampler
    """,
}


def names_in(path: str) -> Iterator[tuple[str, str, str]]:
    """Yield, for each name of a path, its module, its name there, and its name here."""
    source = ""
    for word in TABLE[path].split():
        if word.endswith(":"):
            source = f"autocalc.{word[:-1]}"
            continue
        for name in import_module(source).__all__ if word == "*" else (word,):
            original, _, new = name.partition("=")
            yield source, original, new or original


def lookup(place: str) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module: it finds the paths inside of it."""

    def __getattr__(name: str) -> Any:
        path = f"{place}.{name}"
        if _is_alias(path):
            return import_module(path)
        return missing(place, name)

    return __getattr__


def _is_alias(module: str) -> bool:
    return module.startswith("autocalc.") and module[len("autocalc.") :] in TABLE


class _Loader:
    """Fills the module of a path."""

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave the module to Python."""

    def exec_module(self, module: ModuleType) -> None:
        path = module.__name__[len("autocalc.") :]
        found = list(names_in(path))
        public = [new for _, _, new in found if not new.startswith("_")]
        module.__doc__ = f"PyTorch's other path for names of `{found[0][0]}`."
        module.__all__ = public  # type: ignore[attr-defined]  # as modules have it
        module.__getattr__ = lookup(module.__name__)  # type: ignore[method-assign]
        for source, original, new in found:
            if f"{path}.{new}" not in TABLE:  # `nn.modules.utils` is not `nn.utils`
                setattr(module, new, getattr(import_module(source), original))


class _Finder:
    """Finds the modules of `TABLE`."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002  the import system's
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        if not _is_alias(fullname):
            return None
        inside = f"{fullname[len('autocalc.') :]}."
        is_package = any(row.startswith(inside) for row in TABLE)
        loader = cast("Any", _Loader())
        return ModuleSpec(fullname, loader, origin=__file__, is_package=is_package)


def install() -> None:
    """Let imports find the paths, before folders that hold only their stubs."""
    sys.meta_path.insert(0, _Finder())
