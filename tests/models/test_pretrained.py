# SPDX-License-Identifier: MIT
"""Folders in the format of Hugging Face: loading, saving, and wrong folders."""

from __future__ import annotations

import json
import math
import struct

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import (
    ArgumentError,
    CheckpointError,
    DTypeError,
    MissingFileError,
    ModuleError,
    ShapeError,
)
from autocalc.models import from_config, from_pretrained, save_pretrained
from autocalc.models._pretrained.config import Config
from autocalc.models._pretrained.parts import Padding, Places
from autocalc.models._pretrained.rotary import rotary_of

DECODER = {
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 19,
    "max_position_embeddings": 32,
}
GPT2 = {"n_embd": 16, "n_head": 4, "n_layer": 2, "n_positions": 32, "vocab_size": 19}
BERT = {k: v for k, v in DECODER.items() if k != "num_key_value_heads"}
DISTIL = {"dim": 16, "n_heads": 4, "n_layers": 2, "hidden_dim": 24, "vocab_size": 19}
FAMILIES = {
    "llama": DECODER,
    "mistral": {**DECODER, "sliding_window": 3},
    "qwen2": DECODER,
    "qwen3": {**DECODER, "head_dim": 6},
    "gemma2": {
        **DECODER,
        "sliding_window": 3,
        "attn_logit_softcapping": 5.0,
        "final_logit_softcapping": 3.0,
    },
    "phi": {**DECODER, "qk_layernorm": True, "partial_rotary_factor": 0.5},
    "phi3": {**DECODER, "sliding_window": 3},
    "gpt2": GPT2,
}
ENCODERS = {"bert": BERT, "distilbert": DISTIL}


def small(family, **more):
    """Return a small model whose weights are far from 0."""
    ac.manual_seed(0)
    sizes = {**FAMILIES, **ENCODERS}[family]
    config = {"model_type": family, "initializer_range": 0.3, **sizes, **more}
    return from_config(config)


def tokens(rows=2, length=7):
    return ac.tensor(np.random.default_rng(0).integers(0, 19, (rows, length)))


@pytest.fixture
def folder(tmp_path):
    save_pretrained(small("llama"), tmp_path)
    return tmp_path


def edit(folder, **changes):
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


# ---- what is saved is loaded -------------------------------------------------------


@pytest.mark.parametrize("family", [*FAMILIES, *ENCODERS])
def test_a_saved_model_is_loaded(family, tmp_path):
    model = small(family)
    save_pretrained(model, tmp_path)
    again = from_pretrained(tmp_path)
    x = tokens()
    assert not again.training
    assert again(x).tolist() == model(x).tolist()


@pytest.mark.parametrize("family", ENCODERS)
@pytest.mark.parametrize(
    ("head", "shape"), [("MaskedLM", (2, 7, 19)), ("SequenceClassification", (2, 3))]
)
def test_heads_of_encoders(family, head, shape, tmp_path):
    labels = {"id2label": {"0": "a", "1": "b", "2": "c"}}
    model = small(family, architectures=[f"XFor{head}"], **labels)
    save_pretrained(model, tmp_path)
    again = from_pretrained(tmp_path)(tokens())
    assert again.shape == shape
    assert again.tolist() == model(tokens()).tolist()


@pytest.mark.parametrize("family", FAMILIES)
def test_caches_do_not_change_logits(family):
    model = small(family)
    x = tokens(2, 9)
    whole = model(x)
    with ac.no_grad():
        caches = model.make_caches(2, 9)
        parts = [model(x[:, a:b], caches) for a, b in ((0, 4), (4, 8), (8, 9))]
    assert np.allclose(ac.cat(parts, 1).numpy(), whole.detach().numpy(), atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_padding_does_not_change_logits(family):
    model = small(family)
    x = tokens(1, 6)
    padded = ac.cat((ac.zeros(1, 3, dtype=ac.int64), x), 1)
    mask = ac.tensor([[False] * 3 + [True] * 6])
    out = model(padded, mask=mask)[:, 3:]
    assert np.allclose(out.detach().numpy(), model(x).detach().numpy(), atol=1e-5)


def test_padding_does_not_change_an_encoder():
    for family in ENCODERS:
        model = small(family)
        x = tokens(1, 6)
        padded = ac.cat((x, ac.zeros(1, 3, dtype=ac.int64)), 1)
        out = model(padded, ac.tensor([[1] * 6 + [0] * 3]))[:, :6]
        assert np.allclose(out.detach().numpy(), model(x).detach().numpy(), atol=1e-5)


def test_shards(tmp_path):
    model = small("qwen2")
    save_pretrained(model, tmp_path, shard_bytes=4000)
    index = json.loads((tmp_path / "model.safetensors.index.json").read_text())
    assert len(set(index["weight_map"].values())) > 2
    assert from_pretrained(tmp_path)(tokens()).tolist() == model(tokens()).tolist()
    save_pretrained(model, tmp_path)
    assert not (tmp_path / "model.safetensors.index.json").exists()


def test_weights_are_in_the_mapped_file(folder):
    model = from_pretrained(folder)
    names = {"numpy": 0, "memmap": 0}
    for parameter in model.parameters():
        base = parameter.detach().numpy()
        while getattr(base, "base", None) is not None:
            base = base.base
        names[type(base).__name__] = names.get(type(base).__name__, 0) + 1
    assert names["mmap"] == len(list(model.parameters()))
    with ac.no_grad():
        model.lm_head.weight.zero_()
    assert from_pretrained(folder).lm_head.weight.abs().sum().item() > 0


@pytest.mark.parametrize("name", ["bfloat16", "float16", "float64"])
def test_dtypes(folder, tmp_path, name):
    model = from_pretrained(folder, dtype=name)
    assert {p.dtype for p in model.parameters()} == {getattr(ac, name)}
    close = from_pretrained(folder)(tokens()).detach().numpy()
    found = model(tokens()).detach().float().numpy()
    assert np.allclose(found, close, atol=0.1 if name == "bfloat16" else 0.02)
    save_pretrained(model, tmp_path / "other")
    again = from_pretrained(tmp_path / "other")
    assert {p.dtype for p in again.parameters()} == {getattr(ac, name)}


def test_a_loaded_model_learns(folder):
    model = from_pretrained(folder)
    x = tokens(4, 8)
    adam = ac.optim.Adam(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(8):
        adam.zero_grad()
        loss = model.loss(x[:, :-1], x[:, 1:])
        loss.backward()
        adam.step()
        losses.append(loss.item())
    assert losses[-1] < 0.6 * losses[0]


def test_tied_weights_are_stored_once(tmp_path):
    model = small("llama", tie_word_embeddings=True)
    assert model.lm_head.weight is model.model.embed_tokens.weight
    save_pretrained(model, tmp_path)
    again = from_pretrained(tmp_path)
    assert again.lm_head.weight is again.model.embed_tokens.weight


def test_names_without_the_body(tmp_path):
    """Early files of GPT-2 have no prefix, and the masks of attention besides."""
    model = small("gpt2")
    arrays = {
        name.removeprefix("transformer."): p.detach()
        for name, p in model.named_parameters()
    }
    arrays["h.0.attn.bias"] = ac.ones(1, 1, 32, 32)
    ac.save(arrays, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps(model.config))
    assert from_pretrained(tmp_path)(tokens()).tolist() == model(tokens()).tolist()


def test_names_of_norms_in_old_files(tmp_path):
    model = small("bert")
    arrays = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): p.detach()
        for name, p in model.named_parameters()
        if "pooler" not in name
    }
    ac.save(arrays, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps(model.config))
    again = from_pretrained(tmp_path)
    out = again(tokens())
    assert out.tolist() == model(tokens()).tolist()
    with pytest.raises(ModuleError, match="has no pooler"):
        again.pool(out)
    save_pretrained(again, tmp_path / "other")
    assert from_pretrained(tmp_path / "other")(tokens()).tolist() == out.tolist()


def test_files_of_the_tokenizer_are_copied(folder, tmp_path):
    (folder / "tokenizer.json").write_text("{}")
    save_pretrained(from_pretrained(folder), tmp_path / "other")
    assert (tmp_path / "other" / "tokenizer.json").read_text() == "{}"


# ---- parts and formulas written by hand ---------------------------------------------


def rope(**more):
    return rotary_of(Config({"rope_theta": 100.0, **more}, "here", 1), 8)


def test_rotary_turns_pairs():
    x = np.random.default_rng(0).standard_normal((1, 5, 1, 8)).astype("f")
    for share in (1.0, 0.5):
        turned = rope(partial_rotary_factor=share).turn(ac.tensor(x), 3).numpy()
        wanted = x.copy()
        half = int(4 * share)
        for place in range(5):
            for i in range(half):
                angle = (place + 3) * 100.0 ** (-i / half)
                a, b = x[0, place, 0, i], x[0, place, 0, i + half]
                wanted[0, place, 0, i] = a * math.cos(angle) - b * math.sin(angle)
                wanted[0, place, 0, i + half] = a * math.sin(angle) + b * math.cos(
                    angle
                )
        assert np.allclose(turned, wanted, atol=1e-6)


def test_scaled_rotary():
    plain = 100.0 ** (-np.arange(4) / 4)
    both = {"rope_type": "linear", "factor": 4.0}
    assert np.allclose(rope(rope_parameters=both).steps, plain / 4)
    assert np.allclose(
        rope(rope_scaling={**both, "rope_theta": 100.0}).steps, plain / 4
    )
    scaling = {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 40,
    }
    wanted = []
    for step in plain:
        length = 2 * math.pi / step
        if length > 40 / 1.0:
            wanted.append(step / 8)
        elif length < 40 / 4.0:
            wanted.append(step)
        else:
            smooth = (40 / length - 1.0) / 3.0
            wanted.append((1 - smooth) * step / 8 + smooth * step)
    assert np.allclose(rope(rope_scaling=scaling).steps, wanted)
    long = {
        "type": "longrope",
        "short_factor": [1.0, 2.0, 3.0, 4.0],
        "original_max_position_embeddings": 16,
    }
    rotary = rope(rope_scaling=long, max_position_embeddings=64)
    assert np.allclose(rotary.steps, plain / [1, 2, 3, 4])
    assert rotary.scale == pytest.approx(math.sqrt(1.5))


def test_what_a_token_sees():
    assert Places(4, 0).seen() == (0, None, True)
    assert Places(1, 3).seen() == (0, None, False)
    assert Places(1, 4).seen(2) == (3, None, False)
    _, seen, causal = Places(2, 2).seen()
    assert seen.tolist() == [[True, True, True, False], [True] * 4]
    assert not causal
    _, seen, causal = Places(3, 0).seen(2)
    assert seen.tolist() == [[True] * 3, [True] * 3, [False, True, True]]
    padding = Padding(ac.tensor([[False, True, True]]), ac.float32)
    assert Places(3, 0, padding).rows().tolist() == [[0, 0, 1]]
    _, seen, _ = Places(1, 2, padding).seen()
    assert seen.tolist() == [[[[-math.inf, 0, 0]]]]


# ---- wrong folders -------------------------------------------------------------------


def test_a_folder_without_files(tmp_path):
    with pytest.raises(MissingFileError, match=r"config\.json does not exist"):
        from_pretrained(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    with pytest.raises(MissingFileError, match=r"has neither model.safetensors nor"):
        from_pretrained(tmp_path)
    (tmp_path / "pytorch_model.bin").write_bytes(b"x")
    with pytest.raises(MissingFileError, match="is a pickle, which can run code"):
        from_pretrained(tmp_path)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model_type": "mamba"}, "`model_type` of .* must be one of bert, distilbert"),
        ({"model_type": None}, "`model_type` of .* is missing"),
        ({"hidden_size": "16"}, "`hidden_size` of .* is '16'; it must be a whole"),
        ({"hidden_size": 10**30}, "`hidden_size` of .* must be a whole number"),
        ({"hidden_size": 2**31 - 4}, "`head_dim` of .* must be at most 8192"),
        (
            {"vocab_size": 2**31 - 1, "hidden_size": 2**31 - 4, "head_dim": 8},
            "the sizes in .* are impossible",
        ),
        ({"hidden_size": -16}, "`hidden_size` of .* is -16"),
        ({"num_hidden_layers": 10**9}, "must be at most 21, the number of tensors"),
        ({"num_hidden_layers": 3}, "9 tensors of the model are in no file"),
        ({"num_key_value_heads": 3}, "`num_key_value_heads` .* a divisor of 4"),
        ({"vocab_size": 20}, r"has shape \(19, 16\); by config.json it must be"),
        ({"rms_norm_eps": float("nan")}, "`rms_norm_eps` .* a positive number"),
        ({"rms_norm_eps": True}, "`rms_norm_eps` .* a positive number"),
        ({"hidden_act": "exec"}, "`hidden_act` of .* is 'exec'; it must be one of"),
        ({"rope_scaling": [1]}, "`rope_scaling` .* must be an object"),
        ({"rope_scaling": {"type": "yarn"}}, "`type` .* is 'yarn'; it must be one of"),
        ({"dtype": "float8"}, "`dtype` .* is 'float8'; it must be one of"),
        ({"attention_bias": 1}, "`attention_bias` .* must be true or false"),
    ],
)
def test_settings_that_lie(folder, changes, said):
    edit(folder, **changes)
    with pytest.raises(CheckpointError, match=said):
        from_pretrained(folder)


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, '{"a": \ud800}'])
def test_settings_that_are_no_object(folder, text):
    (folder / "config.json").write_text(text, errors="surrogatepass")
    with pytest.raises(CheckpointError, match="cannot be read as JSON"):
        from_pretrained(folder)


def rewrite(path, change):
    """Change the header of a safetensors file."""
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    change(header)
    new = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(new)) + new + data[8 + size :])


def lie_about_shape(header):
    header["lm_head.weight"]["shape"] = [1 << 40, 1 << 30]


def lie_about_place(header):
    header["lm_head.weight"]["data_offsets"] = [0, 1 << 50]


def overlap(header):
    names = [name for name in header if name != "__metadata__"]
    header[names[0]]["data_offsets"] = header[names[1]]["data_offsets"]


@pytest.mark.parametrize("change", [lie_about_shape, lie_about_place, overlap])
def test_headers_that_lie(folder, change):
    rewrite(folder / "model.safetensors", change)
    with pytest.raises(CheckpointError, match="incomplete or not a safetensors file"):
        from_pretrained(folder)


def test_files_that_are_cut(folder):
    path = folder / "model.safetensors"
    data = path.read_bytes()
    for part in (data[:4], data[:100], data[:-1], b"\xff" * 8 + data[8:]):
        path.write_bytes(part)
        with pytest.raises(CheckpointError, match="incomplete or not a safetensors"):
            from_pretrained(folder)


def test_a_header_of_odd_length(folder):
    wanted = from_pretrained(folder)(tokens()).tolist()
    rewrite(folder / "model.safetensors", lambda h: h["__metadata__"].update(a="b"))
    assert from_pretrained(folder)(tokens()).tolist() == wanted


def test_wrong_shards(tmp_path):
    save_pretrained(small("llama"), tmp_path, shard_bytes=4000)
    path = tmp_path / "model.safetensors.index.json"
    index = json.loads(path.read_text())
    files = index["weight_map"]

    def check(weight_map, said, error=CheckpointError):
        path.write_text(json.dumps({"weight_map": weight_map}))
        with pytest.raises(error, match=said):
            from_pretrained(tmp_path)

    check({}, "has no `weight_map`")
    check([1], "has no `weight_map`")
    check({**files, "lm_head.weight": "../x"}, "must be the name of a file in the same")
    check({**files, "lm_head.weight": "x"}, "does not exist", MissingFileError)
    first = min(files.values())
    wrong = next(name for name, file in files.items() if file != first)
    check({**files, wrong: first}, "but it is not there")
    (tmp_path / first).unlink()
    check(files, "which model.safetensors.index.json names, does not exist")


def test_dtypes_that_are_not_known(folder):
    for dtype in ("int8", ac.int64, 7):
        with pytest.raises(ArgumentError, match=r"`dtype` is .*; it must be one of"):
            from_pretrained(folder, dtype=dtype)


def test_calls_that_do_not_fit(folder):
    model = from_pretrained(folder)
    with pytest.raises(ShapeError, match=r"`tokens` has shape .* it must be"):
        model(ac.tensor([1, 2]))
    with pytest.raises(ShapeError, match="this model can read at most 32"):
        model(tokens(1, 33))
    with pytest.raises(ShapeError, match="`mask` has shape"):
        model(tokens(2, 5), mask=ac.ones(2, 4))


def test_models_that_cannot_be_saved(tmp_path):
    with pytest.raises(DTypeError, match="a pretrained model"):
        save_pretrained(ac.nn.Linear(2, 2), tmp_path)
    model = small("gpt2")
    model.transformer.h[0].more = ac.nn.Linear(2, 2)
    with pytest.raises(ArgumentError, match="does not belong to a model with these"):
        save_pretrained(model, tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="cannot be written"):
        save_pretrained(small("gpt2"), tmp_path / "file" / "folder")


# ---- sentence models -----------------------------------------------------------------


def sentence_folder(tmp_path, pooling, normalize=True):
    save_pretrained(small("bert"), tmp_path)
    parts = ["Transformer", "Pooling"] + ["Normalize"] * normalize
    listed = [
        {
            "idx": i,
            "path": "" if i == 0 else f"{i}_{kind}",
            "type": f"sentence_transformers.models.{kind}",
        }
        for i, kind in enumerate(parts)
    ]
    (tmp_path / "modules.json").write_text(json.dumps(listed))
    (tmp_path / "1_Pooling").mkdir(exist_ok=True)
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    return tmp_path


@pytest.mark.parametrize(
    ("pooling", "of"),
    [
        ({"pooling_mode": "mean"}, lambda x: x.mean(0)),
        ({"pooling_mode_max_tokens": True}, lambda x: x.max(0)),
        ({"pooling_mode_cls_token": True}, lambda x: x[0]),
    ],
)
def test_sentence_models(tmp_path, pooling, of):
    model = from_pretrained(sentence_folder(tmp_path, pooling))
    x = tokens(1, 6)
    features = small("bert")(x).detach().numpy()[0]
    wanted = of(features) / np.linalg.norm(of(features))
    assert np.allclose(model(x).detach().numpy()[0], wanted, atol=1e-5)
    padded = ac.cat((x, ac.zeros(1, 2, dtype=ac.int64)), 1)
    found = model(padded, ac.tensor([[1] * 6 + [0] * 2])).detach().numpy()[0]
    assert np.allclose(found, wanted, atol=1e-5)


def test_wrong_sentence_models(tmp_path):
    other = {"pooling_mode_lasttoken": True}
    with pytest.raises(CheckpointError, match=r"`pooling_mode_lasttoken` of .* one of"):
        from_pretrained(sentence_folder(tmp_path, other))
    sentence_folder(tmp_path, {"pooling_mode": "mean"})
    modules = tmp_path / "modules.json"
    modules.write_text(modules.read_text().replace("Normalize", "Dense"))
    with pytest.raises(CheckpointError, match=r"lists the modules .*Dense"):
        from_pretrained(tmp_path)
    modules.write_text('[{"type": "a.Transformer", "path": "../x"}]')
    with pytest.raises(CheckpointError, match="a path leads out of the folder"):
        from_pretrained(tmp_path)
    sentence_folder(tmp_path, {"pooling_mode": "mean"})
    save_pretrained(small("gpt2"), tmp_path)
    with pytest.raises(CheckpointError, match="needs an encoder without a head"):
        from_pretrained(tmp_path)
