"""Markers of tests match what the tests need."""

import re

import pytest

from support.sampled_cases import LEFT_OUT

ENGINE = re.compile(r'pytest_plugins = \[.*"support\.(docker|podman)_engine"|which\("buildah"\)')


@pytest.fixture
def items(request):
    """All tests that are collected, also those that are not in the sample."""
    return [*request.session.items, *request.config.stash.get(LEFT_OUT, [])]


@pytest.fixture
def modules(items):
    """The modules of tests that are collected, with their texts and the names of the markers of each test."""
    found = {}
    for item in items:
        found.setdefault(item.path, []).append({marker.name for marker in item.iter_markers()})
    return [
        (path, path.read_text(encoding="utf-8"), names)
        for path, names in found.items()
        if path.name != "test_markers.py"
    ]


def test_tests_of_containers_are_marked_docker(modules, items):
    for path, text, markers in modules:
        asks = ENGINE.search(text) is not None
        assert any("docker" in names for names in markers) == asks, path
    for item in items:
        if "engine" in item.fixturenames and "support.docker_engine" in item.path.read_text(encoding="utf-8"):
            assert item.get_closest_marker("docker"), item.nodeid


def test_tests_that_start_processes_are_marked(modules):
    for path, text, markers in modules:
        starts = "\nimport subprocess\n" in text or "import MeasuredCommand\n" in text or "import Container" in text
        if starts or path.parent.name in ("conformance", "differential"):
            assert all("process" in names for names in markers), path


def test_tests_on_every_python_are_marked_process(items):
    for item in items:
        if "any_python" in item.fixturenames:
            assert item.get_closest_marker("process"), item.nodeid
