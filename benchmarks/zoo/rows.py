# SPDX-License-Identifier: MIT
"""The rows of the zoo: sizes, and calls in a round."""

from __future__ import annotations

from benchmarks.zoo.attention import bert, gpt, of_patches
from benchmarks.zoo.convolutional import classifier, mobilenet, resnet18, resnet50, vgg
from benchmarks.zoo.dense import unet, vae
from benchmarks.zoo.sequences import gru, lstm, scan, tcn
from benchmarks.zoo.tables import dlrm, graph, tabular
from benchmarks.zoo.volumes import videos
from benchmarks.zoo.work import Make, Row


def images(make: Make, trains: bool, calls: int = 1) -> Row:
    """Return a row in the faster of two layouts, trained by SGD."""
    return Row(make, trains, images=True, optimizer="SGD", calls=calls)


def small18(batch: int) -> Make:
    """Return ResNet-18 for images of 32 x 32."""
    return classifier(lambda nn: resnet18(nn, small=True), batch, 32)


ZOO: dict[str, Row] = {
    "ResNet-18, 1 of 224x224, inference": images(classifier(resnet18, 1, 224), False),
    "ResNet-18, 1 of 32x32, inference": images(small18(1), False),
    "ResNet-18, 2 of 32x32, step": images(small18(2), True),
    "ResNet-50, 2 of 224x224, step": images(classifier(resnet50, 2, 224), True),
    "VGG-11, 16 of 32x32, step": images(classifier(vgg, 16, 32), True),
    "VGG-11, 1 of 32x32, inference": images(classifier(vgg, 1, 32), False, 2),
    "MobileNetV2, 32 of 32x32, step": images(classifier(mobilenet, 32, 32), True),
    "MobileNetV2, 1 of 224x224, inference": images(
        classifier(lambda nn: mobilenet(nn, small=False), 1, 224), False
    ),
    "MobileNetV2, 1 of 32x32, inference": images(
        classifier(mobilenet, 1, 32), False, 4
    ),
    "U-Net, 2 of 96x96, step": images(unet(2, 96), True),
    "U-Net, 1 of 96x96, inference": images(unet(1, 96), False, 2),
    "VAE, 64 of 28x28, step": images(vae(64), True),
    "R3D, 2 of 8x56x56, step": Row(videos(2, 8, 56), optimizer="SGD"),
    "R3D, 1 of 8x56x56, inference": Row(videos(1, 8, 56), False),
    "ViT d 192, 8 of 32x32, step": images(of_patches(8, 192, 6, 3), True),
    "ViT d 192, 1 of 32x32, inference": images(of_patches(1, 192, 6, 3), False, 2),
    "MLP-mixer d 128, 8 of 32x32, step": images(of_patches(8, 128, 6, None), True),
    "GPT d 256, 2x128 tokens, step": Row(gpt(2, 128, 256, 8, 6)),
    "GPT d 256, 1x128 tokens, inference": Row(gpt(1, 128, 256, 8, 6), False),
    "GPT d 256, 1x32 tokens, inference": Row(gpt(1, 32, 256, 8, 6), False, calls=4),
    "GPT d 768, 1x32 tokens, inference": Row(gpt(1, 32, 768, 12, 12), False),
    "BERT d 128, 4x64 tokens, step": Row(bert(4, 64, 128, 4, 4)),
    "BERT d 128, 1x64 tokens, inference": Row(bert(1, 64, 128, 4, 4), False, calls=4),
    "LSTM, 2 layers of 128, 16x64 tokens, step": Row(lstm(16, 64, 128)),
    "LSTM, 2 layers of 128, 1x64 tokens, inference": Row(
        lstm(1, 64, 128), False, calls=4
    ),
    "GRU 128, 32x50, step": Row(gru(32, 50, 32, 128)),
    "GRU 128, 1x50, inference": Row(gru(1, 50, 32, 128), False, calls=8),
    "TCN d 64, 8x256, step": Row(tcn(8, 256, 64, 4)),
    "scan d 128, 4x256 tokens, step": Row(scan(4, 256, 128, 2)),
    "tabular MLP 256, batch 512, step": Row(tabular(512, 100, 256), calls=2),
    "tabular MLP 256, batch 1, inference": Row(tabular(1, 100, 256), False, calls=50),
    "DLRM, batch 256, step": Row(dlrm(256), calls=2),
    "graph of 1000 nodes, 8000 edges, step": Row(graph(1000, 8000, 64, 3)),
}
