# SPDX-License-Identifier: MIT
"""The modules against PyTorch's own database of modules and sample inputs.

`wanted_modules.txt` names them.  For each, the samples of float32 and float64 run
through both, with the same parameters loaded: names and shapes in the state, values,
gradients of inputs and parameters, and the state afterwards agree.
"""

from __future__ import annotations

import functools
import warnings
import zlib

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
    theirs,
    tolerance,
)

pytestmark = [pytest.mark.torch, pytest.mark.slow]

#: Of each module, dtype and mode; spread evenly over those that the database has.
MOST_SAMPLES = 8

#: How far apart float32 gradients may be where samples are ill-conditioned: scores of
#: attention reach hundreds in one of them, where elements differ by 6e-5 mostly.  In
#: others, ours in float32 were as far from those in float64 as PyTorch's own.
STEEP = {"MultiheadAttention": 2e-4, "ConvTranspose3d": 4e-5}

LISTS = read_lists("wanted_modules.txt")
NOT_YET = frozenset(LISTS.pop("not yet"))
WANTED = sorted(LISTS.pop("modules"))


@functools.cache
def database():
    """Return the entries by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_modules import module_db
    return {entry.name.removeprefix("nn."): entry for entry in module_db}


def run(name):
    """Run a module's samples through both libraries; return what came of it."""
    entry, result = database()[name], Result()
    module = getattr(ac.nn, name, None)
    if module is None:
        result.present = False
        return result
    for dtype in TOLERANCE:
        for training in (True, False) if entry.train_and_eval_differ else (True,):
            torch.manual_seed(zlib.crc32(name.encode()))
            samples = entry.module_inputs_func(
                entry, "cpu", dtype, requires_grad=True, training=training
            )
            samples = [s for s in samples if s.forward_input is not None]
            chosen = spread(samples, MOST_SAMPLES)
            left = len(samples) - len(chosen)
            result.skipped["beyond the number that is tried"] += left
            for sample in chosen:
                run_sample(entry, module, sample, dtype, training, result)
    return result


def run_sample(entry, module, sample, dtype, training, result):
    leaves = []
    made, given = sample.constructor_input, sample.forward_input
    try:
        arguments = as_ours((made.args, made.kwargs), [])
        mine_args, mine_kwargs = as_ours((given.args, given.kwargs), leaves)
    except Skipped as reason:
        result.skipped[str(reason)] += 1
        return
    result.ran += 1
    close = tolerance(entry, dtype)
    where = f"{sample.desc} {made.args} {made.kwargs} training={training}"[:300]
    args, kwargs = theirs((given.args, given.kwargs))
    try:
        other = entry.module_cls(*made.args, **made.kwargs).to(dtype).train(training)
        mine = module(*arguments[0], **arguments[1])
        mine = mine.to(as_ours(dtype, [])).train(training)
        compare_states(mine, other, load=True)
        expected = other(*args, **kwargs)
        out = mine(*mine_args, **mine_kwargs)
        compare(out, expected, close)
        compare_states(mine, other, close=close)
    except Exception as error:
        result.forward.append(f"{where}: {type(error).__name__}: {error}"[:1500])
        return
    inputs = [x for x in leaves_of((args, kwargs)) if x.requires_grad]
    inputs += [p for p in other.parameters() if p.requires_grad]
    parameters = dict(mine.named_parameters())
    named = [parameters[n] for n, p in other.named_parameters() if p.requires_grad]
    try:
        mine_inputs = [x for _, x in leaves] + named
        if dtype is torch.float32:
            close["atol"] = max(close["atol"], STEEP.get(entry.module_cls.__name__, 0))
        gradients(out, expected, mine_inputs, inputs, close)
    except Exception as error:
        result.gradient.append(f"{where}: {type(error).__name__}: {error}"[:1500])


def as_ours(x, leaves):
    """Return arguments as AutoCalc has them, PyTorch's functions being ours."""
    if isinstance(x, (tuple, list)) and hasattr(x, "data") and hasattr(x, "_fields"):
        raise Skipped(type(x).__name__)
    if type(x) in (tuple, list):
        return type(x)(as_ours(one, leaves) for one in x)
    if isinstance(x, dict):
        return {key: as_ours(value, leaves) for key, value in x.items()}
    if isinstance(x, torch.nn.TransformerEncoderLayer):
        return encoder_layer(x)
    if callable(x) and not isinstance(x, (torch.Tensor, torch.dtype)):
        return getattr(ac.nn.functional, x.__name__)
    return ours(x, leaves)


def encoder_layer(x):
    """Return a layer of the same settings; its numbers are loaded with the rest."""
    return ac.nn.TransformerEncoderLayer(
        x.self_attn.embed_dim,
        x.self_attn.num_heads,
        x.linear1.out_features,
        x.dropout.p,
        as_ours(x.activation, []),
        x.norm1.eps,
        x.self_attn.batch_first,
        x.norm_first,
        bias=x.linear1.bias is not None,
    )


def compare_states(mine, other, *, load=False, close=None):
    """Compare names, dtypes and shapes of states; load theirs, or compare values."""
    state, expected = mine.state_dict(), other.state_dict()
    assert list(state) == list(expected), f"the state holds {list(state)}"
    if load:
        compare(list(state.values()), list(expected.values()), {}, values=False)
        arrays = {key: t.detach().clone().numpy() for key, t in expected.items()}
        mine.load_state_dict({key: ac.from_numpy(a) for key, a in arrays.items()})
    else:
        compare(list(state.values()), list(expected.values()), close)


@functools.cache
def result_of(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, of deprecated spellings
        return run(name)


# ---- the tests -----------------------------------------------------------------------


def test_the_list_names_what_the_database_has():
    assert not LISTS
    assert sorted(WANTED) == sorted(set(WANTED)), "a name is listed twice"
    assert set(WANTED) <= set(database())
    assert set(WANTED) >= NOT_YET


@pytest.mark.parametrize("name", WANTED)
def test_module(name):
    result = result_of(name)
    if name in NOT_YET:
        assert not result.clean, f"{name} is there: take it out of [not yet]"
        return
    assert result.present, f"nn.{name} is not there"
    assert result.ran, f"no sample of {name} ran: {result.skipped}"
    assert not result.forward, "\n".join(result.forward)
    assert not result.gradient, "\n".join(result.gradient)


def test_report(capsys):
    """Print the counts; what is missing fails in the tests above."""
    results = {name: result_of(name) for name in WANTED}
    with capsys.disabled():
        print_report("modules", results, list(results.values()))
    assert set(results) == set(WANTED)
