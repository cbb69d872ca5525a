# SPDX-License-Identifier: MIT
"""Tensors without elements: every function and module, in every kernel set and dtype.

`against_torch/empty.txt` has PyTorch's answers, so that this holds without it; where it
is installed, the file is compared with it.
"""

from __future__ import annotations

import inspect
import re

import pytest
from tests.core import empty_cases
from tests.core.empty_cases import CALLS, Operands, Outcome, flat, total
from tests.core.empty_distributions import DISTRIBUTIONS
from tests.core.empty_layers import MODULES, OWN

import autocalc as ac
from autocalc import nn
from autocalc.errors import AutocalcError

EXPECTED = empty_cases.expected()
SETS = [s for s in ac.kernels.available() if s.startswith(("simd-", "reference"))]
#: Kernel sets and dtypes: float32 in each set, the others in the best one.
WAYS = [(s, "float32") for s in SETS]
WAYS += [(SETS[0], dtype) for dtype in ("float64", "float16", "bfloat16")]
INTEGERS = ("int64", "uint8", "bool")

_NO_HISTORY = "what is drawn, or found by comparing, has no derivative"
_SAME_AS_FULL = "as of tensors with elements: see docs/reference/differences.md"
_LOST = "PyTorch loses the history of an empty operand"
_BROKEN = "PyTorch's backward pass fails"
_REFUSED = "PyTorch refuses, though the result is clear"
_GARBAGE = "PyTorch returns memory that nobody wrote"
_ONE_OPERAND = "the operand has no slope, and no gradient of zeros"
#: What differs from PyTorch, as patterns of calls, and why.
DIFFERENT = {
    r"m\.pdist\(x\(0,3\)\)": "PyTorch's process ends",
    r"m\.(bernoulli|poisson|unique\w*|detach_copy)\(": _NO_HISTORY,
    r"m\.unique\(c\(0,3\),dim=1\)": _REFUSED,
    r"m\.(trapezoid|trapz|vander)\(|linalg\.(cond|matrix_norm|norm)\(": _LOST,
    r"m\.vander\(x\(0\),3\)": _BROKEN,
    r"(m|F)\.(nan)?quantile\(": _REFUSED,
    r"copysign|\.(eq|ne|not_equal|l[te]|less(_equal)?|g[te]|greater(_equal)?)_\(": (
        _ONE_OPERAND
    ),
    r"heaviside|nextafter": _SAME_AS_FULL,
    r"\)\.(arc|a)(cosh|sinh|tanh)_\(": "PyTorch has no gradient of the form in place",
    r"F\.soft_margin_loss\(": "PyTorch has no gradient in the target",
    r"linalg\.qr\(.*'r'\)": "the Q that is not computed has no history",
    r"m\.as_strided_scatter\(x\(2,3\),": "PyTorch's gradient is 0 everywhere",
    r"scatter(_add|_reduce)?_?\(.*i\((2,0|0|0,3)\),x\(2,3\)": _BROKEN,
    r"m\.bincount\(i\(0\),c\(0\)": "sums of weights have the dtype of the weights",
    r"m\.baddbmm\(.*beta=0": "what is multiplied by the number 0 is not read",
    r"linalg\.lstsq\(\w\(3,2\),x\(3,0\)\)": "the rank of the matrix is 1",
    r"linalg\.householder_product\(\w\(3,[02]\),x\(0\)": "no scale, no gradient of it",
    r"instance_norm|InstanceNorm": _REFUSED,
    r"F\.group_norm\(\w\(2,4,0\)": "PyTorch's gradient of the weight is NaN",
    r"[Pp]ixel_?[Ss]huffle": _BROKEN,
    r"[Pp]ixel_?[Uu]nshuffle": "PyTorch returns the input's shape",
    r"F\.embedding_bag\(i\(2,0\)": _REFUSED,
    r"F\.(adaptive_\w+_|max_|avg_|max_un)pool2d\(x\(2,0,": _REFUSED,
    r"multi_margin_loss|MultiMarginLoss": _GARBAGE,
    r"multilabel_margin_loss|MultiLabelMarginLoss": _GARBAGE,
    r"ctc_loss|CTCLoss": _REFUSED,
    r"F\.(pad|interpolate|unfold|fold|bilinear|channel_shuffle)\(\w\(2,0": _REFUSED,
    r"F\.cross_entropy\(\w\(2,0\),x": "the sum over no classes is 0",
    r"m\.index_add\(\w\(0,3\),0,i\(1\)": "PyTorch reads an index out of range",
}
#: Calls that are an error in half precision alone, and why.
REFUSED_IN_HALF = {
    r"nextafter": "in half precision the next number would be rounded away"
}


def reason_of(call, reasons):
    """Return the reason of the first pattern that is found in a call."""
    return next((why for what, why in reasons.items() if re.search(what, call)), None)


def faults(call, dtype):
    """Yield what is wrong with the outcome of a call, whatever PyTorch does."""
    out = Outcome(ac, call, dtype)
    if out.error is not None and not isinstance(out.error, AutocalcError):
        yield f"a raw error: {type(out.error).__name__}: {out.error}"
    if str(out.error).startswith("reshape"):
        yield f"an error of a step: {out.error}"
    if "nan" in out.gradients + out.recorded + out.second:
        yield f"gradients are NaN: {out.gradients} | {out.recorded} | {out.second}"
    if out.gradients.replace("-", "0") != out.recorded.replace("-", "0"):
        yield f"gradients {out.gradients}, recorded {out.recorded}"
    wanted = str(out) if dtype in INTEGERS else EXPECTED.get(call, str(out))
    wanted = wanted.replace("same(", f"{dtype}(")
    half = dtype in ("float16", "bfloat16") and reason_of(call, REFUSED_IN_HALF)
    if str(out) != wanted and reason_of(call, DIFFERENT) is None and not half:
        yield f"{out}, not {wanted}: {out.error}"


@pytest.mark.core
@pytest.mark.parametrize("kind", [*CALLS, "own"])
@pytest.mark.parametrize(("kernels", "dtype"), WAYS)
def test_calls(kernels, dtype, kind):
    with ac.kernels.use(kernels):
        found = {
            call: wrong
            for call in {**CALLS, "own": OWN}[kind]
            if (wrong := [*faults(call, dtype)])
        }
    assert found == {}


@pytest.mark.core
@pytest.mark.parametrize("kind", ["functions", "dims", "layers"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers(dtype, kind):
    found = {call: wrong for call in CALLS[kind] if (wrong := [*faults(call, dtype)])}
    assert found == {}


@pytest.mark.core
def test_every_difference_is_one():
    different = [
        call for call, theirs in EXPECTED.items()
        if empty_cases.outcome(ac, call) != theirs
    ]  # fmt: skip
    for pattern in DIFFERENT:
        assert any(re.search(pattern, call) for call in different), pattern


@pytest.mark.torch
def test_the_file_is_what_pytorch_does():
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")
    undefined = {call for call in EXPECTED if reason_of(call, DIFFERENT) is _GARBAGE}
    found = empty_cases.outcomes(torch)
    assert found.keys() == EXPECTED.keys()
    assert {
        call: outcome
        for call, outcome in found.items()
        if outcome != EXPECTED[call] and call not in undefined
    } == {}


# ---- with elements -------------------------------------------------------------------


def with_elements(call):
    """Return the same call with 2 in the place of every 0."""
    return re.sub(r"\b0\b", "2", call)


def offered(call):
    """Return names, dtypes, dimensions and histories of what a call gives."""
    out = Outcome(ac, call, "float32")
    assert out.error is None, f"{call}: {out.error!r}"
    words = re.sub(r"(?<=[)d]) (0|inf|nan|partly nan|numbers)(?=,|$)", "", out.results)
    return words.replace("2", "0"), out.gradients == "error"


@pytest.mark.core
@pytest.mark.parametrize("call", DISTRIBUTIONS)
def test_distributions_of_no_batch_are_as_those_of_two(call):
    assert offered(call) == offered(with_elements(call))


#: Modules whose parameters see something though an operand is empty, and why.
NOT_EMPTY = {
    r"MultiheadAttention\(4,2\)\)\(\w\(3,2,4\)": "the queries are there",
    r"(RNN|LSTM|GRU)\(3,4\)\)\(\w\(0,2,3\)": "without a step there is an error",
}


@pytest.mark.filterwarnings("ignore:kl_div. reduction='mean' divides")
@pytest.mark.core
@pytest.mark.parametrize("kernels", SETS)
def test_an_empty_batch_changes_no_gradient_and_no_statistic(kernels):
    changed = []
    with ac.kernels.use(kernels):
        for call in MODULES:
            if reason_of(call, NOT_EMPTY) is None:
                changed += [call] * (not stays(call))
    assert not changed


def stays(call):
    """Return whether a step with an empty batch leaves a module as it is."""
    made, _, operands = call.rpartition(")(")
    given = Operands(ac, "float32")
    ac.manual_seed(0)
    module = eval(f"{made})", given.names())
    before = step(module, with_elements(operands), given)
    return before == step(module, operands, given) == step(module, operands, given)


def step(module, operands, given):
    """Run a module forward and backward; return its gradients and its buffers."""
    result = eval(f"module({operands}", {**given.names(), "module": module})
    loss = total(ac, flat(result))
    if loss is not None:
        loss.backward()
    gradients = [
        None if p.grad is None else p.grad.tolist() for p in module.parameters()
    ]
    buffers = [
        b.tolist() for n, b in module.named_buffers() if n.count("num_batches") == 0
    ]
    return gradients, buffers


# ---- that nothing is left out --------------------------------------------------------

#: Functions that compute nothing from elements.
NOT_COMPUTING = {
    *("as_subclass", "is_set_to", "new_empty_strided", "resize_", "resize_as_", "set_"),
    "conj_physical_",
    *("are_deterministic_algorithms_enabled", "backward", "callback", "can_cast"),
    *(
        "compile",
        "cuda",
        "data_ptr",
        "element_size",
        "from_dlpack",
        "get_default_device",
    ),
    *("get_default_dtype", "get_device", "get_float32_matmul_precision"),
    "storage",
    "untyped_storage",
    *("get_num_interop_threads", "get_num_threads", "get_rng_state", "initial_seed"),
    *("is_anomaly_check_nan_enabled", "is_anomaly_enabled", "is_grad_enabled"),
    *(
        "is_inference",
        "is_pinned",
        "is_shared",
        "live_node_count",
        "load",
        "manual_seed",
        "new",
    ),
    *("pin_memory", "promote_types", "register_hook"),
    *("register_post_accumulate_grad_hook", "result_type", "save", "seed", "serial"),
    *("set_anomaly_enabled", "set_default_device", "set_default_dtype"),
    *("set_default_tensor_type", "set_float32_matmul_precision"),
    *(
        "set_num_interop_threads",
        "set_num_threads",
        "set_printoptions",
        "set_rng_state",
    ),
    *("share_memory_", "use_deterministic_algorithms"),
}
#: What other tests run: the steps of `MultiheadAttention`, factors of symmetric
#: matrices, and unsafe parts.
ELSEWHERE = {
    *("multi_head_attention_forward", "ldl_factor", "ldl_factor_ex", "ldl_solve"),
    *("unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes"),
}
#: Classes that hold others, or are bases of others.
NOT_CALLED = {
    *("Buffer", "LinearCrossEntropyOptions", "Module", "ModuleDict", "ModuleList"),
    *("Parameter", "ParameterDict", "ParameterList", "RNNBase", "RNNCellBase"),
    *("UninitializedBuffer", "UninitializedParameter"),
    *("Distribution", "ExponentialFamily", "Transform"),
}
PLACES = {
    "m": ac,
    "F": nn.functional,
    "D": ac.distributions,
    "m.nn": nn,
    "linalg": ac.linalg,
    "m.linalg": ac.linalg,
    "special": ac.special,
    "m.special": ac.special,
}


def called():
    """Yield all functions, methods and classes that occur in the calls."""
    text = " ".join(
        [*(c for calls in CALLS.values() for c in calls), *OWN, *DISTRIBUTIONS]
    )
    for place, name in re.findall(
        r"\b(m\.\w+(?=\.)|m|F|D|linalg|special)\.(\w+)", text
    ):
        yield getattr(PLACES.get(place), name, None)
    for name in re.findall(r"[\w\])]\.(\w+)", text):
        yield getattr(ac.Tensor, name, None)


def public():
    """Yield (name, function, method or class) of what is public."""
    for place in (ac, nn.functional, ac.linalg, ac.special, ac.Tensor):
        for name in getattr(place, "__all__", dir(place)):
            found = getattr(place, name, None)
            if name[0].islower() and inspect.isroutine(found):
                yield name, found
    for place in (nn, ac.distributions):
        for name in place.__all__:
            if inspect.isclass(found := getattr(place, name)):
                yield name, found


def test_everything_public_has_a_call():
    tried = {id(function) for function in called()}
    missing = {name for name, function in public() if id(function) not in tried}
    assert missing - ELSEWHERE == NOT_COMPUTING | NOT_CALLED
