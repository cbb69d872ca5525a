# SPDX-License-Identifier: MIT
"""Fine-tuning by adapters: examples in files, batches, steps, and going on."""

from __future__ import annotations

import json

import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, DataError
from autocalc.models import Evaluation, TextStep
from autocalc.models._examples import Example, read_examples
from autocalc.models._finetuning import FineTuneConfig, FineTuning, together
from autocalc.nn.utils import lora

GPT2 = {"n_embd": 16, "n_head": 2, "n_layer": 1, "n_positions": 32, "vocab_size": 128}


class Letters:
    """Tokens that are bytes; 0 ends a text, 1 begins one."""

    end = (0,)

    def encode(self, text, special=True):
        return [1] * special + list(text.encode())

    def chat(self, messages, reply=True):
        said = "".join(f"{m['role'][0]}:{m['content']}\n" for m in messages)
        return said + "a:" * reply


def lines(tmp_path, *values):
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(value) + "\n\n" for value in values))
    return path


def test_texts(tmp_path):
    path = lines(tmp_path, {"text": "abcd"})
    ids = [1, 97, 98, 99, 100, 0]
    assert read_examples(path, Letters(), 9) == [Example(ids[:-1], ids[1:])]
    parts = read_examples(path, Letters(), 3)
    assert parts == [Example(ids[:3], ids[1:4]), Example(ids[3:5], ids[4:6])]


def test_answers(tmp_path):
    path = lines(tmp_path, {"prompt": "ab", "completion": "cd"})
    ids, targets = [1, 97, 98, 99, 100], [-100, -100, 99, 100, 0]
    assert read_examples(path, Letters(), 9) == [Example(ids, targets)]
    assert read_examples(path, Letters(), 3) == [Example(ids[-3:], targets[-3:])]


def test_conversations(tmp_path):
    said = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "yz"}]
    (example,) = read_examples(lines(tmp_path, {"messages": said}), Letters(), 99)
    assert bytes(example.tokens) == b"u:x\na:yz"
    assert [t for t in example.targets if t != -100] == list(b"yz\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no example of at least two tokens"),
        ('{"text": 1}', "line 1 is {'text': 1}; it must have"),
        ('{"text": "a"}\n{', "line 2 is not JSON"),
        ('{"prompt": "a"}', "line 1 is .*; it must have"),
        ('{"messages": [{"role": "user", "content": "a"}]}', "line 1 is .*; it must"),
        ("[1]", r"line 1 is \[1\]; it must have"),
    ],
)
def test_wrong_data(tmp_path, text, said):
    path = tmp_path / "data.jsonl"
    path.write_text(text)
    with pytest.raises(DataError, match=said):
        read_examples(path, Letters(), 9)
    with pytest.raises(DataError, match="cannot be read"):
        read_examples(tmp_path / "other", Letters(), 9)


def test_a_batch_has_padding_at_the_end():
    tokens, targets = together([Example([1, 2], [2, 3]), Example([4], [5])])
    assert tokens.tolist() == [[1, 2], [4, 0]]
    assert targets.tolist() == [[2, 3], [5, -100]]


def training(tmp_path, **settings):
    values = [{"prompt": f"{a}+", "completion": f"{a}{a}"} for a in "abcdef"]
    examples = read_examples(lines(tmp_path, *values), Letters(), 9)
    ac.manual_seed(0)
    config = {"model_type": "gpt2", "initializer_range": 0.2, **GPT2}
    model = ac.models.from_config(config)
    usual = {"steps": 12, "eval_every": 6, "lr": 0.02, "warmup": 2, "lora": 4}
    return FineTuning(
        model, (examples, examples), FineTuneConfig(**{**usual, **settings})
    )


def test_an_adapter_learns(tmp_path):
    run = training(tmp_path)
    frozen = run.model.transformer.wte.weight.tolist()
    before = run.evaluate()
    events = list(run.run())
    assert [type(e) for e in events].count(TextStep) == 12
    losses = [e.loss for e in events if isinstance(e, Evaluation)]
    assert losses[-1] < losses[0] < before
    assert run.model.transformer.wte.weight.tolist() == frozen
    assert run.tokens_read == 12 * 4 * 5
    assert run.speed > 0


def test_it_goes_on_exactly(tmp_path):
    whole = training(tmp_path, dropout=0.1)
    list(whole.run())
    half = training(tmp_path, dropout=0.1)
    for event in half.run():
        if event.number == 7:
            break
    path = tmp_path / "half.safetensors"
    ac.save(half.state_dict(), path)
    assert path.stat().st_size < 120_000  # the adapter without the model
    rest = training(tmp_path, dropout=0.1)
    rest.load_state_dict(ac.load(path))
    list(rest.run())
    assert rest.history.losses == whole.history.losses
    assert rest.tokens_read == whole.tokens_read
    for one, other in zip(
        lora.adapted(rest.model).values(),
        lora.adapted(whole.model).values(),
        strict=True,
    ):
        assert (
            one.adapters["default"].B.tolist() == other.adapters["default"].B.tolist()
        )


def test_no_examples(tmp_path):
    model = ac.models.from_config({"model_type": "gpt2", **GPT2})
    with pytest.raises(ArgumentError, match="the examples for evaluation` is 0"):
        FineTuning(model, ([Example([1], [2])], []), FineTuneConfig())


def test_the_command_that_goes_on():
    from autocalc.cli._app import cli
    from autocalc.cli._words import going_on

    words = ["finetune", ".", "--data", "d.jsonl", "--out", "o", "--lora", "4"]
    with cli.make_context("cli", words) as top:
        command = cli.commands["finetune"]
        with command.make_context("finetune", words[1:], parent=top) as ctx:
            text = going_on(ctx, "a.safetensors")
    wanted = "autocalc finetune . --resume a.safetensors --data d.jsonl --out o"
    assert text == wanted
