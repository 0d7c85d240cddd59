"""Parse YAML 1.2 files into trees that keep positions, with limits on size and on surprising syntax.

`read` takes a `SourceText` and returns a `Document`, or raises all errors that do not follow from each other. PyYAML
only splits the text into events; what a plain word means is decided here, by YAML 1.2, so ``no`` is text. Tags,
directives, invisible characters, and documents that grow when they are read are rejected: a reviewer must see what a
spec contains. The package does not know the keys of a spec.
"""

from __future__ import annotations

import re

import yaml
from yaml import MarkedYAMLError

from smspec.diagnostics import Note, ParseErrors, Rule
from smspec.diagnostics.quoting import quoted
from smspec.source import Document, Mapping, Node, Scalar, Sequence, SourceText
from smspec.source.frozen import dataclass
from smspec.spec.yaml.composing import TAG, VARIABLE, Composer, unquoted_variable
from smspec.spec.yaml.events import BEYOND_THE_LIMITS, BROKEN_YAML, MAX_BYTES, events_of, meaning

EMPTY_SPEC = Rule("SM109", "empty spec")

NO_MAPPING = Rule("SM114", "spec other than a mapping")

DIRECTIVE = Rule("SM113", "YAML directive")

NOT_UTF8 = Rule("SM102", "text that is not UTF-8")

_FIRST_LINE_WITH_SOMETHING = r"^[ \t]*[^\s#]"

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")

# The first characters of anything except a plain scalar.
_SIGNS = tuple("\"'[{&*!|>%@`")

_LONGEST_KEY = 1024


def read(text: SourceText) -> Document:
    """Return the tree of ``text``; raise `InvalidInput` with all errors."""
    if text.text.startswith("\ufeff"):
        text = SourceText(text.name, text.text[1:])
    faults = ParseErrors(text)
    check(faults)
    root = _composed(faults)
    if faults:
        raise faults.rejected()
    if not isinstance(root, Mapping):
        _refuse_root(root, faults)
        raise faults.rejected()
    is_ours = root.get("smspec") is not None or root.get("require") is not None  # not a template of another tool
    if is_ours and not (text.text.isascii() and "\\" not in text.text):
        # Imported late: most specs are ASCII without escapes.
        from smspec.diagnostics.unseen_names import check_names

        check_names(faults, root)
    if faults:
        raise faults.rejected()
    return Document(root, (text,))


def read_scalar(text: SourceText) -> Scalar:
    """Return the one value of ``text``, as on a command line; raise `InvalidInput` if there is none, or several.

    Without quotes the whole text is the value: it cannot contain a comment, or ``key: value``.
    """
    faults = ParseErrors(text)
    check(faults)
    bare = text.text.strip(" \t\n")
    if not bare.startswith(_SIGNS):
        return Scalar(bare, meaning(bare), True, faults.span(0, len(text.text)))
    root = _composed(faults)
    if faults:
        raise faults.rejected()
    if not isinstance(root, Scalar):
        faults.add(BROKEN_YAML, faults.span(0, len(text.text)), "a list or a mapping, not a single value")
        raise faults.rejected()
    return root


def _composed(faults: ParseErrors) -> Node | None:
    text = faults.text.text
    composer = Composer(faults)
    try:
        composer.compose(events_of(text, faults))
        return composer.root
    except MarkedYAMLError as error:
        if _split_variable(error, text):
            # With the variables masked, the rest can still be parsed, so all errors are reported at once.
            again = ParseErrors(faults.text)
            add_error(error, again)
            composer = Composer(again, masked=True)
            try:
                composer.compose(
                    events_of(re.sub(VARIABLE, lambda match: "$" + "_" * (len(match[0]) - 1), text), again)
                )
            except MarkedYAMLError as second:
                add_error(second, again)
            raise again.rejected() from None
        add_error(error, faults)
    return None


def _split_variable(error: MarkedYAMLError, text: str) -> bool:
    at = error.problem_mark.index if error.problem_mark else 0
    return re.compile(VARIABLE).match(text, at - 1) is not None if at else False


def _refuse_root(root: Node | None, faults: ParseErrors) -> None:
    if root is None or (isinstance(root, Scalar) and root.plain and not root.text):
        faults.add(
            EMPTY_SPEC, faults.span(0, 0), "the file is empty", help="run `smspec init` to write a commented spec"
        )
        return
    what = "a list" if isinstance(root, Sequence) else "a single value"
    help = "write keys with values, `name: my-job`"
    faults.add(NO_MAPPING, root.span, f"the spec is {what}, not a mapping", help=help)


@dataclass(frozen=True, slots=True)
class _SyntaxFault:
    """An error between two offsets, and an earlier position, ``since``, that helps to understand it."""

    start: int
    end: int
    message: str
    help: str = ""
    since: tuple[int, str] | None = None
    rule: Rule = BROKEN_YAML


def add_error(error: yaml.MarkedYAMLError, faults: ParseErrors) -> None:
    """Add the error that the parser stopped at."""
    text = faults.text.text
    at = min(error.problem_mark.index if error.problem_mark else len(text), len(text))
    since = min(error.context_mark.index if error.context_mark else at, len(text))
    if text[at - 1 : at + 2] == "${{":
        variable = re.compile(VARIABLE).match(text, at - 1)
        unquoted_variable(faults, at - 1, variable.end() if variable else at + 2)
        return
    if "directive" in (error.context or "") or "YAML" in (error.problem or ""):
        refuse_directive(faults, since)
        return
    fault = _syntax_fault(error.problem or "", error.context or "", text, at, since)
    notes = (Note(fault.since[1], faults.span(fault.since[0], fault.since[0] + 1)),) if fault.since else ()
    span = faults.span(fault.start, fault.end)
    faults.add(fault.rule, span, fault.message, help=fault.help, notes=notes)


def _syntax_fault(problem: str, context: str, text: str, at: int, since: int) -> _SyntaxFault:
    if text[at : at + 1] == "\t" and "quote" not in context:
        return _SyntaxFault(at, at + 1, "a tab where YAML takes only spaces", "indent and separate with spaces")
    # libyaml reports "did not find expected X", the Python parser "expected X, but found Y": X identifies the error in
    # both.
    if "tag" in context or "tag handle" in problem:
        help = "remove it; quote a string that begins with `!`"
        return _SyntaxFault(since, _end_of_word(text, since), "a tag", help, rule=TAG)
    if "quoted scalar" in context or "double-quoted" in context:
        return _in_quotes(problem, text, at, since)
    if "anchor" in context or "alias" in context:
        sign = text[since : since + 1]
        help = f"text that begins with `{sign}` must be quoted"
        return _SyntaxFault(since, since + 1, f"`{sign}` needs a name, letters and digits, right after it", help)
    if "block scalar" in context:
        message = f"`{text[since : since + 1]}` and the text below it"
        help = "the sign stands alone on its line, and every line below is indented alike, with spaces"
        return _SyntaxFault(at, at + 1, f"{message} do not fit together", help, (since, "the text block begins here"))
    if "simple key" in context or "expected ':'" in problem:
        end = _end_of_line(text, since)
        return _SyntaxFault(
            since, end, "a key without `:`", "write `key: value`, or indent the line if it goes on a text"
        )
    if "mapping values are not allowed" in problem:
        return _second_colon(text, at)
    if "cannot start any token" in problem:
        return _unfit_character(text, at)
    if "flow" in context and "node content" not in problem:
        return _in_brackets(text, at, since)
    if "expected key" in problem or "<block end>" in problem or "'-' indicator" in problem:
        return _beside_the_others(context, text, at, since)
    if "sequence entries" in problem:
        return _SyntaxFault(at, at + 1, "a list cannot begin here", "put `- ` on the next line, or write `[…]`")
    if "node content" in problem:
        return _SyntaxFault(
            at, at + 1, f"a value is expected, not {_shown(text, at)}", "write it in quotes if it is text"
        )
    if "document start" in problem:
        return _SyntaxFault(
            at, _end_of_line(text, at), "text after the end of the spec", "one mapping is the whole spec"
        )
    return _SyntaxFault(at, at + 1, f"this is not YAML: {problem}")


def _in_quotes(problem: str, text: str, at: int, since: int) -> _SyntaxFault:
    if "end of stream" in problem or "document" in problem:
        return _SyntaxFault(since, since + 1, f"unclosed quote {_shown(text, since)}", "add the closing quote")
    if text[at : at + 1] != "\\":
        at = max(text.rfind("\\", since, at + 1), since)
    if "Unicode" in problem:
        help = 'write the character, or its code point: "\\U0001F600"'
        return _SyntaxFault(at, _end_of_word(text, at), "an escape that is not a character", help)
    end = _end_of_word(text, at) if "unknown" not in problem else at + 2
    help = "write `\\\\` for a backslash, or use single quotes, where a backslash is a backslash"
    return _SyntaxFault(at, min(end, at + 10), f"`{text[at : min(end, at + 10)]}` is not an escape", help)


def _second_colon(text: str, at: int) -> _SyntaxFault:
    before = text[text.rfind("\n", 0, at) + 1 : at]
    if ":" in before:
        return _SyntaxFault(at, at + 1, "unquoted value contains `:`", "use quotes")
    if len(before) >= _LONGEST_KEY:
        return _SyntaxFault(at, at + 1, f"the key before this is longer than {_LONGEST_KEY:,} characters")
    start = at - len(before.lstrip())
    help = "move the key to the column of its siblings; a key above a mapping has no other value"
    return _SyntaxFault(start, at, "this key stands deeper than the key above it, which has a value already", help)


def _unfit_character(text: str, at: int) -> _SyntaxFault:
    return _SyntaxFault(at, at + 1, f"a value cannot begin with {_shown(text, at)}", "put the value in quotes")


def _in_brackets(text: str, at: int, since: int) -> _SyntaxFault:
    what, close = ("mapping", "}") if text[since : since + 1] == "{" else ("list", "]")
    if not text[at:].strip():
        return _SyntaxFault(since, since + 1, f"unclosed {_shown(text, since)}", f"add `{close}`")
    help = f"separate with `,`, close with `{close}`, and quote text that holds brackets, braces or commas"
    return _SyntaxFault(
        at, at + 1, f"`,` or `{close}` is missing before this", help, (since, f"the {what} begins here")
    )


def _beside_the_others(context: str, text: str, at: int, since: int) -> _SyntaxFault:
    end = _end_of_line(text, at)
    if text[text.rfind("\n", 0, at) + 1 : at].strip(" -"):
        return _SyntaxFault(at, end, "text after the end of the value", "put the whole value in one pair of quotes")
    if "block mapping" in context and text[at : at + 1] == "-":
        help = "indent the list under its key, and give the key no other value"
        return _SyntaxFault(at, end, "a list item where a key is expected", help)
    what = "key" if "block mapping" in context else "`- `"
    message = f"line is not aligned with the {what}s above it"
    return _SyntaxFault(
        at, end, message.replace("`- `s", "`- `"), "move the line to their column", (since, "the first of them")
    )


def _shown(text: str, at: int) -> str:
    character = text[at : at + 1]
    names = {"": "the end of the file", "\n": "the end of the line", "\r": "the end of the line", "`": "a backtick"}
    return names.get(character, f"`{character}`")


def _end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return at + len(text[at : end if end >= 0 else len(text)].rstrip())


def _end_of_word(text: str, at: int) -> int:
    end = at
    while end < len(text) and not text[end].isspace() and text[end] not in ",]}\"'":
        end += 1
    return max(end, at + 1)


def check(faults: ParseErrors) -> None:
    """Reject a text that is too large or contains characters that cannot be seen."""
    text = faults.text.text
    if len(text) > MAX_BYTES or (len(text) * 4 > MAX_BYTES and len(text.encode("utf-8", "replace")) > MAX_BYTES):
        too_large(faults)
    if not (text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()):
        # Imported late, as above.
        from smspec.diagnostics.unseen_names import check_text

        check_text(faults)
    # Checked here because the parsers differ: one skips unknown directives, the other stops.
    first = re.search(_FIRST_LINE_WITH_SOMETHING, text, re.MULTILINE)
    if first and text.startswith("%", first.start()):
        refuse_directive(faults, first.start())
    if faults:
        raise faults.rejected()


def refuse_directive(faults: ParseErrors, at: int) -> None:
    """Reject a line such as ``%YAML 1.1``."""
    line = faults.text.text[at : at + 100].split("\n", 1)[0].rstrip()
    help = "remove it; smspec reads every spec as YAML 1.2"
    faults.add(
        DIRECTIVE,
        faults.span(at, at + len(line)),
        f"YAML directive {quoted(line.split()[0])} is not allowed",
        help=help,
    )


def too_large(faults: ParseErrors) -> None:
    """Reject the text because of its size."""
    faults.add(
        BEYOND_THE_LIMITS,
        faults.span(0, 0),
        "the file is larger than 1 MiB",
        help="a spec is a page or two; move data to files in `source` or to a channel",
    )
    raise faults.rejected()


def decode_bytes(name: str, content: bytes) -> SourceText:
    """Return the text of a file called ``name``, without its byte order mark.

    Raise `InvalidInput` unless it is UTF-8.
    """
    if len(content) > MAX_BYTES:
        too_large(ParseErrors(SourceText(name, content[:MAX_BYTES].decode("utf-8", "replace"))))
    try:
        return SourceText(name, content.decode("utf-8").removeprefix("\ufeff"))
    except UnicodeDecodeError as error:
        # Replace what is not UTF-8 by a question mark; everything before it keeps its position.
        faults = ParseErrors(SourceText(name, content.decode("utf-8", "replace")))
        start = len(content[: error.start].decode("utf-8"))
        if content.startswith(_UTF16_MARKS):
            message = "the file is UTF-16, not UTF-8"
        else:
            message = f"the file is not UTF-8: byte 0x{content[error.start]:02X}"
        faults.add(NOT_UTF8, faults.span(start, start + 1), message, help="save the file as UTF-8")
        raise faults.rejected() from None
