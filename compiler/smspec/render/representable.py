"""What a Dockerfile cannot hold or would take for something else, told at the keys of the spec.

The schema has looked at the shape of every value before, so names of variables and platforms are right here.
Every value that passes here is quoted by `smspec.render.quoting` so that the image gets exactly what was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.plan.ingredients import Ingredients
from smspec.render import requirement_words
from smspec.service.image_reference import is_image_reference
from smspec.source import Path
from smspec.spec.model import BuiltImage, CommandEntry, EntryPoint, JobSpec, ScriptEntry

BASE = Rule("SM250", "invalid base image")
CHARACTER = Rule("SM252", "character that a Dockerfile cannot hold")
LABEL_KEY = Rule("SM254", "invalid label key")
SYSTEM_PACKAGE = Rule("SM255", "invalid apt package")
PYTHON_PACKAGE = Rule("SM256", "invalid pip requirement")
REQUIREMENTS = Rule("SM257", "requirements file that needs a second file")
EXPANSION = Rule("SM258", "variable reference in image.env", "warning")

_UNPRINTABLE = "[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"
_UNPRINTABLE_IN_SCRIPTS = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"
_NOT_A_WORD = "[\x00\ud800-\udfff]"
_LABEL_KEY = r"[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9])?"
_VARIABLE = r"\$(?:\{[A-Za-z_]|[A-Za-z_])"
_NAMES = {"\n": "a line break", "\r": "a carriage return", "\t": "a tab", "\0": "a NUL"}


def dockerfile_findings(job: JobSpec, ingredients: Ingredients) -> list[Finding]:
    """Return what of a job and its requirements file cannot be written into its image."""
    findings = [*_entry_findings(job.entry_point)]
    if isinstance(job.image, BuiltImage):
        findings += _image_findings(job.image)
        findings += _requirements_findings(ingredients.requirements)
    return findings


def base_findings(base: str) -> Iterator[Finding]:
    """Yield what keeps an image from being built from a base."""
    if not is_image_reference(base):
        yield BASE.at(
            ("image", "base"),
            f"`{base}` is not an image reference",
            help="write `name:tag` or `name:tag@sha256:…`, the name in lower case, with a registry and `/` before it"
            " where it needs one",
        )
    elif base == "scratch":
        yield BASE.at(
            ("image", "base"),
            "`scratch` is empty, and the job needs Python",
            help="take a base with Python 3.8 or later, such as `python:3.12-slim-bookworm`",
        )


def _image_findings(image: BuiltImage) -> Iterator[Finding]:
    yield from base_findings(image.base)
    yield from _env_findings(image.env)
    yield from _label_findings(image.labels)
    for index, script in enumerate(image.run):
        yield from _character_findings(("image", "run", index), "the command", script, _UNPRINTABLE_IN_SCRIPTS)
    for index, word in enumerate(image.system_packages):
        if not requirement_words.is_apt_package(word):
            yield SYSTEM_PACKAGE.at(
                ("image", "system_packages", index),
                f"`{word}` is not a package for apt",
                help="write `name` or `name=version`, one package per item; anything else is a command for `image.run`",
            )
    for index, word in enumerate(image.python_packages):
        if not requirement_words.is_pip_requirement(word):
            yield PYTHON_PACKAGE.at(
                ("image", "python_packages", index),
                f"`{word}` is not a requirement for pip",
                help="write `name`, `name==1.2`, `name[extra]>=1,<2` or `name @ https://…`, one per item;"
                " options belong in the file of `python_requirements`",
            )


def _env_findings(env: dict[str, str]) -> Iterator[Finding]:
    for name, value in env.items():
        path = ("image", "env", name)
        yield from _character_findings(path, f"the value of `{name}`", value, _UNPRINTABLE)
        if re.search(_VARIABLE, value):
            yield EXPANSION.at(
                path,
                f"`{name}` gets the text as it is written: `$` is not expanded",
                help="write the whole value out; a value that depends on the base can be set in the program",
            )


def _label_findings(labels: dict[str, str]) -> Iterator[Finding]:
    for key, value in labels.items():
        path = ("image", "labels", key)
        if not re.fullmatch(_LABEL_KEY, key):
            yield LABEL_KEY.at(
                path,
                f"`{key}` cannot be the key of a label",
                help="use letters, digits, `.`, `-`, `_` and `/`, and begin and end with a letter or digit",
                on="key",
            )
        elif key.startswith("smspec."):
            yield LABEL_KEY.at(
                path, f"`{key}` is a label that smspec writes itself", help="give it another prefix", on="key"
            )
        yield from _character_findings(path, f"the value of `{key}`", value, _UNPRINTABLE)


def _requirements_findings(requirements: bytes | None) -> Iterator[Finding]:
    for line, message in requirement_words.faults_of_requirements(requirements or b""):
        yield REQUIREMENTS.at(
            ("image", "python_requirements"),
            f"line {line} {message}",
            help="save it as UTF-8, which pip reads everywhere"
            if message == requirement_words.NOT_UTF8
            else "nothing but this one file is there when the image is built: write the requirement out,"
            " or name a URL or a path of the base image",
        )


def _entry_findings(entry: EntryPoint | None) -> Iterator[Finding]:
    words: list[tuple[Path, str]] = []
    if isinstance(entry, ScriptEntry):
        words.append((("entry_point", "script"), entry.script))
        words += [(("entry_point", "args", index), word) for index, word in enumerate(entry.args)]
    elif isinstance(entry, CommandEntry):
        words += [(("entry_point", "command", index), word) for index, word in enumerate(entry.command)]
    for path, word in words:
        yield from _character_findings(path, "the word", word, _NOT_A_WORD)


def _character_findings(path: Path, whose: str, text: str, refused: str) -> Iterator[Finding]:
    found = re.search(refused, text)
    if found is None:
        return
    name = _NAMES.get(found.group(), f"U+{ord(found.group()):04X}")
    if path[0] == "entry_point":
        message, help = f"{whose} holds {name}, which no argument of a process can hold", "take it out"
    else:
        message = f"{whose} holds {name}, which a Dockerfile cannot hold"
        help = "put the value into `environment`, which travels in the request" if path[1] == "env" else "take it out"
    yield CHARACTER.at(path, message, help=help)
