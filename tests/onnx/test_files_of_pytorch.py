# SPDX-License-Identifier: MIT
"""Files that PyTorch's exporter wrote, run by AutoCalc."""

from __future__ import annotations

import pytest
from tests.onnx.both import assert_close, by_load

import autocalc as ac

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore"),  # the exporter's own
]


def models(torch):
    """Return models and their inputs by name."""
    nn, functional = torch.nn, torch.nn.functional

    class Recurrent(nn.Module):
        def __init__(self, kind):
            super().__init__()
            words = {"batch_first": True, "bidirectional": True}
            self.layers = getattr(nn, kind)(6, 5, 2, **words)

        def forward(self, x):
            return self.layers(x)[0]

    class Attention(nn.Module):
        def forward(self, x):
            batch, steps, width = x.shape
            q = x.view(batch, steps, 4, width // 4).transpose(1, 2)
            y = functional.scaled_dot_product_attention(q, q, q, is_causal=True)
            y = y.transpose(1, 2).reshape(batch, steps, width)
            return y[:, -1].unsqueeze(1).expand(-1, 3, -1)

    images = nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2, padding=1),
        nn.BatchNorm2d(8),
        nn.Hardswish(),
        nn.Conv2d(8, 8, 3, groups=8),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 4),
    )
    larger = nn.Sequential(
        nn.Upsample(scale_factor=2),
        nn.Conv2d(3, 4, 3, padding=1, padding_mode="reflect"),
        nn.Upsample(scale_factor=2, mode="bilinear"),
        nn.GroupNorm(2, 4),
        nn.PixelShuffle(2),
        nn.ConvTranspose2d(1, 2, 3, 2, 1, 1),
    )
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, norm_first=True)
    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    return {
        "images": (images, torch.randn(2, 3, 16, 16)),
        "larger": (larger, torch.randn(1, 3, 8, 8)),
        "LSTM": (Recurrent("LSTM"), torch.randn(2, 7, 6)),
        "GRU": (Recurrent("GRU"), torch.randn(2, 7, 6)),
        "encoder": (encoder, torch.randn(2, 5, 16)),
        "attention": (Attention(), torch.randn(2, 5, 16)),
    }


NAMES = ("images", "larger", "LSTM", "GRU", "encoder", "attention")


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_answers_are_those_of_pytorch(name, free, tmp_path):
    torch = pytest.importorskip("torch")
    pytest.importorskip("onnx", reason="autocalc-core[onnx] is not installed")
    torch.manual_seed(0)
    model, x = models(torch)[name]
    model.eval()
    words = {"dynamic_axes": {"x": {0: "batch"}}} if free else {}
    path = tmp_path / "m.onnx"
    words |= {"input_names": ["x"], "opset_version": 17, "dynamo": False}
    torch.onnx.export(model, (x,), str(path), **words)
    given = torch.cat([x, x.flip(0)]) if free else x
    with torch.no_grad():
        wanted = model(given).numpy()
    assert_close(by_load(path, (ac.from_dlpack(given),)), [wanted])
