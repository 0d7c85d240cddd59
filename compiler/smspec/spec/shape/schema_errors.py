"""Convert the faults of a shape to findings: one per fault, none that follows from another.

Those of values are here: a wrong type, not in a list of choices, or not in the form of their key. A form has a rule,
and a guess of what was meant. Those of keys are in `faulty_keys`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.quoting import one_of, quoted
from smspec.diagnostics.suggestions import Fix, bare, nearest, spelling_fix
from smspec.source import Document, Mapping, Node, Path, Scalar, dotted
from smspec.source.frozen import dataclass, replace
from smspec.spec.keys.row import duration_meant, size_in_bytes, size_meant, volume_meant
from smspec.spec.packages import fault_in, is_apt_package, is_pip_requirement
from smspec.spec.schema import SchemaPart, accepts, author_schema, key_path, part, type_words, written_key
from smspec.spec.schema.reference import example_of
from smspec.spec.shape.faulty_keys import KEYWORDS_OF_KEYS, MISSING_KEY, key_findings, value_hint
from smspec.spec.shape.shape_faults import ShapeFault, shape_faults
from smspec.spec.yaml.events import flow_style, meaning

_REQUIRED_OF_A_REQUEST = {"TrainingJobName", "RoleArn", "OutputDataConfig"}

UNKNOWN_SPEC_VERSION = Rule("SM201", "unknown spec version")
VALUE_OF_ANOTHER_TYPE = Rule("SM203", "value of a different type")
VALUE_THAT_IS_NO_CHOICE = Rule("SM205", "value not in list")
NUMBER_OUT_OF_RANGE = Rule("SM207", "number out of range")
EMPTY_TEXT = Rule("SM214", "empty string")

MOST_CHOICES = 8
"""A longer list of choices is not printed; the nearest is."""

_BOOLEANS = {"yes": "true", "y": "true", "on": "true", "no": "false", "n": "false", "off": "false"}

TEXT_OF_ANOTHER_FORM = Rule("SM206", "malformed value")
MALFORMED_NAME = Rule("SM208", "malformed name")
MALFORMED_DURATION = Rule("SM211", "malformed duration")
MALFORMED_SIZE = Rule("SM212", "malformed size")
VOLUME_THAT_IS_NOT_WHOLE_GIGABYTES = Rule("SM213", "fractional volume size")

_OF_WORDS = frozenset({"args", "command", "options"})
_OF_NAMES = frozenset({"attributes", "enum", "instance_groups", "security_groups", "subnets"})
_EXPANDED = re.compile(r"[|&;<>()$`*?\[\]\n]|(?:^|\s)[#~]|^!\s")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_QUOTED = re.compile(r"'[^']*'|\"[^\"$`\\]*\"|\\[^\n]")
_CONTINUED = re.compile(r"\\\r?\n")
_PIP = re.compile(r"(?:(?:\S*/)?python[\d.]*\s+-m\s+)?(?:uv\s+)?pip[\d.]*\s+install\s+")
_APT = re.compile(
    r"(?:sudo\s+)?apt(?:-get)?\s+(?:-\S+\s+)*install\s+(?:(?:-y|-qq?|-yq|--yes|--no-install-recommends)\s+)*"
)
_TIGHT = re.compile(r"\s*(===|[<>=!~]=|[<>]|,(?=\s*[<>=!~]))\s*|\s*([\[,])\s*(?=[^\[]*\])|\s+(?=[\[\]])")
"""What stands between the parts of one requirement."""
_BETWEEN = re.compile(r"[\s;]*,(?![<>=!~]|[^\[]*\])[\s,;]*|[\s;]*\n\s*|;(?!.*['\"])\s*|\s+(?=[A-Za-z0-9])")
_NUMBER = re.compile(r"[\d.]+")
_PROSE = frozenset({"and", "or", "with", "pip", "install"})


def describe(document: Document, data: object) -> list[Finding]:
    """Return the findings for a merged document that does not fit the schema; ``data`` is its view."""
    if is_request(data):
        return [_request_instead()]
    faults = list(shape_faults(data))
    findings = key_findings(fault for fault in faults if fault.keyword in KEYWORDS_OF_KEYS)
    findings += [value_finding(document, fault) for fault in faults if fault.keyword not in KEYWORDS_OF_KEYS]
    # A name that is too long and contains a space is one fault: report only the first fault at a place.
    first: dict[tuple[Path, str], Finding] = {}
    for finding in findings:
        first.setdefault((finding.path, finding.on), finding)
    return [_at_its_null(finding, document) for finding in first.values()]


def _at_its_null(finding: Finding, document: Document) -> Finding:
    """Return the finding about a missing key at the null that the author wrote as its value, if there is one."""
    places = {null.path: null.place for null in document.nulls} if finding.code == MISSING_KEY.code else {}
    place = places.get(finding.path)
    if place is None:
        return finding
    example = example_of(finding.path)
    help = "set it, because null removes a key" + (f", for example `{example}`" if example else "")
    return replace(finding, place=place, message=f"{finding.message}: it is null", help=help)


def is_request(data: object) -> bool:
    """Return whether the document is a request instead of a spec: this is one fault, whatever else it has."""
    return isinstance(data, dict) and "smspec" not in data and len(_REQUIRED_OF_A_REQUEST & data.keys()) > 1


def _request_instead() -> Finding:
    """Return the one finding for a request instead of a spec; otherwise each member would be an unknown key."""
    return MISSING_KEY.at(
        ("smspec",),
        "missing key `smspec`: this is a CreateTrainingJob request, not a job spec",
        help="run `smspec import FILE` to convert it, or `smspec validate --api-json FILE` to check it",
    )


def value_finding(document: Document, fault: ShapeFault) -> Finding:
    """Return the finding for one fault of a value; ``document`` has the text that the author wrote."""
    return _TOLD.get(fault.keyword, _not_met)(fault, document.node(fault.path))


def _wrong_type(fault: ShapeFault, node: Node | None) -> Finding:
    form = form_of(fault.schema)
    rule = VALUE_OF_ANOTHER_TYPE if form.rule is TEXT_OF_ANOTHER_FORM else form.rule
    wanted = [str(name) for name in fault.argument] if isinstance(fault.argument, list) else [str(fault.argument)]
    expected, use = _expected(fault, type_words(wanted))
    label, fix = _remedy(wanted, node, fault)
    example = "" if label else example_of(fault.path)
    help = f"use, for example, `{example}`" if example else "" if label else use
    return rule.at(fault.path, f"{expected}, got {_described(node)}", label=label, help=help, fix=fix)


def _expected(fault: ShapeFault, otherwise: str = "") -> tuple[str, str]:
    """Return what a value must be, as the start of a message, and the schema's examples of it as a help."""
    written = str(fault.schema.get("patternErrorMessage") or otherwise).removeprefix("expected ")
    form, _, examples = written.partition(" such as ")
    return f"`{_name(fault.path)}` must be {form}", f"use a value such as {examples}" if examples else ""


def _remedy(wanted: list[str], node: Node | None, fault: ShapeFault) -> tuple[str, Fix | None]:
    """Return what to write where the value was spelled as a different type."""
    if not isinstance(node, Scalar) or node.value is None:
        return "", None
    value, text = node.value, node.text
    if isinstance(value, str):
        plain = meaning(text)
        boolean = _BOOLEANS.get(text.lower(), text.lower())
        if "boolean" in wanted and boolean in ("true", "false"):
            return f"write `{boolean}`", Fix(text, boolean)
        if not node.plain and isinstance(plain, int) and not isinstance(plain, bool) and "integer" in wanted:
            return f"write `{text}` without quotes", Fix(text, text)
    elif "string" in wanted and re.search(str(fault.schema.get("pattern", "")), text):
        return f'write `"{text}"`, in quotes', Fix(text, f'"{text}"')
    items = listed_items(str(fault.path[-1]), value) if isinstance(value, str) else [value]
    if "array" not in wanted or not items or not accepts(fault.schema, items, author_schema()):
        return "", None
    listed = flow_style(items)
    return f"write `{listed}`", Fix(text, listed)


def _described(node: Node | None) -> str:
    """Return the kind of a value, and the value where it is short: "text `four`"."""
    if node is None:
        return "nothing"
    if not isinstance(node, Scalar):
        return "a mapping" if isinstance(node, Mapping) else "a list"
    if node.value is None:
        return "nothing"
    if isinstance(node.value, bool):
        return f"`{node.text}`"
    kind = {str: "string", int: "integer", float: "number"}[type(node.value)]
    return f"{kind} {_quoted(node)}"


def _quoted(node: Node | None) -> str:
    return quoted(node.text if isinstance(node, Scalar) else "")


def _no_choice(fault: ShapeFault, node: Node | None) -> Finding:
    allowed = tuple(map(str, fault.argument)) if isinstance(fault.argument, list) else ()
    text = node.text if isinstance(node, Scalar) else ""
    guess = choice_meant(text, allowed)
    label = f"did you mean `{guess}`?" if guess else ""
    fix = spelling_fix(text, allowed) if guess else None
    got = _quoted(node) if isinstance(node, Scalar) and node.value is not None else _described(node)
    if len(allowed) <= MOST_CHOICES:
        return VALUE_THAT_IS_NO_CHOICE.at(
            fault.path,
            f"`{_name(fault.path)}` must be {one_of(allowed)}, got {got}",
            label=label,
            help="" if label else "use one of these values",
            fix=fix,
        )
    key = key_path(fault.path) or key_path(fault.path[:-1])
    help = f"run `smspec explain {written_key(key)}` for the list" if key else ""
    return VALUE_THAT_IS_NO_CHOICE.at(
        fault.path, f"{got} is not a value of `{_name(fault.path)}`", label=label, help=help, fix=fix
    )


def choice_meant(text: str, allowed: tuple[str, ...]) -> str | None:
    """Return the choice that ``text`` was probably meant to be, or None."""
    return value_hint(text, allowed) or nearest(text, allowed)


def _name(path: Path) -> str:
    """Return the name of a key as its author knows it."""
    return dotted(path) if path else "the spec"


def _other_version(fault: ShapeFault, node: Node | None) -> Finding:
    return UNKNOWN_SPEC_VERSION.at(
        fault.path,
        f"`smspec` is {_quoted(node)}, which this release does not support",
        label=f"write `{fault.argument}`",
    )


def _other_form(fault: ShapeFault, node: Node | None) -> Finding:
    form = form_of(fault.schema)
    text = str(fault.value)
    guess = form.meant(text)
    label = f"write `{guess}`" if guess and guess != text else ""
    fix = Fix(text, guess) if guess and label and fault.on == "value" and form.is_certain(text, guess) else None
    wanted = fault.schema.get("type")
    takes_numbers = isinstance(wanted, list) and "integer" in wanted
    if not label and takes_numbers:
        label, fix = _remedy(["integer"], node, fault)
    shown = f"`{text}`" if fault.on == "key" else _described(node) if takes_numbers else _quoted(node)
    expected, use = _expected(fault)
    use = use or ("rename the key" if fault.on == "key" else "")
    help = "" if label else use
    return form.rule.at(fault.path, f"{expected}, got {shown}", label=label, help=help, on=fault.on, fix=fix)


def _out_of_range(fault: ShapeFault, node: Node | None) -> Finding:
    form = form_of(fault.schema)
    if form.rule is not TEXT_OF_ANOTHER_FORM:
        guess = form.meant(str(fault.value))
        label = f"did you mean `{guess}`?" if guess else ""
        expected, use = _expected(fault)
        return form.rule.at(fault.path, f"{expected}, got {_quoted(node)}", label=label, help="" if label else use)
    end = "minimum" if fault.keyword == "minimum" else "maximum"
    return NUMBER_OUT_OF_RANGE.at(
        fault.path,
        f"`{_name(fault.path)}` is {_quoted(node)}; the {end} is {fault.argument}",
        help=f"use {fault.argument} or {'more' if end == 'minimum' else 'less'}",
    )


def _too_long(fault: ShapeFault, _: Node | None) -> Finding:
    length = len(str(fault.value))
    return MALFORMED_NAME.at(
        fault.path, f"`{_name(fault.path)}` has {length} characters; the maximum is {fault.argument}"
    )


def _empty(fault: ShapeFault, _: Node | None) -> Finding:
    example = example_of(fault.path)
    help = f"use, for example, `{example}`" if example else "remove the key, or add a value"
    return EMPTY_TEXT.at(fault.path, f"`{_name(fault.path)}` is empty", help=help)


def _wrong_length(fault: ShapeFault, _: Node | None) -> Finding:
    items = fault.value if isinstance(fault.value, list) else []
    end, use = ("minimum", "add one, or remove the key") if fault.keyword == "minItems" else ("maximum", "remove some")
    return NUMBER_OUT_OF_RANGE.at(
        fault.path, f"`{_name(fault.path)}` has {len(items)} items; the {end} is {fault.argument}", help=use
    )


def _not_met(fault: ShapeFault, node: Node | None) -> Finding:
    """Return a finding for a keyword of the schema without a message of its own."""
    wanted = f"`{fault.keyword}: {flow_style([fault.argument])[1:-1]}`"
    return TEXT_OF_ANOTHER_FORM.at(fault.path, f"`{_name(fault.path)}` does not meet {wanted}, got {_described(node)}")


_TOLD: dict[str, Callable[[ShapeFault, Node | None], Finding]] = {
    "type": _wrong_type,
    "enum": _no_choice,
    "const": _other_version,
    "pattern": _other_form,
    "minimum": _out_of_range,
    "maximum": _out_of_range,
    "maxLength": _too_long,
    "minLength": _empty,
    "minItems": _wrong_length,
    "maxItems": _wrong_length,
}


@dataclass(frozen=True, slots=True)
class Form:
    """``meant`` returns the probable value, and ``is_certain`` whether it is exactly the one that was written."""

    rule: Rule
    meant: Callable[[str], str | None]
    is_certain: Callable[[str, str], bool] = lambda _written, _meant: False


def _unknown(_: str) -> str | None:
    return None


def _name_meant(text: str) -> str | None:
    words = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:48]
    return words.strip("-") or None


def _is_same_name(written: str, meant: str) -> bool:
    """Return whether only case and separators differ; other characters may be part of what makes a name unique."""
    return re.fullmatch(r"[A-Za-z0-9 _.-]+", written) is not None and bare(written.replace(".", "")) == bare(meant)


def _has_unit(written: str, _: str) -> bool:
    """Return whether an amount names its unit: `1:30` and a number alone may be several."""
    return re.search("[A-Za-z]", written) is not None


def _is_same_volume(written: str, meant: str) -> bool:
    """Return whether a volume need not be rounded up."""
    exact = size_meant(written)
    return _has_unit(written, meant) and exact is not None and size_in_bytes(exact) == size_in_bytes(meant)


_FORMS: dict[str, Form] = {
    "name": Form(MALFORMED_NAME, _name_meant, _is_same_name),
    "jobName": Form(MALFORMED_NAME, _unknown),
    "duration": Form(MALFORMED_DURATION, duration_meant, _has_unit),
    "size": Form(MALFORMED_SIZE, size_meant, _has_unit),
    "volume": Form(VOLUME_THAT_IS_NOT_WHOLE_GIGABYTES, volume_meant, _is_same_volume),
}
_ANY_OTHER = Form(TEXT_OF_ANOTHER_FORM, _unknown)


def form_of(schema: dict[str, SchemaPart]) -> Form:
    """Return the form that ``schema`` requires."""
    definitions = part(author_schema(), "definitions")
    for name, form in _FORMS.items():
        if definitions[name] == schema:
            return form
    return _ANY_OTHER


def listed_items(key: str, text: str) -> list[str] | None:
    """Return the items of a list that its author wrote as one string, the value of ``key``; None if they are uncertain.

    Words are those of a shell, and packages those of pip's or apt's command line, or of a list with commas. What
    another program would expand or refuse has no list: a wrong one is worse than none.
    """
    if key in _OF_WORDS:
        return _words(text, is_command=key == "command")
    if key == "python_packages":
        return _requirements(text)
    if key == "system_packages":
        words = re.split(r"[,\s]+", _APT.sub("", text.strip(), count=1).strip(", \n"))
        return words if all(map(is_apt_package, words)) and not _PROSE.intersection(words) else None
    if key in _OF_NAMES:
        return [word for word in re.split(r"[,\s]+", text) if word] or [text]
    return [text]


def _words(text: str, *, is_command: bool) -> list[str] | None:
    joined = _CONTINUED.sub("", text).strip()
    try:
        words = shlex.split(joined)
    except ValueError:  # a quote without its end, or an apostrophe
        return [joined] if len(joined.split()) == 1 and not is_command else None
    if not words:
        return None
    if (is_command and _ASSIGNED.match(words[0])) or _EXPANDED.search(_QUOTED.sub("_", joined)):
        return ["sh", "-c", text.strip()] if is_command else None
    return words


def _requirements(text: str) -> list[str] | None:
    words = _PIP.sub("", text.strip(), count=1)
    whole = words.strip(", ")
    if _is_requirement(whole):
        return [whole]
    if re.search(r"(?:^|\s)['\"]", words):
        try:
            found = shlex.split(words)
        except ValueError:
            return None
    else:
        found = [word for word in _BETWEEN.split(_TIGHT.sub(r"\1\2", words)) if word]
    found = [word.strip(", ") for word in found]
    if not found or not all(map(_is_requirement, found)) or _PROSE.intersection(found):
        return None
    return found


def _is_requirement(word: str) -> bool:
    return is_pip_requirement(word) and not fault_in(word) and not _NUMBER.fullmatch(word)
