"""A value of a spec, a key, or a file name that is meant for another reader: each format of `validate` contains it."""

import json
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import pytest

from support.small_job import BUILT, write_job
from support.smspec_command import smspec

PAYLOADS = {
    "script": "<script>alert(1)</script>",
    "image": "\"><img src=x onerror='alert(1)'>",
    "link": "[a](javascript:alert(1)) @team",
    "command": "\n::error::x%0A::set-output name=a::b",
    "table": "a | b ``` `c` <!-- -->",
    "end": "]]></failure><testsuite/>",
    "terminal": "\x1b[2J\x1b]0;title\x07\x9b31m",
    "order": "abc\u202ecba\u2028\u200b",
}


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]


def page(text):
    parsed = Page()
    parsed.feed(text)
    return parsed


def output(tmp_path, payload, format):
    text = json.dumps(payload)
    spec = BUILT.replace("small\n", f"small\n{text}: {text}\n", 1).replace("output: ", f"output: {text}\n#")
    name = re.sub(r"[/\0]", "_", payload) + ".yaml"
    write_job(tmp_path, spec)
    (tmp_path / "job.yaml").rename(tmp_path / name)
    return smspec("validate", ".", "--format", format, cwd=tmp_path)


@pytest.mark.parametrize("which", PAYLOADS)
def test_no_format_is_left(tmp_path, which):
    payload = PAYLOADS[which]
    done = {
        format: output(tmp_path / format, payload, format)
        for format in ("text", "json", "sarif", "github", "junit", "html")
    }
    assert {one.status for one in done.values()} == {1}
    for format, one in done.items():
        printed = one.err if format in ("json", "sarif") else one.out + one.err
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028\u202e]", printed), format
    assert json.loads(done["json"].out) and json.loads(done["sarif"].out)
    assert all(line.startswith(("::error ", "::warning ", "::notice ")) for line in done["github"].out.splitlines())
    assert len(done["github"].out.splitlines()) <= len(json.loads(done["json"].out)) + 1
    suites = ElementTree.fromstring(done["junit"].out)
    assert len([*suites.iter("testsuite")]) == 1
    harmless, tricked = page(output(tmp_path / "x", "x", "html").out), page(done["html"].out)
    assert tricked.tags.count("script") == harmless.tags.count("script") and "img" not in tricked.tags
    assert not [name for name, _ in tricked.attributes if name.startswith("on")]
    assert not [value for name, value in tricked.attributes if name in ("href", "src") and "javascript:" in value]
