# SPDX-License-Identifier: MIT
"""Small models of transformers: logits, gradients, and tokens that they generate."""

from __future__ import annotations

import numpy as np
import torch
import transformers as hf
from transformers import (
    AutoModelForCausalLM,
    AutoModelForImageClassification,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
)

SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
DECODER = {
    **SMALL,
    "vocab_size": 96,
    "intermediate_size": 48,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
ENCODER = {
    **SMALL,
    "vocab_size": 96,
    "intermediate_size": 48,
    "max_position_embeddings": 64,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}

#: Family -> configuration, kind of model.
FAMILIES = {
    "llama": lambda: (hf.LlamaConfig(**DECODER), AutoModelForCausalLM),
    "mistral": lambda: (hf.MistralConfig(**DECODER), AutoModelForCausalLM),
    "qwen2": lambda: (hf.Qwen2Config(**DECODER), AutoModelForCausalLM),
    "gemma": lambda: (hf.GemmaConfig(**DECODER, head_dim=8), AutoModelForCausalLM),
    "mixtral": lambda: (
        hf.MixtralConfig(**DECODER, num_local_experts=4, num_experts_per_tok=2),
        AutoModelForCausalLM,
    ),
    "gpt2": lambda: (
        hf.GPT2Config(
            vocab_size=96,
            n_positions=64,
            n_embd=32,
            n_layer=2,
            n_head=4,
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=0,
        ),
        AutoModelForCausalLM,
    ),
    "opt": lambda: (
        hf.OPTConfig(
            vocab_size=96,
            hidden_size=32,
            num_hidden_layers=2,
            ffn_dim=48,
            num_attention_heads=4,
            max_position_embeddings=64,
            dropout=0.0,
            word_embed_proj_dim=32,
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=0,
        ),
        AutoModelForCausalLM,
    ),
    "gpt_neox": lambda: (
        hf.GPTNeoXConfig(
            **{k: v for k, v in DECODER.items() if k != "num_key_value_heads"}
        ),
        AutoModelForCausalLM,
    ),
    "bert": lambda: (hf.BertConfig(**ENCODER), AutoModelForMaskedLM),
    "roberta": lambda: (
        hf.RobertaConfig(**ENCODER, pad_token_id=0),
        AutoModelForMaskedLM,
    ),
    "distilbert": lambda: (
        hf.DistilBertConfig(
            vocab_size=96,
            dim=32,
            n_layers=2,
            n_heads=4,
            hidden_dim=48,
            max_position_embeddings=64,
            dropout=0.0,
            attention_dropout=0.0,
        ),
        AutoModelForMaskedLM,
    ),
    "albert": lambda: (
        hf.AlbertConfig(**ENCODER, embedding_size=16),
        AutoModelForMaskedLM,
    ),
    "t5": lambda: (
        hf.T5Config(
            vocab_size=96,
            d_model=32,
            d_kv=8,
            d_ff=48,
            num_layers=2,
            num_heads=4,
            dropout_rate=0.0,
            pad_token_id=0,
            eos_token_id=2,
            decoder_start_token_id=0,
        ),
        AutoModelForSeq2SeqLM,
    ),
    "bart": lambda: (
        hf.BartConfig(
            vocab_size=96,
            d_model=32,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=48,
            decoder_ffn_dim=48,
            max_position_embeddings=64,
            dropout=0.0,
            attention_dropout=0.0,
            activation_dropout=0.0,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=2,
            decoder_start_token_id=2,
            forced_eos_token_id=None,
        ),
        AutoModelForSeq2SeqLM,
    ),
    "vit": lambda: (
        hf.ViTConfig(
            **SMALL,
            intermediate_size=48,
            image_size=16,
            patch_size=4,
            num_labels=5,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        ),
        AutoModelForImageClassification,
    ),
}


def build(family):
    """Return a small model whose weights are the same everywhere."""
    config, kind = FAMILIES[family]()
    model = kind.from_config(config)
    numbers = np.random.default_rng(0)
    with torch.no_grad():
        for _, parameter in sorted(model.named_parameters()):
            values = 0.2 * numbers.standard_normal(tuple(parameter.shape))
            parameter.copy_(torch.tensor(values, dtype=torch.float32))
    return model


def inputs_of(family):
    """Return what the model is called with, and the labels."""
    numbers = np.random.default_rng(1)
    if family == "vit":
        pixels = numbers.standard_normal((3, 3, 16, 16))
        return {
            "pixel_values": torch.tensor(pixels, dtype=torch.float32),
            "labels": torch.tensor([0, 3, 4]),
        }
    ids = torch.tensor(numbers.integers(3, 96, (3, 10)))
    mask = torch.ones_like(ids)
    mask[0, :3] = 0
    return {"input_ids": ids, "attention_mask": mask, "labels": ids.clone()}


def run(family):
    """Return the loss, logits, gradients and generated tokens of a family."""
    model = build(family)
    inputs = inputs_of(family)
    found = model(**inputs)
    found.loss.backward()
    values = {
        "loss": found.loss.detach().numpy(),
        "logits": found.logits.detach().numpy(),
    }
    for name, parameter in sorted(model.named_parameters()):
        if parameter.grad is not None:
            values[f"gradient of {name}"] = parameter.grad.numpy()
    model.eval()
    if model.can_generate():
        given = {k: v for k, v in inputs.items() if k != "labels"}
        for way, settings in {
            "greedy": {"do_sample": False},
            "beams": {"do_sample": False, "num_beams": 3},
        }.items():
            tokens = model.generate(**given, max_new_tokens=6, **settings)
            values[way] = tokens.numpy()
    return values


NAMES = list(FAMILIES)
