"""Check for values that a Dockerfile cannot contain or would misread, reported at the keys of the spec.

The schema has checked the shape of every value before, so names of variables and platforms are valid here.
`smspec.render.quoting` quotes every value that passes here, so that the image gets exactly what was written.
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

_NAMES_A_FILE = r"(?:-[rcef]|--(?:requirement|constraint|editable|find-links)\b)(?![ =]*(?:/|[A-Za-z][A-Za-z+]+:))"
_LOCAL_PATH = r"(?:\.{1,2}(?:/|$)|[^/#\s@:;<>=!~\[\]-][^\s@:;<>=!~\[\]]*/)"

NOT_UTF8 = "is not UTF-8"

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
    yield from _system_package_findings(image.system_packages)
    yield from package_findings(image.python_packages)


def _system_package_findings(packages: tuple[str, ...]) -> Iterator[Finding]:
    if not packages:
        return
    from smspec.spec.packages import is_apt_package  # imported late: many images have no packages

    for index, word in enumerate(packages):
        if not is_apt_package(word):
            yield SYSTEM_PACKAGE.at(
                ("image", "system_packages", index),
                f"`image.system_packages`: `{word}` is not an apt package",
                help="use `name` or `name=version`, one package per item; move other commands to `image.run`",
            )


def package_findings(packages: tuple[str, ...]) -> Iterator[Finding]:
    """Yield the items of `image.python_packages` that pip rejects."""
    if not packages:
        return
    from smspec.spec.packages import fault_in, is_pip_requirement  # imported late, as above

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
