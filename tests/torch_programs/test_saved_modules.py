# SPDX-License-Identifier: MIT
"""Whole modules in files, and the classes that may be made when they are read."""

from __future__ import annotations

from tests.torch_programs import test_running

program = test_running.program

MODEL = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 4, 2, dropout=0.5)
        self.head = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2), 1)

    def forward(self, x):
        return self.head(self.rnn(x)[0])

classes = [
    Model, nn.GRU, nn.TransformerEncoder, nn.TransformerEncoderLayer, nn.Dropout,
    nn.modules.activation.MultiheadAttention, nn.ModuleList, nn.LayerNorm,
    nn.modules.linear.Linear, nn.modules.linear.NonDynamicallyQuantizableLinear,
    nn.functional.relu,
]
model, x = Model().eval(), torch.ones(5, 2, 3)
torch.save({"model": model, "epoch": 3}, "model.pt")
"""


def test_a_module_is_saved_as_it_is(program):
    text = MODEL + (
        """
found = torch.load("model.pt", weights_only=False)
print(found["epoch"], torch.equal(found["model"](x), model(x)))
with torch.serialization.safe_globals(classes):
    found = torch.load("model.pt")
print(type(found["model"]) is Model, torch.equal(found["model"](x), model(x)))
print(torch.serialization.get_safe_globals())
torch.serialization.add_safe_globals(classes)
print(torch.equal(torch.load("model.pt", map_location="cpu")["model"](x), model(x)))
"""
    )
    expected = ["3 True", "True True", "[]", "True"]
    assert program(text).stdout.splitlines() == expected


def test_a_class_that_is_not_named_is_not_made(program):
    text = MODEL + (
        """
missing = torch.serialization.get_unsafe_globals_in_checkpoint("model.pt")
print(len(missing), "__main__.Model" in missing)
try:
    with torch.serialization.safe_globals(classes[:2]):
        torch.load("model.pt")
except RuntimeError as error:
    print(error)
"""
    )
    first, second = program(text).stdout.splitlines()
    assert first == "10 True"
    assert second.startswith("load: the file contains")
    assert "add_safe_globals([" in second


def test_a_pickle_that_runs_code_is_not_run(program):
    text = """
import os, torch

class Evil:
    def __reduce__(self):
        return os.mkdir, ("made",)

torch.save([Evil()], "evil.pt")
for safe in ([], [Evil]):
    torch.serialization.add_safe_globals(safe)
    try:
        torch.load("evil.pt")
    except RuntimeError as error:
        print(str(error).split(", ")[0], os.path.exists("made"))
"""
    line = "load: the file contains posix.mkdir False"
    assert program(text).stdout.splitlines() == [line, line]


def test_a_damaged_pickle(program):
    text = MODEL + (
        """
content = open("model.pt", "rb").read()
for end in (25, 60, len(content) // 2, len(content) - 1):
    open("part.pt", "wb").write(content[:end])
    try:
        torch.serialization.add_safe_globals(classes)
        torch.load("part.pt")
    except RuntimeError as error:
        print(str(error)[:26])
"""
    )
    assert program(text).stdout.splitlines() == ["load: the pickle is damage"] * 4
