"""Too large texts are rejected before they are parsed."""

import time

import pytest
import yaml

from smspec.diagnostics import InvalidInput
from smspec.source import SourceText, to_data
from smspec.spec.yaml import events, read

PARSERS = [yaml.BaseLoader] + ([yaml.CBaseLoader] if yaml.__with_libyaml__ else [])


@pytest.fixture(params=PARSERS, ids=lambda parser: parser.__name__)
def parser(request, monkeypatch):
    """Read with each of PyYAML's two parsers."""
    monkeypatch.setattr(events, "PARSER", request.param)


def data(text):
    return to_data(read(SourceText("job.yaml", text)).root)


def codes(text):
    with pytest.raises(InvalidInput) as rejected:
        read(SourceText("job.yaml", text))
    return [fault.code for fault in rejected.value.diagnostics]


HOSTILE = {
    "lists in lists": "[" * 100_000,
    "mappings in mappings": "{" * 100_000,
    "dashes": "- " * 300_000,
    "deep block style": "".join(" " * depth + "a:\n" for depth in range(1_000)),
    "aliases of aliases": "a: &a [x,x,x,x,x,x,x,x,x]\n"
    + "".join(f"{c}: &{c} [{','.join(['*' + chr(ord(c) - 1)] * 9)}]\n" for c in "bcdefghi"),
    "merge keys of merge keys": "a: &a {x0: 1, x1: 1, x2: 1}\n"
    + "".join(f"{c}: &{c} {{<<: [{', '.join(['*' + chr(ord(c) - 1)] * 9)}]}}\n" for c in "bcdefghi"),
    "an alias of much text": "a: &a " + "x" * 100_000 + "\n" + "".join(f"k{i}: *a\n" for i in range(2_000)),
    "a ladder of aliases": "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 4_000)),
    "many keys": "".join(f"key{i}: {i}\n" for i in range(60_000)),
    "a megabyte and more": "a: " + "x" * 2**20,
    "a megabyte of bytes": "a: " + "é" * 2**19,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_rejected_by_size(parser, text):
    start = time.process_time()
    assert codes(text) == ["SM104"]
    assert time.process_time() - start < 20  # an idle machine takes less than 1


DEEP = {
    "lists": "[" * 1500,
    "mappings": "{" * 1500,
    "below a key": "name: a\nk: " + "[" * 1500,
    "behind other lists": "a: [[1], [2]]\nb: " + "[" * 1200,
    "lists as keys": "[[a]: " * 1500,
    "mappings in a mapping": "a: " + "{a: " * 1500,
    "dashes": "- " * 1500,
    "question marks": "? " * 1500,
    "dashes on lines": "".join(" " * depth + "-\n" for depth in range(1_020)),
    "keys on lines": "".join(" " * depth + "a:\n" for depth in range(1_020)),
    "with an anchor": "a: &a [x]\nb: [*a, " + "[" * 1500,
    "closed": "[" * 1500 + "]" * 1500,
    "with a comment": "# [[[[\na: " + "[ # \n" * 1500,
    "on many lines": "a:\n" + "".join(" [\n" for _ in range(1_500)),
}


@pytest.mark.skipif(len(PARSERS) < 2, reason="PyYAML has no libyaml here")
@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_parsers_refuse_the_same_depth_at_the_same_place(monkeypatch, text):
    """libyaml 0.2.6 has a limit of its own, an error that users would see with one version of PyYAML only."""
    seen = []
    for parser in PARSERS:
        monkeypatch.setattr(events, "PARSER", parser)
        with pytest.raises(InvalidInput) as rejected:
            read(SourceText("job.yaml", text))
        seen.append([(fault.code, fault.message, fault.span) for fault in rejected.value.diagnostics])
    assert seen[0] == seen[1]
    assert seen[0][-1][0] == "SM104"


def test_number_of_faults_is_limited():
    assert len(codes("a: 1\n" * 60_000)) == 100
    assert len(codes("\x01a" * 60_000)) == 10


def test_large_valid_text_is_read():
    assert len(data("".join(f"key{i}: {i}\n" for i in range(9_000)))) == 9_000
    deep = "x"
    for _ in range(63):
        deep = f"[{deep}]"
    assert data(f"a: {deep}")
    assert codes(f"a: [{deep}]")[0] == "SM104"
