# SPDX-License-Identifier: Apache-2.0
"""Shared by the Python tests. Tests that use torch ask for the fixture of that name: they carry the mark `torch`, and are shown as
skipped where it is not installed.
"""
import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "torch: needs torch")


def pytest_collection_modifyitems(items):
    for item in items:
        if "torch" in item.fixturenames:
            item.add_marker("torch")


@pytest.fixture(autouse=True)
def on_the_cpu(request, monkeypatch):
    """The active driver is the CPU's also where there is a CUDA device, but for the tests of that."""
    if request.module.__name__ != "test_cuda":
        monkeypatch.setenv("TILEWRIGHT_DEVICE", "cpu")


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch is not installed")
