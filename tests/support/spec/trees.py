"""Handmade and generated trees."""

from __future__ import annotations

from hypothesis import strategies as st

from smspec.source import Mapping, Scalar, Sequence, Span
from smspec.spec.yaml.events import meaning

HERE = Span("job.yaml", 1, 1, 1, 1)


def tree(data):
    """Return plain data as a tree; a text in it is a quoted one, everything else is plain."""
    if isinstance(data, dict):
        return Mapping(tuple((Scalar(key, key, True, HERE), tree(value)) for key, value in data.items()), HERE)
    if isinstance(data, list):
        return Sequence(tuple(tree(item) for item in data), HERE)
    words = {True: "true", False: "false", None: "null"}
    written = data if isinstance(data, str) else words[data] if data is None or isinstance(data, bool) else repr(data)
    return Scalar(written, data, not isinstance(data, str), HERE)


# What YAML can hold: every character but halves of pairs.
characters = st.characters(exclude_categories=("Cs",))
words = st.text(characters, max_size=12)
lines = st.text(st.sampled_from("ab \n\t#:-|'\"\\é"), max_size=12)
numbers = st.sampled_from(
    [
        "0",
        "-0",
        "7",
        "1e-3",
        ".5",
        "5.",
        "+5",
        "1.10",
        "true",
        "false",
        "null",
        "",
        ".inf",
        ".nan",
        "True",
        "FALSE",
        "~",
    ]
)
plain = st.sampled_from(
    ["a", "s3://b/c", "012", "a:b", "-x", "a#b", "x y", "=", "no", "${{ vars.a }}", "[", "a: b", "<<", "- x"]
)

scalars = st.one_of(
    st.builds(lambda text: Scalar(text, text, False, HERE), words | lines),
    st.builds(lambda text: Scalar(text, meaning(text), True, HERE), numbers | plain),
)
keys = st.one_of(words, lines, plain, st.just("k" * 1500)).map(lambda text: Scalar(text, text, True, HERE))


def _mappings(values):
    pairs = st.lists(st.tuples(keys, values), max_size=4, unique_by=lambda pair: pair[0].text)
    return pairs.map(lambda entries: Mapping(tuple(entries), HERE))


nodes = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4).map(lambda items: Sequence(tuple(items), HERE)) | _mappings(inner),
    max_leaves=12,
)
mappings = _mappings(nodes)

# Plain data as JSON has it, with few keys, so that two of them have keys in common.
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "x"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
json_objects = st.dictionaries(st.sampled_from("abc"), json_values, max_size=3)
