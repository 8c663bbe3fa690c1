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


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch is not installed")
