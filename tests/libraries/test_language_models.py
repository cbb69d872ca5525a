# SPDX-License-Identifier: MIT
"""Models of others: folders of transformers, tokens of tokenizers, chats by Jinja."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
import transformers_models as small
from click.testing import CliRunner
from tokenizers import Tokenizer as Trained
from tokenizers import decoders, models, pre_tokenizers, trainers
from transformers import AutoModel, AutoModelForCausalLM

import autocalc as ac
from autocalc.cli._app import cli
from autocalc.errors import ArgumentError, CheckpointError, MissingFileError
from autocalc.models._pretrained.template import render

pytestmark = pytest.mark.filterwarnings("default")

hf = small.hf
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
    "rope_theta": 10000.0,
}
CAPS = {"attn_logit_softcapping": 5.0, "final_logit_softcapping": 3.0}
FAMILIES = {
    "llama": lambda: hf.LlamaConfig(**small.DECODER, rope_parameters=LLAMA3),
    "mistral": lambda: hf.MistralConfig(**small.DECODER, sliding_window=5),
    "qwen2": lambda: hf.Qwen2Config(**small.DECODER),
    "qwen3": lambda: hf.Qwen3Config(**small.DECODER, head_dim=16),
    "gemma2": lambda: hf.Gemma2Config(
        **small.DECODER, head_dim=16, sliding_window=4, **CAPS
    ),
    "phi": lambda: hf.PhiConfig(**small.DECODER),
    "phi3": lambda: hf.Phi3Config(**small.DECODER, sliding_window=5),
    "gpt2": lambda: small.FAMILIES["gpt2"]()[0],
    "bert": lambda: hf.BertConfig(**small.ENCODER),
    "distilbert": lambda: small.FAMILIES["distilbert"]()[0],
}


def build(family):
    """Return a small model of transformers with weights that are far from 0."""
    config = FAMILIES[family]()
    kind = AutoModel if "bert" in family else AutoModelForCausalLM
    model = kind.from_config(config).eval()
    numbers = np.random.default_rng(0)
    with small.torch.no_grad():
        for _, parameter in sorted(model.named_parameters()):
            values = 0.2 * numbers.standard_normal(tuple(parameter.shape))
            parameter.copy_(small.torch.tensor(values, dtype=small.torch.float32))
    return model


@pytest.mark.parametrize("family", FAMILIES)
def test_a_folder_of_transformers(family, tmp_path):
    theirs = build(family)
    theirs.save_pretrained(tmp_path / "theirs")
    ours = ac.models.from_pretrained(tmp_path / "theirs")
    ac.models.save_pretrained(ours, tmp_path / "ours")
    kind = AutoModel if "bert" in family else AutoModelForCausalLM
    again = kind.from_pretrained(tmp_path / "ours").eval()
    ids = np.random.default_rng(1).integers(3, 96, (2, 10))
    tokens = small.torch.tensor(ids)
    with small.torch.no_grad():
        wanted = [model(input_ids=tokens)[0].numpy() for model in (theirs, again)]
        found = ours(ac.tensor(ids)).numpy()
    for values in wanted:
        assert np.abs(values - found).max() <= 1e-5 * max(1, np.abs(values).max())
    if kind is AutoModel:
        return
    settings = {"max_new_tokens": 6, "do_sample": False, "eos_token_id": 2}
    greedy = theirs.generate(input_ids=tokens, **settings).tolist()
    text = ac.models.generate(ours, ac.tensor(ids), 6, temperature=0, end=2).tolist()
    for one, other in zip(text, greedy, strict=True):
        cut = one.index(2, 10) + 1 if 2 in one[10:] else len(one)
        assert one[:cut] == other[:cut]


# ---- texts ---------------------------------------------------------------------------

TEMPLATE = (
    "{% for m in messages %}<s>{{ m.role }}: {{ m.content }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant: {% endif %}"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the folder of a small model with a tokenizer and a template."""
    path = tmp_path_factory.mktemp("model")
    sizes = {"n_embd": 48, "n_head": 2, "n_layer": 1, "n_positions": 128}
    ac.manual_seed(0)
    sizes["initializer_range"] = 0.2
    config = {"model_type": "gpt2", "vocab_size": 300, "eos_token_id": 1, **sizes}
    ac.models.save_pretrained(ac.models.from_config(config), path)
    tokens = Trained(models.BPE())
    tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokens.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["<s>", "</s>", "<pad>"]
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=special, initial_alphabet=alphabet
    )
    tokens.train_from_iterator(["the cat sat on the mat. "] * 20, trainer)
    tokens.save(str(path / "tokenizer.json"))
    more = {"eos_token": "</s>", "pad_token": {"content": "<pad>"}}
    text = json.dumps({**more, "chat_template": TEMPLATE})
    (path / "tokenizer_config.json").write_text(text)
    return path


def test_a_tokenizer(folder, tmp_path):
    tokenizer = ac.models.Tokenizer(folder)
    assert tokenizer.end == (1,)
    text = "the cat sat: é"
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.decode([1, *tokenizer.encode("a")]) == "a"
    assert tokenizer.decode(ac.tensor([1]), special=True) == "</s>"
    tokens, mask = tokenizer.batch(["the", "the cat sat"])
    assert mask.tolist()[0] == [False] * (mask.shape[1] - 1) + [True]
    assert tokens[0, 0].item() == tokenizer.number("<pad>")
    _, mask = tokenizer.batch(["the", "the cat sat"], side="right", most=2)
    assert mask.tolist() == [[True, False], [True, True]]
    with pytest.raises(ArgumentError, match="`side`='up'"):
        tokenizer.batch(["a"], side="up")
    with pytest.raises(MissingFileError, match=r"tokenizer\.json does not exist"):
        ac.models.Tokenizer(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(CheckpointError, match="cannot be read"):
        ac.models.Tokenizer(tmp_path)


def test_conversations(folder, tmp_path):
    tokenizer = ac.models.Tokenizer(folder)
    said = [{"role": "user", "content": "hi"}]
    assert tokenizer.chat(said) == "<s>user: hi</s><s>assistant: "
    assert tokenizer.chat(said, reply=False) == "<s>user: hi</s>"
    theirs = hf.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    theirs.chat_template = TEMPLATE
    wanted = theirs.apply_chat_template(
        said, tokenize=False, add_generation_prompt=True
    )
    assert tokenizer.chat(said) == wanted
    (tmp_path / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
    with pytest.raises(ArgumentError, match="has no template for chats"):
        ac.models.Tokenizer(tmp_path).chat(said)


def test_templates():
    assert render("{{ a }}", {"a": "é"}) == "é"
    loop = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}"
    with pytest.raises(CheckpointError, match="was ended after 1 seconds"):
        render(loop + "{% endfor %}", {}, seconds=1)
    with pytest.raises(CheckpointError, match="SecurityError"):
        render("{{ ''.__class__.__mro__[1].__subclasses__() }}", {})
    with pytest.raises(CheckpointError, match=r"too much memory|MemoryError"):
        render("{{ 'x' * 4000000000 }}", {})
    with pytest.raises(CheckpointError, match="roles must alternate"):
        render("{{ raise_exception('roles must alternate') }}", {})


def run(*words, **more):
    return CliRunner().invoke(cli, [str(word) for word in words], **more)


def test_commands(folder):
    words = ("generate", folder, "--prompt", "the cat", "-n", 5, "--seed", 1)
    result = run(*words)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("the cat")
    assert "5 tokens, " in result.stderr
    assert run(*words, "--compile").stdout == result.stdout
    talk = run("chat", folder, "-n", 4, "--seed", 1, input="hello\nagain\n")
    assert talk.exit_code == 0, talk.output
    assert talk.stderr.count("tokens/s]") == 2


def test_fine_tuning(folder, tmp_path):
    data = tmp_path / "data.jsonl"
    line = {"prompt": "the cat", "completion": " sat on the mat."}
    talk = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    lines = [line] * 19 + [{"messages": talk}]
    data.write_text("".join(json.dumps(one) + "\n" for one in lines))
    saved, out = tmp_path / "saved.safetensors", tmp_path / "out"
    words = ("finetune", folder, "--data", data, "--out", out, "--eval-every", 10)
    result = run(*words, "--steps", 10, "--lr", 0.03, "--save", saved)
    assert result.exit_code == 0, result.output
    assert "validation loss" in result.stdout
    assert (out / "adapter_config.json").is_file()
    more = run(*words[:-2], "--resume", saved, "--steps", 90, "--merge")
    assert more.exit_code == 0, more.output
    assert ac.models.from_pretrained(out).context == 128
    settings = ("--temperature", 0, "-n", 12)
    told = run("generate", out, "--prompt", "the cat", *settings)
    assert told.stdout == "the cat sat on the mat.\n"
    for other, said in (
        (("--lora", 3, "--resume", saved, "--steps", 99), "--lora 3: .* is a training"),
        (("--resume", saved, "--steps", 5), "has trained 90 steps already"),
        (("--resume", out / "model.safetensors"), "is no checkpoint of a fine-tuning"),
    ):
        wrong = run(*words[:-2], *other)
        assert wrong.exit_code != 0
        assert re.search(said, " ".join(wrong.output.split())), wrong.output


def test_an_adapter_for_text(folder, tmp_path):
    model = ac.models.from_pretrained(folder)
    ac.nn.utils.lora.add(model)
    ac.models.save_adapter(model, tmp_path)
    words = ("generate", folder, "-n", 3, "--seed", 1)
    assert run(*words, "--adapter", tmp_path).stdout == run(*words).stdout


PAGE = Path(__file__).parents[2] / "docs/howto/fine-tune-a-language-model.md"


def test_the_commands_of_the_page(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(folder, "model")
    line = {"prompt": "the cat", "completion": " sat on the mat."}
    Path("examples.jsonl").write_text((json.dumps(line) + "\n") * 20)
    found = re.findall(r"^\$ autocalc (.*)$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(found) == 6
    for words in found:
        result = run(*shlex.split(words))
        assert result.exit_code == 0, (words, result.output)
    assert result.stdout == "the cat sat on the mat.\n"
