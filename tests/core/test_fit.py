# SPDX-License-Identifier: MIT
"""Versions that fit together, and the command where they do not."""

import pytest
from tests.dispatcher import compatibility

pytestmark = pytest.mark.core


@pytest.fixture(autouse=True)
def core_of_0_3(monkeypatch):
    monkeypatch.setattr(compatibility, "__version__", "0.3.1")


@pytest.mark.parametrize("version", ["0.3.0", "0.3.1", "0.3.12", "0.3", "0.3.0rc1"])
def test_a_package_of_the_same_series_fits(version):
    assert compatibility.misfit("autocalc-kernels-simd", version) == ""


@pytest.mark.parametrize(
    ("version", "series"),
    [("0.2.9", "0.3"), ("0.4.0", "0.4"), ("1.0.0", "1.0"), ("0.30.0", "0.30")],
)
def test_the_command_brings_both_to_the_newer_series(version, series):
    assert compatibility.misfit("autocalc-kernels-blas", version) == (
        f"version {version} does not fit autocalc-core 0.3.1. Run: pip install "
        f'--upgrade "autocalc-core=={series}.*" "autocalc-kernels-blas=={series}.*"'
    )


@pytest.mark.parametrize("version", ["", "dev"])
def test_a_version_without_numbers_does_not_fit(version):
    found = compatibility.misfit("autocalc-kernels-simd", version)
    assert found.startswith(f"version {version or 'unknown'} does not fit")
    assert '"autocalc-kernels-simd==0.3.*"' in found


def test_other_packages_have_versions_of_their_own():
    assert compatibility.misfit("autocalc-kernels-of-mine", "7.0") == ""


@pytest.mark.parametrize(
    ("given", "distribution", "advice"),
    [
        (3, "mine", "Run: pip install --upgrade autocalc-core"),
        (1, "mine", "Run: pip install --upgrade mine"),
        (1, "", "Write it for kernel API 2"),
    ],
)
def test_another_api_names_the_package_to_upgrade(given, distribution, advice):
    assert compatibility.api_misfit("kernel", given, 2, distribution) == (
        f"it was made for kernel API {given}, autocalc-core 0.3.1 has 2. {advice}"
    )


def test_the_same_api_fits():
    assert compatibility.api_misfit("kernel", 2, 2, "mine") == ""
