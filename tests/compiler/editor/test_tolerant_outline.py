"""The tolerant outline agrees with the parser where a text is valid, and finds the rest of a text that is not."""

from itertools import islice
from pathlib import Path

import pytest

from smspec.diagnostics import InvalidInput
from smspec.editor.tolerant_outline import TolerantOutline, place_at
from smspec.source import Mapping, Sequence, SourceText
from smspec.spec.yaml import read

ROOT = Path(__file__).resolve().parents[3]
SPECS = [*sorted(ROOT.glob("specs/*/job.yaml")), *islice(sorted(ROOT.glob("tests/rejected/*/job.yaml")), 0, None, 4)]


def keys(node, path=()):
    """Yield the path and the position of every key of a tree."""
    if isinstance(node, Mapping):
        for key, value in node.entries:
            yield (*path, key.text), (key.span.line - 1, key.span.column - 1)
            yield from keys(value, (*path, key.text))
    elif isinstance(node, Sequence):
        for index, item in enumerate(node.items):
            yield from keys(item, (*path, index))


def found_keys(text):
    entries = TolerantOutline(text.split("\n")).entries
    return {entry.path: (entry.key.line, entry.key.start) for entry in entries if entry.key}


def test_outline_of_a_valid_text_is_that_of_the_parser():
    compared = 0
    for path in SPECS:
        text = path.read_text(encoding="utf-8", errors="replace")
        try:
            document = read(SourceText(path.name, text))
        except InvalidInput:
            continue
        if "&" in text or "<<" in text:
            continue
        assert found_keys(text) == dict(keys(document.root)), path
        compared += 1
    assert compared > 50


def test_every_cut_of_a_text_has_an_outline():
    """No prefix of a spec is too broken, and each finds the keys of the lines before it."""
    text = (ROOT / "specs/pipe-tfrecord/job.yaml").read_text() if (ROOT / "specs/pipe-tfrecord").exists() else ""
    text = text or SPECS[0].read_text()
    whole = found_keys(text)
    for end in range(0, len(text), 3):
        lines = text[:end].count("\n")
        before = {path: at for path, at in whole.items() if at[0] < lines}
        assert before.items() <= found_keys(text[:end]).items()


@pytest.mark.parametrize(
    ("text", "kind", "path", "prefix", "present"),
    [
        ("hosts:\n  cou", "either", ("hosts",), "cou", set()),
        ("hosts:\n  count: 1\n  ", "either", ("hosts",), "", {"count"}),
        ("hosts: {count: 1, vol", "key", ("hosts",), "vol", {"count"}),
        ("hosts: {count: 1, instance_type: ml.", "value", ("hosts", "instance_type"), "ml.", set()),
        ("a: [\ninput_mode: ", "value", ("input_mode",), "", set()),
        ('a: "open\ninput_mode: Pi', "value", ("input_mode",), "Pi", set()),
        ("checks:\n  ignore:\n    - rule: SM5", "value", ("checks", "ignore", 0, "rule"), "SM5", set()),
        ("checks:\n  ignore:\n  - {rule: SM501}\n  - ", "either", ("checks", "ignore", 1), "", set()),
        ("extends: [a.yaml, ", "value", ("extends", 1), "", set()),
        ("channels:\n  train:\n    s3: s3://a/b\n  ", "either", ("channels",), "", {"train"}),
        ("a: |\n  text\nb", "either", (), "b", {"a"}),
    ],
)
def test_place_in_a_broken_text(text, kind, path, prefix, present):
    lines = text.split("\n")
    place = place_at(lines, len(lines) - 1, len(lines[-1]))
    assert (place.kind, place.path, place.prefix, place.present) == (kind, path, prefix, present)


def test_deep_brackets_cost_no_more_than_flat_ones():
    assert len(TolerantOutline(["a: " + "[" * 200_000, "b: " + "{" * 200_000]).entries) < 1000


@pytest.mark.parametrize("text", ["# note", "a: 1 # note", "a: |\n  tex", 'a: "done"'])
def test_comments_and_texts_have_no_place(text):
    lines = text.split("\n")
    assert place_at(lines, len(lines) - 1, len(lines[-1])) is None
