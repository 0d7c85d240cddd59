"""Mappings as arguments, in each style of arguments."""

import argparse
import ast
import json
import re

import pytest

from support.script.read_programs import codes, findings, runs, script_environment

PARSER = "import argparse, ast, json\np = argparse.ArgumentParser()\np.add_argument('--model'{})\na = p.parse_args()\n"
NESTED = {"model": {"layers": [64, 32]}}


def found(text, style, **changes):
    return [code for code, _ in codes(text, entry_point={"script": "train.py", "args_style": style}, **changes)]


@pytest.mark.parametrize("kind", ["json.loads", "ast.literal_eval"])
@pytest.mark.parametrize("style", ["toolkit", "json", "flags"])
@pytest.mark.parametrize("value", [{"a": 1}, {}, [1, 2], ["a"], True, None, 5, "text", '{"a": 1}', {"a": {"b": None}}])
def test_parsed_structure_is_rejected_as_the_script_does(kind, style, value):
    text = PARSER.format(f", type={kind}")
    given = script_environment(
        entry_point={"script": "train.py", "args_style": style}, hyperparameters={"model": value}
    )
    said = runs(text, given.words)
    reported = found(text, style, hyperparameters={"model": value})
    assert bool(set(reported) & {"SM503", "SM501"}) == (said is not None)


@pytest.mark.parametrize(("style", "reported"), [("toolkit", ["SM533"]), ("json", []), ("flags", [])])
def test_nested_mapping_is_reported_where_it_is_lost(style, reported):
    text = PARSER.format("")
    assert found(text, style, hyperparameters=NESTED) == reported
    given = script_environment(entry_point={"script": "train.py", "args_style": style}, hyperparameters=NESTED)
    try:
        is_kept = json.loads(given.words[-1]) == NESTED["model"]
    except ValueError:
        is_kept = False
    assert is_kept == (not reported)


@pytest.mark.parametrize("value", [{"a": 1, "b": 2}, [[1], [2]], "a={'b': 1}", 5])
def test_other_values_are_not_reported(value):
    assert found(PARSER.format(""), "toolkit", hyperparameters={"model": value}) == []
    assert (
        found(PARSER.format(", type=parse").replace("p =", "parse = f()\np =", 1), "toolkit", hyperparameters=NESTED)
        == []
    )


@pytest.mark.parametrize("nargs", ["'+'", "'*'", "2", "'?'", "1", None])
@pytest.mark.parametrize("style", ["toolkit", "json", "flags"])
@pytest.mark.parametrize("value", [["a", "b"], ["a"], "a"])
def test_list_is_reported_where_it_arrives_as_one_item(nargs, style, value):
    text = PARSER.format("" if nargs is None else f", nargs={nargs}")
    given = script_environment(
        entry_point={"script": "train.py", "args_style": style}, hyperparameters={"model": value}
    )
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", **({} if nargs is None else {"nargs": ast.literal_eval(nargs)}))
    reported = found(text, style, hyperparameters={"model": value})
    try:
        got = parser.parse_args(given.words).model
    except SystemExit:
        assert set(reported) <= {"SM501", "SM503"} and reported
        return
    is_list = isinstance(value, list) and nargs in ("'+'", "'*'")
    assert reported == (["SM533"] if is_list and got != value else [])


@pytest.mark.parametrize("kind", ["str", "int"])
@pytest.mark.parametrize("style", ["toolkit", "json", "flags"])
def test_list_for_an_option_that_appends_is_reported(kind, style):
    text = PARSER.format(f", action='append', type={kind}")
    [finding] = findings(
        text, entry_point={"script": "train.py", "args_style": style}, hyperparameters={"model": [1, 2]}
    )
    words = json.loads(re.search(r"set `args: (\[.*\])`", finding.help)[1])
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", action="append", type={"str": str, "int": int}[kind])
    assert parser.parse_args(words).model == [{"str": str, "int": int}[kind](one) for one in (1, 2)]


@pytest.mark.parametrize(
    "written", [", nargs='+'", ", nargs='*'", ", nargs=2", ", type=int, nargs='+'", ", type=json.loads"]
)
@pytest.mark.parametrize("style", ["toolkit", "json", "flags"])
@pytest.mark.parametrize("value", [[], [1, 2], [1, 2, 3], ["a", "b"], [-1, "-2:3"], ["-2:3"], [True, "x"], None])
def test_advised_style_is_another_that_is_accepted(written, style, value):
    text = PARSER.format(written)
    given = {"hyperparameters": {"model": value}}
    for found in findings(text, entry_point={"script": "train.py", "args_style": style}, **given):
        advised = re.match(r"set `args_style: (\w+)` in `entry_point`: the script gets `(.*)`", found.help or "")
        if advised is None:
            assert found.help and "set `args_style" not in found.help
            continue
        assert advised[1] != style
        words = script_environment(entry_point={"script": "train.py", "args_style": advised[1]}, **given).words
        assert runs(text, words) is None and " ".join(words) == advised[2]
