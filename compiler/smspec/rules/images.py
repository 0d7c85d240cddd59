"""Rules about the image: its base, its registry, how the source gets into it, and what lacks a network."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Note, Rule
from smspec.service.arns import is_listed, nearest_region, regions_table
from smspec.service.image_python import official_name, python_of_apt, python_of_image, without_python
from smspec.service.image_reference import parsed_reference
from smspec.source import Listing
from smspec.spec.model import BuiltImage, ExistingImage, JobSpec, ScriptEntry, names_registry
from smspec.spec.startup import REQUIREMENTS, isolation_path, starter, startup_requirements, unrouted_path

UNUSABLE_BASE_IMAGE = Rule("SM329", "unusable base image", needs_every_layer=True)

OLDEST = (3, 8)
"""The oldest Python that the runtime supports."""

_PATH = ("image", "base")


def unusable_base_image(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject a base image in which the job certainly finds no usable Python, no pip, or no apt.

    The runtime is written in Python, and packages are installed with apt and pip: the base image must have these.
    """
    image = job.image
    if isinstance(image, ExistingImage) and job.delivery == "channel":
        version = python_of_image(image.uri)
        if version is not None and version < OLDEST:
            yield UNUSABLE_BASE_IMAGE.at(
                ("image",),
                f"`image` is `{image.uri}`, with Python {version[0]}.{version[1]}; the minimum for `delivery: channel` "
                "is 3.8",
                help="use an image with Python 3.8 or later, or `delivery: s3`, with which the image starts the script",
            )
    if not isinstance(image, BuiltImage):
        return
    if image.system_packages and _is_alpine(image.base):
        yield UNUSABLE_BASE_IMAGE.at(
            ("image", "system_packages"),
            f"`image.system_packages` requires apt, which `{image.base}` does not have",
            help="use a base image with apt, such as `python:3.12-slim-bookworm`",
            on="key",
        )
        return
    installs = bool(image.python_packages or image.python_requirements is not None or job.delivery == "s3")
    if without_python(image.base) or official_name(image.base) == "alpine":
        yield from _without_python(image, installs=installs)
    elif not image.commands:
        yield from _too_old(image, python_of_image(image.base))


def _without_python(image: BuiltImage, *, installs: bool) -> Iterator[Finding]:
    packages = {word.partition("=")[0].partition(":")[0] for word in image.system_packages}
    if image.pre_install or (image.run and not installs):
        return
    if not any(name.startswith("python3") for name in packages):
        if packages and not _is_plain(packages):
            return
        yield UNUSABLE_BASE_IMAGE.at(
            _PATH,
            f"`image.base` is `{image.base}`, which has no Python",
            help="add `python3` and `python3-pip` to `image.system_packages`, or use a base image with Python"
            if without_python(image.base)
            else "use a base image with Python, such as `python:3.12-slim-bookworm`",
        )
    elif installs and not any(name.endswith("-pip") for name in packages) and _is_plain(packages):
        yield UNUSABLE_BASE_IMAGE.at(
            _PATH,
            f"`image.base` is `{image.base}`, which has no pip",
            help="add `python3-pip` to `image.system_packages`",
        )
    else:
        yield from _too_old(image, python_of_apt(image.base))


def _too_old(image: BuiltImage, version: tuple[int, int] | None) -> Iterator[Finding]:
    if version is not None and version < OLDEST and not any("python3." in word for word in image.system_packages):
        yield UNUSABLE_BASE_IMAGE.at(
            _PATH,
            f"`image.base` is `{image.base}`, with Python {version[0]}.{version[1]}; the minimum is 3.8",
            help="use a base image with Python 3.8 or later",
        )


def _is_plain(packages: set[str]) -> bool:
    """Return whether no package is known to bring pip or Python with it under a different name."""
    return not any(
        name.startswith(("python", "pip", "pypy", "conda", "awscli", "ansible"))
        for name in packages - {"python3", "python3-dev", "python3-minimal", "python3-venv"}
    )


def _is_alpine(image: str) -> bool:
    reference = parsed_reference(image)
    if reference is None:
        return False
    name = reference.official_name
    return name == "alpine" or (name == "python" and "alpine" in (reference.tag or ""))


PLATFORM_OF_A_DIFFERENT_ARCHITECTURE = Rule("SM388", "platform of a different architecture")

_DEFAULT = "linux/amd64"
_ARCHITECTURES = {"amd64": "x86_64", "x86_64": "x86_64", "arm64": "arm64", "aarch64": "arm64"}


def platform_of_a_different_architecture(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject a platform that an instance type of the job does not have.

    A container starts only on instances with the architecture of its image.
    """
    image = job.image
    # No instance type for training is known to need another platform than the default.
    if not isinstance(image, BuiltImage) or image.platform == _DEFAULT or job.hosts is None:
        return
    # Imported late: few jobs set a platform.
    from smspec.service.facts import architecture

    built = _ARCHITECTURES.get([*image.platform.split("/"), ""][1], "")
    for kind in (job.hosts.instance_type, *(group.instance_type for group in job.hosts.groups)):
        has = architecture(kind) if kind else ""
        if built and has and built != has:
            yield PLATFORM_OF_A_DIFFERENT_ARCHITECTURE.at(
                ("image", "platform"),
                f"{HERE} is `{image.platform}`, but `{kind}` has the architecture {has}",
                help=f"remove it; the default is `{_DEFAULT}`" if has == "x86_64" else "use `linux/arm64`",
            )
            return


IMAGE_DELIVERY_WITH_AN_EXISTING_IMAGE = Rule("SM305", "image delivery with an existing image")


def image_delivery_with_an_existing_image(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject `delivery: image` where no image is built.

    The source can be copied only into an image that smspec builds.
    """
    if isinstance(job.image, ExistingImage) and job.delivery == "image":
        yield IMAGE_DELIVERY_WITH_AN_EXISTING_IMAGE.at(
            ("source", "delivery"),
            "`source.delivery` is `image`, but `image` names an existing image",
            help="use `channel` or `s3`, or set `image.base` to build an image from it",
        )


REPOSITORY_WITHOUT_A_REGION = Rule("SM304", "repository without a region", needs_every_layer=True)


def repository_without_a_region(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject a built image whose URI is incomplete. The account defaults to that of the execution role.

    The URI of an ECR repository contains an account and a region.
    """
    image = job.image
    if not isinstance(image, BuiltImage) or job.region or names_registry(image.repository or ""):
        return
    yield REPOSITORY_WITHOUT_A_REGION.at(
        ("image", "repository") if image.repository else ("image",),
        "`region` is not set; the ECR image URI needs it",
        help="set `region`, or set `image.repository` to a full registry and path",
        on="value" if image.repository else "key",
    )


UNLISTED_REGION = Rule("SM802", "unlisted region", "warning")


def unlisted_region(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Warn about a region that the table of partitions lacks: a new one, or a misspelled one.

    A region whose name fits the rules of AWS, but that AWS does not list.
    """
    if job.region is None or is_listed(job.region):
        return
    near = nearest_region(job.region)
    yield UNLISTED_REGION.at(
        ("region",),
        f"{HERE} is `{job.region}`, which AWS does not list, {regions_table().as_of}",
        label=f"did you mean `{near}`?" if near else "",
        help="" if near else "use a region of AWS, such as `us-west-2`, or add SM802 to `checks.ignore` if it is new",
    )


KMS_KEY_WITHOUT_AN_UPLOAD = Rule("SM615", "KMS key without an upload", "warning")


def kms_key_without_an_upload(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Warn about `source.kms_key` if nothing is uploaded that it could encrypt.

    The key of the source encrypts objects in S3, and a source in the image is none.
    """
    if job.source is not None and job.source.kms_key is not None and job.delivery == "image":
        yield KMS_KEY_WITHOUT_AN_UPLOAD.at(
            ("source", "kms_key"),
            "`source.kms_key` has no effect: the source is copied into the image",
            help="remove `kms_key`, or set `source.delivery` to `channel` or `s3`",
        )


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
    unusable_base_image,
    platform_of_a_different_architecture,
    image_delivery_with_an_existing_image,
    repository_without_a_region,
    unlisted_region,
    kms_key_without_an_upload,
    isolated_job_that_downloads_its_source,
    isolated_job_that_installs_packages,
    vpc_job_that_installs_packages,
)
