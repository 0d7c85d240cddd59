"""JSON is parsed exactly, with positions; everything else is rejected with a position."""

import json
import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smspec.diagnostics import InvalidInput
from smspec.service.json_parser import decode_json_bytes, read_json
from smspec.service.json_scanner import MAX_BYTES, MAX_DEPTH
from smspec.source import Mapping, Scalar, Sequence, SourceText, to_data
from support.examples import at_most

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def read(text):
    return read_json(SourceText("request.json", text))


def reported(text):
    """Return (code, line, column) of everything that is wrong with a text."""
    with pytest.raises(InvalidInput) as rejected:
        read_json(decode_json_bytes("request.json", text if isinstance(text, bytes) else text.encode()))
    return [(found.code, found.span.line, found.span.column) for found in rejected.value.diagnostics]


def nodes(node):
    yield node
    if isinstance(node, Mapping):
        for key, value in node.entries:
            yield key
            yield from nodes(value)
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from nodes(item)


def cut(text, span):
    lines = text.split("\n")
    if span.line == span.end_line:
        return lines[span.line - 1][span.column - 1 : span.end_column - 1]
    first, last = lines[span.line - 1][span.column - 1 :], lines[span.end_line - 1][: span.end_column - 1]
    return "\n".join([first, *lines[span.line : span.end_line - 1], last])


@given(VALUES, st.sampled_from([None, 0, 2]), st.booleans())
def test_parsed_values_and_positions_match_json(value, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    if any(0xD800 <= ord(character) < 0xE000 for character in repr(value)):
        return
    document = read(text)
    assert to_data(document.root) == value
    for node in nodes(document.root):
        assert json.loads(cut(text, node.span)) == to_data(node)


@pytest.mark.parametrize("written", ["0", "-0", "1e-3", "1E+2", "-0.50", str(2**63), str(-(2**63)), "9" * 400])
def test_numbers_keep_their_spelling_and_digits(written):
    node = read(written).root
    assert isinstance(node, Scalar)
    assert node.text == written
    assert str(node.value) == written or math.isclose(node.value, json.loads(written))
    assert type(node.value) is type(json.loads(written))


def strictly(text):
    """Return whether Python's reader takes a text that no reader can take for something else."""

    def unique(pairs):
        assert len({name for name, _ in pairs}) == len(pairs)
        return dict(pairs)

    def refuse(word):
        raise AssertionError(word)

    def finite(number):
        assert math.isfinite(float(number))

    try:
        value = json.loads(text, object_pairs_hook=unique, parse_constant=refuse, parse_float=finite)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, AssertionError):
        return False
    return True


GOOD = '{"a": [1, -2.5e3, "x\\u00e9\\ud83d\\ude00\\n"], "b": {"c": null, "d": [true, false, {}], "e": []}}'


@settings(max_examples=at_most(600), deadline=None)
@given(st.data())
def test_parser_accepts_exactly_json(data):
    """Any text near a valid one is accepted exactly if the strict Python parser accepts it."""
    text = GOOD
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 2))
        text = (
            text[:at] + data.draw(st.text("{}[]\",:'0123e+-.\\untfa# \t\n/*\u00a0", max_size=2)) + text[at + length :]
        )
    try:
        read(text)
        taken = True
    except InvalidInput as rejected:
        taken = False
        assert rejected.diagnostics
    assert taken == strictly(text), text


@settings(max_examples=at_most(300), deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_rejected_with_positions(content):
    try:
        read_json(decode_json_bytes("x", content))
    except InvalidInput as rejected:
        for found in rejected.diagnostics:
            assert found.span.line >= 1
            assert found.span.column >= 1


FAULTS = [
    ("", [("SM150", 1, 1)]),
    ("  \n", [("SM150", 1, 1)]),
    ("smspec: v1\n", [("SM150", 1, 1)]),
    ("<html>", [("SM150", 1, 1)]),
    ('{"a": 1} {"b": 2}', [("SM150", 1, 10)]),
    ('{"a": 1}}', [("SM150", 1, 9)]),
    ('{"a" 1}', [("SM150", 1, 6)]),
    ('{"a": }', [("SM150", 1, 7)]),
    ('{"a"', [("SM150", 1, 5)]),
    ('{"a": [1, 2}', [("SM150", 1, 12)]),
    ('{\n  "a": [1,\n', [("SM150", 2, 8)]),
    ('{"a": "b\n"}', [("SM150", 1, 7)]),
    ('{"a": "b', [("SM150", 1, 7)]),
    ('{1: "b"}', [("SM150", 1, 2)]),
    ('{[]: "b"}', [("SM150", 1, 2)]),
    ("[1 2]", [("SM150", 1, 4)]),
    ('{"a": 1 "b": 2}', [("SM154", 1, 7)]),
    ('["a" "b"]', [("SM154", 1, 4)]),
    ('{"a": 1,}', [("SM154", 1, 8)]),
    ("[1,,2]", [("SM154", 1, 4)]),
    ("[,1]", [("SM154", 1, 2)]),
    ('{"a": 1} // end', [("SM154", 1, 10)]),
    ('{/* x\n */ "a": 1}', [("SM154", 1, 2)]),
    ('# x\n{"a": 1}', [("SM154", 1, 1)]),
    ("{'a': 1}", [("SM154", 1, 2)]),
    ("{“a”: 1}", [("SM154", 1, 2)]),
    ("{a: 1}", [("SM154", 1, 2)]),
    ('{"a": None, "b": True}', [("SM154", 1, 7), ("SM154", 1, 18)]),
    ('{"a": NaN, "b": -Infinity}', [("SM154", 1, 7), ("SM154", 1, 17)]),
    ("[01, +1, .5, 5., 0x1F, 1_000]", [("SM154", 1, column) for column in (2, 6, 10, 14, 18)]),
    ('{"a": 1, "b": 2, "a": 3}', [("SM153", 1, 18)]),
    ('{"a": 1, "\\u0061": 3}', [("SM153", 1, 10)]),
    ('{"a": "\t"}', [("SM155", 1, 8)]),
    ('{"a": "\\x"}', [("SM155", 1, 8)]),
    ('{"a": "\\u12g4"}', [("SM155", 1, 8)]),
    ('{"a": "\\ud800"}', [("SM155", 1, 8)]),
    ('{"a": "\\udc00\\ud800"}', [("SM155", 1, 8), ("SM155", 1, 14)]),
    ('{"a":\u00a01}', [("SM155", 1, 6)]),
    ('{"a": 1e999}', [("SM152", 1, 7)]),
    ('{"a": ' + "9" * 401 + "}", [("SM152", 1, 7)]),
    ("[" * (MAX_DEPTH + 1), [("SM152", 1, MAX_DEPTH + 1)]),
    ("[" + "1," * 20_001, [("SM152", 1, 2 * 19_998 + 2)]),
    (b"\xef\xbb\xbf{}", [("SM151", 1, 1)]),
    ('{"a": 1}'.encode("utf-16"), [("SM151", 1, 1)]),
    ('{"a": 1}'.encode("utf-16-le"), [("SM151", 1, 1)]),
    (b'{"a":\n "\xff"}', [("SM151", 2, 3)]),
    (b"[" + b" " * MAX_BYTES + b"]", [("SM152", 1, 1)]),
]


@pytest.mark.parametrize(("text", "places"), FAULTS, ids=[repr(text[:24]) for text, _ in FAULTS])
def test_json_errors_are_located(text, places):
    assert reported(text) == places


def test_deepest_allowed_value_is_read():
    assert to_data(read("[" * MAX_DEPTH + "]" * MAX_DEPTH).root)


def test_repeated_member_names_the_first():
    with pytest.raises(InvalidInput) as rejected:
        read('{"a": 1,\n "a": 2}')
    (found,) = rejected.value.diagnostics
    assert [(note.span.line, note.span.column) for note in found.notes] == [(1, 2)]


def test_python_dict_is_reported_in_a_few_findings():
    printed = repr({f"name{n}": {"value": n, "is": None} for n in range(200)})
    assert len(reported(printed)) == 10


HOSTILE = {
    "open lists": "[" * MAX_BYTES,
    "open objects": '{"a":' * (MAX_BYTES // 5),
    "a long text": '"' + "a" * (MAX_BYTES - 2) + '"',
    "escapes": '"' + "\\n" * (MAX_BYTES // 2 - 2) + '"',
    "backslashes": '"' + "\\" * (MAX_BYTES - 2) + '"',
    "commas": "[" + "," * (MAX_BYTES - 2) + "]",
    "quotes": "'" * MAX_BYTES,
    "comments": "/*" * (MAX_BYTES // 2),
    "lines of comments": "//\n" * (MAX_BYTES // 3),
    "digits": "9" * MAX_BYTES,
    "members": "{" + ",".join(f'"{n}":0' for n in range(80_000)) + "}",
    "one member": "{" + '"a":0,' * 9_000 + '"b":0}',
    "no-break spaces": "\u00a0" * (MAX_BYTES // 2),
    "line breaks": "\n" * MAX_BYTES,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_read_in_bounded_time(name):
    started = time.process_time()
    try:
        read_json(decode_json_bytes("x", HOSTILE[name].encode()))
    except InvalidInput as rejected:
        assert rejected.diagnostics
    assert time.process_time() - started < 20  # an idle machine takes less than 2


SECRETS = ["AKIAABCDEFGHIJKLMNOP", "eyJ" + "aB3dE5fG7h" * 4 + ".eyJ" + "k2Lm4Np6Qr" * 4 + "." + "s8Tu0Vw1Xy" * 4]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    "text", ['{{"a": {0}}}', '{{"{0}": 1, "{0}": 2}}', '{{"{0}" 1}}', "{{{0}: 1}}", "{{'{0}': 1}}"]
)
def test_json_errors_contain_no_secret(text, secret):
    with pytest.raises(InvalidInput) as rejected:
        read(text.format(secret))
    for found in rejected.value.diagnostics:
        said = " ".join([found.message, found.help, found.label, *(note.message for note in found.notes)])
        assert secret[:20] not in said
