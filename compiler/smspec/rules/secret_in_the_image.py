"""An image keeps what it was built with: anyone who can pull it can read it, in a layer or in `docker history`."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.certain_secrets import certain_secret
from smspec.diagnostics.masking import secret_of
from smspec.diagnostics.secrets import option_name
from smspec.source import Path, dotted
from smspec.source.listing import Listing
from smspec.spec.model import BuiltImage, CommandEntry, JobSpec, ScriptEntry

RULE = Rule("SM602", "secret in the image", "warning")
CERTAIN = Rule("SM618", "certain secret in the image")

_INSTALLERS = ("PIP_", "UV_")
_OF_THE_BUILD = "use a secret of the build: `image.secrets`"
_OF_THE_JOB = "move it to Secrets Manager or Parameter Store, and set its ARN in `secrets`"


def check(job: JobSpec, _source: Listing) -> Iterator[Finding]:
    """Warn about what looks like a secret in a string that becomes part of the image; reject what certainly is one."""
    if not isinstance(job.image, BuiltImage):
        return
    for path, name, text in (*_named_texts(job.image), *_words(job)):
        what = secret_of(name, text)
        if what:
            certain = certain_secret(name, text)
            rule, claim = (
                (CERTAIN, f"contains {certain}; the image exposes it")
                if certain
                else (RULE, f"looks like {what}; everyone who can pull the image can read it")
            )
            yield rule.at(
                path,
                f"`{dotted(path)}` {claim}",
                help=_OF_THE_BUILD if _is_for_the_build(path, name) else _OF_THE_JOB,
            )


def _is_for_the_build(path: Path, name: str) -> bool:
    """Return whether the build uses a string, such as the URL of a package index."""
    return path[1] in ("pre_install", "run", "build_args", "python_packages") or (
        path[:2] == ("image", "env") and name.startswith(_INSTALLERS)
    )


def _named_texts(image: BuiltImage) -> Iterator[tuple[Path, str, str]]:
    for key, texts in (("env", image.env), ("build_args", image.build_args), ("labels", image.labels)):
        for name, text in texts.items():
            yield ("image", key, name), name, text
    for key, lines in (
        ("pre_install", image.pre_install),
        ("run", image.run),
        ("python_packages", image.python_packages),
    ):
        for index, line in enumerate(lines):
            yield ("image", key, index), "", line


def _words(job: JobSpec) -> Iterator[tuple[Path, str, str]]:
    """Yield the words of the command line; each is named after the option before it."""
    entry = job.entry_point
    key, words = "", tuple[str, ...]()
    if isinstance(entry, ScriptEntry):
        key, words = "args", entry.args
    elif isinstance(entry, CommandEntry):
        key, words = "command", entry.command
    option = ""
    for index, word in enumerate(words):
        yield ("entry_point", key, index), option, word
        option = option_name(word)
