# SPDX-License-Identifier: MIT
"""Ranks on two machines: network namespaces joined by an Ethernet of 1 Gb/s."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest
from tests.distributed.ending import SOON, assert_ended, pids_of
from tests.distributed.launch import (
    LIMIT,
    PROGRAMS,
    Result,
    environment,
    finish,
    mpirun,
    needs_mpi,
)

#: Two names and addresses that nothing else has.
SPACES = [(f"autocalc-{os.getpid()}-{i}", f"10.213.77.{i + 1}") for i in range(2)]
PORTS = [f"ac{os.getpid() % 100_000}{end}" for end in "ab"]


def has_namespaces():
    """Return whether the user of the tests can make namespaces here."""
    if os.geteuid() or not shutil.which("ip") or not shutil.which("tc"):
        return False
    name = f"{SPACES[0][0]}-try"
    made = subprocess.run(
        ["ip", "netns", "add", name], capture_output=True, check=False
    )
    if made.returncode == 0:
        subprocess.run(["ip", "netns", "delete", name], check=True)
    return made.returncode == 0


def is_mpich():
    return mpirun() is not None and len(mpirun()) == 1


pytestmark = [
    needs_mpi,
    pytest.mark.mpi,
    pytest.mark.slow,
    pytest.mark.skipif(
        not is_mpich(), reason="Hydra, the mpirun of MPICH, starts ranks by any command"
    ),
    pytest.mark.skipif(not has_namespaces(), reason="needs root, ip and tc"),
]


def ip(words):
    subprocess.run(["ip", *words.split()], check=True)


@pytest.fixture
def network(tmp_path):
    """Two namespaces and a link; yields the words that start a rank in each."""
    (a, first), (b, second) = SPACES
    try:
        for name, _ in SPACES:
            ip(f"netns add {name}")
        ip(f"link add {PORTS[0]} type veth peer name {PORTS[1]}")
        for port, (name, address) in zip(PORTS, SPACES, strict=True):
            ip(f"link set {port} netns {name}")
            ip(f"-n {name} addr add {address}/24 dev {port}")
            ip(f"-n {name} link set lo up")
            ip(f"-n {name} link set {port} up")
            limit = (
                f"tc qdisc add dev {port} root tbf rate 1gbit burst 128kb latency 50ms"
            )
            ip(f"netns exec {name} {limit}")
        launcher = tmp_path / "launch.sh"
        launcher.write_text(
            "#!/bin/bash\n"
            "while [[ $1 == -* ]]; do shift; done\n"
            f"space={a}; [[ $1 == {second} ]] && space={b}\n"
            "shift\n"
            'exec ip netns exec $space bash -c "$*"\n'
        )
        launcher.chmod(0o755)
        remote = ["-launcher", "ssh", "-launcher-exec", str(launcher)]
        hosts = ["-hosts", f"{first},{second}", "-ppn", "1", "-n", "2"]
        yield ["ip", "netns", "exec", a, *mpirun(), *remote, *hosts]
    finally:
        for name, _ in SPACES:
            end_all_in(name)
            subprocess.run(["ip", "netns", "delete", name], check=False)


def end_all_in(name):
    """End what still runs in a namespace: launchers wait for each other."""
    found = subprocess.run(
        ["ip", "netns", "pids", name], capture_output=True, text=True, check=False
    )
    for pid in found.stdout.split():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)


def start(network, program, *args):
    own = [sys.executable, str(PROGRAMS / program), *map(str, args)]
    return subprocess.Popen(
        [*network, *own],
        # Both namespaces are of one machine, whose memory MPICH would use.
        env=environment(UCX_TLS="tcp,self", FI_PROVIDER="tcp"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_ranks_train_over_a_network(network):
    ways = [{"network": "charlm", "dtype": "float64", "steps": 20}]
    words = json.dumps(ways)
    result = finish(start(network, "train.py", words))
    assert result.code == 0, result.err
    done = subprocess.run(
        [sys.executable, str(PROGRAMS / "train.py"), words],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    alone = Result(0, done.stdout, "").values()[0]
    np.testing.assert_allclose(result.values()[1], alone, rtol=1e-10)
    sent = json.loads(
        subprocess.run(
            ["ip", "-n", SPACES[0][0], "-s", "-j", "link", "show", PORTS[0]],
            capture_output=True,
            check=True,
        ).stdout
    )
    assert sent[0]["stats64"]["tx"]["bytes"] > 20 * 8 * 3000  # the gradients


@pytest.mark.skipif(not shutil.which("chrt"), reason="needs chrt")
def test_backward_hides_half_of_the_sums(network):
    """The best of some runs, before what else the machine does; needs a core a rank."""
    bench = [sys.executable, "-m", "autocalc", "bench", "distributed"]
    hidden = []
    for _ in range(3):
        done = subprocess.run(
            ["chrt", "-r", "10", *network, *bench, "--threads", "1", "--json"],
            env=environment(UCX_TLS="tcp,self", FI_PROVIDER="tcp"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=True,
        )
        hidden.append(json.loads(done.stdout)["overlap"])
        if hidden[-1] >= 0.5:
            break
    assert max(hidden) >= 0.5, hidden


def test_a_link_that_goes_down_ends_all_ranks(network, tmp_path):
    process = start(network, "failing.py", "never", tmp_path / "x", 4)
    pids = pids_of(process, 2)
    name = SPACES[0][0]
    ip(f"-n {name} link set {PORTS[0]} down")
    assert_ended(pids, within=4 + SOON)
    for space, _ in SPACES:
        end_all_in(space)
    assert "has waited 4 s" in process.communicate(timeout=10)[1]
