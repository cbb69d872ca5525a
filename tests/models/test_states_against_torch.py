# SPDX-License-Identifier: MIT
"""Models saved as safetensors pass from PyTorch to AutoCalc and back.

Each model is written once, for either library: `lib` is `torch` or `autocalc`.
"""

import numpy as np
import pytest

import autocalc as ac

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

SIZES = {"mlp": (4, 12), "resnet": (3, 3, 12, 12), "lstm": (3, 7), "encoder": (3, 7)}


def mlp(lib):
    nn = lib.nn
    return nn.Sequential(
        nn.Linear(12, 16), nn.LayerNorm(16), nn.GELU(), nn.Dropout(0.2),
        nn.Linear(16, 16, bias=False), nn.PReLU(), nn.Linear(16, 5),
    )  # fmt: skip


def resnet(lib):
    nn = lib.nn

    class Block(nn.Module):
        def __init__(self, fan_in, fan_out, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(fan_in, fan_out, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(fan_out)
            self.conv2 = nn.Conv2d(fan_out, fan_out, 3, padding=1, bias=False)
            self.bn2 = nn.BatchNorm2d(fan_out)
            self.downsample = nn.Sequential(
                nn.Conv2d(fan_in, fan_out, 1, stride, bias=False),
                nn.BatchNorm2d(fan_out),
            )

        def forward(self, x):
            y = nn.functional.relu(self.bn1(self.conv1(x)))
            return nn.functional.relu(self.bn2(self.conv2(y)) + self.downsample(x))

    return nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
        Block(4, 6, 1), Block(6, 8, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(8, 5),
    )  # fmt: skip


def lstm(lib):
    nn = lib.nn

    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(11, 6, padding_idx=0)
            self.lstm = nn.LSTM(6, 8, 2, batch_first=True, bidirectional=True)
            self.head = nn.Linear(16, 5)

        def forward(self, x):
            return self.head(self.lstm(self.words(x))[0])

    return Tagger()


def encoder(lib):
    nn = lib.nn

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(11, 8)
            layer = nn.TransformerEncoderLayer(8, 2, 16, 0.1, batch_first=True)
            norm = nn.LayerNorm(8)
            self.layers = nn.TransformerEncoder(
                layer, 2, norm, enable_nested_tensor=False
            )
            self.head = nn.Linear(8, 5)

        def forward(self, x):
            return self.head(self.layers(self.words(x), src_key_padding_mask=x == 0))

    return Encoder()


MODELS = {"mlp": mlp, "resnet": resnet, "lstm": lstm, "encoder": encoder}


def one_step(lib, model, x):
    """Train a little, so that every parameter and running statistic has moved."""
    model.train()
    optimizer = lib.optim.AdamW(model.parameters(), lr=0.01)
    (model(x) ** 2).mean().backward()
    optimizer.step()
    return model.eval()


@pytest.mark.parametrize("name", MODELS)
def test_a_state_goes_there_and_back(name, tmp_path):
    from safetensors.torch import load_file, save_file

    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 11, SIZES[name])
    numbers[:, 0] = 1  # some key of each sequence is no padding
    if name in ("mlp", "resnet"):
        numbers = rng.normal(size=SIZES[name]).astype("f4")
    x, y = torch.from_numpy(numbers), ac.from_numpy(numbers.copy())

    def agree():
        expected = theirs(x).detach().numpy()
        np.testing.assert_allclose(mine(y).detach().numpy(), expected, 2e-5, 2e-6)

    torch.manual_seed(0)
    theirs = one_step(torch, MODELS[name](torch), x)
    save_file(theirs.state_dict(), tmp_path / "theirs.safetensors")
    mine = MODELS[name](ac).eval()
    keys = mine.load_state_dict(ac.load(tmp_path / "theirs.safetensors"))
    assert str(keys) == "<All keys matched successfully>"
    agree()

    before = mine(y).detach()
    one_step(ac, mine, y)
    assert (mine(y) - before).abs().max().item() > 1e-3
    ac.save(mine.state_dict(), tmp_path / "mine.safetensors")
    state = load_file(tmp_path / "mine.safetensors")
    assert list(mine.state_dict()) == list(theirs.state_dict())
    theirs.load_state_dict(state)
    agree()
