# SPDX-License-Identifier: MIT
"""Event files: checksums, records and protocol buffers, read back by other code."""

from __future__ import annotations

import math
import struct
import zlib

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import AbsentError, ArgumentError, DTypeError, ShapeError
from autocalc.utils.tensorboard import SummaryWriter
from autocalc.utils.tensorboard._records import crc32c, framed, masked_crc

# ---- a reader of its own -------------------------------------------------------------


def records(path):
    """Yield the records of a file; both checksums of each must be right."""
    data, place = path.read_bytes(), 0
    while place < len(data):
        (length,) = struct.unpack_from("<Q", data, place)
        (check,) = struct.unpack_from("<I", data, place + 8)
        assert check == masked_crc(data[place : place + 8])
        body = data[place + 12 : place + 12 + length]
        (check,) = struct.unpack_from("<I", data, place + 12 + length)
        assert check == masked_crc(body)
        yield body
        place += 16 + length


def varint(data, place):
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place


def fields(data):
    """Return the fields of a message: number -> list of raw values."""
    found, place = {}, 0
    while place < len(data):
        key, place = varint(data, place)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, place = varint(data, place)
        else:
            length = {1: 8, 5: 4}.get(kind)
            if length is None:
                length, place = varint(data, place)
            value, place = data[place : place + length], place + length
        found.setdefault(number, []).append(value)
    return found


def double(raw):
    return struct.unpack("<d", raw)[0]


def events(folder):
    """Return (step, wall time, content) of all events but the first of each file."""
    found = []
    for path in sorted(folder.glob("events.out.tfevents.*")):
        first, *others = map(fields, records(path))
        assert first[3] == [b"brain.Event:2"]
        found += [(one.get(2, [0])[0], double(one[1][0]), one) for one in others]
    return found


def values(folder):
    """Return (step, tag, fields of the value) of each summary."""
    found = []
    for step, _, event in events(folder):
        for summary in event.get(5, []):
            for value in fields(summary)[1]:
                parts = fields(value)
                found.append((step, parts[1][0].decode(), parts))
    return found


def scalars(folder):
    return [
        (step, tag, struct.unpack("<f", parts[2][0])[0])
        for step, tag, parts in values(folder)
    ]


# ---- records -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "crc"),
    [  # RFC 3720, appendix B.4, and the usual check value
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (bytes(range(31, -1, -1)), 0x113FDB5C),
        (b"", 0),
    ],
)
def test_checksums_are_those_of_the_standard(data, crc):
    assert crc32c(data) == crc


def test_a_record_has_its_length_and_two_checksums():
    record = framed(b"abc")
    assert len(record) == 8 + 4 + 3 + 4
    assert record[:8] == struct.pack("<Q", 3)
    assert record[12:15] == b"abc"


# ---- scalars -------------------------------------------------------------------------


def test_scalars_are_written_with_step_and_time(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("loss/train", 0.5, 1, walltime=123.25)
        writer.add_scalar("loss/train", ac.tensor([0.25]), 300)
        writer.add_scalar("rate", np.float64(2.0))
        writer.add_scalar("big", 1e300, 2**40)
    assert scalars(tmp_path) == [
        (1, "loss/train", 0.5),
        (300, "loss/train", 0.25),
        (0, "rate", 2.0),
        (2**40, "big", math.inf),
    ]
    assert events(tmp_path)[0][1] == 123.25


def test_a_value_that_is_not_a_number_is_kept(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("loss", math.nan, 1)
    assert math.isnan(scalars(tmp_path)[0][2])


def test_several_scalars_have_folders_of_their_own(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in range(2):
            writer.add_scalars("loss/all", {"train": step, "a/b": 2.0}, step)
    assert scalars(tmp_path / "loss_all_train") == [
        (0, "loss/all", 0.0),
        (1, "loss/all", 1.0),
    ]
    assert len(scalars(tmp_path / "loss_all_a_b")) == 2


def test_nothing_is_written_if_one_of_several_is_no_number(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        with pytest.raises(DTypeError, match=r"add_scalars: `test` is 'x'; it must be"):
            writer.add_scalars("loss", {"train": 1.0, "test": "x"}, 1)
        assert [path.is_file() for path in tmp_path.iterdir()] == [True]


def test_a_training_that_goes_on_hides_later_steps(tmp_path):
    with SummaryWriter(tmp_path, purge_step=7):
        pass
    ((step, _, event),) = events(tmp_path)
    assert step == 7
    assert fields(event[7][0]) == {1: [1]}


# ---- histograms and texts ------------------------------------------------------------


def test_a_histogram_counts_every_element_once(tmp_path):
    elements = ac.tensor([-1.0, 0.0, 0.5, 0.5, 2.0, math.nan, math.inf])
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("weight", elements, 3)
        writer.add_histogram("weight", elements, 4, bins="auto", max_bins=2)
        writer.add_histogram("weight", elements, 5, bins=[-2, 0.25, 4])
    for _, _, parts in values(tmp_path):
        found = fields(parts[5][0])
        numbers = [double(found[i][0]) for i in range(1, 6)]
        assert numbers == [-1.0, 2.0, 5.0, 2.0, 1 + 0.25 + 0.25 + 4]
        limits = np.frombuffer(found[6][0], "<f8")
        counts = np.frombuffer(found[7][0], "<f8")
        assert len(limits) == len(counts)
        assert counts.sum() == 5
        assert (np.diff(limits) > 0).all()
        assert limits[0] <= -1.0
        assert limits[-1] >= 2.0
    assert counts.tolist() == [0.0, 2.0, 3.0]


@pytest.mark.parametrize("dtype", [ac.bfloat16, ac.int64, ac.bool, ac.float16])
def test_histograms_of_other_dtypes(tmp_path, dtype):
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("x", ac.tensor([0.0, 1.0, 1.0]).to(dtype))
    ((_, _, parts),) = values(tmp_path)
    assert double(fields(parts[5][0])[3][0]) == 3


def test_a_text_is_a_tensor_of_the_text_plugin(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_text("settings", "lr **ä**", 2)
    ((step, tag, parts),) = values(tmp_path)
    assert (step, tag) == (2, "settings/text_summary")
    tensor = fields(parts[8][0])
    assert (tensor[1], tensor[8][0].decode()) == ([7], "lr **ä**")
    plugin = fields(fields(parts[9][0])[1][0])
    assert plugin[1] == [b"text"]


# ---- files ---------------------------------------------------------------------------


def test_what_waits_is_written_by_flush_and_by_number(tmp_path):
    writer = SummaryWriter(tmp_path, max_queue=3)
    for step in range(4):
        writer.add_scalar("a", 0.0, step)
    assert len(scalars(tmp_path)) == 3
    writer.flush()
    assert len(scalars(tmp_path)) == 4
    writer.close()


def test_an_event_behind_close_opens_another_file(tmp_path):
    writer = SummaryWriter(tmp_path, filename_suffix=".x")
    writer.add_scalar("a", 0.0, 1)
    writer.close()
    writer.close()
    writer.add_scalar("a", 0.0, 2)
    writer.close()
    assert sorted(step for step, *_ in scalars(tmp_path)) == [1, 2]
    assert {path.suffix for path in tmp_path.iterdir()} == {".x"}


def test_the_usual_folder_bears_date_and_comment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with SummaryWriter(comment="_lr1") as writer:
        assert writer.get_logdir() == writer.log_dir
        assert writer.log_dir.endswith("_lr1")
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name in writer.log_dir


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda w: w.add_scalar(1, 2), DTypeError, r"`tag` is 1; it must be a text\."),
        (lambda w: w.add_scalar("a", "b"), DTypeError, "`scalar_value` is 'b'"),
        (lambda w: w.add_scalar("a", ac.ones(2)), DTypeError, "must be one number"),
        (lambda w: w.add_scalar("a", 1, 1.5), DTypeError, "`global_step` is 1.5"),
        (lambda w: w.add_scalar("a", 1, 1, "now"), DTypeError, "`walltime` is 'now'"),
        (lambda w: w.add_scalars("a", [1]), DTypeError, "a dict of numbers"),
        (lambda w: w.add_scalars("a", {1: 1}), DTypeError, "a key of tag_scalar_dict"),
        (lambda w: w.add_text("a", 1), DTypeError, "`text_string` is 1"),
        (lambda w: w.add_histogram("a", "b"), DTypeError, "must be a tensor or array"),
        (
            lambda w: w.add_histogram("a", ac.tensor([math.nan])),
            ArgumentError,
            "none of the 1 elements of `values` is finite",
        ),
        (
            lambda w: w.add_histogram("a", ac.ones(2), bins="none"),
            ArgumentError,
            "`bins` is 'none'",
        ),
        (
            lambda w: w.add_histogram("a", ac.ones(2), max_bins=0),
            ArgumentError,
            "`max_bins` is 0; it must be at least 1",
        ),
    ],
)
def test_wrong_arguments_are_refused_and_write_nothing(tmp_path, call, error, message):
    with SummaryWriter(tmp_path) as writer:
        with pytest.raises(error, match=message):
            call(writer)
        writer.flush()
        assert events(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"log_dir": 3}, DTypeError, "`log_dir` is 3; it must be a path"),
        ({"max_queue": 0}, ArgumentError, "`max_queue`=0"),
        ({"flush_secs": -1}, ArgumentError, "`flush_secs`=-1"),
        ({"flush_secs": math.nan}, ArgumentError, "`flush_secs`=nan"),
        ({"purge_step": "a"}, DTypeError, "`purge_step` is 'a'"),
        ({"comment": 1}, DTypeError, "`comment` is 1"),
        ({"filename_suffix": 1}, DTypeError, "`filename_suffix` is 1"),
    ],
)
def test_wrong_settings_make_no_folder(tmp_path, arguments, error, message):
    folder = tmp_path / "runs"
    with pytest.raises(error, match=message):
        SummaryWriter(**{"log_dir": folder, **arguments})
    assert not folder.exists()


def test_tensorboard_reads_what_was_written(tmp_path):
    accumulator = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator",
        reason="TensorBoard is not installed",
    )
    with SummaryWriter(tmp_path) as writer:
        for step in range(5):
            writer.add_scalar("loss", step / 2, step)
        writer.add_histogram("weight", ac.arange(10.0), 1)
        writer.add_text("settings", "lr 0.1")
    read = accumulator.EventAccumulator(str(tmp_path)).Reload()
    assert [(e.step, e.value) for e in read.Scalars("loss")] == [
        (step, step / 2) for step in range(5)
    ]
    (event,) = read.Histograms("weight")
    assert event.histogram_value.num == 10
    assert read.Tags()["tensors"] == ["settings/text_summary"]


# ---- pictures, curves, settings ------------------------------------------------------


def values_of(path):
    """Return the values of all summaries: tag -> fields."""
    found = {}
    for file in sorted(path.rglob("events*")):
        for record in records(file):
            for summary in fields(record).get(5, []):
                for value in fields(summary).get(1, []):
                    parts = fields(value)
                    found[parts[1][0].decode()] = parts
    return found


def pixels_of(png):
    """Return the pixels of a PNG whose lines are kept as they are."""
    head = png.index(b"IHDR") + 4
    width, height = struct.unpack_from(">II", png, head)
    channels = {2: 3, 6: 4}[png[head + 9]]
    start = png.index(b"IDAT")
    (length,) = struct.unpack_from(">I", png, start - 4)
    lines = zlib.decompress(png[start + 4 : start + 4 + length])
    array = np.frombuffer(lines, np.uint8).reshape(height, 1 + width * channels)
    assert not array[:, 0].any()
    return array[:, 1:].reshape(height, width, channels)


@pytest.mark.parametrize(
    ("shape", "order", "size"),
    [
        ((3, 4, 5), "CHW", (4, 5, 3)),
        ((1, 4, 5), "CHW", (4, 5, 3)),
        ((4, 4, 5), "CHW", (4, 5, 4)),
        ((4, 5), "HW", (4, 5, 3)),
        ((4, 5, 3), "HWC", (4, 5, 3)),
        ((9, 3, 4, 5), "NCHW", (8, 40, 3)),
        ((2, 4, 5, 1), "NHWC", (4, 10, 3)),
    ],
)
def test_pictures(tmp_path, shape, order, size):
    values = np.random.default_rng(0).random(shape).astype(np.float32)
    with SummaryWriter(tmp_path) as writer:
        write = writer.add_images if "N" in order else writer.add_image
        write("a", ac.tensor(values), 3, dataformats=order)
        write("b", (values * 255).astype(np.uint8), dataformats=order)
    found = values_of(tmp_path)
    for tag in "ab":
        (image,) = found[tag][4]
        parts = fields(image)
        assert (parts[1][0], parts[2][0], parts[3][0]) == size
        seen = pixels_of(parts[4][0])
        assert seen.shape == size
        if order == "CHW":
            wanted = (values * 255).astype(np.uint8).transpose(1, 2, 0)
            np.testing.assert_array_equal(seen, np.broadcast_to(wanted, size))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda w: w.add_image("a", ac.ones(2, 2)), ShapeError, "must name each dim"),
        (lambda w: w.add_image("a", ac.ones(2, 4, 4)), ShapeError, "has 2 channels"),
        (lambda w: w.add_image("a", ["x"]), DTypeError, "it must hold numbers"),
        (lambda w: w.add_image(5, ac.ones(3, 2, 2)), DTypeError, "`tag` is 5"),
        (lambda w: w.add_figure("a", 5), DTypeError, "`figure` is 5; it must be a fig"),
        (lambda w: w.add_pr_curve("a", [1], [1, 0]), ArgumentError, "1 labels and 2"),
        (lambda w: w.add_hparams([], {}), DTypeError, "`hparam_dict`"),
        (lambda w: w.add_hparams({"a": []}, {}), DTypeError, "'a' is .*a setting must"),
        (
            lambda w: w.add_hparams({}, {}, {"b": [1]}),
            ArgumentError,
            r"names 'b', which is not a setting\.",
        ),
        (lambda w: w.add_summary("x"), DTypeError, "`summary`"),
        (lambda w: w.add_graph(None), AbsentError, "add_graph is not in AutoCalc"),
    ],
)
def test_what_cannot_be_shown_is_refused(tmp_path, call, error, message):
    if "fig" in message:
        pytest.importorskip("matplotlib")
    with SummaryWriter(tmp_path) as writer, pytest.raises(error, match=message):
        call(writer)


def test_a_curve_has_its_counts_at_each_threshold(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_pr_curve(
            "a", [1, 0, 1, 0], ac.tensor([0.9, 0.6, 0.4, 0.1]), num_thresholds=3
        )
    parts = values_of(tmp_path)["a"]
    numbers = struct.unpack("<18f", b"".join(fields(parts[8][0])[5]))
    rows = np.array(numbers).reshape(6, 3)
    np.testing.assert_array_equal(rows[:2], [[2, 1, 0], [2, 1, 0]])
    np.testing.assert_array_equal(rows[2:4], [[0, 1, 2], [0, 1, 2]])
    np.testing.assert_allclose(rows[4:, 0], [0.5, 1.0])
    assert b"pr_curves" in parts[9][0]


def test_settings_of_a_run_are_in_a_folder_of_their_own(tmp_path):
    settings = {"lr": 0.1, "on": True, "name": "adam", "none": None, "n": ac.tensor(3)}
    with SummaryWriter(tmp_path) as writer:
        writer.add_hparams(settings, {"loss": 0.5}, {"lr": [0.1, 0.2]}, run_name="one")
        assert writer.file_writer is writer._get_file_writer()
    assert [file.name for file in tmp_path.iterdir() if file.is_dir()] == ["one"]
    found = values_of(tmp_path)
    start = found["_hparams_/session_start_info"][9][0]
    for name in settings:
        assert name.encode() in start
    assert b"adam" in start
    assert "_hparams_/experiment" in found
    assert "_hparams_/session_end_info" in found
    assert found["loss"][2]
