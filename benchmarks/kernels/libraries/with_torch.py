# SPDX-License-Identifier: MIT
"""PyTorch: its functions, or the operators of its own backward passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from benchmarks.kernels.cases import PYTORCH_NAMES

F = torch.nn.functional
aten = torch.ops.aten


def start(threads: int) -> str:
    """Set the threads; return the version."""
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    return torch.__version__


def convert(array: np.ndarray) -> torch.Tensor:
    """Return a tensor over a copy of the array in memory of PyTorch's own."""
    tensor = torch.from_numpy(array)
    return tensor.clone(memory_format=torch.preserve_format)


def linear_backward(g: Any, x: Any, weight: Any) -> object:
    """dx, dweight, dbias: what autograd runs."""
    return g @ weight, g.t() @ x, g.sum(0)


def conv_dx(g: Any, weight: Any, _bias: Any, sizes: Any, *lie: Any) -> object:
    """What autograd runs for the images."""
    shape = (g.shape[0], weight.shape[1] * lie[3], *sizes)
    return torch.nn.grad.conv2d_input(shape, weight, g, *lie)


def conv_dweight(g: Any, x: Any, kernel: Any, *lie: Any) -> object:
    """What autograd runs for the weights."""
    shape = (g.shape[1], x.shape[1] // lie[3], *kernel)
    return torch.nn.grad.conv2d_weight(x, shape, g, *lie)


def attention(q: Any, k: Any, v: Any, *rest: Any) -> object:
    """``[B, S, H, D]`` as PyTorch has it: heads before the sequence, by strides."""
    *_, scale, causal, _p = rest
    operands = [x.transpose(1, 2) for x in (q, k, v)]
    causal = causal != "none"
    return F.scaled_dot_product_attention(*operands, is_causal=causal, scale=scale)


def cross_entropy(logits: Any, target: Any, *_: Any) -> object:
    """Loss and gradient: what autograd runs."""
    log_p = F.log_softmax(logits, 1)
    loss, total = aten.nll_loss_forward(log_p, target, None, 1, -100)
    one = torch.ones(())
    g = aten.nll_loss_backward(one, log_p, target, None, 1, -100, total)
    return loss, aten._log_softmax_backward_data(g, log_p, 1, torch.float32)


def layer_norm_backward(g: Any, x: Any, mean: Any, rstd: Any, weight: Any) -> object:
    """dx, dweight, dbias."""
    shape = [x.shape[-1]]
    column = (*x.shape[:-1], 1)
    mean, rstd = mean.view(column), rstd.view(column)
    mask = [True, True, True]
    return aten.native_layer_norm_backward(
        g, x, shape, mean, rstd, weight, weight, mask
    )


def sgd(params: Any, buffers: Any, grads: Any, lr: Any, _step: Any, momentum: float,
        *_: Any) -> object:  # fmt: skip
    """One fused call over all parameters."""
    return torch._fused_sgd_(
        params, grads, buffers, weight_decay=0.0, momentum=momentum, lr=float(lr),
        dampening=0.0, nesterov=False, maximize=False, is_first_step=False,
    )  # fmt: skip


def adamw(
    params: Any,
    means: Any,
    squares: Any,
    grads: Any,
    lr: Any,
    _step: Any,
    *attributes: Any,
) -> object:
    """One fused call over all parameters."""
    beta1, beta2, eps, decay, *_ = attributes
    steps = [torch.tensor(2.0)] * len(params)
    return torch._fused_adamw_(
        params, grads, means, squares, [], steps, lr=float(lr), beta1=beta1,
        beta2=beta2, weight_decay=decay, eps=eps, amsgrad=False, maximize=False,
    )  # fmt: skip


FUNCTIONS: dict[str, Callable[..., object]] = {
    **{name: getattr(torch, name) for name in PYTORCH_NAMES},
    "rsqrt": torch.rsqrt,
    "silu": F.silu,
    "gelu": lambda a, form: F.gelu(a, approximate=form),
    "gelu_backward": lambda g, a, form: aten.gelu_backward(g, a, approximate=form),
    "softplus": F.softplus,
    "relu_backward": lambda g, y: aten.threshold_backward(g, y, 0),
    "compare": lambda a, b, op: getattr(torch, op)(a, b),
    "copy": lambda a: a.contiguous(),
    "gemm": lambda a, b, bias, *_: torch.matmul(a, b),
    "linear": lambda x, weight, bias, _: F.linear(x, weight, bias),
    "linear_backward": linear_backward,
    "conv": F.conv2d,
    "conv_dx": conv_dx,
    "conv_dweight": conv_dweight,
    "attention": attention,
    "sum": torch.sum,
    "mean": torch.mean,
    "logsumexp": torch.logsumexp,
    "max": torch.amax,
    "var": lambda a, axes, keepdim, correction: torch.var(
        a, axes, correction=correction, keepdim=keepdim
    ),
    "std": lambda a, axes, keepdim, correction: torch.std(
        a, axes, correction=correction, keepdim=keepdim
    ),
    "norm": lambda a, axes, keepdim: torch.linalg.vector_norm(a, 2, axes, keepdim),
    "argmax": torch.argmax,
    "softmax": torch.softmax,
    "log_softmax": torch.log_softmax,
    "softmax_backward": lambda g, y, axis: aten._softmax_backward_data(
        g, y, axis, torch.float32
    ),
    "layer_norm": lambda x, weight, bias, eps: torch.native_layer_norm(
        x, [x.shape[-1]], weight, bias, eps
    ),
    "layer_norm_backward": layer_norm_backward,
    "rms_norm": lambda x, weight, eps: F.rms_norm(x, [x.shape[-1]], weight, eps),
    "cross_entropy": cross_entropy,
    "embedding": lambda weight, index: F.embedding(index, weight),
    "dropout": lambda a, seed, offset, p: torch.native_dropout(a, p, True),
    "sgd": sgd,
    "adamw": adamw,
    "grad_norm": torch.nn.utils.get_total_norm,
}
