"""The sample of costly cases, as `make test` takes it."""

import re

import pytest

from support import sampled_cases

pytest_plugins = ["pytester"]

CONFTEST = """
from support import sampled_cases

def pytest_collection_modifyitems(config, items):
    items[:], rest = sampled_cases.split(items, config.args)
"""
HEAD = """
import pytest
from support.sampled_cases import left_out, only_in_all, sampled
"""


@pytest.fixture
def sample(pytester):
    """Return the names of the tests of a text that are in the sample."""
    pytester.makeconftest(CONFTEST)

    def names(text, *words):
        pytester.makepyfile(test_it=HEAD + text)
        done = pytester.runpytest_inprocess("--collect-only", "-q", "-p", "no:cacheprovider", *words)
        return re.findall(r"^test_it\.py::test_(.*)$", done.stdout.str(), re.MULTILINE)

    return names


def cases(count, mark="@sampled(4)"):
    return f"{mark}\n@pytest.mark.parametrize('x', range({count}))\ndef test_a(x): pass\n"


def test_sample_has_about_one_of_so_many_cases(sample):
    found = sample(cases(400))
    assert 80 < len(found) < 120
    assert sample(cases(400)) == found


def test_new_case_changes_no_other(sample):
    assert sample(cases(41))[: len(sample(cases(40)))] == sample(cases(40))


@pytest.mark.parametrize("count", [1, 2, 3, 9])
def test_no_test_is_without_a_case(sample, count):
    found = sample(cases(count, "@sampled(1000)"))
    assert len(found) == (count if count < 3 else 1)


def test_sample_has_each_of_a_few_kinds(sample):
    kinds = "@pytest.mark.parametrize('kind', ['root', 'user'])\n"
    found = sample(kinds + cases(30, "@sampled(1000)").replace("(x)", "(kind, x)"))
    assert {name.rpartition("-")[2].rstrip("]") for name in found} == {"root", "user"}
    assert len(found) < 4


def test_mark_of_all_cases_and_tests_without_cases_stay(sample):
    assert len(sample(cases(50, "@sampled(1)"))) == 50
    assert sample("@sampled(4)\ndef test_one(): pass\n") == ["one"]
    assert len(sample(cases(50, ""))) == 50


def test_directory_of_costly_tests_is_sampled(sample, pytester, monkeypatch):
    monkeypatch.setattr(sampled_cases, "HAS_PROGRAMS", False)  # which CI has
    pytester.mkpydir("tests")
    pytester.path.joinpath("tests/conformance").mkdir()
    pytester.path.joinpath("tests/conformance/test_x.py").write_text(HEAD + cases(100, ""))
    tests = "".join(f"def test_{number}(): pass\n" for number in range(100))
    pytester.path.joinpath("tests/conformance/test_github_action.py").write_text(tests)
    sample("")
    listed = pytester.runpytest_inprocess("--collect-only", "-q", "--import-mode=importlib").stdout.str()
    assert 4 < listed.count("test_x.py::test_a[") < 15
    assert 10 < listed.count("test_github_action.py::test_") < 30


@pytest.mark.parametrize("has_engines", [False, True])
def test_cases_that_need_an_engine_are_drawn_from_their_file(sample, pytester, monkeypatch, has_engines):
    monkeypatch.setattr(sampled_cases, "HAS_PROGRAMS", has_engines)
    monkeypatch.setattr(sampled_cases, "HAS_ENGINES", has_engines)
    pytester.mkpydir("tests")
    pytester.path.joinpath("tests/conformance").mkdir()
    two = "@pytest.mark.parametrize('x', range(2))\ndef test_{0}(x): pass\ndef test_one_{0}(): pass\n"
    text = HEAD + "pytestmark = pytest.mark.docker\n" + "".join(two.format(number) for number in range(50))
    pytester.path.joinpath("tests/conformance/test_docker_x.py").write_text(text)
    sample("")
    listed = pytester.runpytest_inprocess("--collect-only", "-q", "--import-mode=importlib").stdout.str()
    found = listed.count("test_docker_x.py::test_")
    assert found == 150 if has_engines else 20 < found < 60


def test_case_left_out_by_name(sample):
    text = "@pytest.mark.parametrize('x', [1, left_out(2), 3])\ndef test_a(x): pass\n@only_in_all\ndef test_b(): pass\n"
    assert sample(text) == ["a[1]", "a[3]"]


def test_named_file_has_all_cases(sample):
    assert len(sample(cases(50), "test_it.py")) == 50
    assert len(sample(cases(50), "test_it.py::test_a")) == 50
