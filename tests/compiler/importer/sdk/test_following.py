"""Programs that are read, not run: what is known of their values is what a run would compute; the rest is unknown."""

import ast
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.importer.sdk.following import Following
from smspec.importer.sdk.notebook import Cell, NotebookProgram, read_program, without_commands
from smspec.importer.sdk.values import Entries, SdkInstance, SdkItems, SdkText, SdkUnknown, is_constant
from support.script.read_programs import program

UNSURE = object()


def followed(text):
    return Following(NotebookProgram(cells=(Cell(0, text),), files={}, is_notebook=False))


def plain(value, depth=0):
    """Return a value as Python's own, `UNSURE` in place of what is unknown, or nested too deep to compare."""
    if depth > 10:
        return UNSURE
    if isinstance(value, SdkItems):
        values = [plain(item, depth + 1) for item in value.values]
        return (tuple(values) if value.is_fixed else values) if value.is_known else UNSURE
    if isinstance(value, Entries):
        entries = {key: plain(item, depth + 1) for key, item in value.values.items()}
        return entries if value.is_known else UNSURE
    return value if is_constant(value) else UNSURE


def agrees(known, real):
    """Return whether what is known is true: unknown parts agree with anything."""
    if known is UNSURE:
        return True
    if isinstance(known, dict):
        return isinstance(real, dict) and known.keys() == real.keys() and all(agrees(known[k], real[k]) for k in known)
    if isinstance(known, list | tuple):
        same = type(known) is type(real) and len(known) == len(real)
        return same and all(agrees(a, b) for a, b in zip(known, real, strict=True))
    return type(known) is type(real) and known == real


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = f'{1 + 2}-{\"a\"}'", "3-a"),
        ("x = '{}/{b}'.format('a', b=2)", "a/2"),
        ("x = '%s-%d%%' % ('a', 3)", "a-3%"),
        ("x = 'rate' in 'learning-rate' and 3 != 4", True),
        ("x = '/'.join(['a', 'b'])", "a/b"),
        ("import os\nx = os.path.join('a', 'b')", "a/b"),
        ("x = dict(a=1)\nx.update({'b': 2}, c=3)", {"a": 1, "b": 2, "c": 3}),
        ("x = {**{'a': 1}, 'b': 2}\nx['c'] = [1]\nx['c'].append(2)", {"a": 1, "b": 2, "c": [1, 2]}),
        ("x = {}\nfor k, v in {'a': 1}.items():\n    x[k] = v * 2", {"a": 2}),
        ("def f(a, b=2):\n    return a * b\nx = f(3)", 6),
        ("x = 1 if 2 > 1 else y", 1),
        ("x = 5\nif unknown():\n    x = 5\nelse:\n    x = 4 + 1", 5),
        ("x = {k: str(v) for k, v in {'a': 1}.items()}", {"a": "1"}),
        ("y = {'a': {}}\nx = y['a']\nx['b'] = 1\ny = 2", {"b": 1}),
        ("try:\n    x = 1\nexcept ValueError:\n    print('no')", 1),
        ("x = 1\nwhile unknown():\n    def f():\n        x = 2", 1),
        ("def f():\n    global x\n    x = 2\nx = 1\nf()", 2),
        ("x = {}\ndef f(d):\n    if unknown():\n        raise ValueError\n    d['a'] = 1\nf(x)", {"a": 1}),
        ("x = {'a': 1, 'b': 2}\ndef f():\n    if unknown():\n        raise ValueError\n    del x['b']\nf()", {"a": 1}),
        ("def f():\n    global x\n    x = 2\nx = 1", 1),
        ("import copy\nx = {'a': [1]}\nb = copy.deepcopy(x)\nb['a'].append(2)\nb['c'] = 3", {"a": [1]}),
        ("from copy import copy\nx = {'a': [1]}\nb = copy(x)\nb['a'].append(2)\nb['c'] = 3", {"a": [1, 2]}),
    ],
)
def test_values_are_known(text, expected):
    found = plain(followed(text).names["x"])
    assert agrees(found, expected)
    assert found is not UNSURE


EXPRESSIONS = [
    *("64 * 2", "7 // 2", "-7 % 3", "1 / 3", "2 ** 10", "1e3 - 1", "3 * 0.1", "5 - 5"),
    *("3 > 2", "3 >= 3.0", "2 < 1", "1 == 1.0", "'a' != 'b'", "None is None", "True is not False"),
    *("'a' in 'train'", "'x' not in 'train'", "'adam' in ('adam', 'sgd')", "2 in [1]"),
    *("'Adam'.lower()", "' a '.strip()", "'a-b'.replace('-', '_')", "'a-b-c'.replace('-', '', 1)"),
    *("'train.py'.endswith('.py')", "'s3://a'.startswith('s3')", "'ab'.rstrip('b').upper()"),
    *("'%s-%d' % ('a', 3)", "'{}/{b}'.format('a', b=2)", "'/'.join(['a', 'b'])", "f'{3:02d}-{1!s}'"),
    *("'train.py'[:-3]", "'abc'[1]", "'a b'.split()[1]", "[1, 2, 3][1:][0]", "None or 0 or 3", "[] is None"),
]
UNKNOWN_ALIKE = [
    "1 / 0",
    "1 << 80",
    "True + 1",
    "2 ** -1 ** 0.5",
    "'a'.replace(1, 2)",
    "'a'.startswith(['a'])",
    "9 ** 64",
    "f'{[1]}'",
]


@pytest.mark.parametrize("text", [*EXPRESSIONS, *UNKNOWN_ALIKE])
def test_constants_of_scripts_and_programs_are_those_of_python(text):
    """One table of operations is behind both ways to follow a program."""
    script = f"import argparse\np = argparse.ArgumentParser()\np.add_argument('--x', default={text})\np.parse_args()\n"
    (line,) = program(script).command_lines
    of_script = next(option.default for option in line.options if option.label == "x")
    of_program = plain(followed(f"x = {text}").names["x"])
    assert (of_script is ...) == (of_program is UNSURE) == (text in UNKNOWN_ALIKE)
    if text in EXPRESSIONS:
        real = eval(text)
        assert agrees(of_script, real)
        assert agrees(of_program, real)


@pytest.mark.parametrize("given", ["3.7", "True", "unknown()"])
def test_number_format_is_known_for_whole_numbers_only(given):
    assert plain(followed(f"x = 'a-%d' % {given}").names["x"]) is UNSURE
    assert plain(followed("x = 'a-%d/%s' % (3, 0.5)").names["x"]) == "a-3/0.5"


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\nif unknown():\n    x = 2",
        "x = 1\nfor i in unknown():\n    x = 2",
        "x = 1\nwhile unknown():\n    x += 1",
        "x = {}\nchange(x)",
        "x = {}\nfor i in unknown():\n    x['a'] = 1",
        "x = [1]\ny = x\nif unknown():\n    y.append(2)",
        "x = 1\ntry:\n    unknown()\n    x = 2\nexcept ValueError:\n    pass",
        "def f():\n    global x\n    if unknown():\n        x = 2\nx = 1\nf()",
        "x = {'a': 1}\n[x.pop('a') for i in unknown()]",
        "x = {'a': 1}\nunknown().method(x)",
        "x = {}\ndef f():\n    if unknown():\n        x['a'] = 1\nf()",
        "x = {}\ndef f():\n    global x\n    if unknown():\n        x['a'] = 1\nf()",
        "x = {}\ndef g():\n    x['a'] = 1\ndef f():\n    if unknown():\n        pass\n    else:\n        g()\nf()",
        "def f():\n    d = {}\n    def g():\n        if u():\n            d['a'] = 1\n    g()\n    return d\nx = f()",
        "x = 1\ndel x",
        "x = 1\nwhile unknown():\n    del x",
        "x = 1\nwhile unknown():\n    from a import b as x",
        "x = 1\nclass A:\n    def f(self):\n        global x\n        x = 2",
        "def f(a):\n    if a:\n        return 1\n    return 2\nx = f(unknown())",
        "x = [1]\nx.sort()",
        "x = 1\nclass A:\n    global x\n    x = 3",
        "x = 1\nwith unknown() as x:\n    pass",
        "x = 1\nmatch unknown():\n    case x:\n        pass",
        "x = 9 ** 9 ** 9",
        "x = 'a' * 10 ** 9",
        "x = '@@smspec:role@@'",
        "x = {}\ndef f():\n    if unknown():\n        return\n    x['a'] = 1\nf()",
        "x = {}\ndef f(d):\n    if unknown():\n        return 1\n    d['a'] = 1\nf(x)",
        "x = {}\ndef f(d):\n    if u():\n        if u():\n            raise E\n        return\n    d['a'] = 1\nf(x)",
    ],
)
def test_doubtful_values_are_unknown(text):
    assert plain(followed(text).names["x"]) is UNSURE


def test_unreadable_cell_forgets_what_it_assigns():
    cells = (Cell(1, "x = 1\ny = 1"), Cell(2, "x = 2 +\n"))
    found = Following(NotebookProgram(cells=cells, files={}, is_notebook=True))
    assert isinstance(found.names["x"], SdkUnknown)
    assert found.names["y"] == 1


@pytest.mark.parametrize(("given", "expected"), [("'own'", "own"), ("None", None), ("unknown()", "default_bucket")])
def test_bucket_of_a_session_is_its_own_or_the_default(given, expected):
    session = f"import sagemaker\ns = sagemaker.Session(default_bucket={given})\n"
    found = followed(session + "x, y = s.default_bucket(), s.default_bucket()\n")
    assert found.names["x"] is found.names["y"]
    if isinstance(found.names["x"], SdkUnknown):
        assert found.names["x"] is found.surroundings.bucket if expected is None else found.names["x"].name == expected
    else:
        assert found.names["x"] == expected


def test_unknown_parts_of_a_text_are_kept():
    text = "import sagemaker\nx = f's3://{sagemaker.Session().default_bucket()}/a'\n"
    found = followed(text).names["x"]
    assert isinstance(found, SdkText)
    assert (found.parts[0], found.parts[2]) == ("s3://", "/a")


def test_shell_commands_and_magics_are_no_code():
    text = "!pip install \\\n    a b\nx = !ls\n%cd a\nif True:\n    !ls\ny = 1\nx?\n"
    assert ast.parse(without_commands(text))
    assert without_commands(text).count("\n") == text.count("\n")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("%time f(1)", "f(1)"),
        ("h = %time f(1)", "h = f(1)"),
        ('h["a"] = %time f(1)', 'h["a"] = f(1)'),
        ("for a in b:\n    %time f(a)", "for a in b:\n    f(a)"),
        ("%time f(1, \\\n  2)\nx", "f(1, \\\n  2)\nx"),
        ("%timeit -n1 -r 1 -q f(1)", "f(1)"),
        ("h = %timeit -o f(1)", "h = __value_of_a_shell_command__; f(1)"),
        ("%prun -l 10 -s cumulative f(1)", "f(1)"),
        ("%memit -r 1 f(1)", "f(1)"),
        ("%time !ls", "pass"),
        ("%time", "pass"),
        ("%time f?", "pass"),
        ("%timer f(1)", "pass"),
        ("x = (\n    'a = %s'\n)", "x = (\n    'a = %s'\n)"),
        ("!echo %time f(1)", "pass"),
        ("!echo \\\n%time f(1)", "pass\n"),
    ],
)
def test_statement_that_a_magic_runs_is_code(text, code):
    assert without_commands(text) == code


def test_written_files_are_known():
    source = '["%%writefile -a src/a.py\\n", "x = 1\\n"]'
    cell = f'{{"cell_type": "code", "source": {source}}}'
    outside = cell.replace("src/a.py", "../a.py")
    program = read_program("a.ipynb", f'{{"nbformat": 4, "cells": [{cell}, {cell}, {outside}]}}'.encode())
    assert program.files == {"src/a.py": "x = 1\nx = 1\n"}
    assert program.cells == ()


HOSTILE = {
    "deep brackets": "x = " + "[" * 5_000 + "]" * 5_000,
    "deep calls": "def f(n):\n    return f(f(f(n)))\nx = f(1)",
    "many alternatives": "if u():\n    x = 1\n" + "elif u():\n    x = 2\n" * 3_000,
    "many calls in a row": "x = u" + ".b()" * 3_000,
    "many branches in a function": "d = {}\ndef f():\n" + "    if u(): d['a'] = 1\n" * 300 + "f()\n" * 50,
    "many looks at a long list": f"x = [{'1, ' * 10_000}]\n" + "x[0]\n1 in x\n" * 4_000,
    "many branches": "x = {}\n" + "if u():\n    x[1] = 1\n" * 3_000,
    "nested branches": "\n".join(f"{'    ' * i}if u():" for i in range(50)) + "\n" + "    " * 50 + "x = 1",
    "growing text": "x = 'a'\n" + "x = x + x\n" * 3_000,
    "growing list": "x = [1]\n" + "x = x + x\n" * 3_000,
    "nested lists": "x = [1]\n" + "x = [x, x]\n" * 3_000,
    "nested lists in branches": "x = [1]\n" + "x = [x, x]\n" * 100 + "if u():\n    x = [x]\n" * 300,
    "a list in itself": "x = []\nx.append(x)\nif u():\n    x.append(1)\nchange(x)\n",
    "nested loops": "\n".join(f"{'    ' * i}for a{i} in [{'1, ' * 60}]:" for i in range(12))
    + "\n"
    + "    " * 12
    + "x = 1",
    "replacements": "x = 'a' * 1\nx = 'aaaaaaaa'.replace('', 'b' + 'c')\n" + "x = x.replace('a', x)\n" * 50,
    "a mapping in an estimator": (
        "from sagemaker.estimator import Estimator\n"
        "h = {}\nh['h'] = h\nx = Estimator('i', 'r', hyperparameters=h)\nx.fit()\n"
    ),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_programs_are_followed_in_bounded_time(text):
    start = time.process_time()  # other work beside it takes none of this
    followed(text).found.jobs()
    assert time.process_time() - start < 10


NAMES = st.sampled_from("abc")
VALUES = st.one_of(
    st.integers(0, 5).map(str),
    st.sampled_from(["'s'", "''", "[1]", "[]", "{}", "{'k': 1}", "None", "True"]),
    NAMES,
    st.builds("({} + {})".format, NAMES, NAMES),
    st.builds("f'{{{}}}-'".format, NAMES),
    st.builds("[{}, 1]".format, NAMES),
    st.builds("{{'k': {}}}".format, NAMES),
    st.builds("{}[0]".format, NAMES),
    st.builds("{}['k']".format, NAMES),
    st.builds("({} if {} else 2)".format, NAMES, NAMES),
    st.builds("({} == {})".format, NAMES, NAMES),
    st.builds("len({})".format, NAMES),
    st.builds("str({})".format, NAMES),
    st.builds("f({})".format, NAMES),
    st.just("u()"),
    st.builds("({} or {})".format, NAMES, NAMES),
    st.builds("({} and {})".format, NAMES, NAMES),
    st.builds("(not {})".format, NAMES),
    st.builds("({} is None)".format, NAMES),
    st.builds("'%s-' % ({},)".format, NAMES),
    st.builds("'{{}}/{{}}'.format({}, {})".format, NAMES, NAMES),
    st.builds("{}[0:1]".format, NAMES),
    st.builds("[v for v in {}]".format, NAMES),
    st.builds("{{v: {} for v in {}}}".format, NAMES, NAMES),
    st.builds("(1 if u() else {})".format, NAMES),
    st.builds("({} if u() else {})".format, NAMES, NAMES),
    st.builds("{}.get('k', {})".format, NAMES, NAMES),
    st.builds("('k' in {})".format, NAMES),
    st.builds("{}.pop('k', 1)".format, NAMES),
    st.builds("g(*{})".format, NAMES),
    st.builds("h(**{})".format, NAMES),
    st.builds("[*{}, {}]".format, NAMES, NAMES),
    st.builds("{{**{}, 'z': {}}}".format, NAMES, NAMES),
    st.builds("(u() or {}.pop('k', 1))".format, NAMES),
    st.builds("(u() and {}.append(3))".format, NAMES),
    st.builds("m({})".format, NAMES),
    st.builds("({} := {})".format, NAMES, NAMES),
    st.builds("(u() and ({} := {}))".format, NAMES, NAMES),
    st.just("w()"),
    st.builds("q({})".format, NAMES),
    st.builds("{}.copy()".format, NAMES),
    st.builds("r({})".format, NAMES),
    st.builds("s(**{})".format, NAMES),
)
SIMPLE = st.one_of(
    st.builds("{} = {}".format, NAMES, VALUES),
    st.builds("{} += {}".format, NAMES, VALUES),
    st.builds("{}['k'] = {}".format, NAMES, VALUES),
    st.builds("{}.append({})".format, NAMES, VALUES),
    st.builds("{}.update({{'j': {}}})".format, NAMES, VALUES),
    st.builds("change({})".format, NAMES),
    st.builds("{} |= {}".format, NAMES, VALUES),
    st.builds("{} -= {}".format, NAMES, VALUES),
    st.builds("del {}['k']".format, NAMES),
    st.builds("{}.extend({})".format, NAMES, NAMES),
    st.builds("{} = {} = {}".format, NAMES, NAMES, VALUES),
    st.builds("{}, {} = {}, {}".format, NAMES, NAMES, VALUES, VALUES),
)


def indented(lines):
    return "\n".join(f"    {line}" for text in lines for line in text.split("\n"))


def blocks(inner):
    bodies = st.lists(inner, min_size=1, max_size=3).map(indented)
    return st.one_of(
        st.builds("if {}:\n{}\nelse:\n{}".format, VALUES, bodies, bodies),
        st.builds("for {} in [1, 2]:\n{}".format, NAMES, bodies),
        st.builds("for {} in u2():\n{}".format, NAMES, bodies),
        st.builds("try:\n{}\nexcept Exception:\n{}".format, bodies, bodies),
    )


FUNCTIONS = """
def f(v):
    if v:
        return v
    return 7
def g(x=1, y=2):
    return [x, y]
def h(k=1, j=2, z=3):
    return k
def m(v):
    try:
        v['k'] = 4
    except Exception:
        v.append(8)
    return v
def w():
    global a
    if u():
        a = 5
    elif isinstance(b, list):
        b.append(6)
    return a
def q(v, *rest, **more):
    for i in u2():
        v['q'] = i
    return v
def r(v):
    if u():
        return v
    elif a == 1:
        raise ValueError
    v['r'] = 1
def s(*rest, **more):
    more['s'] = rest
    return more
"""
PROGRAMS = st.lists(st.one_of(SIMPLE, SIMPLE, st.recursive(SIMPLE, blocks, max_leaves=4)), min_size=1, max_size=8)


@pytest.mark.filterwarnings("ignore:Generating overly large repr")
@given(PROGRAMS, st.sampled_from([0, "t", None]), st.sampled_from([(), (1,), (2, 3)]))
def test_known_values_equal_those_of_a_run(lines, unknown, items):
    """A law: a program that ends has the values that reading it has found, whatever the unknown functions return."""
    text = FUNCTIONS + "a, b, c = 1, 's', {'k': [2]}\n" + "\n".join(lines)

    def change(value):
        if isinstance(value, list):
            value.append(9)
        elif isinstance(value, dict):
            value["z"] = 9

    names = {"u": lambda: unknown, "u2": lambda: items, "change": change}
    try:
        exec(text, names)
    except Exception:
        return
    known = followed(text).names
    for name in "abc":
        assert agrees(plain(known[name]), names[name]), (name, text)


def test_estimators_in_functions_are_found():
    text = "from sagemaker.estimator import Estimator\ndef f(r):\n    Estimator('i', r, 1, 'ml.m5.large').fit()\n"
    (job,) = followed(text).found.jobs()
    assert isinstance(job.estimator, SdkInstance)
    assert job.call is not None
