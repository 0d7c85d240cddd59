"""The merged spec round-trips through YAML."""

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from smspec.diagnostics import InvalidInput
from smspec.render.spec_yaml import spec_yaml
from smspec.source import Document, Mapping, Scalar, Sequence, SourceText
from smspec.spec.layers import merged
from smspec.spec.yaml import read
from smspec.spec.yaml.events import is_text_everywhere
from support.examples import at_most
from support.spec.trees import mappings, tree
from support.spec.yaml_texts import texts


def content(node):
    """Return a tree without its places: what every value means, how it is spelled, and whether it stands in quotes."""
    if isinstance(node, Mapping):
        return [(key.text, content(value)) for key, value in node.entries]
    if isinstance(node, Sequence):
        return tuple(content(item) for item in node.items)
    return repr(node.value), node.text


def printed(root):
    return spec_yaml(Document(root, ()))


def reread(root):
    return read(SourceText("merged.yaml", printed(root))).root


@pytest.mark.slow
@settings(max_examples=at_most(400))
@given(mappings)
@example(tree({"<<": {"a": 1}, "": [], "a": [[[]], {}, [{"b": [1]}]], "---": "...", "? x": "- y"}))
@example(tree({"a": "x\ny\n", "b": ["x\n\n y", "x\n\n", " x\ny", "x\n \ny"], "c": {"d": "\ta\nb"}}))
def test_any_tree_round_trips(root):
    assert content(reread(root)) == content(root)
    marked = spec_yaml(Document(root, ()), origins=True)
    assert content(read(SourceText("merged.yaml", marked)).root) == content(root)


@settings(max_examples=at_most(200))
@given(texts, st.sampled_from(["", "a: ", "- x\n"]))
def test_parsed_text_round_trips_with_its_quotes(text, prefix):
    try:
        root = read(SourceText("job.yaml", prefix + text)).root
    except InvalidInput:
        return
    again = reread(root)
    assert content(again) == content(root)
    assert [quotes(node) for node in scalars(again)] == [quotes(node) for node in scalars(root)]
    assert printed(again) == printed(root)


def scalars(node):
    if isinstance(node, Scalar):
        yield node
    for part in node.items if isinstance(node, Sequence) else node.entries if isinstance(node, Mapping) else ():
        yield from scalars(part[1] if isinstance(part, tuple) else part)


def quotes(node):
    # Plain text of several lines, or with tabs, which only libyaml takes, comes back in quotes; so does what another
    # reader takes for more than text.
    is_more = isinstance(node.value, str) and not is_text_everywhere(node.text)
    return not node.plain or "\n" in node.text or "\t" in node.text or is_more


WORDS_OF_YAML = [
    "<<",
    "=",
    "~",
    "on",
    "No",
    "y",
    "2026-13-45",
    "2026-01-01",
    "1_000",
    "0b_",
    "0x_",
    "1:30",
    ".5_0",
    "0o8",
    "True",
    "FALSE",
    "Null",
]


@settings(max_examples=at_most(300))
@given(
    st.one_of(st.sampled_from(WORDS_OF_YAML), st.text("-+._:=<~0123456789xobeETZNaNif ", max_size=12)), st.booleans()
)
def test_other_readers_see_the_same_texts(text, is_key):
    try:
        root = read(SourceText("job.yaml", f"? {text}\n: a\n" if is_key else f"a: {text}\n")).root
    except InvalidInput:
        return
    ((key, value),) = root.entries if isinstance(root, Mapping) and len(root.entries) == 1 else ((None, None),)
    if isinstance(value, Scalar) and isinstance(value.value, str | bool | None):
        assert yaml.safe_load(printed(root)) == {key.text: value.value}
        for version in ((1, 1), (1, 2)):
            reader = YAML(typ="safe", pure=True)
            reader.version = version
            assert reader.load(printed(root)) == {key.text: value.value}


def test_spec_is_written_as_clean_yaml():
    text = (
        "smspec: v1\nname: x   # why\nimage: {base: 'b', run: [\"pip install 'x'\"], env: {A: '4'}}\n"
        "hyperparameters: {lr: 1e-3, layers: [256, 64], empty: [], note: 'a: b'}\nchannels: {train: s3://x}\n"
        "description: |\n  two\n  lines\nlong: " + "word " * 60 + "\n"
    )
    assert spec_yaml(merged([read(SourceText("job.yaml", text))])) == (
        'smspec: v1\nname: x\nimage:\n  base: "b"\n  run:\n    - "pip install \'x\'"\n  env:\n    A: "4"\n'
        'hyperparameters:\n  lr: 1e-3\n  layers:\n    - 256\n    - 64\n  empty: []\n  note: "a: b"\n'
        "channels:\n  train:\n    s3: s3://x\ndescription: |\n  two\n  lines\nlong: " + ("word " * 60).strip() + "\n"
    )
