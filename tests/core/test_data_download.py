# SPDX-License-Identifier: MIT
"""Downloads, from a server on this machine: mirrors, checks, and clean failures."""

from __future__ import annotations

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import autocalc as ac
from autocalc.data._download import RemoteFile, download, show_progress

CONTENT = bytes(range(256)) * 2000
GOOD = RemoteFile("numbers.gz", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())


class Handler(BaseHTTPRequestHandler):
    """Serves CONTENT, whole or spoilt as the folder in the address says."""

    def do_GET(self):
        kind = self.path.split("/")[1]
        if kind == "missing":
            self.send_error(404)
            return
        body = {
            "good": CONTENT,
            "short": CONTENT[:-1],
            "long": CONTENT + b"!",
            "changed": b"!" + CONTENT[1:],
            "broken": CONTENT[:1000],
        }[kind]
        self.send_response(200)
        if kind == "broken":  # promises more than it sends, then hangs up
            self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()
        thread.join()


def test_a_file_comes_whole_into_a_new_folder(server, tmp_path):
    path = download(GOOD, [f"{server}/good"], tmp_path / "a" / "b")
    assert path == tmp_path / "a" / "b" / "numbers.gz"
    assert path.read_bytes() == CONTENT
    assert list(path.parent.iterdir()) == [path]


def test_the_next_mirror_is_tried(server, tmp_path):
    kinds = ["missing", "short", "long", "changed", "broken", "good"]
    mirrors = [f"{server}/{kind}/" for kind in kinds]
    assert download(GOOD, mirrors, tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("missing", "HTTP Error 404"),
        ("short", "only 511999 of 512000 bytes were received"),
        ("long", "the download is larger than the 512000 bytes of the published file"),
        (
            "changed",
            f"its SHA-256 is .{{64}}, but that of the published file is {GOOD.sha256}",
        ),
        ("broken", "bytes"),
    ],
)
def test_a_spoilt_file_is_never_kept(server, tmp_path, kind, message):
    with pytest.raises(ac.errors.DataError, match=message) as caught:
        download(GOOD, [f"{server}/{kind}"], tmp_path)
    assert f"{server}/{kind}/numbers.gz" in str(caught.value)
    assert "put the file into" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_offline_is_a_clear_error(tmp_path):
    with pytest.raises(ac.errors.DataError, match=r"could not be downloaded\. Tried:"):
        download(GOOD, ["http://127.0.0.1:9"], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_older_file_stays_if_the_download_fails(server, tmp_path):
    (tmp_path / "numbers.gz").write_text("old")
    with pytest.raises(ac.errors.DataError):
        download(GOOD, [f"{server}/changed"], tmp_path)
    assert (tmp_path / "numbers.gz").read_text() == "old"


def test_a_folder_that_cannot_be_made_is_named(server, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ac.errors.DataError, match="download: cannot write into"):
        download(GOOD, [f"{server}/good"], tmp_path / "file" / "folder")


def test_progress_counts_up_to_the_size(server, tmp_path):
    seen = []
    download(GOOD, [f"{server}/good"], tmp_path, lambda *call: seen.append(call))
    assert {call[0] for call in seen} == {"numbers.gz"}
    assert [call[1] for call in seen] == sorted(call[1] for call in seen)
    assert seen[-1][1:] == (512000, 512000)


def test_an_interrupted_download_leaves_nothing(server, tmp_path):
    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download(GOOD, [f"{server}/good"], tmp_path, interrupt)
    assert list(tmp_path.iterdir()) == []


def test_progress_shows_only_in_a_terminal(capsys, monkeypatch):
    show_progress("x.gz", 500000, 1000000)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    show_progress("x.gz", 1000000, 1000000)
    assert capsys.readouterr().err == "\rx.gz: 1.0 of 1.0 MB\n"
