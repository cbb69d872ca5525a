# SPDX-License-Identifier: MIT
"""``autocalc predict``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click

from autocalc._graph._grad_mode import no_grad
from autocalc._ops.creation.from_data import tensor
from autocalc._ops.reductions.softmax import softmax
from autocalc._tensor import Tensor
from autocalc.cli import _checkpoint as checkpoint
from autocalc.cli._pictures import draw, read_picture
from autocalc.cli._recipes import MODELS, RECIPES, Recipe, Source
from autocalc.errors import DataError

FILE = click.Path(dir_okay=False, path_type=Path)

#: The number of classes that are shown, the most likely first.
_SHOWN = 3
_BAR = 30


class Picture(NamedTuple):
    """A picture to classify: its source, its ink, and its label if it is known."""

    name: str
    ink: Tensor
    label: int | None


@click.command("predict")
@click.argument("file", type=FILE)
@click.argument("images", nargs=-1, type=FILE, metavar="[IMAGE]...")
@click.option(
    "--index",
    "-i",
    "indices",
    type=click.IntRange(0),
    multiple=True,
    help="The index of a test image.  The option can be repeated.",
)
@click.option(
    "--data",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The folder of the data set.  [default: AUTOCALC_DATA_DIR]",
)
@click.option("--download", is_flag=True, help="Download missing files.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def predict_command(
    file: Path,
    images: tuple[Path, ...],
    indices: tuple[int, ...],
    folder: Path | None,
    download: bool,
    as_json: bool,
) -> None:
    """Classify images with a trained model.

    FILE is a checkpoint that `autocalc train --save` wrote.  An IMAGE is a .npy or .pgm
    file with the size that the model expects.  If Pillow is installed, it can also be a
    .png, .jpg or other file of any size.  Without IMAGE, images of the test set are
    classified.

    \b
    Examples:
      autocalc predict digits.safetensors
      autocalc predict mnist.safetensors --index 7 --index 8 --data ~/data
      autocalc predict mnist.safetensors my-seven.png
    """
    state = checkpoint.read(file)
    recipe = RECIPES[state["config"].data]
    model = MODELS[state["config"].model](recipe)
    model.load_state_dict(state["model"])
    model.eval()
    if images and indices:
        raise click.UsageError("give IMAGE files or --index, not both.")
    if images:
        pictures = _from_files(images, recipe)
    else:
        pictures = _tests(indices or (0,), recipe, Source(folder, download))
    for picture in pictures:
        shares = _shares(model, recipe, picture.ink)
        if as_json:
            click.echo(json.dumps(_record(picture, recipe, shares)))
        else:
            _show(picture, recipe, shares)


def _from_files(paths: tuple[Path, ...], recipe: Recipe) -> Iterator[Picture]:
    for path in paths:
        if not path.exists():
            raise DataError(f"{path} does not exist.")
        yield Picture(str(path), tensor(read_picture(path, recipe.size)), None)


def _tests(
    indices: tuple[int, ...], recipe: Recipe, source: Source
) -> Iterator[Picture]:
    dataset = recipe.load(train=False, source=source)
    for index in indices:
        if index >= len(dataset):
            message = f"{index} is out of range for {len(dataset):,} test images."
            raise click.BadParameter(message, param_hint="--index")
        ink = dataset.data[index].float() / dataset.white
        yield Picture(f"test image {index}", ink, int(dataset.targets[index]))


def _shares(model: Any, recipe: Recipe, ink: Tensor) -> list[float]:
    """Return the probability of each class."""
    with no_grad():
        logits = model(recipe.transform(ink.reshape(1, 1, *recipe.size)))
        shares: list[float] = softmax(logits[0], 0).tolist()
    return shares


def _best(shares: list[float]) -> list[int]:
    return sorted(range(len(shares)), key=lambda i: -shares[i])


def _record(picture: Picture, recipe: Recipe, shares: list[float]) -> dict[str, Any]:
    return {
        "image": picture.name,
        "prediction": recipe.classes[_best(shares)[0]],
        "label": None if picture.label is None else recipe.classes[picture.label],
        "probabilities": dict(zip(recipe.classes, shares, strict=True)),
    }


def _show(picture: Picture, recipe: Recipe, shares: list[float]) -> None:
    unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    click.echo(picture.name)
    click.echo(draw(picture.ink.numpy(), unicode))
    width = max(map(len, recipe.classes))
    for i in _best(shares)[:_SHOWN]:
        bar = ("█" if unicode else "#") * round(_BAR * shares[i])
        line = f"{recipe.classes[i]:>{width}}  {bar:{_BAR}}  {shares[i]:6.1%}"
        click.echo(line)
    if picture.label is not None:
        right = _best(shares)[0] == picture.label
        verdict = "right" if right else f"wrong: it is {recipe.classes[picture.label]}"
        click.echo(verdict)
