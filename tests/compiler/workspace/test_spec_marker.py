"""What makes a YAML file a spec: a top-level key, in whatever form YAML writes it."""

import pytest

from smspec.workspace.spec_marker import has_spec_key, is_meant_as_spec


def test_escaped_spec_key_is_found():
    assert has_spec_key(b'"sm\\x73pec": v1\n')
    assert not has_spec_key(b'"a\\x73pec": v1\n')


@pytest.mark.parametrize(
    "text",
    [
        "{a: {b: 1}, smspec: v1}",
        "description: &key smspec\n*key : v1\n",
        "a: {b: [&key smspec]}\n? *key\n: v1\n",
        "description: &key <<\n*key : {smspec: v1}\n",
        "{a: [b], c: d, smspec: v1}",
        "{? {a: b} : c, smspec: 1}",
        "a: {b: 1}\n? smspec\n: v1\n",
        "<<: {smspec: v1}\nname: a\n",
        "a: &x {smspec: v1}\n<<: *x\n",
        "<<: [{b: 1}, {<<: {smspec: v1}}]\n",
        "<<: &a {<<: *a, smspec: 1}",
    ],
)
def test_spec_key_is_found_in_every_form_of_yaml(text):
    assert has_spec_key(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "{a: smspec}",
        "a: &key smspec\nb: *key\n",
        "a: &key smspec\nb: {*key : v1}\n",
        "a: &key smspec\nb: &key other\n*key : v1\n",
        "{a: {smspec: v1}}",
        "{a: [smspec, b]}",
        "{? [a] : smspec}",
        "x: smspec\n<<: {a: 1}\n",
        "- <<: {smspec: 1}",
    ],
)
def test_other_uses_of_the_word_are_not_specs(text):
    assert not has_spec_key(text.encode())


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("text", ["smspec: v1\nname: a\n", "# a job\nsmspec: v1\n", "{name: a, smspec: v1}\n"])
def test_spec_in_another_encoding_is_meant_as_one(text, encoding):
    """`build` reports its encoding, so a search must not pass over it."""
    assert is_meant_as_spec(text.encode(encoding))
    assert not is_meant_as_spec(text.replace("smspec", "other").encode(encoding))
