"""Check for values that a Dockerfile cannot contain or would misread, reported at the keys of the spec.

The schema has checked the shape of every value before, so names of variables and platforms are valid here.
`smspec.render.quoting` quotes every value that passes here, so that the image gets exactly what was written.

Packages are requested by name: never an option, a path, or a command. A requirement is a name with extras, versions or
an https URL, and a marker (https://packaging.python.org/en/latest/specifications/dependency-specifiers/).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.plan import BuildInputs
from smspec.service.image_reference import is_image_reference
from smspec.source import Path, dotted
from smspec.source.frozen import ByIdentity
from smspec.spec.model import BuiltImage, CommandEntry, EntryPoint, JobSpec, ScriptEntry

BASE = Rule("SM250", "invalid base image")
CHARACTER = Rule("SM252", "character that a Dockerfile cannot hold")
LABEL_KEY = Rule("SM254", "invalid label key")
SYSTEM_PACKAGE = Rule("SM255", "invalid apt package")
PYTHON_PACKAGE = Rule("SM256", "invalid pip requirement")
REQUIREMENTS = Rule("SM257", "requirements file that needs a second file")
EXPANSION = Rule("SM258", "variable reference in image.env", "warning")

# Patterns are strings, compiled only when a spec needs them.
_UNPRINTABLE = "[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"
_UNPRINTABLE_IN_SCRIPTS = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"
_NOT_A_WORD = "[\x00\ud800-\udfff]"
_LABEL_KEY = r"[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9])?"
_VARIABLE = r"\$(?:\{[A-Za-z_]|[A-Za-z_])"

# Names by Debian Policy 5.6.1, versions by 5.6.12; with a `-` at its end a name would be one to remove.
_APT_NAME = r"[a-z0-9](?:[a-z0-9+.-]*[a-z0-9+.])"
_APT_PACKAGE = rf"{_APT_NAME}(?::[a-z0-9][a-z0-9-]*)?(?:=[0-9A-Za-z][0-9A-Za-z.+:~-]*)?"

_LONGEST = 1024
_NAMES_A_FILE = r"(?:-[rcef]|--(?:requirement|constraint|editable|find-links)\b)(?![ =]*(?:/|[A-Za-z][A-Za-z+]+:))"
_LOCAL_PATH = r"(?:\.{1,2}(?:/|$)|[^/#\s@:;<>=!~\[\]-][^\s@:;<>=!~\[\]]*/)"

NOT_UTF8 = "is not UTF-8"

_PROJECT = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_EXTRAS = rf"(?: ?\[ ?{_PROJECT}(?: ?, ?{_PROJECT})* ?\])?"
_CLAUSE = r"(?:===|==|~=|!=|<=|>=|<|>) ?[0-9A-Za-z.*+!_-]+"
_VERSIONS = rf"(?: ?{_CLAUSE}(?: ?, ?{_CLAUSE})*)?"
_URL = r" ?@ ?(?:git\+)?https://[A-Za-z0-9._~:/?#@!&()*+,=%-]+"
_MARKER = r"; ?[A-Za-z0-9_.,+*<>=!~()'\" -]+"
_WHOLE = rf"{_PROJECT}{_EXTRAS}(?:{_VERSIONS}(?: ?{_MARKER})?|{_URL}(?: {_MARKER})?)"

_CLAUSES = r"(===|==|~=|!=|<=|>=|<|>) ?([0-9A-Za-z.*+!_-]+)"
# https://packaging.python.org/en/latest/specifications/version-specifiers/
_RELEASE = r"v?(?:\d+!)?(\d+(?:\.\d+)*)"
_SUFFIX = (
    r"(?:[-_.]?(?:alpha|a|beta|b|preview|pre|c|rc)[-_.]?\d*)?(?:-\d+|[-_.]?(?:post|rev|r)[-_.]?\d*)?"
    r"(?:[-_.]?dev[-_.]?\d*)?"
)
_LOCAL = r"(\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?"
_PREFIX = rf"{_RELEASE}\.\*"

_VARIABLES = (
    "python_version|python_full_version|os_name|sys_platform|platform_release|platform_system|platform_version"
    "|platform_machine|platform_python_implementation|implementation_name|implementation_version|extra"
    # The names of setuptools, which pip still reads.
    r"|os\.name|sys\.platform|platform\.(?:version|machine|python_implementation)|python_implementation"
)
_TOKENS = (
    rf"\s*(?:(?P<value>(?:{_VARIABLES})(?![\w.])|'[^']*'|\"[^\"]*\")"
    r"|(?P<op>===|==|~=|!=|<=|>=|<|>|not +in\b|in\b)|(?P<join>and\b|or\b)|(?P<open>\()|(?P<close>\)))"
)

# Many jobs can share an image, and how it is started.
_FOUND: ByIdentity[list[Finding]] = ByIdentity()
_NAMES = {"\n": "a line break", "\r": "a carriage return", "\t": "a tab", "\0": "a NUL"}


def dockerfile_findings(job: JobSpec, build_inputs: BuildInputs) -> list[Finding]:
    """Return what cannot be written to the image of a job and its requirements file."""
    image, entry = job.image, job.entry_point
    findings = [*_FOUND.of("entry point", entry, lambda: [*_entry_findings(entry)])]
    if isinstance(image, BuiltImage):
        findings += _FOUND.of("image", image, lambda: [*_image_findings(image)])
        findings += _requirements_findings(build_inputs.requirements)
    return findings


def base_findings(base: str) -> Iterator[Finding]:
    """Yield why an image cannot be built from a base image."""
    if not is_image_reference(base):
        yield BASE.at(
            ("image", "base"),
            f"`image.base`: `{base}` is not an image reference",
            help="use `name:tag` or `name:tag@sha256:…`, with a lowercase name and an optional registry",
        )
    elif base == "scratch":
        yield BASE.at(
            ("image", "base"),
            "`image.base` is `scratch`, but the job needs Python",
            help="use a base image with Python 3.8 or later, such as `python:3.12-slim-bookworm`",
        )


def _image_findings(image: BuiltImage) -> Iterator[Finding]:
    yield from base_findings(image.base)
    for key, texts in (("env", image.env), ("env_prepend", image.env_prepend), ("build_args", image.build_args)):
        yield from _env_findings(key, texts)
    yield from _label_findings(image.labels)
    for key, scripts in (("pre_install", image.pre_install), ("run", image.run)):
        for index, script in enumerate(scripts):
            yield from _character_findings(("image", key, index), script, _UNPRINTABLE_IN_SCRIPTS)
    for index, word in enumerate(image.system_packages):
        if not is_apt_package(word):
            yield SYSTEM_PACKAGE.at(
                ("image", "system_packages", index),
                f"`image.system_packages`: `{word}` is not an apt package",
                help="use `name` or `name=version`, one package per item; move other commands to `image.run`",
            )
    yield from package_findings(image.python_packages)


def package_findings(packages: tuple[str, ...]) -> Iterator[Finding]:
    """Yield the items of `image.python_packages` that pip rejects."""
    for index, word in enumerate(packages):
        is_known = is_pip_requirement(word)
        fault = fault_in(word) if is_known else f"`{word}` is not a pip requirement"
        if fault:
            yield PYTHON_PACKAGE.at(
                ("image", "python_packages", index),
                f"`image.python_packages`: {fault}",
                help="use a version and a condition as in `name>=1.2,<2; python_version < '3.12'`"
                if is_known
                else "use one per item, such as `name==1.2`, `name[extra]>=1,<2`, or `name @ https://…`",
            )


def _env_findings(key: str, variables: dict[str, str]) -> Iterator[Finding]:
    for name, value in variables.items():
        path = ("image", key, name)
        yield from _character_findings(path, value, _UNPRINTABLE)
        if re.search(_VARIABLE, value):
            yield EXPANSION.at(
                path,
                f"`{dotted(path)}` contains `$`, which is not expanded",
                help="use `image.env_prepend` to keep the value of the base image"
                if re.search(rf"\$\{{?{name}\b", value)
                else "use the whole value, or set the variable in the script",
            )


def _label_findings(labels: dict[str, str]) -> Iterator[Finding]:
    for key, value in labels.items():
        path = ("image", "labels", key)
        if not re.fullmatch(_LABEL_KEY, key):
            yield LABEL_KEY.at(
                path,
                f"`{key}` is not a valid label key",
                help="use letters, digits, `.`, `-`, `_`, and `/`, with a letter or digit at the start and the end",
                on="key",
            )
        elif key.startswith("smspec."):
            yield LABEL_KEY.at(path, f"label `{key}` is reserved for smspec", help="use a different prefix", on="key")
        yield from _character_findings(path, value, _UNPRINTABLE)


def _requirements_findings(requirements: bytes | None) -> Iterator[Finding]:
    for line, message in faults_of_requirements(requirements or b""):
        yield REQUIREMENTS.at(
            ("image", "python_requirements"),
            f"`image.python_requirements`: line {line} {message}",
            help="convert it to UTF-8"
            if message == NOT_UTF8
            else "write the requirements into this file; it is the only one copied into the image",
        )


def _entry_findings(entry: EntryPoint | None) -> Iterator[Finding]:
    words: list[tuple[Path, str]] = []
    if isinstance(entry, ScriptEntry):
        words.append((("entry_point", "script"), entry.script))
        words += [(("entry_point", "args", index), word) for index, word in enumerate(entry.args)]
    elif isinstance(entry, CommandEntry):
        words += [(("entry_point", "command", index), word) for index, word in enumerate(entry.command)]
    for path, word in words:
        yield from _character_findings(path, word, _NOT_A_WORD)


def _character_findings(path: Path, text: str, refused: str) -> Iterator[Finding]:
    found = re.search(refused, text)
    if found is None:
        return
    name = _NAMES.get(found.group(), f"U+{ord(found.group()):04X}")
    if path[0] == "entry_point":
        message, help = f"`{dotted(path)}` contains {name}, which an argument cannot contain", "remove it"
    else:
        message = f"`{dotted(path)}` contains {name}, which a Dockerfile cannot contain"
        help = (
            "move the value to `environment`, which is part of the request"
            if path[1] in ("env", "env_prepend")
            else "remove it"
        )
    yield CHARACTER.at(path, message, help=help)


def is_apt_package(word: str) -> bool:
    """Return whether a word is ``name``, ``name:architecture``, either with ``=version``."""
    return len(word) <= _LONGEST and re.fullmatch(_APT_PACKAGE, word) is not None


def faults_of_requirements(content: bytes) -> Iterator[tuple[int, str]]:
    """Yield (line, error) for lines of a requirements file that need something that the build does not have."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        yield content.count(b"\n", 0, error.start) + 1, NOT_UTF8
        return
    for number, line in enumerate(text.splitlines(), start=1):
        word = line.strip()
        if re.match(_NAMES_A_FILE, word):
            yield number, "names another file"
        elif re.match(_LOCAL_PATH, word):
            yield number, "names a local path"


def is_pip_requirement(word: str) -> bool:
    """Return whether a word is a dependency specifier, as far as its parts are in their places."""
    return len(word) <= _LONGEST and re.fullmatch(_WHOLE, word) is not None


def fault_in(word: str) -> str:
    """Return what pip rejects in a versions or the marker of a requirement: a sentence; empty if nothing is wrong."""
    before, _, marker = word.partition(";")
    versions = "" if re.match(rf"{_PROJECT}{_EXTRAS} ?@", before) else before
    for found in re.finditer(_CLAUSES, versions):
        fault = _fault_in_clause(found[1], found[2])
        if fault:
            return fault
    if marker and not _is_marker(marker):
        return f"`{marker.strip()[:40]}` is not a condition such as `python_version < '3.11'`"
    return ""


def _fault_in_clause(operator: str, version: str) -> str:
    text = version.lower()
    if operator == "===":
        return ""
    if re.fullmatch(_PREFIX, text):
        return "" if operator in ("==", "!=") else f"`{operator}` cannot be combined with `*`"
    match = re.fullmatch(_RELEASE + _SUFFIX + _LOCAL, text)
    if match is None:
        return f"`{version[:40]}` is not a version"
    if match[2] and operator not in ("==", "!="):
        return f"`{operator}` cannot be combined with a local version such as `{match[2][:40]}`"
    if operator == "~=" and "." not in match[1]:
        return f"`~=` requires two parts of a version, such as `{match[1]}.0`"
    return ""


def _is_marker(text: str) -> bool:
    """Return whether a text is comparisons joined by `and` and `or`, with parentheses."""
    kinds, position = "", 0
    text = text.strip()
    pattern = re.compile(_TOKENS)
    while position < len(text):
        token = pattern.match(text, position)
        if token is None or token.lastgroup is None:
            return False
        position = token.end()
        kinds += {"value": "v", "op": "o", "join": "j", "open": "(", "close": ")"}[token.lastgroup]
    # Innermost first: a comparison in parentheses is a comparison.
    kinds = kinds.replace("vov", "c")
    while True:
        shorter = re.sub(r"\((c(?:jc)*)\)", "c", kinds)
        if shorter == kinds:
            return re.fullmatch(r"c(?:jc)*", kinds) is not None
        kinds = shorter
