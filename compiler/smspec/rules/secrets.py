"""Rules about secrets: those in an image, and those that the runtime fetches when the job starts."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.masking import secret_of
from smspec.diagnostics.secret_formats import certain_secret
from smspec.diagnostics.secrets import option_name
from smspec.source import Path, dotted
from smspec.source.listing import Listing
from smspec.spec.model import BuiltImage, CommandEntry, JobSpec, ScriptEntry
from smspec.spec.startup import starter

SECRET_IN_THE_IMAGE = Rule("SM602", "secret in the image", "warning")

CERTAIN_SECRET_IN_THE_IMAGE = Rule("SM618", "certain secret in the image")

_INSTALLERS = ("PIP_", "UV_")
_OF_THE_BUILD = "use a secret of the build: `image.secrets`"
_OF_THE_JOB = "move it to Secrets Manager or Parameter Store, and set its ARN in `secrets`"


def secret_in_the_image(job: JobSpec, _source: Listing) -> Iterator[Finding]:
    """Warn about what looks like a secret in a string that becomes part of the image; reject what certainly is one.

    An image keeps what it was built with: anyone who can pull it can read it, in a layer or in `docker history`.
    """
    if not isinstance(job.image, BuiltImage):
        return
    for path, name, text in (*_named_texts(job.image), *_words(job)):
        what = secret_of(name, text)
        if what:
            certain = certain_secret(name, text)
            rule, claim = (
                (CERTAIN_SECRET_IN_THE_IMAGE, f"contains {certain}; the image exposes it")
                if certain
                else (SECRET_IN_THE_IMAGE, f"looks like {what}; everyone who can pull the image can read it")
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


SECRET_INSTEAD_OF_ITS_VARIABLE = Rule("SM607", "secret instead of its variable")


def secret_instead_of_its_variable(job: JobSpec, _source: Listing) -> Iterator[Finding]:
    """Reject build secrets whose variable has the form of a secret: no variable is called that.

    A build secret is named by a variable; a spec that contains the secret itself reveals it to every reader.
    """
    if not isinstance(job.image, BuiltImage):
        return
    for name, secret in job.image.secrets.items():
        what = secret_of("", secret.env or "")
        path = ("image", "secrets", name, "env")
        if what:
            yield SECRET_INSTEAD_OF_ITS_VARIABLE.at(
                path,
                f"`{dotted(path)}` looks like {what}, but must be the name of a variable",
                help="replace the secret, because everyone who can read the spec has it; write the name of a variable",
            )


MISSING_RUNTIME_FOR_SECRETS = Rule("SM610", "secrets without the smspec runtime")

_INSTEAD = {
    "toolkit": ("the toolkit in the image", "set `source.delivery: channel`"),
    "image": ("the image", "set `source` and `entry_point`, or fetch the secrets in the program of the image"),
}


def missing_runtime_for_secrets(job: JobSpec) -> Iterator[Finding]:
    """Reject secrets where an existing image starts the job itself.

    The smspec runtime fetches the values of `secrets`, so it must be what starts the script.
    """
    kind = starter(job)
    if job.secrets and kind in _INSTEAD:
        what, help = _INSTEAD[kind]
        yield MISSING_RUNTIME_FOR_SECRETS.at(
            ("secrets",), f"`secrets` requires the smspec runtime, but {what} starts the job", help=help, on="key"
        )


RULES = (
    secret_in_the_image,
    secret_instead_of_its_variable,
)


def secret_findings(job: JobSpec) -> list[Finding]:
    """Return what keeps a job from getting its secrets, where its request does not show that.

    A malformed secret is not sent, because it may be the secret itself.
    """
    from smspec.service.request_rules.secret_references import check_secrets  # imported late: few have any

    return [*missing_runtime_for_secrets(job), *check_secrets(job.secrets, ("secrets",))]
