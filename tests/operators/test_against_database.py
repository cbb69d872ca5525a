# SPDX-License-Identifier: MIT
"""The operators against PyTorch's own database of operators and sample inputs.

`wanted.txt` names them.  For each, the samples of float32 and float64 run through both:
values, dtypes, shapes and gradients agree within the database's tolerances.
"""

from __future__ import annotations

import functools
import operator
import warnings
import zlib

import numpy as np
import pytest

import autocalc as ac

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest", reason="PyTorch's database imports it")
from tests.operators.both import (  # noqa: E402  it imports PyTorch
    TOLERANCE,
    Result,
    Skipped,
    compare,
    gradients,
    leaves_of,
    ours,
    print_report,
    read_lists,
    spread,
    taken_over,
    theirs,
    tolerance,
)

pytestmark = [pytest.mark.torch, pytest.mark.slow]

#: Where the database's name is not the path of the function.
PATHS = {"normal.in_place": "Tensor.normal_", "uniform": "Tensor.uniform_"}

#: Where the database's function takes its arguments in another order.
ARRANGED = {
    # The database writes into a copy, since a leaf cannot be written.
    "zero_": lambda x: x.clone().zero_(),
    "linalg.lstsq.grad_oriented": lambda a, b, driver: ac.linalg.lstsq(
        a, b, driver=driver
    )[:2],
    "linalg.pinv.singular": lambda a, b: ac.linalg.pinv(a @ b.mT),
    "einsum": lambda operands, equation: ac.einsum(equation, operands),
    "nn.functional.embedding": lambda weight, indices, **words: (
        ac.nn.functional.embedding(indices, weight, **words)
    ),
    "nn.functional.embedding_bag": lambda weight, indices, **words: (
        ac.nn.functional.embedding_bag(indices, weight, **words)
    ),
}

#: Of these the database's function takes the tensor first, as the method does.
TENSOR_FIRST = {"where", "bool", "float", "double", "int", "long"}

#: Vectors are unique up to a sign: what the database derives from them is compared.
UP_TO_SIGN = {"linalg.eig", "linalg.eigh", "linalg.svd", "svd"}

#: Gradients that sum terms of thousands to tens: by how much PyTorch's own float32 is
#: off from its float64; that much is allowed beyond the database's tolerance.
CANCELLING = {
    "pow": 6e-6,
    "atanh": 7e-6,
    "cdist": 4e-5,
    "linalg.multi_dot": 1.5e-5,
    "logcumsumexp": 8e-3,
    "linalg.householder_product": 6e-5,
    "linalg.lstsq.grad_oriented": 2e-5,
}

#: The same of values, absolute: sums of a hundred products of up to 80 each, of which
#: PyTorch's own in float32 are 4e-5 off from float64.
CANCELLING_VALUES = {"nn.functional.conv_transpose3d": 5e-5}

#: Large draws of each random operator, from either library: their mean and standard
#: deviation must agree.
DRAWS = {
    "bernoulli": lambda m: m.bernoulli(m.full((9999,), 0.3)),
    "multinomial": lambda m: m.multinomial(m.tensor([1.0, 2.0, 5.0]), 9999, True),
    "nn.functional.alpha_dropout": lambda m: m.nn.functional.alpha_dropout(
        m.ones(9999), 0.3, training=True
    ),
    "nn.functional.feature_alpha_dropout.with_train": lambda m: (
        m.nn.functional.feature_alpha_dropout(m.ones(3, 3333, 1), 0.3, training=True)
    ),
    "nn.functional.dropout": lambda m: m.nn.functional.dropout(m.ones(9999), 0.3),
    "nn.functional.dropout3d": lambda m: m.nn.functional.dropout3d(
        m.ones(3, 3333, 1, 1, 1), 0.3
    ),
    "nn.functional.dropout2d": lambda m: m.nn.functional.dropout2d(
        m.ones(3, 3333, 1, 1), 0.3
    ),
    "nn.functional.rrelu": lambda m: m.nn.functional.rrelu(
        m.full((9999,), -1.0), 0.25, 0.75, training=True
    ),
    "normal": lambda m: m.normal(m.full((9999,), 2.0), m.full((9999,), 3.0)),
    "normal.in_place": lambda m: m.zeros(9999).normal_(2.0, 3.0),
    "normal.number_mean": lambda m: m.normal(2.0, m.full((9999,), 3.0)),
    "rand_like": lambda m: m.rand_like(m.zeros(9999)),
    "randint": lambda m: m.randint(-3, 9, (9999,)),
    "randint_like": lambda m: m.randint_like(m.zeros(9999), -3, 9),
    "randn": lambda m: m.randn(9999),
    "randn_like": lambda m: m.randn_like(m.zeros(9999)),
    "uniform": lambda m: m.zeros(9999).uniform_(-1.0, 3.0),
}


LISTS = read_lists("wanted.txt")
NOT_YET = frozenset(LISTS.pop("not yet"))
KIND = {name: kind for kind, names in LISTS.items() for name in names}


@functools.cache
def database():
    """Return the entries by name; importing it takes 8 s, so only when needed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
    return {entry.full_name: entry for entry in op_db}


def find(entry):
    """Return AutoCalc's function and method of an entry; None for what is not there."""
    path = PATHS.get(entry.full_name, entry.name)
    function = method = None
    for place in (ac, ac.Tensor):
        try:
            found = operator.attrgetter(path)(place)
        except AttributeError:
            continue
        if isinstance(found, property):
            found = found.fget
        if place is ac.Tensor:
            method = found
        function = function or found
    return function, method


def needs_method(entry):
    name = PATHS.get(entry.full_name, entry.name)
    return hasattr(torch.Tensor, name) and callable(entry.get_method() or None)


# ---- one operator --------------------------------------------------------------------


def run(name):
    """Run an operator's samples through both libraries; return what came of it."""
    entry, kind, result = database()[name], KIND[name], Result()
    function, method = find(entry)
    if name in ARRANGED and function is not None:
        function = ARRANGED[name]
    if name in TENSOR_FIRST:
        function = method
    if function is None or (needs_method(entry) and method is None):
        result.present = False
        return result
    dtypes = [dtype for dtype in TOLERANCE if entry.supports_dtype(dtype, "cpu")]
    for dtype in dtypes or [torch.int64]:  # bitwise operators have integers only
        run_dtype(entry, kind, function, method, dtype, result)
    if kind == "random":
        check_distribution(name, result)
    return result


def run_dtype(entry, kind, function, method, dtype, result):
    differentiable = kind == "differentiable" and dtype.is_floating_point
    exact = not dtype.is_floating_point
    close = {"rtol": 0, "atol": 0} if exact else tolerance(entry, dtype)
    if dtype is torch.float32:
        close["atol"] += CANCELLING_VALUES.get(entry.full_name, 0)
    samples = list(entry.sample_inputs("cpu", dtype, requires_grad=differentiable))
    chosen = spread(samples)
    result.skipped["beyond the number that is tried"] += len(samples) - len(chosen)
    for i, sample in enumerate(chosen):
        run_sample(entry, kind, (function, method), sample, close, i, result)


def run_sample(entry, kind, spellings, sample, close, i, result):
    function, method = spellings
    leaves = []
    try:
        mine = ours((sample.input, sample.args, sample.kwargs), leaves)
    except Skipped as reason:
        result.skipped[str(reason)] += 1
        return
    result.ran += 1
    input, args, kwargs = theirs((sample.input, sample.args, sample.kwargs))
    where = f"{sample.summary()}"[:300]
    drawn = bool(sample.kwargs.get("dropout_p"))
    values = kind not in {"random", "undefined values"} and not drawn
    try:
        expected = entry.op(input, *args, **kwargs)
        out = function(mine[0], *mine[1], **mine[2])
        if entry.full_name in UP_TO_SIGN:
            process = sample.output_process_fn_grad
            compare(process(out), process(expected), close)
            values = False
        compare(out, expected, close, values=values)
        if method is not None and isinstance(mine[0], ac.Tensor) and i < 3:
            again = method(mine[0].detach().clone(), *mine[1], **mine[2])
            compare(again, expected, close, values=values)
        if i < 3 and values:
            run_in_place(entry, mine, input, args, kwargs, close)
    except Exception as error:
        result.forward.append(f"{where}: {type(error).__name__}: {error}"[:1500])
        return
    if kind != "differentiable" or not leaves or drawn:
        return
    if close["rtol"] >= TOLERANCE[torch.float32][0]:
        close = {**close, "rtol": close["rtol"] + CANCELLING.get(entry.full_name, 0)}
    try:
        process = sample.output_process_fn_grad or (lambda x: x)
        inputs = [x for x in leaves_of((input, args, kwargs)) if x.requires_grad]
        mine = [x for _, x in leaves]
        gradients(process(out), process(expected), mine, inputs, close)
    except Exception as error:
        result.gradient.append(f"{where}: {type(error).__name__}: {error}"[:1500])


def run_in_place(entry, mine, input, args, kwargs, close):
    """Hold the method with an underscore to PyTorch's, where both have it."""
    written = getattr(ac.Tensor, f"{entry.name}_", None)
    if written is None or entry.inplace_variant is None:
        return
    with torch.no_grad(), ac.no_grad():
        target = input.detach().clone()
        try:
            entry.inplace_variant(target, *args, **kwargs)
        except RuntimeError:
            return  # the result does not fit into the tensor
        if target.shape != input.shape:
            return  # it was made to fit
        mine_target = taken_over(input)
        assert written(mine_target, *mine[1], **mine[2]) is mine_target
        compare(mine_target, target, close)


def check_distribution(name, result):
    """Compare mean and standard deviation of large draws: 5 standard errors."""
    torch.manual_seed(0)
    ac.manual_seed(0)
    try:
        mine, expected = (
            np.asarray(DRAWS[name](m).numpy(), np.float64).ravel() for m in (ac, torch)
        )
        room = 5 * expected.std() * (2 / 9999) ** 0.5
        assert abs(mine.mean() - expected.mean()) < room, "another mean"
        assert abs(mine.std() - expected.std()) < room, "another deviation"
    except Exception as error:
        result.forward.append(f"a large draw: {type(error).__name__}: {error}"[:500])


@functools.cache
def result_of(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, of deprecated spellings
        torch.manual_seed(zlib.crc32(name.encode()))
        return run(name)


# ---- the tests -----------------------------------------------------------------------


def test_the_list_names_what_the_database_has():
    names = [name for names in LISTS.values() for name in names]
    assert sorted(names) == sorted(set(names)), "a name is listed twice"
    assert set(names) <= set(database())
    assert set(names) >= NOT_YET


@pytest.mark.parametrize("name", sorted(KIND))
def test_operator(name):
    result = result_of(name)
    if name in NOT_YET:
        assert not result.clean, f"{name} is there: take it out of [not yet]"
        return
    assert result.present, f"{name} is not there, as function or as method"
    assert result.ran, f"no sample of {name} ran: {result.skipped}"
    assert not result.forward, "\n".join(result.forward)
    assert not result.gradient, "\n".join(result.gradient)


def test_report(capsys):
    """Print the counts; what is missing fails in the tests above."""
    results = {name: result_of(name) for name in KIND}
    with capsys.disabled():
        both = [results[name] for name in LISTS["differentiable"]]
        print_report("operators", results, both)
    assert set(results) == set(KIND)
