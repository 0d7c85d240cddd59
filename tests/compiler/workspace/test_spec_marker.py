"""What makes a YAML file a spec: a top-level key, in whatever form YAML writes it."""

import time

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from smspec.workspace.spec_reading import has_spec_key, is_meant_as_spec

AROUND = ["{{{}: v1}}", "? {}\n: v1\n", '{{"a": [], {} : v1}}', "name: &a {}\n*a : v1\n"]
BREAKS = ["\n", "\r\n", "\n \t "]


@given(st.data())
def test_escaped_spec_key_is_found(data):
    """A search of bytes decides what is parsed, so it has to know each form that the parser reads."""
    forms = ["{}", "\\x{:02x}", "\\x{:02X}", "\\u{:04x}", "\\u{:04X}", "\\U{:08X}"]
    key = ""
    for letter in "smspec":
        form = data.draw(st.sampled_from(forms))
        key += letter if form == "{}" else form.format(ord(letter))
        if data.draw(st.integers(0, 5)) == 0:
            key += "\\" + data.draw(st.sampled_from(BREAKS)) + " " * data.draw(st.integers(0, 2))
    around = data.draw(
        st.sampled_from(["{{{}: v1}}", "? {}\n: v1\n", '{{"a": [], {} : v1}}', "name: &a {}\n*a : v1\n"])
    )
    text = around.format(f'"{key}"')
    assert has_spec_key(text.encode())
    assert not has_spec_key(text.replace(f'{key}"', f'{key}s"').encode())


@given(st.text(alphabet='smpec"\\x73u0\n :{}?&*', max_size=24))
def test_every_text_with_the_key_is_parsed(text):
    try:
        documents = list(yaml.safe_load_all(text))
    except (yaml.YAMLError, ValueError, TypeError):
        return
    if any(isinstance(document, dict) and "smspec" in document for document in documents):
        assert has_spec_key(text.encode())


SIZE = 1 << 20
COSTLY = {
    "JSON with escapes": '{"a": [' + ",".join([r'{"text": "caf\u00e9 line\n", "box": [1.5, 2]}'] * (SIZE // 44)) + "]}",
    "YAML with escapes": 'a: "\\x73m\\x73pe"\n' * (SIZE // 20),
    "beginnings": "smspe" * (SIZE // 5),
    "escaped beginnings": "\\x73" * (SIZE // 4),
    "folded beginnings": ("s\\\n" + " " * 1000) * (SIZE // 1003),
    "breaks": "s" + "\\\n" * (SIZE // 2),
    "blanks": "smspec" + " " * SIZE + "x",
    "breaks after it": "smspec" + "\\\n" * (SIZE // 2) + "x",
    "other words": "a: about smspec and smspec_runtime, smspec.lock\n" * (SIZE // 48),
}


@pytest.mark.parametrize("name", COSTLY)
def test_file_without_the_key_is_not_parsed(name, monkeypatch):
    """A repository may have thousands of large JSON files: parsing one takes ten times as long as searching it."""
    monkeypatch.setattr(yaml, "parse", lambda *_, **__: pytest.fail("it is parsed"))
    content = COSTLY[name].encode()
    start = time.process_time()
    assert not has_spec_key(content)
    assert time.process_time() - start < 5


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
