"""The syntax of a module, for the Python of an image: compared with the interpreters themselves."""

import ast
import json
import subprocess

import pytest

from smspec.script.reach.syntax import HOST, broken_syntax, new_syntax, undecodable
from smspec.source import SourceText
from support.script.constructs import BROKEN, NEWER, PLAIN, PROVEN

ALL = {**PLAIN, **NEWER, **BROKEN}
COMPILE = """
import json, sys, warnings
warnings.simplefilter("ignore")
rejected = []
for name, text in json.load(sys.stdin).items():
    try:
        compile(text.encode(), name, "exec", dont_inherit=True)
    except SyntaxError:
        rejected.append(name)
print(json.dumps([list(sys.version_info[:2]), rejected]))
"""


def is_reported(text, base):
    module = SourceText("train.py", text)
    if broken_syntax(module, base) is not None:
        return True
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return False
    return base is not None and bool(new_syntax(module, tree, base))


def test_interpreter_agrees(any_python):
    done = subprocess.run(
        [any_python, "-S", "-c", COMPILE], input=json.dumps(ALL), capture_output=True, text=True, check=True
    )
    base, rejected = json.loads(done.stdout)
    reported = {name for name, text in ALL.items() if is_reported(text, tuple(base))}
    assert reported <= set(rejected)
    if tuple(base) <= HOST:
        assert set(rejected) <= reported


@pytest.mark.parametrize("base", [None, (3, 8), (3, 99)])
@pytest.mark.parametrize("name", PLAIN)
def test_plain_construct_is_accepted(name, base):
    assert not is_reported(PLAIN[name], base)


@pytest.mark.parametrize("name", NEWER)
def test_new_construct_is_accepted_by_an_unknown_python(name):
    assert not is_reported(NEWER[name], None)


@pytest.mark.parametrize("name", BROKEN)
def test_broken_text_is_reported(name):
    assert is_reported(BROKEN[name], HOST)
    assert is_reported(BROKEN[name], None) is (name in PROVEN)


@pytest.mark.parametrize("name", ["bracket that is not closed", "string that is not closed", "indented line"])
def test_f_string_may_hide_where_a_string_ends(name):
    assert not is_reported(f"{BROKEN[name]}f'{{x}}'\n", None)


def test_error_is_located():
    fault = broken_syntax(SourceText("train.py", "x = 1\n\nif x:\n    print 'é', 1\n"), (3, 8))
    assert (fault.place.line, fault.place.column) == (4, 5)


def test_text_beyond_the_limits_is_not_judged():
    nested = "".join("    " * depth + "try:\n" for depth in range(12))
    nested += "    " * 12 + "pass\n"
    nested += "".join(
        "    " * depth + "finally:\n" + "    " * (depth + 1) + "return\n" for depth in reversed(range(12))
    )
    for text in ("(" * 5_000, "a\n" * 70_000 + "(", "x = '\0'", nested):
        assert broken_syntax(SourceText("train.py", text), HOST) is None


def test_encoding_must_be_declared():
    assert undecodable("train.py", b"x = 1\n# \xe9\n").place.line == 2
    assert undecodable("train.py", "x = 1\n".encode("utf-16")) is not None
    for content in (b"# coding: latin-1\n# \xe9\n", b"#!/usr/bin/python\n# -*- coding: latin-1 -*-\n# \xe9\n"):
        assert undecodable("train.py", content) is None
    assert undecodable("train.py", "# é\n".encode()) is None
