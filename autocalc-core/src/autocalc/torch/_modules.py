# SPDX-License-Identifier: MIT
"""The modules of PyTorch that programs mention and AutoCalc does not have."""

from __future__ import annotations

_TRACED = (
    "nothing is traced into a graph: a program runs as it is written. Instead: call "
    "the function or the module itself, or autocalc.compile."
)
_GROUPS = (
    "parameters and steps are not divided among processes. Instead: "
    "torch.nn.parallel.DistributedDataParallel."
)
_OWN = "it belongs to PyTorch's own workings."
_INTEGERS = "there are no quantised tensors."
_PROFILER = "there is another profiler. Instead: autocalc.profiler.profile."
_PIPES = "there are no data pipes. Instead: IterableDataset."
_OTHER_KERNELS = "kernels come as packages. Instead: autocalc.kernels."
_WRITTEN = "models are written by what they do. Instead: torch.onnx.export."

#: Maps a path below `torch`, and all paths below it, to the reason.
MODULES = {
    "_C": _OWN,
    "_decomp": _OWN,
    "_dynamo": _TRACED,
    "_jit_internal": _TRACED,
    "_export": _TRACED,
    "_functorch": _TRACED,
    "_guards": _TRACED,
    "_higher_order_ops": _TRACED,
    "_inductor": _TRACED,
    "_logging": _OWN,
    "_ops": _OWN,
    "_prims": _OWN,
    "_prims_common": _OWN,
    "_refs": _OWN,
    "_subclasses": _TRACED,
    "_tensor": _OWN,
    "_utils": _OWN,
    "ao": _INTEGERS,
    "autograd.profiler": _PROFILER,
    "autograd.profiler_legacy": _PROFILER,
    "backends.nnpack": _OTHER_KERNELS,
    "backends.quantized": _INTEGERS,
    "cpu": "the CPU has no streams.",
    "cuda.profiler": _PROFILER,
    "distributed.tensor.experimental": _GROUPS,
    "distributed.tensor.parallel": _GROUPS,
    "distributed._composable": _GROUPS,
    "distributed._functional_collectives": _GROUPS,
    "distributed._shard": _GROUPS,
    "distributed._tensor": _GROUPS,
    "distributed.algorithms": _GROUPS,
    "distributed.checkpoint": _GROUPS,
    "distributed.device_mesh": _GROUPS,
    "distributed.distributed_c10d": _GROUPS,
    "distributed.nn": _GROUPS,
    "distributed.optim": _GROUPS,
    "distributed.utils": _GROUPS,
    "distributed.elastic": _GROUPS,
    "distributed.fsdp": _GROUPS,
    "distributed.launcher": _GROUPS,
    "distributed.pipelining": _GROUPS,
    "distributed.rpc": _GROUPS,
    "distributed.rpc.api": _GROUPS,
    "distributed.run": _GROUPS,
    "distributed.tensor": _GROUPS,
    "_custom_ops": _OWN,
    "_utils_internal": _OWN,
    "classes": _OWN,
    "compiler": _TRACED,
    "export": _TRACED,
    "functional": "its functions are in torch itself. Instead: torch.stft.",
    "func": "tensors inside a transform have no other form. Instead: print them.",
    "futures": "processes wait for each other. Instead: concurrent.futures.",
    "fx": _TRACED,
    "hub": "code is not loaded from the network. Instead: install the package.",
    "jit": _TRACED,
    "library": _OWN,
    "masked": "there are no masked tensors.",
    "nn.attention.flex_attention": "no kernel is made from a function of scores. "
    "Instead: torch.nn.functional.scaled_dot_product_attention with a mask.",
    "nn.parallel.scatter_gather": _GROUPS,
    "nn.quantized": _INTEGERS,
    "nn.qat": _INTEGERS,
    "nn.intrinsic": _INTEGERS,
    "numa": "threads stay where the system puts them.",
    **{f"onnx.symbolic_opset{number}": _WRITTEN for number in range(7, 21)},
    "onnx.symbolic_helper": _WRITTEN,
    "onnx._internal": _WRITTEN,
    "onnx.operators": _WRITTEN,
    "onnx.utils": _WRITTEN,
    "overrides": "it is a list of PyTorch's own functions.",
    "package": "models are saved as safetensors files. Instead: torch.save.",
    "quantization": _INTEGERS,
    "storage": "a tensor's memory has bytes, and no dtype. Instead: the tensor.",
    "utils._python_dispatch": _OWN,
    "utils._sympy": _TRACED,
    "utils.benchmark": "there is no timer of statements. Instead: `autocalc bench`.",
    "return_types": "results of several tensors are tuples with names.",
    "utils._foreach_utils": _OWN,
    "utils._triton": _TRACED,
    "utils.bottleneck": _PROFILER,
    "utils.cpp_extension": "kernels come as packages. Instead: autocalc.plugin.",
    "utils.data.datapipes": _PIPES,
    "utils.data.graph_settings": _PIPES,
    "utils.flop_counter": _PROFILER,
    "utils.tensorboard.summary": "events are encoded as they are written.",
    "utils.mobile_optimizer": _TRACED,
}

#: Decorators and calls at import that control tracing; here nothing is traced.
RETURN_THEIR_FUNCTION = frozenset(
    {
        *("torch._dynamo.allow_in_graph", "torch._dynamo.disable"),
        *("torch._dynamo.disallow_in_graph", "torch._dynamo.forbid_in_graph"),
        *("torch._dynamo.substitute_in_graph", "torch.fx.wrap"),
        "torch._dynamo.assume_constant_result",
        "torch._jit_internal._copy_to_script_wrapper",
        *(
            "torch.onnx.symbolic_helper.parse_args",
            "torch.onnx.symbolic_helper._onnx_symbolic",
        ),
        "torch.onnx.register_custom_op_symbolic",
        "torch.distributed.rpc.api._require_initialized",
        "torch.utils.data.functional_datapipe",
    }
)

#: Modules of libraries that only refer to operators of a library compiled for PyTorch,
#: which is not loaded.
NOTHING_TO_DO = frozenset(
    {"torchvision._autograd_registrations", "torchvision._meta_registrations"}
)


def is_module(fullname: str) -> bool:
    """Return whether a path is a row of `MODULES`, so that an attribute imports it."""
    return fullname.partition(".")[2] in MODULES


def reason_of(fullname: str) -> str | None:
    """Return why a module is absent; None if it is not a mentioned one."""
    root, _, path = fullname.partition(".")
    path = path if root == "torch" else ""
    while path:
        if path in MODULES:
            return MODULES[path]
        path = path.rpartition(".")[0]
    return None
