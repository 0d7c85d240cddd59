"""A list that was written as one string: what is advised is what a shell or pip would read, and fits the schema."""

import shlex
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.requirements import Requirement

from smspec.spec.packages import fault_in, is_apt_package, is_pip_requirement
from smspec.spec.schema import accepts, author_schema, part, spec_keys
from smspec.spec.shape.schema_errors import listed_items
from support.examples import at_most

KEYS = {
    key[-1]: schema
    for key, schema in spec_keys().items()
    if "array" in str(schema.get("type")) and part(schema, "items").get("type") != "object"
}
SPECIFIERS = (
    "",
    "==2.1.0",
    ">=1,<2",
    " >= 1.2, < 2",
    "[extra]",
    "[a, b]==1.*",
    " ~= 1.4",
    " @ https://a.example/x.whl",
)
packages = st.tuples(st.sampled_from(("numpy", "pandas", "torch", "a-b.c", "7zip")), st.sampled_from(SPECIFIERS)).map(
    "".join
)


@settings(max_examples=at_most(300), deadline=None)
@given(st.lists(packages, min_size=1, max_size=4), st.sampled_from((", ", ",", "\n", "; ", " , ")))
def test_packages_are_those_between_the_separators(texts, separator):
    found = listed_items("python_packages", separator.join(texts))
    if found is None:  # a URL may contain a comma or a semicolon
        assert any("https:" in text for text in texts)
        assert len(texts) > 1
    else:
        assert [_parsed(one) for one in found] == [_parsed(one) for one in texts]


def _parsed(text):
    one = Requirement(text)
    return one.name, one.extras, one.specifier, one.url


WORDS = (
    "numpy",
    "./train",
    "--fast",
    ">=1",
    ",",
    ";",
    "'a b'",
    '"',
    "\\",
    "\n",
    " ",
    "$X",
    "-e .",
    "pip install ",
    "*",
)


@settings(max_examples=at_most(500), deadline=None)
@given(st.sampled_from(sorted(KEYS)), st.one_of(st.text(max_size=30), st.lists(st.sampled_from(WORDS)).map(" ".join)))
def test_advised_items_are_valid(key, text):
    items = listed_items(key, text)
    if items is None or (not text and key not in ("args", "command", "options", "python_packages", "system_packages")):
        return  # an empty item has a finding, too
    if key == "python_packages":
        assert all(is_pip_requirement(one) and not fault_in(one) for one in items)
    elif key == "system_packages":
        assert all(map(is_apt_package, items))
    assert items
    assert accepts(KEYS[key], items, author_schema())


@settings(max_examples=at_most(60), deadline=None)
@given(
    st.lists(
        st.sampled_from(
            (
                "a",
                "--x",
                "'a b'",
                '"c d"',
                "\\ e",
                "'a|b'",
                '"$0"',
                "=",
                "x=1",
                "a#b",
                "'*'",
                "é",
                '"\\""',
                "[1]",
                "~",
                "#",
            )
        ),
        min_size=1,
        max_size=6,
    ).map(" ".join)
)
def test_words_are_those_of_the_shell(text):
    command = ["sh", "-c", f"set -f; printf '%s\\0' {text}"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")[:-1]
    items = listed_items("args", text)
    assert items is None or items == said
    if items is None:
        assert any(mark in text for mark in ("$", "~", "#", "["))


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("pip install numpy", ["numpy"]),
        ("python3 -m pip install 'numpy>=1,<2' pandas", ["numpy>=1,<2", "pandas"]),
        ("numpy==1.2; python_version < '3.9'", ["numpy==1.2; python_version < '3.9'"]),
        ("numpy and pandas", None),
        ("numpy 1.2", None),
        ("-r requirements.txt", None),
        ("torch==2.1 -e .", None),
    ],
)
def test_pip_commands_and_prose(text, items):
    assert listed_items("python_packages", text) == items


def test_shell_syntax_goes_to_a_shell():
    for text in ("./train && date", "A=1 ./train", 'echo "$HOME"', "ls *.txt", "cd ~/x", "a # b"):
        assert listed_items("command", text) == ["sh", "-c", text]
        assert text[0] == "A" or listed_items("args", text) is None
    assert listed_items("command", "./train --name='a|b'") == shlex.split("./train --name='a|b'")
