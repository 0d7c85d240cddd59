"""The toolkit of an existing image supports fewer launcher options than the smspec runtime."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import ExistingImage, JobSpec, Mpi, Torchrun

RULE = Rule("SM316", "unsupported launcher option")

_HELP = "set `source.delivery: channel`, or remove the option"


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject options of a launcher that no hyperparameter sets."""
    if not isinstance(job.image, ExistingImage) or job.delivery != "s3":
        return
    launcher = job.distribution
    if isinstance(launcher, Torchrun):
        for key, written, default in (
            ("processes_per_host", launcher.processes_per_host, "auto"),
            ("port", launcher.port, Torchrun().port),
        ):
            if written != default:
                yield RULE.at(
                    ("distribution", "torchrun", key),
                    f"`distribution.torchrun.{key}` is not supported with `source.delivery: s3`",
                    help=_HELP,
                    on="key",
                )
    if isinstance(launcher, Mpi):
        for index, option in enumerate(launcher.options):
            if not option or any(character.isspace() for character in option):
                yield RULE.at(
                    ("distribution", "mpi", "options", index),
                    f"`distribution.mpi.options[{index}]` contains a space (`source.delivery: s3`)",
                    help=_HELP,
                )
