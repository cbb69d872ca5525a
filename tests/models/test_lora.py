# SPDX-License-Identifier: MIT
"""LoRA: additional weights, merging, several adapters, and adapters as files."""

from __future__ import annotations

import json

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError, CheckpointError, MissingFileError
from autocalc.models import load_adapter, save_adapter
from autocalc.nn.utils import lora

LLAMA = {
    "model_type": "llama",
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 13,
    "max_position_embeddings": 32,
    "initializer_range": 0.3,
}
GPT2 = {"n_embd": 16, "n_head": 4, "n_layer": 2, "n_positions": 32, "vocab_size": 13}


def small(family="llama", **more):
    ac.manual_seed(2)
    if family == "gpt2":
        deviation = {"initializer_range": 0.3}
        return ac.models.from_config(
            {"model_type": "gpt2", **GPT2, **deviation, **more}
        )
    return ac.models.from_config({**LLAMA, **more})


def tokens():
    return ac.tensor(np.random.default_rng(0).integers(0, 13, (2, 9)))


def learn(model, steps=6, lr=0.05):
    x = tokens()
    adam = ac.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=lr)
    losses = []
    for _ in range(steps):
        adam.zero_grad()
        loss = model.loss(x[:, :-1], x[:, 1:])
        loss.backward()
        adam.step()
        losses.append(loss.item())
    return losses


def test_one_layer_by_hand():
    layer = nn.Sequential(nn.Linear(5, 3))
    x = ac.randn(4, 5)
    before = layer(x)
    assert lora.add(layer, rank=2, alpha=6.0) == ["0"]
    assert layer(x).tolist() == before.tolist()
    adapter = layer[0].adapters["default"]
    with ac.no_grad():
        adapter.B.normal_()
    wanted = before + 3.0 * (x @ adapter.A.t() @ adapter.B.t())
    assert ac.allclose(layer(x), wanted, atol=1e-6)
    assert ac.allclose(adapter.change(), 3.0 * adapter.B @ adapter.A)
    lora.use(layer)
    assert layer(x).tolist() == before.tolist()


@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_adapters_learn_and_merge(family):
    model = small(family)
    weights = {name: p.clone() for name, p in model.named_parameters()}
    names = lora.add(model, rank=4)
    assert len(names) == (14 if family == "llama" else 8)
    losses = learn(model)
    assert losses[-1] < 0.95 * losses[0]
    for name, parameter in model.named_parameters():
        plain = name.replace(".base.", ".")
        if plain in weights:
            assert not parameter.requires_grad
            assert parameter.tolist() == weights[plain].tolist()
    wanted = model(tokens())
    lora.merge(model)
    assert [name for name, _ in model.named_parameters()] == list(weights)
    assert all(p.requires_grad for p in model.parameters())
    assert ac.allclose(model(tokens()), wanted, atol=1e-5)
    assert not lora.adapted(model)


def test_a_merged_model_is_saved(tmp_path):
    model = small()
    lora.add(model, rank=2)
    learn(model, 2)
    with pytest.raises(ArgumentError, match=r"call nn\.utils\.lora\.merge"):
        ac.models.save_pretrained(model, tmp_path)
    lora.merge(model)
    ac.models.save_pretrained(model, tmp_path)
    again = ac.models.from_pretrained(tmp_path)
    assert again(tokens()).tolist() == model(tokens()).tolist()


def test_several_adapters():
    model, x = small(), tokens()
    before = model(x)
    lora.add(model, rank=2, targets=["q_proj", "v_proj"], name="one")
    learn(model, 2)
    one = model(x)
    lora.add(model, rank=3, targets="mlp.down_proj", name="two")
    assert model(x).tolist() == before.tolist()
    learn(model, 2)
    two = model(x)
    lora.use(model, "one")
    assert model(x).tolist() == one.tolist()
    lora.use(model, "two")
    assert model(x).tolist() == two.tolist()
    lora.use(model, "one", "two")
    assert not ac.allclose(model(x), two, atol=1e-3)
    lora.remove(model)
    assert model(x).tolist() == before.tolist()


def test_weights_in_bfloat16():
    model = small().to(ac.bfloat16)
    lora.add(model, rank=4)
    adapters = [p for p in model.parameters() if p.requires_grad]
    assert {p.dtype for p in adapters} == {ac.float32}
    losses = learn(model)
    assert losses[-1] < losses[0]
    wanted = model(tokens()).float()
    lora.merge(model)
    assert {p.dtype for p in model.parameters()} == {ac.bfloat16}
    assert (model(tokens()).float() - wanted).abs().max().item() < 0.3


@pytest.mark.parametrize("weights", ["int8", "int4"])
def test_adapters_of_rounded_weights(weights, tmp_path):
    sizes = {"hidden_size": 32, "intermediate_size": 64, "head_dim": 8}
    model = ac.quantize(small(**sizes), weights, activations="float32")
    assert len(lora.add(model, rank=4)) == 14
    losses = learn(model)
    assert losses[-1] < 0.8 * losses[0]
    text = ac.models.generate(model, tokens(), 4, temperature=0)
    assert text.shape == (2, 13)
    with pytest.raises(ArgumentError, match="bits, which cannot hold the sum"):
        lora.merge(model)
    save_adapter(model, tmp_path)
    other = small(**sizes)
    load_adapter(other, tmp_path)
    lora.merge(other)


def test_dropout_is_for_training():
    model = nn.Sequential(nn.Linear(64, 64))
    lora.add(model, rank=8, dropout=0.5)
    with ac.no_grad():
        model[0].adapters["default"].B.normal_()
    x = ac.ones(1, 64)
    assert model(x).tolist() != model(x).tolist()
    model.eval()
    assert model(x).tolist() == model(x).tolist()


@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_adapters_are_files(family, tmp_path):
    model = small(family)
    lora.add(model, rank=3, alpha=5.0, dropout=0.1)
    learn(model, 2)
    save_adapter(model, tmp_path)
    settings = json.loads((tmp_path / "adapter_config.json").read_text())
    assert settings["r"] == 3
    assert settings["lora_alpha"] == 5.0
    assert settings["fan_in_fan_out"] == (family == "gpt2")
    wanted = 7 if family == "llama" else 3
    assert len(settings["target_modules"]) == wanted
    other = small(family)
    assert load_adapter(other, tmp_path, name="x") == list(lora.adapted(model))
    assert other(tokens()).tolist() == model.eval()(tokens()).tolist()


def test_some_layers_of_a_kind(tmp_path):
    model = small()
    place = "model.layers.1.self_attn.q_proj"
    assert lora.add(model, targets=[place]) == [place]
    save_adapter(model, tmp_path)
    settings = json.loads((tmp_path / "adapter_config.json").read_text())
    assert settings["target_modules"] == [place]
    assert load_adapter(small(), tmp_path) == [place]


def test_wrong_adapters(tmp_path):
    model = small()
    lora.add(model, rank=2)
    save_adapter(model, tmp_path)
    path = tmp_path / "adapter_config.json"
    settings = json.loads(path.read_text())

    def check(said, **changes):
        path.write_text(json.dumps({**settings, **changes}))
        other = small()
        with pytest.raises(CheckpointError, match=said):
            load_adapter(other, tmp_path)
        assert not lora.adapted(other)

    check("load_adapter: `peft_type` of .* is 'IA3'", peft_type="IA3")
    check("`use_dora` of .* is True; it must be left out", use_dora=True)
    check("`rank_pattern` of .* must be left out", rank_pattern={"a": 1})
    check("`lora_alpha` of .* a positive number", lora_alpha="x")
    check("`lora_dropout` of .* 0 or more and below 1", lora_dropout=1)
    check(r"`r` of .* must be \[2\], the rank of the tensors", r=4)
    path.write_text(json.dumps({**settings, "use_rslora": True}))
    other = small()
    load_adapter(other, tmp_path)
    scales = {layer.adapters["default"].scale for layer in lora.adapted(other).values()}
    assert scales == {4 * 2**0.5 / 2}
    path.write_text(json.dumps(settings))
    with pytest.raises(CheckpointError, match="which the model does not have"):
        load_adapter(small("gpt2"), tmp_path)
    with pytest.raises(CheckpointError, match="which has 24 inputs and 32 outputs"):
        load_adapter(small(hidden_size=32), tmp_path)
    tensors = {"base_model.model.a.lora_A.weight": ac.ones(2, 2)}
    ac.save(tensors, tmp_path / "adapter_model.safetensors")
    check("has tensors that are not pairs of")
    (tmp_path / "adapter_model.safetensors").unlink()
    with pytest.raises(MissingFileError, match=r"adapter_model\.safetensors does not"):
        load_adapter(small(), tmp_path)


def test_wrong_settings(tmp_path):
    model = small(tie_word_embeddings=True)

    def check(said, **settings):
        with pytest.raises(ArgumentError, match=said):
            lora.add(model, **settings)

    check("`rank` is 0", rank=0)
    check("`dropout` is 1", dropout=1)
    check("`name` is 'a.b'; it must be a text without dots", name="a.b")
    check(
        "no linear layer is named 'query'; the last parts .* down_proj", targets="query"
    )
    check("the weight of 'lm_head' is also that of another", targets="lm_head")
    lora.add(model, targets="q_proj")
    check("has an adapter 'default' already", targets="q_proj")
    with pytest.raises(ArgumentError, match="`name` is 'x'; it must be one of"):
        lora.use(model, "x")
    with pytest.raises(ArgumentError, match="`name` is 'x'; it must be the name of"):
        save_adapter(model, tmp_path, name="x")
    with pytest.raises(ArgumentError, match="a model with linear layers"):
        lora.add(nn.Sequential(nn.ReLU()))
