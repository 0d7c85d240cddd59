"""The offsets of secrets in a text: in YAML, JSON, commands, connection strings, and URLs.

Some commands contain a password without a name for it, such as `curl -u user:password`.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator

from smspec.diagnostics.secret_formats import written_secrets
from smspec.diagnostics.secrets import COMMAND, is_named_secret, is_reference, is_withheld, names_a_secret, writes_text
from smspec_runtime.secret_names import SURE, may_name_a_secret, strength

IsSecret = Callable[[str, str], bool]
"""Returns whether the value of a name is a secret."""

# `name: value` in YAML, `"name": "value"` in JSON, `name=value` and `--name=value` in commands, connection strings, and
# URLs; not `google-auth==2.62.2`. Every part has a maximum length: a line may contain a thousand beginnings.
_NAMED = (
    r"""(?P<before>^|[{,\[(\s;"'?&=]|(?<=/):|(?<![\w.])-)(?P<name>[A-Za-z_][\w.-]{0,127})"""
    r"""(?:\\{0,3}["'](?:\](?=[ \t]?=[ \t]?\\{0,3}["']))?)?[ \t]{0,64}"""  # `environ['NAME'] = 'value'`, too
    r"""(?::[ \t]+|:(?=\\{0,3}["'\n])|=(?!=[0-9]+\.[0-9])[ \t]*)(?:[&!]\S{1,64}[ \t]+)?"""
)
_VALUE = (
    r"""\"(?:\\.|[^"\\\n]){SO_MANY}"?|'(?:''|[^'\n]){SO_MANY}'?|\\{1,3}["'](?:[^"'\\\n]|\\(?!["'\\])){SO_MANY}"""
    r"""|[|>][+-]?[0-9]?[+-]?[ \t]*(?:\n(?:[ \t]+[^\n]{SO_MANY}|(?=\n))){LINES}"""
    r"""|(?:\n[ \t]*-[ \t]+[^\n]{SO_MANY})(?:\n[ \t]*-[ \t]+[^\n]{SO_MANY}){LINES}"""
    r"""|[^\s"'][^\n]{SO_MANY}"""
)
# The beginning of a value shows whether it is a secret; only then the end is searched.
_BEGINNING = _VALUE.replace("{SO_MANY}", "{0,200}").replace("{LINES}", "{0,4}")
_MOST_NAMED = 10_000
"""In a text with more secret names, the rest is masked unread."""
_WHOLE = _VALUE.replace("{SO_MANY}", "*").replace("{LINES}", "*")
# `--name value` and `-name value` in a command, and as two items of a list in YAML or JSON.
_OPTION = (
    r"""(?<![\w-])(?:--(?=[A-Za-z])|-(?=[A-Za-z]{3}))(?P<name>[\w.-]{1,128})"""
    r"""(?:[ \t]{1,64}|["']?[ \t]{0,64},\s{0,64}["']?|["']?[ \t]{0,64}\n[ \t]{0,64}-[ \t]{1,64}["']?)"""
    rf"""(?P<value>{COMMAND}|"[^"\n]{{1,200}}"|'[^'\n]{{1,200}}'|(?![-&|])[^\s"',\]]+)"""
)
# A mapping with a secret name: `db_password: {default: hunter2}`.
_INNER = (
    r"""(?:^[ \t]+|[{,][ \t]*)["']?(?P<name>[\w-]{1,64})["']?:(?:[ \t]+|(?=["']))"""
    r"""(?P<value>\"[^"\n]*"|'[^'\n]*'|\[[^\]\n]*\]|[^\s"'{\[,}][^,}\n]*)"""
)
_INNER_HARMLESS = frozenset(
    {"env", "file", "arn", "name", "ref", "from", "id", "type", "description", "title", "path", "key_id"}
)
_MOST_INNER = 2_000
"""Characters of such a mapping that are parsed."""
_OF_A_MAPPING = 100
"""As many names as a mapping counts for: each of a thousand may be in all before it."""
# A tag in a request, or a variable in Kubernetes: key and value are two members, in either order.
_QUOTE = r"""(?:\\{0,3}["'])?"""
_KEY_MEMBER = rf"""\b(?i:key|name){_QUOTE}[ \t]*:[ \t]*{_QUOTE}(?P<name>[\w.-]+){_QUOTE}"""
_VALUE_MEMBER = (
    rf"""\b(?i:value){_QUOTE}[ \t]*:[ \t]*"""
    r"""(?P<value>"[^"\n]*"|'[^'\n]*'|\\{1,3}["'][^"'\\\n]*\\{1,3}["']|[^\s,}]+)"""
)
_PAIR = rf"""{_KEY_MEMBER}(?:[ \t]*,)?\s*{_QUOTE}{_VALUE_MEMBER}"""
_PAIR_REVERSED = rf"""{_VALUE_MEMBER}(?:[ \t]*,)?\s*{_QUOTE}{_KEY_MEMBER}"""
# JSON in Base64: an object begins in one of a few ways.
_ENCODED = r"(?<![\w+/=-])(?:eyJ|eyA|ewo|ewk|ewog|W3s|WyJ|WwA)[A-Za-z0-9+/_-]{12,60000}={0,2}(?![\w+/=.-])"
_REFERRING = (
    rf"(?:(?i:bearer|basic|token)[ \t]+)?(?:\$\{{?[A-Za-z_]\w*\}}?|(?P<command>{COMMAND}))"
    r"(?=[\"']?(?:[ \t\n;|&)]|$))"
)
"""What a shell puts in the place of the first word of a value: a variable, or the output of a command."""
_PROSE = (
    r"(?:uses?|using|see|set|is|are|was|were|has|have|must|may|not?|if|from|in|via|with|without|comes|required|optional)"
    r"(?: [a-z][a-z-]{0,13}){1,12}[.!]?[\"']?(?=[ ]*(?:[>|;&]|$))"
)
"""Words that follow a name in a sentence: `echo "no password: use keys"`. A password seldom begins so."""
_FLOW_END = r"[,}\]]"
_COMMENT = r"[ \t]#"

# Values that are not reported as a password in a URL, such as `user:password@`, are not shown either.
# The last `@` before a path ends it (RFC 3986), lest it hides the host; without one there, the password has a slash.
_URL_PASSWORD = (
    r"""(?<=://)[^\s/:@"'`]*:(?P<value>\$\([^()\n]*\)"""
    r"""|(?![0-9]*[/?#])(?:(?:(?!://)[^\s"'`/?#])+(?=@)|(?:(?!://)[^\s"'`])+))(?=@)"""
)

_KEY_ID = r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
_SECRET_KEY = (
    r"(?:(?<![\w/+=])|(?<=\\[nrt]))(?=[\w/+]{0,39}[a-z])(?=[\w/+]{0,39}[A-Z])(?=[\w/+]{0,39}[0-9])"
    r"[A-Za-z0-9/+]{40}(?![\w/+=])"
)
_NEXT_TO = 500
"""Characters before and after the id of an AWS key in which its secret key is expected, with or without a name."""

_WITHIN = r"[^\n|;&]{0,200}?"
"""More of the same command; bounded, because a text may contain its name a thousand times."""
_PASSWORD = rf"""(?P<value>(?:{COMMAND}|[^\s"',\\]|\\(?![\\"']))+)"""
_WRITTEN = r"""(?!\$\{?\w+\}?["'|\s])(?P<value>[^\s"'|]{1,200})"""
_APART = r"(?:\s|\\{1,3}n){1,9}"
_NEXT_WORD = rf"""(?:[ =]|\\{{0,3}}["'],[ ]?\\{{0,3}}["'])?{_QUOTE}"""

# A word that every such command contains, and the command.
_COMMANDS = (
    ("curl", rf"""\bcurl\b{_WITHIN}\s{_QUOTE}(?:-[uU]|--(?:proxy-)?user){_NEXT_WORD}[^\s:"'\\]+:{_PASSWORD}"""),
    ("mysql", rf"""\bmysql(?:dump|admin|import)?\b{_WITHIN}\s{_QUOTE}-p{_PASSWORD}"""),
    ("mariadb", rf"""\bmariadb\b{_WITHIN}\s{_QUOTE}-p{_PASSWORD}"""),
    ("sshpass", rf"""\bsshpass\b{_WITHIN}\s{_QUOTE}-p{_NEXT_WORD}{_PASSWORD}"""),
    (
        "login",
        rf"""\b(?:docker|podman|nerdctl|helm|az|oras|crane|skopeo)\b[^\n|;&]{{0,40}}?\slogin\b{_WITHIN}\s-p{_NEXT_WORD}{_PASSWORD}""",
    ),
    ("redis-cli", rf"""\bredis-cli\b{_WITHIN}\s{_QUOTE}-a{_NEXT_WORD}{_PASSWORD}"""),
    ("openssl", rf"""\bopenssl\b{_WITHIN}\s{_QUOTE}-pass(?:in|out)?{_NEXT_WORD}pass:{_PASSWORD}"""),
    ("twine", rf"""\btwine\b{_WITHIN}\s-p{_NEXT_WORD}{_PASSWORD}"""),
    ("wandb", rf"""\bwandb[ ]login\b(?:[ ]--[\w-]+)*[ ]{_QUOTE}(?!-){_PASSWORD}"""),
    (
        "aws",
        rf"""\baws[ ]configure[ ]set[ ](?:[\w.-]{{1,99}}\.)?aws_(?:secret_access_key|session_token)[ ]"""
        rf"""{_QUOTE}{_PASSWORD}""",
    ),
    (
        "machine",
        rf"""\bmachine[ ](?:[\w${{}}-]*[.$][\w.${{}}-]*|localhost){_APART}(?:login[ ]\S{{1,200}}?{_APART})?"""
        rf"""password[ ]{_QUOTE}{_PASSWORD}""",
    ),
    (
        "-stdin",
        rf"""\b(?:echo|printf)(?:[ ]-\w+|[ ]['"]?%s['"]?)*[ ]{_QUOTE}{_WRITTEN}{_QUOTE}[ ]?\|{_WITHIN}"""
        rf"""--password-stdin""",
    ),
    ("chpasswd", rf"""\becho[ ]{_QUOTE}[\w.-]+:{_WRITTEN}{_QUOTE}[ ]?\|[ ]?(?:sudo[ ])?chpasswd"""),
)


def reported_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the positions of secrets that a finding reports, in no order, possibly repeated."""
    yield from (found.span() for _, found in written_secrets(text))
    yield from _nameless_spans(text, is_named_secret)
    yield from _named_spans(text, is_named_secret)


def withheld_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the positions of everything that must not be shown, in no order, possibly repeated."""
    yield from (found.span() for _, found in written_secrets(text, with_printed=True))
    if "://" in text:
        for found in re.finditer(_URL_PASSWORD, text):
            if not is_reference(found["value"]):
                yield found.span("value")
    for found in re.finditer(_KEY_ID, text) if "AKIA" in text or "ASIA" in text else ():
        start, stop = max(0, found.start() - _NEXT_TO), found.end() + _NEXT_TO
        yield from (secret.span() for secret in re.compile(_SECRET_KEY).finditer(text, start, stop))
    yield from _nameless_spans(text, is_withheld)
    yield from _named_spans(text, is_withheld)


def _nameless_spans(text: str, is_secret: IsSecret) -> Iterator[tuple[int, int]]:
    """Yield unnamed secrets in commands, and encoded JSON that contains one."""
    for found in command_passwords(text):
        if is_secret("password", found["value"]):
            yield found.span("value")
    for found in re.finditer(_ENCODED, text):
        if any(_named_spans(_decoded(found[0]), is_secret)):
            yield found.span()


def _decoded(text: str) -> str:
    """Return the decoded Base64 text; empty if it is not valid."""
    standard = text.rstrip("=").translate(str.maketrans("-_", "+/"))
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4)).decode()
    except (ValueError, binascii.Error):
        return ""


def _named_spans(text: str, is_secret: IsSecret) -> Iterator[tuple[int, int]]:
    if may_name_a_secret(text):
        yield from _in_pairs(_PAIR, text, is_secret)
        yield from _in_pairs(_PAIR_REVERSED, text, is_secret)
        yield from _in_pairs(_OPTION, text, is_secret)
        yield from _in_assignments(text, is_secret)


def _in_pairs(pattern: str, text: str, is_secret: IsSecret) -> Iterator[tuple[int, int]]:
    for pair in re.finditer(pattern, text):
        if is_secret(pair["name"], pair["value"].strip("\\\"'")):
            yield pair.span("value")


def _in_mapping(name: str, text: str, start: int, is_secret: IsSecret) -> Iterator[tuple[int, int]]:
    """Yield the secrets of a mapping with a secret name, starting at ``start``."""
    mapping = _mapping_at(text, start)
    for inner in re.finditer(_INNER, mapping, re.MULTILINE):
        value = inner["value"].strip("\"'")
        if inner["name"].lower() not in _INNER_HARMLESS and is_secret(name, value):
            yield start + inner.start("value"), start + inner.end("value")


def _mapping_at(text: str, start: int) -> str:
    """Return a mapping in flow style, or the lines that are indented more than the one before ``start``."""
    if text[start] == "{":
        return text[start : min(start + _MOST_INNER, text.find("}", start) + 1 or len(text))]
    line = text[text.rfind("\n", 0, start) + 1 : start]
    further_in = " " * (len(line) - len(line.lstrip(" -")) + 1)
    end = start
    for below in text[start : start + _MOST_INNER].split("\n")[1:]:
        if below.strip() and not below.startswith(further_in):
            break
        end += 1 + len(below)
    return text[start:end]


def _in_assignments(text: str, is_secret: IsSecret) -> Iterator[tuple[int, int]]:
    named, beginning, whole = re.compile(_NAMED, re.MULTILINE), re.compile(_BEGINNING), re.compile(_WHOLE)
    position, left = 0, _MOST_NAMED
    while match := named.search(text, position):
        if not names_a_secret(match["name"]):
            position = match.end("name")  # `note: password=…`: the end of one assignment may start the next
            continue
        position = match.end()
        left -= 1
        if not left:
            yield position, len(text)
            return
        value = beginning.match(text, position)
        if text[position : position + 1] == "{" or (value is None and text[position : position + 1] == "\n"):
            left = max(left - _OF_A_MAPPING, 1)
            yield from _in_mapping(match["name"], text, position, is_secret)
            continue
        if value is None:
            continue
        refers = re.match(_REFERRING, value[0])
        if refers and not writes_text(refers["command"] or ""):
            # The rest of the line is not of the value; in a command, names may follow.
            position += refers.end() if refers["command"] is None else refers.start("command") + 1
            continue
        before = _before(text, match)
        start, stop = _value_span(before[-1:], value)
        if match[0].endswith(": ") and _follows_words(before, match) and re.match(_PROSE, value[0]):
            continue
        in_text = _is_in_a_sentence(before, match, text[start:stop])
        if in_text:
            stop = start + text[start:stop].index(" ")  # in a sentence one word is a secret, not what follows
            if text[start] != "`" and is_named_secret(match["name"], text[start:stop].strip("\"',.;")):
                yield start, stop
        elif is_secret(match["name"], text[start:stop].strip("\"'")):
            start, stop = _value_span(before[-1:], whole.match(text, position) or value)
            yield start, stop
            position = max(position, stop)


def _before(text: str, name: re.Match[str]) -> str:
    """Return the part of the line before a name."""
    return text[text.rfind("\n", 0, name.start("name")) + 1 : name.start("name")].rstrip()


def _is_in_a_sentence(before: str, name: re.Match[str], value: str) -> bool:
    """Return whether words precede a name and several follow it: `asks for credentials: the image is not pulled`."""
    return _follows_words(before, name) and " " in value and strength(name["name"]) < SURE


def _follows_words(before: str, name: re.Match[str]) -> bool:
    return before.strip(" -") != "" and before[-1] not in "{[(,:" and name["before"] == " "


def _value_span(before: str, match: re.Match[str]) -> tuple[int, int]:
    """Return the position of the value of an assignment, without its quotes."""
    start, stop = match.span()
    value = match[0]
    if value[0] == "\\":
        return start + len(value) - len(value.lstrip("\\")) + 1, stop
    if value[0] in "\"'":
        return start + 1, stop - (len(value) > 1 and value[-1] == value[0])
    if value[0] in "|>\n":
        return start, stop
    if value[0] == "[" and "]" in value:
        return start, start + value.index("]") + 1
    ends = [found.start() for found in (re.search(_COMMENT, value),) if found]
    if before in ("{", ",", "[", "("):
        ends += [found.start() for found in (re.search(_FLOW_END, value),) if found]
    return start, start + len(value[: min(ends, default=len(value))].rstrip())


def command_passwords(text: str) -> Iterator[re.Match[str]]:
    """Yield commands with a password, which is their group `value`."""
    for word, pattern in _COMMANDS:
        if word in text:
            yield from re.finditer(pattern, text)
