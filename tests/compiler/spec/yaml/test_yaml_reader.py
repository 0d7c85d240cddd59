"""The YAML reader: values, positions, and `InvalidInput` for everything else."""

import json

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from smspec.diagnostics import InvalidInput
from smspec.source import Mapping, Scalar, Sequence, SourceText, to_data
from smspec.spec.yaml import decode_bytes, events, read
from support.examples import at_most
from support.spec.yaml_texts import texts

PARSERS = [yaml.BaseLoader] + ([yaml.CBaseLoader] if yaml.__with_libyaml__ else [])


@pytest.fixture(params=PARSERS, ids=lambda parser: parser.__name__)
def parser(request, monkeypatch):
    """Read with each of PyYAML's two parsers."""
    monkeypatch.setattr(events, "PARSER", request.param)


def document(text):
    return read(SourceText("job.yaml", text))


def data(text):
    return to_data(document(text).root)


def faults(text):
    """Return what is wrong with a text, as code, line, column, end line, end column."""
    with pytest.raises(InvalidInput) as rejected:
        document(text)
    return [
        (fault.code, fault.span.line, fault.span.column, fault.span.end_line, fault.span.end_column)
        for fault in rejected.value.diagnostics
    ]


def nodes(node):
    yield node
    if isinstance(node, Sequence):
        for item in node.items:
            yield from nodes(item)
    if isinstance(node, Mapping):
        for key, value in node.entries:
            yield key
            yield from nodes(value)


def test_spans_count_code_points_from_1(parser):
    root = document("é😀: ü x # no\nb:\n  - 1\n  - {c: [d, 'e\n    f']}\n\n# end\ng: |\n  h\n\n  i\n\n\nk:\n").root
    spans = {
        node.text if isinstance(node, Scalar) else type(node).__name__ + str(index): (
            node.span.line,
            node.span.column,
            node.span.end_line,
            node.span.end_column,
        )
        for index, node in enumerate(nodes(root))
    }
    assert spans == {
        "Mapping0": (1, 1, 14, 3),
        "é😀": (1, 1, 1, 3),
        "ü x": (1, 5, 1, 8),
        "b": (2, 1, 2, 2),
        "Sequence4": (3, 3, 5, 9),
        "1": (3, 5, 3, 6),
        "Mapping6": (4, 5, 5, 9),
        "c": (4, 6, 4, 7),
        "Sequence8": (4, 9, 5, 8),
        "d": (4, 10, 4, 11),
        "e f": (4, 13, 5, 7),
        "g": (8, 1, 8, 2),
        "h\n\ni\n": (8, 4, 11, 4),
        "k": (14, 1, 14, 2),
        "": (14, 3, 14, 3),
    }


def test_anchor_is_excluded_from_its_value(parser):
    root = document("a: &x  # why\n  b: 1\nc: &y [1]\nd: &z 'q'\ne: &s\n  - 1\nf: &t {g: 1}\n").root
    columns = {key.text: (value.span.line, value.span.column) for key, value in root.entries}
    assert columns == {"a": (2, 3), "c": (3, 7), "d": (4, 7), "e": (6, 3), "f": (7, 7)}


def test_alias_repeats_a_value_and_keeps_its_position():
    text = "base: &b {x: 1, y: [2]}\nuse: *b\nlist: [*b]\n"
    assert data(text) == {"base": {"x": 1, "y": [2]}, "use": {"x": 1, "y": [2]}, "list": [{"x": 1, "y": [2]}]}
    tree = document(text)
    assert tree.span_of_value(("use", "x")).line == 1
    assert (tree.used_at(("use", "x")).line, tree.used_at(("use", "x")).column) == (2, 6)
    assert tree.used_at(("base", "x")) is None


def test_anchor_can_be_redefined():
    assert data("a: &x 1\nb: *x\nc: &x 2\nd: *x\n") == {"a": 1, "b": 1, "c": 2, "d": 2}


def test_merge_key_adds_only_absent_keys():
    text = "one: &1 {a: 1, b: 1}\ntwo: &2 {b: 2, c: 2}\nall: {a: 0, <<: [*1, *2], d: 3}\nlast: {<<: *1, b: 9}\n"
    assert data(text)["all"] == {"a": 0, "b": 1, "c": 2, "d": 3}
    assert list(data(text)["all"]) == ["a", "b", "c", "d"]
    assert data(text)["last"] == {"a": 1, "b": 9}
    assert document(text).used_at(("all", "c")).line == 3
    assert document(text).used_at(("all", "a")) is None
    assert data('a: {"<<": 1}') == {"a": {"<<": 1}}
    assert data("a: {<<: {b: 1}, '<<': 2}") == {"a": {"b": 1, "<<": 2}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 'x\n", ("SM101", 1, 4, 1, 5)),
        ("a: [1, 2\n", ("SM101", 1, 4, 1, 5)),
        ("a: [1, 2\nb: 3\n", ("SM101", 2, 2, 2, 3)),
        ("a: b: c\n", ("SM101", 1, 5, 1, 6)),
        ("a:\n\tb: c\n", ("SM101", 2, 1, 2, 2)),
        ("foo: 1\nbar\nbaz: 2\n", ("SM101", 2, 1, 2, 4)),
        ("a: 1\n  b: 2\n", ("SM101", 2, 3, 2, 4)),
        ("a:\n    b: 1\n  c: 2\n", ("SM101", 3, 3, 3, 7)),
        ("a: @x\n", ("SM101", 1, 4, 1, 5)),
        ('a: "\\z"\n', ("SM101", 1, 5, 1, 7)),
        ('a: "x" y\n', ("SM101", 1, 8, 1, 9)),
        ("a: - b\n", ("SM101", 1, 4, 1, 5)),
        ("a: ]\n", ("SM101", 1, 4, 1, 5)),
        ("b" * 2000 + ": 1\n", ("SM101", 1, 2001, 1, 2002)),
        ("a: b\0c\n", ("SM103", 1, 5, 1, 6)),
        ("# \x1b[31m\n", ("SM103", 1, 3, 1, 4)),
        ("a: b\rc: d\n", ("SM103", 1, 5, 1, 6)),
        ("a: b\u2028c\n", ("SM103", 1, 5, 1, 6)),
        ("a: b\u202ec\n", ("SM103", 1, 5, 1, 6)),
        ("a: b\nc\ufeff: d\n", ("SM103", 2, 2, 2, 3)),
        ("a: \ud800\n", ("SM103", 1, 4, 1, 5)),
        ("a: *b\n", ("SM105", 1, 4, 1, 6)),
        ("a: &a [*a]\n", ("SM105", 1, 8, 1, 10)),
        ("a: 1\nb: 2\na: 3\n", ("SM106", 3, 1, 3, 2)),
        ("a: {b: 1, 'b': 2}\n", ("SM106", 1, 11, 1, 14)),
        ("a: &x {}\nb: {<<: *x, <<: *x}\n", ("SM106", 2, 13, 2, 15)),
        ("a: !!str 5\n", ("SM107", 1, 4, 1, 9)),
        ("a: &x ! 5\n", ("SM107", 1, 7, 1, 8)),
        ("a: !x\n  b: 1\n", ("SM107", 1, 4, 1, 6)),
        ("a: !nowhere!x 5\n", ("SM107", 1, 4, 1, 14)),
        ("a: 1\n---\nb: 1\n", ("SM108", 2, 1, 2, 4)),
        ("", ("SM109", 1, 1, 1, 1)),
        ("# nothing\n\n", ("SM109", 1, 1, 1, 1)),
        ("---\n", ("SM109", 1, 1, 1, 1)),
        ("? [a]\n: b\n", ("SM110", 1, 3, 1, 6)),
        ("a: {{ x }}\n", ("SM110", 1, 5, 1, 10)),
        ("? \n: b\n", ("SM110", 1, 2, 1, 2)),
        ("a: {<<: 5}\n", ("SM111", 1, 9, 1, 10)),
        ("a: [x, ${{ vars.size }}]\n", ("SM112", 1, 8, 1, 24)),
        ("a: {b: x${{vars.size}}, c: d}\n", ("SM112", 1, 9, 1, 23)),
        ("a: {b: ${{ vars.size\n", ("SM112", 1, 8, 1, 11)),
        ("# x\n%YAML 1.1\n---\na: 1\n", ("SM113", 2, 1, 2, 10)),
        ("%UNKNOWN\n---\na: 1\n", ("SM113", 1, 1, 1, 9)),
        ("- a\n- b\n", ("SM114", 1, 1, 2, 4)),
        ("null", ("SM114", 1, 1, 1, 5)),
    ],
)
def test_yaml_error_is_located(parser, text, expected):
    assert faults(text) == [expected]


def test_independent_yaml_errors_are_reported_together(parser):
    text = (
        "a: !x 1\nb: *c\na: 2\nd: [${{ vars.x }}, {e: 1, e: 2}]\nf: ${{ vars.x }}\n"
        "g: [${{ vars.y }}, '${{ vars.z }}']\nh: {<<: 1}\n"
    )
    assert [fault[:3] for fault in faults(text)] == [
        ("SM107", 1, 4),
        ("SM105", 2, 4),
        ("SM106", 3, 1),
        ("SM112", 4, 5),
        ("SM106", 4, 27),
        ("SM112", 6, 5),
        ("SM111", 7, 9),
    ]


def test_duplicate_key_points_at_the_first():
    with pytest.raises(InvalidInput) as rejected:
        document("a:\n  - {}\n  - b: {c: 1, c: 2}\n")
    (fault,) = rejected.value.diagnostics
    assert fault.path == ("a", 1, "b", "c")
    assert [(note.span.line, note.span.column) for note in fault.notes] == [(3, 9)]


def test_variable_in_block_style_needs_no_quotes():
    assert data("a: ${{ vars.size }}\nb: x-${{ vars.size }}\n") == {"a": "${{ vars.size }}", "b": "x-${{ vars.size }}"}


def test_byte_order_mark_is_ignored():
    assert document("\ufeffa: 1\n").span_of_key(("a",)).column == 1
    assert decode_bytes("job.yaml", b"\xef\xbb\xbfa: 1\n").text == "a: 1\n"


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"a: 1\nb: \xff\n", (2, 4)),
        ("é: ".encode() + b"\xc3\x28", (1, 4)),
        ("a: 1\n".encode("utf-16"), (1, 1)),
        (b"a: \xed\xa0\x80", (1, 4)),
        (b"a: \xe2\x82", (1, 4)),
    ],
    ids=["byte of no character", "cut pair", "UTF-16", "surrogate", "cut at the end"],
)
def test_undecodable_bytes_are_located(content, place):
    with pytest.raises(InvalidInput) as rejected:
        decode_bytes("job.yaml", content)
    (fault,) = rejected.value.diagnostics
    assert (fault.code, fault.span.line, fault.span.column) == ("SM102", *place)


def inside(text, span):
    """Return whether a span is inside a text, including its end."""
    lines = text.split("\n")

    def place(line, column):
        last = lines[line - 1] if line <= len(lines) else ""
        return 1 <= line <= len(lines) + 1 and 1 <= column <= len(last) + 1

    ordered = (span.line, span.column) <= (span.end_line, span.end_column)
    return ordered and place(span.line, span.column) and place(span.end_line, span.end_column)


@settings(max_examples=at_most(400))
@given(texts)
@example('a: "\\ud83d\\ude00"')
@example('"\\U00110000": b')
@example("a: =")
def test_any_text_is_a_tree_or_is_rejected_within_its_lines(text):
    for candidate in PARSERS:
        try:
            events.PARSER, before = candidate, events.PARSER
            root = document(text).root
        except InvalidInput as rejected:
            assert rejected.diagnostics
            assert all(inside(rejected.texts[0].text, fault.span) for fault in rejected.diagnostics)
            assert all(
                inside(rejected.texts[0].text, note.span) for fault in rejected.diagnostics for note in fault.notes
            )
        else:
            bare = text.removeprefix("\ufeff")
            assert all(inside(bare, node.span) for node in nodes(root))
            json.dumps(to_data(root))
        finally:
            events.PARSER = before


@settings(max_examples=at_most(300))
@given(st.binary(max_size=40) | texts.map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_a_tree_or_are_rejected(content):
    try:
        document(decode_bytes("job.yaml", content).text)
    except InvalidInput as rejected:
        assert all(inside(rejected.texts[0].text, fault.span) for fault in rejected.diagnostics)


@settings(max_examples=at_most(300))
@given(texts)
@pytest.mark.skipif(len(PARSERS) < 2, reason="PyYAML has no libyaml here")
def test_both_parsers_read_the_same(text):
    # But for tabs between tokens, which only libyaml takes.
    text, answers = text.replace("\t", " "), []
    for candidate in PARSERS:
        try:
            events.PARSER, before = candidate, events.PARSER
            answers.append(document(text).root)
        except InvalidInput:
            answers.append(None)
        finally:
            events.PARSER = before
    assert answers[0] == answers[1]
