# SPDX-License-Identifier: MIT
"""Files of `torch.save`: read without running anything, hostile ones refused."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile
from collections import OrderedDict

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn
from autocalc._io import torch_zip
from autocalc.errors import CheckpointError

pytestmark = pytest.mark.core


class Global:
    """Pickled as a name alone."""

    def __init__(self, module, name):
        self.line = f"c{module}\n{name}\n".encode()


class Call:
    """Pickled as the call of a name."""

    def __init__(self, module, name, *args):
        self.function, self.args = Global(module, name), args


class Storage:
    def __init__(self, kind, key, count, word="storage"):
        self.record = (word, Global("torch", kind), key, "cpu", count)


def described(value):
    """Return the instructions for a value, without STOP."""
    if isinstance(value, Global):
        return value.line
    if isinstance(value, Call):
        return described(value.function) + described(value.args) + b"R"
    if isinstance(value, Storage):
        return described(value.record) + b"Q"
    if isinstance(value, tuple):
        return b"(" + b"".join(map(described, value)) + b"t"
    if isinstance(value, list):
        return b"](" + b"".join(map(described, value)) + b"e"
    if isinstance(value, OrderedDict):
        items = b"".join(described(x) for pair in value.items() for x in pair)
        return described(Call("collections", "OrderedDict")) + b"(" + items + b"u"
    if isinstance(value, dict):
        items = b"".join(described(x) for pair in value.items() for x in pair)
        return b"}(" + items + b"u"
    return pickle.dumps(value, 2)[2:-1]


def tensor(key="0", count=6, offset=0, size=(2, 3), stride=(3, 1), kind="FloatStorage"):
    storage = Storage(kind, key, count)
    more = (False, Call("collections", "OrderedDict"))
    return Call(
        "torch._utils", "_rebuild_tensor_v2", storage, offset, size, stride, *more
    )


NUMBERS = np.arange(6, dtype=np.float32)


def archive(value, storages=None, *, root="archive/", records=None, **words):
    """Return a file as `torch.save` writes it."""
    file = io.BytesIO()
    content = b"\x80\x02" + described(value) + b"." if records is None else records
    entries = {f"{root}data.pkl": content, f"{root}byteorder": b"little"}
    for key, array in (storages or {"0": NUMBERS}).items():
        entries[f"{root}data/{key}"] = np.asarray(array).tobytes()
    with zipfile.ZipFile(file, "w", **words) as made:
        for name, data in entries.items():
            made.writestr(name, data)
    return file.getvalue()


def load(content):
    return ac.load(io.BytesIO(content))


def test_a_state_dict(tmp_path):
    value = OrderedDict(weight=tensor(), bias=tensor(size=(3,), stride=(1,), offset=2))
    path = tmp_path / "model.pt"
    path.write_bytes(archive(value))
    found = ac.load(path)
    assert list(found) == ["weight", "bias"]
    assert found["weight"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert found["bias"].tolist() == [2, 3, 4]
    found["weight"][0, 2] = 9  # one storage there, one memory here
    assert found["bias"][0].item() == 9
    model = nn.Linear(3, 2)
    model.load_state_dict(OrderedDict(weight=found["weight"], bias=ac.ones(2)))
    assert model.weight[0, 2].item() == 9


KINDS = {
    "BFloat16Storage": "bfloat16",
    "BoolStorage": "bool",
    "ByteStorage": "uint8",
    "CharStorage": "int8",
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "IntStorage": "int32",
    "LongStorage": "int64",
    "ShortStorage": "int16",
}


@pytest.mark.parametrize("kind", KINDS)
def test_dtypes(kind):
    dtype = getattr(ac, KINDS[kind])
    given = ac.tensor([1, 0, 1]).to(dtype)
    value = tensor(count=3, size=(3,), stride=(1,), kind=kind)
    found = load(archive(value, {"0": given.numpy()}))
    assert found.dtype is dtype
    assert found.tolist() == given.tolist()


def test_nested_plain_values():
    value = {
        "epoch": 3,
        "lr": 0.5,
        "of": [tensor(), (None, True, "text", -(2**70))],
        4: {},
    }
    found = load(archive(value))
    assert found["of"][0].shape == (2, 3)
    assert found["of"][1] == (None, True, "text", -(2**70))
    assert (found["epoch"], found["lr"], found[4]) == (3, 0.5, {})


def test_strides_empty_and_0d_tensors_and_parameters():
    turned = tensor(size=(3, 2), stride=(1, 3))
    empty = tensor(size=(0, 4), stride=(4, 1))
    single = tensor(size=(), stride=(), offset=5)
    owned = Call("torch._utils", "_rebuild_parameter", tensor(), True, OrderedDict())
    found = load(archive([turned, empty, single, owned]))
    assert found[0].tolist() == [[0, 3], [1, 4], [2, 5]]
    assert found[1].shape == (0, 4)
    assert found[2].item() == 5
    assert found[3].requires_grad
    assert not found[0].requires_grad


def test_a_file_of_a_machine_of_other_byte_order():
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as made:
        made.writestr("a/data.pkl", b"\x80\x02" + described(tensor()) + b".")
        made.writestr("a/byteorder", b"big")
        made.writestr("a/data/0", NUMBERS.byteswap().tobytes())
    assert load(content.getvalue()).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_file_that_does_not_say_its_byte_order(monkeypatch):
    for order, numbers in (("<", NUMBERS), (">", NUMBERS.byteswap())):
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w") as made:
            made.writestr("a/data.pkl", b"\x80\x02" + described(tensor()) + b".")
            made.writestr("a/data/0", numbers.tobytes())
        if order == ">":
            assert load(content.getvalue()).tolist() != [[0, 1, 2], [3, 4, 5]]
            monkeypatch.setitem(torch_zip.ORDERS, "no record", order)
        assert load(content.getvalue()).tolist() == [[0, 1, 2], [3, 4, 5]]


# ---- hostile and damaged files -------------------------------------------------------


def refuses(content, match):
    with pytest.raises(CheckpointError, match=match) as caught:
        load(content)
    assert "torch.save(model.state_dict(), path)" in str(caught.value)


ran = []

NAMES = [
    ("os", "system"),
    ("builtins", "eval"),
    ("posix", "system"),
    ("subprocess", "Popen"),
    ("torch", "load"),
    ("torch.nn.modules.linear", "Linear"),
    ("torch._utils", "_rebuild_tensor_v3"),
    ("collections", "defaultdict"),
    ("torch", "ComplexFloatStorage"),
    ("tests.core.test_torch_zip", "ran"),
]


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_names_are_never_called(module, name):
    refuses(archive(Call(module, name, "true")), rf"it names {module}.{name}, and only")
    refuses(archive({"x": Global(module, name)}), rf"it names {module}.{name}")
    stacked = b"\x80\x04" + described(module) + described(name) + b"\x93)R."
    refuses(archive(None, records=stacked), rf"it names {module}.{name}")


def test_pickles_of_python_are_refused_and_do_not_run():
    class Hostile:
        def __reduce__(self):
            return ran.append, (1,)

    for protocol in range(2, 6):
        refuses(archive(None, records=pickle.dumps(Hostile(), protocol)), "it names")
    refuses(archive(None, records=pickle.dumps(Hostile(), 0)), "it names|instruction")
    assert ran == []


OTHERS = {
    "an instance": (b"\x80\x02(ios\nsystem\n.", "instruction INST"),
    "an object": (b"\x80\x02(c__main__\nX\no.", "it names"),
    "a new object": (
        described(Global("collections", "OrderedDict")) + b")\x81.",
        "instruction NEWOBJ",
    ),
    "an extension": (b"\x80\x02\x82\x01.", "instruction EXT1"),
    "text of a persistent": (b"\x80\x02Pstorage\n.", "instruction PERSID"),
    "attributes": (
        described([1]) + described({"a": 1}) + b"b.",
        "a list is no StateDict",
    ),
    "other attributes": (
        described(OrderedDict(a=1)) + described({"__class__": 1}) + b"b.",
        "given attributes",
    ),
    "nothing": (b".", "records are damaged"),
    "no end": (b"\x80\x02]", "records are damaged"),
    "too little": (b"\x80\x02R.", "records are damaged"),
    "two values": (b"\x80\x02]].", "records are damaged"),
    "no mark": (b"\x80\x02]e.", "records are damaged"),
    "an unknown memo": (b"\x80\x02h\x07.", "records are damaged"),
    "a key that is a list": (b"\x80\x02}" + b"]K\x01s.", "records are damaged"),
    "an unknown byte": (b"\x80\x02\xff.", "records are damaged"),
    "a name in a list": (
        described([(1, (Global("torch", "Size"),))]) + b".",
        "it names torch.Size",
    ),
    "a storage in a dict": (
        described({"a": Storage("FloatStorage", "0", 6)}) + b".",
        "it names Storage",
    ),
    "a tower of tuples": (
        b"\x80\x02)" + b"2\x86" * 50 + b"q\x00]h\x00a.",
        "instruction DUP",
    ),
    "a name": (described(Global("torch", "Size")) + b".", "it names torch.Size"),
    "a huge text": (
        b"\x80\x02X" + struct.pack("<I", 2**31) + b"a.",
        "records are damaged",
    ),
    "a huge bytes": (
        b"\x80\x04\x8d" + struct.pack("<Q", 2**62) + b"a.",
        "records are damaged",
    ),
    "a huge integer": (
        b"\x80\x02\x8b" + struct.pack("<i", 2**30) + b"a.",
        "records are damaged",
    ),
    "a size of a size": (
        described(Call("torch", "Size", 3)) + b".",
        "records are damaged",
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_records_that_no_tensor_needs(name):
    records, match = OTHERS[name]
    refuses(archive(None, records=records), match)


TENSORS = {
    "beyond the end": (tensor(offset=1), "reaches over the end"),
    "far beyond": (
        tensor(size=(2**40, 2**40), stride=(2**40, 1)),
        "that no tensor can",
    ),
    "by its strides": (tensor(stride=(2**40, 1)), "reaches over the end"),
    "before": (tensor(offset=-1), "that no tensor can have"),
    "of negative size": (tensor(size=(-2, -3)), "that no tensor can have"),
    "of negative strides": (tensor(stride=(-3, 1)), "that no tensor can have"),
    "of repeated elements": (
        tensor(size=(2**62, 2), stride=(0, 0)),
        "that no tensor can",
    ),
    "of many dimensions": (
        tensor(size=(1,) * 99, stride=(1,) * 99),
        "that no tensor can",
    ),
    "of floats": (tensor(size=(2.0, 3)), "that no tensor can have"),
    "of booleans": (tensor(size=(True, 3)), "that no tensor can have"),
    "of other strides": (tensor(stride=(1,)), "that no tensor can have"),
    "without a shape": (tensor(size=6), "has no shape"),
    "of a larger storage": (tensor(count=7), "has 24 bytes where the records say 28"),
    "of a huge storage": (tensor(count=2**60), "has 24 bytes where the records say"),
    "of a storage below 0": (tensor(count=-1), "described by something else"),
    "without a storage": (tensor(key="1"), "entry 'data/1' is missing"),
    "of a path": (
        tensor(key="../../etc/passwd"),
        "entry 'data/../../etc/passwd' is missing",
    ),
    "of a number": (tensor(key=0), "described by something else"),
    "of two kinds": ([tensor(), tensor(kind="IntStorage")], "described in two ways"),
    "of impossible booleans": (tensor(count=24, kind="BoolStorage"), "not 0 or 1"),
    "of no record": (
        Call("torch._utils", "_rebuild_tensor_v2", 1, 2, 3, 4, 5),
        "no storage",
    ),
    "of few": (Call("torch._utils", "_rebuild_tensor_v2"), "records are damaged"),
    "as a parameter": (
        Call("torch._utils", "_rebuild_parameter", 3, True, None),
        "a parameter is no",
    ),
    "of another word": (
        Storage("FloatStorage", "0", 6, word="module"),
        "something else",
    ),
}


@pytest.mark.parametrize("name", TENSORS)
def test_tensors_that_cannot_be(name):
    value, match = TENSORS[name]
    refuses(archive(value), match)


def test_tuples_of_tuples_take_no_time():
    tower = b")q\x00" + b"".join(b"h%ch%c\x86q%c" % (i, i, i + 1) for i in range(60))
    found = load(archive(None, records=b"\x80\x02](" + tower + b"e."))
    assert len(found[-1]) == 2


def test_archives_that_torch_never_writes():
    squeezed = archive(tensor(), compression=zipfile.ZIP_DEFLATED)
    refuses(squeezed, "is compressed, which torch.save never does")
    file = io.BytesIO(archive(tensor()))
    with zipfile.ZipFile(file, "a") as made:
        made.writestr("other/data.pkl", b"")
    refuses(file.getvalue(), "entries that are named data.pkl")
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("notes.txt", b"hello")
    refuses(file.getvalue(), "entries that are named data.pkl")
    file = io.BytesIO(archive(tensor()))
    with zipfile.ZipFile(file, "a") as made:
        made.writestr("archive/constants.pkl", b"")
    refuses(file.getvalue(), "is a program of torch.jit")
    file = io.BytesIO(archive(tensor()))
    with (
        pytest.warns(UserWarning, match="Duplicate"),
        zipfile.ZipFile(file, "a") as made,
    ):
        made.writestr("archive/data/0", b"twice")
    refuses(file.getvalue(), "two entries 'archive/data/0'")


def test_a_bomb_is_not_unpacked():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("a/data.pkl", b"\0" * 2**24)
    assert len(file.getvalue()) < 2**16
    refuses(file.getvalue(), "is compressed")


def test_paths_in_the_archive_are_never_used(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content = archive(tensor(), root="../../evil/")
    assert load(content).shape == (2, 3)
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_cut_short_or_changed():
    whole = archive(OrderedDict(a=tensor()))
    rng = np.random.default_rng(0)
    for stop in range(4, len(whole), 7):
        refuses(whole[:stop], "load: the BytesIO looks like a file of torch.save")
    for _ in range(300):
        content = bytearray(whole)
        content[rng.integers(4, len(whole))] ^= 1 << rng.integers(8)
        try:
            found = load(bytes(content))
        except CheckpointError:
            continue
        assert isinstance(found, (dict, ac.Tensor))


def test_the_old_format_is_named():
    head = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."
    refuses(head + b"\x80\x02}.", "before version 1.6 of PyTorch")


def test_safetensors_files_are_not_taken_for_archives():
    header = b"{}" + b" " * (0x04034B50 - 2)
    content = struct.pack("<Q", len(header)) + header
    assert content.startswith(b"PK\x03\x04")
    assert load(content) == {}


# ---- PyTorch itself ----------------------------------------------------------------


@pytest.mark.torch
def test_files_of_pytorch(tmp_path):
    torch = pytest.importorskip("torch")
    path = tmp_path / "model.pt"
    net = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4))
    torch.save(net.state_dict(), path)
    state = ac.load(path)
    wanted = net.state_dict()
    assert list(state) == list(wanted)
    assert all(v.tolist() == wanted[k].tolist() for k, v in state.items())
    assert state._metadata["1"] == {"version": 2}
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4))
    model.load_state_dict(state)
    assert ac.equal(model[0].weight, state["0.weight"])
    with path.open("rb") as file:
        assert list(ac.load(file)) == list(wanted)


@pytest.mark.torch
def test_optimizers_views_and_dtypes_of_pytorch(tmp_path):
    torch = pytest.importorskip("torch")
    path = tmp_path / "all.pt"
    net = torch.nn.Linear(3, 2)
    adam = torch.optim.AdamW(net.parameters(), lr=0.1)
    net(torch.ones(1, 3)).sum().backward()
    adam.step()
    base = torch.arange(12.0).reshape(3, 4)
    kinds = [
        "bfloat16",
        "float16",
        "float64",
        "int8",
        "uint8",
        "int16",
        "int64",
        "bool",
    ]
    value = {
        "model": net.state_dict(),
        "optimizer": adam.state_dict(),
        "views": [base, base.T, base[1:, ::2], base.expand(2, 3, 4)],
        "kinds": [torch.ones(3).to(getattr(torch, k)) for k in kinds],
        "parameter": net.weight,
        "size": base.shape,
        "dtype": torch.float32,
    }
    torch.save(value, path)
    found = ac.load(path)
    assert (
        found["optimizer"]["state"][0]["exp_avg"].tolist()
        == adam.state_dict()["state"][0]["exp_avg"].tolist()
    )
    assert found["optimizer"]["param_groups"][0]["lr"] == 0.1
    for one, other in zip(found["views"], value["views"], strict=True):
        assert one.tolist() == other.tolist()
        assert one.stride() == other.stride()
    assert [x.dtype.name for x in found["kinds"]] == kinds
    assert found["parameter"].requires_grad
    assert (found["size"], found["dtype"]) == ((3, 4), ac.float32)
    mine = nn.Linear(3, 2)
    mine.load_state_dict(found["model"])
    optimizer = ac.optim.AdamW(mine.parameters(), lr=0.1)
    optimizer.load_state_dict(found["optimizer"])


@pytest.mark.torch
def test_whole_modules_of_pytorch_are_refused(tmp_path):
    torch = pytest.importorskip("torch")
    path = tmp_path / "model.pt"
    torch.save(torch.nn.Linear(3, 2), path)
    with pytest.raises(
        CheckpointError, match=r"it names torch.nn.modules.linear.Linear"
    ):
        ac.load(path)
    torch.save({"a": torch.ones(2)}, path, _use_new_zipfile_serialization=False)
    with pytest.raises(CheckpointError, match=r"before version 1.6"):
        ac.load(path)
