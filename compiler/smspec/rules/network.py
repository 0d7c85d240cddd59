"""Rules about jobs that cannot reach what they install or download."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from smspec.diagnostics import Finding, Note, Rule
from smspec.source.listing import Listing
from smspec.spec.model import BuiltImage, JobSpec, ScriptEntry
from smspec.spec.startup import REQUIREMENTS, isolation_path, starter, startup_requirements, unrouted_path

ISOLATED_JOB_THAT_DOWNLOADS_ITS_SOURCE = Rule("SM378", "isolated job that downloads its source", instead_of="SM363")


def isolated_job_that_downloads_its_source(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject network isolation where the container would download the source from S3.

    A container in network isolation cannot use the network, not even S3; only SageMaker itself delivers data to it.
    """
    path = isolation_path(job)
    if path is not None and job.delivery == "s3":
        yield ISOLATED_JOB_THAT_DOWNLOADS_ITS_SOURCE.at(
            path,
            "`source.delivery: s3` does not work with `network.isolation: true`",
            help="set `source.delivery: channel`",
        )


ISOLATED_JOB_THAT_INSTALLS_PACKAGES = Rule("SM379", "isolated job that installs packages")

ISOLATED_JOB_THAT_MIGHT_INSTALL_PACKAGES = Rule("SM381", "isolated job that might install packages", "warning")

_PACKAGE = "setup.py"
# Official images without third-party packages: their contents are known.
_BARE_BASES = r"(?:docker\.io/)?(?:library/)?(?:python|debian|ubuntu|buildpack-deps)(?:[:@].*)?"


def isolated_job_that_installs_packages(job: JobSpec, source: Listing) -> Iterator[Finding]:
    """Reject network isolation where pip would need an index at startup; warn where it might.

    The runtime and the toolkits install the requirements of the source when the job starts, and need an index for
    missing ones. For those that are met, pip contacts none: a list that the image has installed is allowed.
    """
    path = isolation_path(job)
    if path is None or job.source is None or starter(job) == "image":
        return
    if source.has(_PACKAGE) and isinstance(job.entry_point, ScriptEntry):
        # pip builds a package in a separate environment, with a setuptools from the index.
        yield ISOLATED_JOB_THAT_INSTALLS_PACKAGES.at(
            path,
            f"`{_PACKAGE}` needs an index at startup, but `network.isolation` is true",
            help="install the package when the image is built, and add `setup.py` to `source.ignore`",
        )
    elif startup_requirements(job, source) is not None:
        rule = ISOLATED_JOB_THAT_MIGHT_INSTALL_PACKAGES
        if _certainly_lacks_packages(job):
            rule = ISOLATED_JOB_THAT_INSTALLS_PACKAGES
        help = (
            f"set `image.python_requirements` to `{posixpath.join(job.source.dir, REQUIREMENTS)}`"
            if isinstance(job.image, BuiltImage)
            else "use an image that contains the packages, and add `requirements.txt` to `source.ignore`"
        )
        needs = "needs an index" if rule is ISOLATED_JOB_THAT_INSTALLS_PACKAGES else "might need an index"
        yield rule.at(path, f"`{REQUIREMENTS}` {needs} at startup, but `network.isolation` is true", help=help)


def _certainly_lacks_packages(job: JobSpec) -> bool:
    """Return whether the image has no packages: a bare base image, and no build step that installs any."""
    image = job.image
    if not isinstance(image, BuiltImage) or image.python_packages or image.python_requirements or image.commands:
        return False
    return not image.system_packages and re.fullmatch(_BARE_BASES, image.base) is not None


VPC_JOB_THAT_INSTALLS_PACKAGES = Rule("SM537", "VPC job that installs packages", "warning", needs_every_layer=True)


def vpc_job_that_installs_packages(job: JobSpec, source: Listing) -> Iterator[Finding]:
    """Warn about requirements that are installed at startup in a VPC, without a package index of its own.

    Without a NAT gateway or an endpoint, a job in a VPC has no route to PyPI, where pip looks for requirements.
    """
    path = unrouted_path(job)
    if path is None or startup_requirements(job, source) is None:
        return
    yield VPC_JOB_THAT_INSTALLS_PACKAGES.at(
        path,
        f"`{REQUIREMENTS}` needs an index at startup, but `network.subnets` might not reach PyPI",
        help="set `PIP_INDEX_URL` in `environment` to an index in the VPC, or ignore SM537 if it has a NAT gateway",
        notes=(Note("without a route, pip waits and retries, and the job fails at startup"),),
    )


RULES = (
    isolated_job_that_downloads_its_source,
    isolated_job_that_installs_packages,
    vpc_job_that_installs_packages,
)
