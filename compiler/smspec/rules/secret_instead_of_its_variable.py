"""A build secret is named by a variable; a spec that contains the secret itself reveals it to every reader."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.masking import secret_of
from smspec.source import dotted
from smspec.source.listing import Listing
from smspec.spec.model import BuiltImage, JobSpec

RULE = Rule("SM607", "secret instead of its variable")


def check(job: JobSpec, _source: Listing) -> Iterator[Finding]:
    """Reject build secrets whose variable has the form of a secret: no variable is called that."""
    if not isinstance(job.image, BuiltImage):
        return
    for name, secret in job.image.secrets.items():
        what = secret_of("", secret.env or "")
        path = ("image", "secrets", name, "env")
        if what:
            yield RULE.at(
                path,
                f"`{dotted(path)}` looks like {what}, but must be the name of a variable",
                help="replace the secret, because everyone who can read the spec has it; write the name of a variable",
            )
