# SPDX-License-Identifier: MIT
"""Layers and functions whose eager code reads values, in compiled steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import CompileError
from autocalc.nn import functional as F
from autocalc.optim import swa_utils

CALLS = 10


def draws(seed: int) -> ac.Generator:
    return ac.Generator().manual_seed(seed)


def assert_as_eager(make: Callable[[], Any], calls: Iterable[tuple[Any, ...]]) -> None:
    """Compare all results of a function with those of the compiled one."""
    ac.manual_seed(3)
    eager = make()
    wanted = [eager(*args) for args in calls]
    ac.manual_seed(3)
    compiled = ac.compile(make(), exact=True)
    for args, results in zip(calls, wanted, strict=True):
        for got, result in zip(compiled(*args), results, strict=True):
            assert got.equal(result)
    assert len(compiled.programs) == 1


@pytest.mark.parametrize("dtype", [ac.float32, ac.float64, ac.bfloat16])
def test_a_batch_norm_that_takes_the_mean_of_all_batches(dtype: ac.dtype) -> None:
    def make() -> Any:
        norm = nn.BatchNorm1d(3, momentum=None, dtype=dtype)

        def step(x: ac.Tensor) -> Any:
            norm.zero_grad()
            (norm(x) ** 2 + norm(x)).sum().backward()
            return norm.running_mean.clone(), norm.running_var.clone(), norm.bias.grad

        return step

    g = draws(1)
    calls = [(ac.randn(5, 3, generator=g).to(dtype),) for _ in range(CALLS)]
    assert_as_eager(make, calls)


@pytest.mark.parametrize(
    "words",
    [
        {},
        {"use_buffers": True},
        {"avg_fn": swa_utils.get_ema_avg_fn(0.9)},
        {"multi_avg_fn": swa_utils.get_swa_multi_avg_fn()},
    ],
    ids=["mean", "buffers", "ema", "lists"],
)
def test_an_average_of_weights(words: dict[str, Any]) -> None:
    def make() -> Any:
        model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
        averaged = swa_utils.AveragedModel(model, **words)
        sgd = ac.optim.SGD(model.parameters(), lr=0.1)

        def step(x: ac.Tensor) -> Any:
            sgd.zero_grad()
            (model(x) ** 2 - model(x)).sum().backward()
            sgd.step()
            averaged.update_parameters(model)
            state = averaged.state_dict().values()
            return [value.clone() for value in state]

        return step

    calls = [(ac.randn(5, 3, generator=draws(i)),) for i in range(CALLS)]
    assert_as_eager(make, calls)


def test_an_average_that_begins_again_copies_first() -> None:
    model = nn.Linear(2, 1)
    averaged = swa_utils.AveragedModel(model)
    update = ac.compile(lambda: averaged.update_parameters(model))
    for i in range(9):
        nn.init.constant_(model.weight, i)
        if i == 6:
            averaged.n_averaged.zero_()
        update()
    assert averaged.module.weight.tolist() == [[7.0, 7.0]]


OFFSETS = [[0, 3, 5], [0, 1, 6], [0, 0, 2], [0, 4, 4]]


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize(
    "words", [{}, {"padding_idx": 2}, {"include_last_offset": True}], ids=str
)
def test_bags_with_offsets(mode: str, words: dict[str, Any]) -> None:
    def make() -> Any:
        bags = nn.EmbeddingBag(9, 4, mode=mode, **words)

        def step(numbers: ac.Tensor, offsets: ac.Tensor) -> Any:
            bags.zero_grad()
            found = bags(numbers, offsets)
            (found * found).sum().backward()
            return found.detach(), bags.weight.grad

        return step

    g = draws(1)
    calls = [
        (ac.randint(0, 9, (6,), generator=g), ac.tensor(OFFSETS[i % 4]))
        for i in range(CALLS)
    ]
    assert_as_eager(make, calls)


@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_ctc_with_lengths_in_tensors(joined: bool, reduction: str) -> None:
    def make() -> Any:
        w = ac.ones(5, requires_grad=True)

        def step(x: ac.Tensor, texts: Any, steps: Any, lengths: Any) -> Any:
            w.grad = None
            scores = (x * w).log_softmax(-1)
            loss = F.ctc_loss(scores, texts, steps, lengths, reduction=reduction)
            loss.sum().backward()
            return loss.detach(), w.grad

        return step

    g = draws(2)
    lengths = [[2, 3, 1], [3, 3, 0], [1, 2, 3], [2, 2, 2]]
    calls = [
        (
            ac.randn(9, 3, 5, generator=g),
            ac.randint(1, 5, (6,) if joined else (3, 3), generator=g),
            ac.tensor([9, 7 + i % 3, 8]),
            ac.tensor(lengths[i % 4]),
        )
        for i in range(CALLS)
    ]
    # Wider rows of texts sum the same terms in another order.
    compiled, eager = ac.compile(make()), make()
    for args in calls:
        for got, wanted in zip(compiled(*args), eager(*args), strict=True):
            assert got.allclose(wanted, atol=1e-5)
    assert len(compiled.programs) == 1


@pytest.mark.parametrize("replacement", [False, True])
def test_draws_by_weights(replacement: bool) -> None:
    def make() -> Any:
        return lambda x: [x.softmax(-1).multinomial(3, replacement=replacement)]

    calls = [(ac.randn(2, 7, generator=draws(i)),) for i in range(CALLS)]
    assert_as_eager(make, calls)


def test_the_sampling_loop_of_a_language_model() -> None:
    ac.manual_seed(0)
    words = {"vocabulary": 20, "context": 40, "d_model": 16, "layers": 2, "heads": 2}
    decoder = ac.models.Decoder(**words).eval()

    def sample(compiled: bool) -> tuple[list[int], int]:
        caches = decoder.make_caches(1)

        def write(token: ac.Tensor, t: int) -> ac.Tensor:
            logits = decoder(token, caches, t)[:, -1]
            return (logits / 0.8).softmax(-1).multinomial(1)

        run = ac.compile(write) if compiled else write
        ac.manual_seed(5)
        token, text = ac.tensor([[3]]), []
        with ac.no_grad():
            for t in range(40):
                token = run(token, t)
                text.append(token.item())
        return text, len(run.programs) if compiled else 0

    text, programs = sample(compiled=True)
    assert text == sample(compiled=False)[0]
    assert programs == 1


def test_a_read_names_the_module_the_line_and_the_remedy() -> None:
    class Scaled(nn.Module):
        def forward(self, x: ac.Tensor) -> ac.Tensor:
            return x / x.max().item()

    model = ac.compile(nn.Sequential(nn.ReLU(), Scaled()))
    match = r"would not read it again\. Return the tensor and read it outside of the"
    with pytest.raises(CompileError, match=match):
        model(ac.ones(2))


def test_a_read_of_an_operator_names_it() -> None:
    step = ac.compile(lambda x: x.nonzero())
    with pytest.raises(CompileError, match=r"nonzero.* at .*in <lambda>"):
        step(ac.ones(2))
