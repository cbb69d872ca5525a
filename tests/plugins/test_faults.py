# SPDX-License-Identifier: MIT
"""Faulty kernel packages, installed for real: each is named, and all else goes on."""

from __future__ import annotations

import pytest

import autocalc as ac

pytestmark = pytest.mark.core

#: Package -> (subject of the refusal, its reason, whether there is a warning).
FAULTS = {
    "raises_on_import": (
        "raises-on-import",
        "the plugin failed: ImportError: libmissing.so.1: cannot open shared object",
        True,
    ),
    "exits_on_import": (
        "exits-on-import",
        "the plugin failed: SystemExit: no licence found",
        True,
    ),
    "raises_in_hook": (
        "raises-in-hook",
        "the plugin failed: KeyError: 'no such key'",
        True,
    ),
    "wrong_api": (
        "wrong-api",
        (
            f"it was made for kernel API 2, autocalc-core {ac.__version__} has 1. "
            "Run: pip install --upgrade autocalc-core"
        ),
        True,
    ),
    "duplicate_name": (
        "reference of autocalc-faulty-duplicate-name 1.0",
        "the name is taken by autocalc-core",
        True,
    ),
    "missing_feature": ("missing-feature", "the CPU lacks avx1024", False),
    "unknown_kernel": (
        "unknown-kernel: frobnicate",
        "no kernel of this name is in the kernel table",
        True,
    ),
    "fails_to_load": (
        "fails-to-load",
        "load() failed: ImportError: undefined symbol: PyObject_Frobnicate",
        True,
    ),
    "not_a_set": ("not-a-set", "which is not a KernelSet", True),
    "no_hook": ("no-hook", "has no hook `autocalc_kernel_sets` marked with", True),
}

TRAIN = """
import json, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import autocalc as ac

    ac.manual_seed(0)
    model = ac.nn.Sequential(ac.nn.Linear(4, 8), ac.nn.ReLU(), ac.nn.Linear(8, 3))
    sgd = ac.optim.SGD(model.parameters(), lr=0.5)
    x, target = ac.randn(32, 4), ac.tensor([i % 3 for i in range(32)])
    losses = []
    with ac.kernels.count() as calls:
        for _ in range(20):
            sgd.zero_grad()
            loss = ac.nn.functional.cross_entropy(model(x), target)
            loss.backward()
            sgd.step()
            losses.append(loss.item())
    report = ac.kernels.show()
print(json.dumps({
    "losses": losses,
    "relu": sorted({name for kernel, name in calls if kernel == "relu"}),
    "refusals": [[r.subject, r.reason, r.origin, r.traceback] for r in report.refusals],
    "warnings": [str(w.message) for w in caught],
    "report": str(report),
}))
"""

_seen = {}


@pytest.fixture
def seen(install, python):
    """Train in a fresh process with all faulty packages installed at once."""
    if not _seen:
        _seen.update(python(TRAIN, install(*FAULTS)))
    return _seen


@pytest.mark.parametrize("package", FAULTS)
def test_the_fault_is_named(package, seen):
    subject, reason, warns = FAULTS[package]
    found = [r for r in seen["refusals"] if r[0] == subject]
    assert len(found) == 1, seen["report"]
    assert reason in found[0][1]
    assert found[0][2] == f"autocalc-faulty-{package.replace('_', '-')} 1.0"
    assert f"refused: {subject}: " in seen["report"]
    about = [w for w in seen["warnings"] if f"kernels: {subject} " in w]
    assert len(about) == warns, seen["warnings"]


def test_errors_keep_their_traceback(seen):
    traces = {subject: trace for subject, _, _, trace in seen["refusals"]}
    assert "raise ImportError(" in traces["raises-on-import"]
    assert 'return {}["no such key"]' in traces["raises-in-hook"]
    assert "raise ImportError(" in traces["fails-to-load"]


def test_training_goes_on(seen):
    assert seen["losses"][-1] < 0.9 * seen["losses"][0]


def test_the_good_kernels_of_a_set_are_used(seen):
    """An unknown name, or what is no function, refuses that entry only."""
    assert seen["relu"] == ["unknown-kernel"]
    reasons = {subject: reason for subject, reason, _, _ in seen["refusals"]}
    expected = "'no function' is neither a function nor a KernelImpl"
    assert reasons["unknown-kernel: sub"] == expected


def test_a_refused_set_cannot_be_chosen(install, python):
    program = """
import json, warnings
warnings.simplefilter("ignore")
import autocalc as ac
messages = []
for name in ("missing-feature", "wrong-api", "nowhere"):
    try:
        ac.kernels.use(name)
    except ac.errors.ConfigError as error:
        messages.append(str(error))
print(json.dumps(messages))
"""
    missing, wrong, nowhere = python(program, install(*FAULTS))
    assert "'missing-feature' cannot be used here" in missing
    assert "the CPU lacks avx1024" in missing
    assert "it was made for kernel API 2" in wrong
    assert "there is no kernel set or family 'nowhere'" in nowhere
    assert "reference" in nowhere
