# SPDX-License-Identifier: MIT
"""float16 and bfloat16: the modules of PyTorch's database, by their exact results.

Every sample that PyTorch takes is taken, with the same parameters loaded.  PyTorch
computes values and gradients in float64.
"""

from __future__ import annotations

import functools
import warnings
import zlib

import pytest

import autocalc as ac

torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")
pytest.importorskip("expecttest", reason="PyTorch's database imports it")
from tests.operators import test_modules_against_database as modules  # noqa: E402
from tests.operators.both import (  # noqa: E402  it imports PyTorch
    Result,
    Skipped,
    flat,
    leaves_of,
    spread,
    taken_over,
    theirs,
)
from tests.operators.test_halves_against_database import (  # noqa: E402
    DTYPES,
    alike,
    converted,
    gradients,
    near,
)

pytestmark = [pytest.mark.torch, pytest.mark.slow]

#: Of each module, dtype and mode.
MOST_SAMPLES = 4


def run(name, dtype):
    """Run a module's samples through both libraries; return what came of it."""
    entry, result = modules.database()[name], Result()
    for training in (True, False) if entry.train_and_eval_differ else (True,):
        torch.manual_seed(zlib.crc32(name.encode()))
        samples = entry.module_inputs_func(
            entry, "cpu", dtype, requires_grad=True, training=training
        )
        samples = [s for s in samples if s.forward_input is not None]
        for sample in spread(samples, MOST_SAMPLES):
            run_sample(entry, getattr(ac.nn, name), sample, dtype, training, result)
    return result


def run_sample(entry, module, sample, dtype, training, result):
    leaves = []
    made, given = sample.constructor_input, sample.forward_input
    try:
        arguments = modules.as_ours((made.args, made.kwargs), [])
        mine_args, mine_kwargs = modules.as_ours((given.args, given.kwargs), leaves)
    except Skipped as reason:
        result.skipped[str(reason)] += 1
        return
    where = f"{sample.desc} {made.args} {made.kwargs} training={training}"[:300]
    args, kwargs = theirs((given.args, given.kwargs))
    try:
        other = entry.module_cls(*made.args, **made.kwargs).to(dtype).train(training)
        exact = entry.module_cls(*made.args, **made.kwargs).train(training)
        exact.load_state_dict(other.state_dict())
        state = {key: taken_over(x) for key, x in other.state_dict().items()}
        half = other(*args, **kwargs)
    except Exception as error:
        result.skipped[f"PyTorch: {type(error).__name__}"] += 1
        return
    result.ran += 1
    exact_args, exact_kwargs = converted((given.args, given.kwargs), torch.float64)
    expected = exact.double()(*exact_args, **exact_kwargs)
    try:
        mine = module(*arguments[0], **arguments[1])
        mine = mine.to(modules.as_ours(dtype, [])).train(training)
        mine.load_state_dict(state)
        found = mine(*mine_args, **mine_kwargs)
        alike(found, half)
        if getattr(exact, "dropout", 0) and training:
            return
        for one, wanted in zip(flat(found), flat(expected), strict=True):
            near(one, wanted)
        ours = dict(mine.named_parameters())
        pairs = [(p, ours[n]) for n, p in other.named_parameters() if p.requires_grad]
        inputs = [
            x for x in leaves_of((exact_args, exact_kwargs)) if x.requires_grad
        ] + [p for p in exact.parameters() if p.requires_grad]
    except Exception as error:
        result.forward.append(f"{where}: {type(error).__name__}: {error}"[:1500])
        return
    try:
        gradients(found, expected, half, leaves + pairs, inputs)
    except Exception as error:
        result.gradient.append(f"{where}: {type(error).__name__}: {error}"[:1500])


@functools.cache
def result_of(name, dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, of deprecated spellings
        return run(name, DTYPES[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", modules.WANTED)
def test_module(name, dtype):
    result = result_of(name, dtype)
    if not result.ran:
        pytest.skip(f"PyTorch takes no sample: {dict(result.skipped)}")
    assert not result.forward, "\n".join(result.forward)
    assert not result.gradient, "\n".join(result.gradient)
