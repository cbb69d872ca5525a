# SPDX-License-Identifier: MIT
"""transformers' Trainer, saved and loaded models, and LoRA by peft."""

from __future__ import annotations

import tempfile

import torch
import transformers as hf
from peft import LoraConfig, PeftModel, get_peft_model
from transformers_models import build, inputs_of


def trainer(family):
    """Return the losses of 20 steps, and how many checkpoints were written."""
    model, inputs = build(family), inputs_of(family)
    data = [{name: rows[i % 3] for name, rows in inputs.items()} for i in range(16)]
    with tempfile.TemporaryDirectory() as folder:
        settings = hf.TrainingArguments(
            output_dir=folder,
            max_steps=20,
            per_device_train_batch_size=4,
            learning_rate=1e-2,
            report_to=[],
            logging_steps=5,
            save_steps=10,
            use_cpu=True,
            train_sampling_strategy="sequential",
            disable_tqdm=True,
        )
        training = hf.Trainer(model=model, args=settings, train_dataset=data)
        training.train()
    losses = [row["loss"] for row in training.state.log_history if "loss" in row]
    return {"losses": torch.tensor(losses).numpy()}


def saved(family):
    """Return by how much the logits of a model differ that was saved and loaded."""
    model, inputs = build(family).eval(), inputs_of(family)
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        loaded = type(model).from_pretrained(folder).eval()
    names = {name for name, _ in loaded.named_parameters()}
    assert names == {name for name, _ in model.named_parameters()}
    difference = loaded(**inputs).logits - model(**inputs).logits
    return {"difference": difference.abs().max().detach().numpy()}


def lora(family):
    """Return the losses of LoRA, and of what was saved, loaded and merged."""
    torch.manual_seed(0)
    settings = LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"])
    model, inputs = get_peft_model(build(family), settings), inputs_of(family)
    trained = [p for p in model.parameters() if p.requires_grad]
    with torch.no_grad():
        for i, parameter in enumerate(trained):
            grid = torch.arange(parameter.numel(), dtype=torch.float32)
            parameter.copy_((0.02 * torch.sin(grid + i)).reshape(parameter.shape))
    optimizer = torch.optim.AdamW(trained, lr=1e-2)
    losses = []
    for _ in range(5):
        loss = model(**inputs).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        loaded = PeftModel.from_pretrained(build(family), folder)
    losses.append(loaded(**inputs).loss.item())
    losses.append(model.merge_and_unload()(**inputs).loss.item())
    return {"losses": torch.tensor(losses).numpy()}


RUNS = {
    "trainer of llama": lambda: trainer("llama"),
    "trainer of bert": lambda: trainer("bert"),
    "saved llama": lambda: saved("llama"),
    "saved gpt2": lambda: saved("gpt2"),
    "saved bert": lambda: saved("bert"),
    "saved t5": lambda: saved("t5"),
    "lora of llama": lambda: lora("llama"),
}
NAMES = list(RUNS)


def run(name):
    """Return the values of a run."""
    return RUNS[name]()
