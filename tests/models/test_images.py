# SPDX-License-Identifier: MIT
"""The classifiers of small images."""

import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, ShapeError
from autocalc.models import LeNet, ResNet, ResNet18, RowLSTM, VisionTransformer


def small_resnet(classes=10, size=None):
    return ResNet(classes, widths=(8, 12))


def small_vit(classes=10, size=(8, 8)):
    return VisionTransformer(classes, size, patch=2, d_model=32, layers=1)


MODELS = {"lenet": LeNet, "lstm": RowLSTM, "resnet": small_resnet, "vit": small_vit}


@pytest.fixture(params=list(MODELS))
def make(request):
    return MODELS[request.param]


def test_sizes_and_classes_are_free(make):
    model = make(classes=7, size=(12, 8))
    assert model(ac.zeros(3, 1, 12, 8)).shape == (3, 7)


def test_a_residual_network_halves_the_image_at_each_further_block():
    model = ResNet(channels=3, widths=(4, 6, 8))
    x = model.blocks(model.stem(ac.zeros(2, 3, 28, 28)))
    assert x.shape == (2, 8, 7, 7)
    assert isinstance(model.blocks[0].shortcut, ac.nn.Identity)


def test_patches_are_the_squares_of_an_image():
    model = VisionTransformer(size=(4, 6), patch=2, layers=1, channels=2)
    x = ac.arange(2 * 2 * 4 * 6).reshape(2, 2, 4, 6)
    patches = model.patches(x)
    assert patches.shape == (2, 6, 8)
    square = x[1, :, 2:4, 4:6]  # the last one of the second row
    assert bool((patches[1, 5] == square.reshape(8)).all())


def test_every_patch_sees_every_other():
    ac.manual_seed(0)
    model = VisionTransformer(size=(4, 4), patch=2, d_model=8, heads=2, layers=1)
    x = ac.randn(1, 1, 4, 4)
    before = model.blocks(model.embed(model.patches(x)) + model.positions)
    x[0, 0, 3, 3] = 9.0
    after = model.blocks(model.embed(model.patches(x)) + model.positions)
    assert bool((before != after).any(2).all())


def test_it_learns_a_batch_by_heart(make):
    ac.manual_seed(0)
    digits = ac.data.Digits(train=False)
    images = ac.stack([digits[i][0] for i in range(20)])
    labels = ac.tensor([int(digits[i][1]) for i in range(20)])
    model = make(size=(8, 8))
    optimizer = ac.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(40):
        optimizer.zero_grad()
        loss = ac.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
    for name, parameter in model.named_parameters():
        assert float(parameter.grad.abs().max()) > 0, name
    assert bool((model(images).argmax(1) == labels).all())


def test_what_does_not_fit_is_refused():
    with pytest.raises(ArgumentError, match=r"LeNet: `size` is \(28, 27\); it must"):
        LeNet(size=(28, 27))
    with pytest.raises(ArgumentError, match="ResNet: `widths` is empty; give the"):
        ResNet(widths=())
    with pytest.raises(ArgumentError, match=r"`size` is \(28, 27\) and `patch`"):
        VisionTransformer(size=(28, 27))
    with pytest.raises(ArgumentError, match="d_model=64, heads=5; d_model must be"):
        VisionTransformer(heads=5)
    with pytest.raises(ShapeError, match=r"must be \(B, 1, 28, 28\)"):
        VisionTransformer(layers=1)(ac.zeros(2, 1, 8, 8))
    with pytest.raises(ShapeError, match=r"RowLSTM: the images have shape \(2, 28"):
        RowLSTM()(ac.zeros(2, 28, 28))


def test_the_network_of_18_layers_has_the_published_sizes_and_keys():
    model = ResNet18()
    assert sum(p.numel() for p in model.parameters()) == 11_689_512
    state = model.state_dict()
    assert len(state) == 122
    assert state["conv1.weight"].shape == (64, 3, 7, 7)
    assert state["layer3.0.downsample.1.running_var"].shape == (256,)
    assert state["layer4.1.bn2.num_batches_tracked"].dtype is ac.int64
    assert "layer1.0.downsample.0.weight" not in state


def test_the_network_of_18_layers_trains():
    ac.manual_seed(0)
    model = ResNet18(num_classes=3)
    x = model.layer1(ac.zeros(2, 64, 8, 8))
    assert model.layer4(model.layer3(model.layer2(x))).shape == (2, 512, 1, 1)
    loss = ac.nn.functional.cross_entropy(
        model(ac.randn(2, 3, 32, 32)), ac.tensor([0, 2])
    )
    loss.backward()
    for name, parameter in model.named_parameters():
        assert float(parameter.grad.abs().max()) > 0, name
