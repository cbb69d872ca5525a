# SPDX-License-Identifier: MIT
"""``autocalc predict``, and how it reads pictures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import autocalc as ac
from autocalc.cli._pictures import draw, read_picture
from autocalc.errors import DataError


@pytest.fixture
def seven():
    """Return the ink of a test image and its label."""
    data = ac.data.Digits(train=False)
    return data.data[3].numpy() / 16, int(data.targets[3])


def test_a_test_image_is_shown_with_probabilities(run, trained):
    lines = run("predict", trained, "--index", 3).output.splitlines()
    assert lines[0] == "test image 3"
    assert len(lines) == 1 + 8 + 3 + 1
    assert "█" in "".join(lines[1:9]) or "#" in "".join(lines[1:9])
    shares = [float(line.split()[-1].rstrip("%")) for line in lines[9:12]]
    assert shares == sorted(shares, reverse=True)
    assert lines[12] == "right" or lines[12].startswith("wrong: it is ")


def test_json_for_programs(run, trained):
    out = run("predict", trained, "-i", 0, "-i", 5, "--json").output
    records = [json.loads(line) for line in out.splitlines()]
    assert [r["image"] for r in records] == ["test image 0", "test image 5"]
    for record in records:
        assert sum(record["probabilities"].values()) == pytest.approx(1, abs=1e-5)
        best = max(record["probabilities"], key=record["probabilities"].get)
        assert record["prediction"] == best
        assert record["label"] in "0123456789"


@pytest.mark.parametrize(
    "words",
    [("predict", "{}", "--index", 3), ("train", "digits", "--resume", "{}")],
    ids=["predict", "resume"],
)
def test_a_damaged_file_is_refused(run, trained, words):
    content = bytearray(trained.read_bytes())
    content[-1] ^= 1
    Path("damaged.safetensors").write_bytes(content)
    out = run(*(str(w).format("damaged.safetensors") for w in words), code=1).output
    assert "damaged.safetensors" in out
    assert ". It is incomplete, damaged or edited. Use an earlier" in out


def test_pictures_from_files_give_what_the_data_set_gives(run, trained, seven):
    ink, label = seven
    np.save("ink.npy", ink.astype(np.float32))
    grey = np.round(ink * 255).astype(np.uint8)
    Path("ink.pgm").write_bytes(b"P5\n# a comment\n8 8\n255\n" + grey.tobytes())
    paper = 255 - grey.astype(int)
    text = "P2 8 8 255\n" + "\n".join(" ".join(map(str, row)) for row in paper)
    Path("paper.pgm").write_text(text)
    files = ("ink.npy", "ink.pgm", "paper.pgm")
    out = run("predict", trained, *files, "--json").output
    (expected,) = (
        json.loads(line)
        for line in run("predict", trained, "-i", 3, "--json").output.splitlines()
    )
    for line, name in zip(out.splitlines(), files, strict=True):
        record = json.loads(line)
        assert record["image"] == name
        assert record["label"] is None
        for key, share in expected["probabilities"].items():
            assert record["probabilities"][key] == pytest.approx(share, abs=5e-3)
    assert expected["label"] == str(label)
    assert "right" not in run("predict", trained, "ink.npy").output


def test_other_formats_by_pillow(tmp_path, seven):
    image = pytest.importorskip("PIL.Image")
    grey = np.kron(np.round(seven[0] * 255), np.ones((4, 4))).astype(np.uint8)
    image.fromarray(grey).save(tmp_path / "big.png")
    ink = read_picture(tmp_path / "big.png", (8, 8))
    assert ink.shape == (8, 8)
    assert np.abs(ink - seven[0]).mean() < 0.1
    (tmp_path / "bad.png").write_text("no picture")
    with pytest.raises(DataError, match="cannot be read as an image:"):
        read_picture(tmp_path / "bad.png", (8, 8))


def test_bad_pictures(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.zeros((4, 8)))
    with pytest.raises(DataError, match="is 4 x 8; the model needs 8 x 8"):
        read_picture(path, (8, 8))
    np.save(path, np.zeros((2, 8, 8)))
    with pytest.raises(DataError, match=r"float64 of shape \(2, 8, 8\); an image must"):
        read_picture(path, (8, 8))
    path.write_text("no array")
    with pytest.raises(DataError, match="is not a NumPy array:"):
        read_picture(path, (8, 8))
    path = tmp_path / "x.pgm"
    path.write_text("P6 8 8 255 ")
    with pytest.raises(DataError, match=r"is not a PGM image \(P2 or P5\)\."):
        read_picture(path, (8, 8))
    path.write_bytes(b"P5 8 8 255\n123")
    with pytest.raises(DataError, match="does not have 8 x 8 pixels"):
        read_picture(path, (8, 8))


def test_pictures_are_drawn_in_shades():
    ink = np.array([[0.0, 0.5, 1.0], [0.3, 0.0, 0.0]])
    assert draw(ink, unicode=True) == "  ▒▒██\n░░"
    assert draw(ink, unicode=False) == "  ::##\n.."


@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        (["--index", 360], "360 is out of range for 360 test images", 2),
        (["--index", -1], "-1 is not in the range x>=0", 2),
        (["x.npy", "--index", 1], "give IMAGE files or --index, not both", 2),
        (["gone.npy"], "does not exist", 1),
    ],
)
def test_wrong_use(run, trained, words, message, code):
    assert message in run("predict", trained, *words, code=code).output


def test_a_file_that_is_no_training(run):
    Path("x").write_text("hello")
    out = run("predict", "x", code=1).output
    assert "bytes) is incomplete or not a safetensors file:" in out
