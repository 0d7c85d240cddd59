"""Plan the content of a built image, the tag that identifies it, and its locked environment.

The environment is the entry of ``smspec.lock`` with its packages. The packages that the runtime installs when a job
starts, those of ``requirements.txt`` in the source, have one too. pip chooses their versions in the container, as with
the toolkit of AWS. The lock has versions for checks and local runs; installing them in the container would change what
the same source does in other images.
"""

from __future__ import annotations

import hashlib
import re

from smspec.plan import BuildInputs, ImagePlan, digest, repository
from smspec.plan.delivery import run_plan_json
from smspec.source import Listing
from smspec.source.frozen import replace
from smspec.spec.lock import Lock, LockedEnvironment, environment_key
from smspec.spec.model import BuiltImage, JobSpec, Mpi, ScriptEntry, SmDataParallel
from smspec.spec.startup import isolation_path
from smspec_runtime.run_plan import RunPlan

_S3_CLIENT = "boto3"
IN_THE_IMAGE = (
    "base",
    "platform",
    "system_packages",
    "python_packages",
    "env",
    "run",
    "labels",
    "secrets",
    "title",
    "holds_source",
    "needs_ssh",
    "user",
    "build_args",
    "pre_install",
    "env_prepend",
    "adds_boto3",
)
"""The fields of a plan that become part of the image. The repository, and the path of the author's file, do not."""

_PROJECT = r"\s*([A-Za-z0-9._-]+)"

_PACKAGE = "setup.py"
_INDEX = ("PIP_", "CA_REPOSITORY_ARN")


def plan_image(job: JobSpec, run: RunPlan | None, build_inputs: BuildInputs) -> ImagePlan | None:
    """Return the plan of the image to build; None for an existing image. Packages in the lock replace the author's."""
    image = authored_image(job, build_inputs)
    if image is None:
        return None
    locked = build_inputs.locked_environment
    if locked is not None:
        image = replace(image, python_packages=(), adds_boto3=False, python_requirements=None, environment=locked)
    return _tagged(image, run, build_inputs)


def installed_requirements(image: ImagePlan, build_inputs: BuildInputs) -> bytes | None:
    """Return the content of the requirements file that an image installs: the locked one, or that of the author."""
    if image.environment is not None:
        return None if build_inputs.environment is None else build_inputs.environment.content
    return None if image.python_requirements is None else build_inputs.requirements


def authored_image(job: JobSpec, build_inputs: BuildInputs) -> ImagePlan | None:
    """Return the image with the packages that its author lists, without a tag; None for an existing image.

    Packages and build commands keep the author's order; variables and labels are sorted by name.
    """
    image = job.image
    if not isinstance(image, BuiltImage):
        return None
    # A command may have an empty source directory, and COPY of nothing would fail.
    holds_source = job.delivery == "image" and bool(build_inputs.source.files)
    # The runtime uses it to download the archive of the source.
    adds_boto3 = job.delivery == "s3" and not any(_project(package) == _S3_CLIENT for package in image.python_packages)
    return ImagePlan(
        base=build_inputs.lock.pinned(image.base) if build_inputs.lock else image.base,
        platform=image.platform,
        system_packages=image.system_packages,
        python_packages=(*image.python_packages, *((_S3_CLIENT,) if adds_boto3 else ())),
        adds_boto3=adds_boto3,
        python_requirements=image.python_requirements,
        env=dict(sorted(image.env.items())),
        run=image.run,
        labels=dict(sorted(image.labels.items())),
        secrets={name: "env" if secret.env is not None else "file" for name, secret in sorted(image.secrets.items())},
        title=job.name,
        holds_source=holds_source,
        needs_ssh=isinstance(job.distribution, Mpi | SmDataParallel),
        repository=repository(job, image),
        tag="",
        python=build_inputs.lock.pythons.get(image.base, "") if build_inputs.lock else "",
        user=image.user,
        build_args=dict(sorted(image.build_args.items())),
        pre_install=image.pre_install,
        env_prepend=dict(sorted(image.env_prepend.items())),
    )


def _tagged(image: ImagePlan, run: RunPlan | None, build_inputs: BuildInputs) -> ImagePlan:
    """Return the image with the digest of its content as tag."""
    content = {name: getattr(image, name) for name in IN_THE_IMAGE}
    requirements = build_inputs.requirements
    if image.environment is not None:
        content["locked"] = image.environment.digest
        requirements = None
    content |= {
        "requirements": None if requirements is None else hashlib.sha256(requirements).hexdigest(),
        "run_plan": None if run is None else run_plan_json(run),
        "templates": build_inputs.templates,
        "runtime": build_inputs.runtime.digest,
        "source": build_inputs.source.digest if image.holds_source else None,
    }
    return replace(image, tag=digest(content))


def _project(package: str) -> str:
    """Return the normalized project name of a requirement."""
    match = re.match(_PROJECT, package)
    return re.sub(r"[-_.]+", "-", match[1]).lower() if match else ""


def environment_of(image: ImagePlan, requirements: bytes | None) -> str | None:
    """Return the key of the environment that an image installs; None for an image that installs no packages.

    ``requirements``: the content of the author's file. The tag of the image does not count, so a plan without one will
    do.
    """
    if requirements is None and not image.python_packages:
        return None
    used = None
    if image.secrets or b"${" in (requirements or b""):
        # Imported late: few images have these.
        from smspec.service.requirement_lines import index_variables

        used = index_variables(requirements or b"", image.build_variables, image.secrets)
    return environment_key(
        base=image.base,
        platform=image.platform,
        packages=image.python_packages,
        requirements=requirements,
        variables=image.build_variables,
        used=used,
    )


def is_lockable(image: BuiltImage, requirements: bytes | None, lock: Lock | None) -> bool:
    """Return whether `smspec lock` can lock the packages of an image.

    It must know the Python of the base image, and that it has no other packages; and every requirement needs a hash.
    """
    # Imported late: few images lack an entry in a lock.
    from smspec.service.bare_image import BareImage, bare_image
    from smspec.service.requirement_lines import read_packages, read_requirements

    python = lock.pythons.get(image.base, "") if lock else ""
    return (
        isinstance(bare_image(image.base, image.system_packages, image.platform, python), BareImage)
        and not read_packages(image.python_packages).obstacle
        and not read_requirements(requirements or b"", _variables(image)).obstacle
    )


def _variables(image: BuiltImage) -> list[str]:
    """Return the names of the variables that a build sets; a secret in a file is not one."""
    return [*image.build_variables, *(name for name, secret in image.secrets.items() if secret.env is not None)]


def obstacle_at_start(job: JobSpec, source: Listing) -> str:
    """Return why the packages at startup cannot be known before: a sentence without its subject; empty if they can."""
    if not isinstance(job.image, BuiltImage):
        return "the packages of the existing image are unknown"
    if isolation_path(job) is not None:
        return "network isolation prevents their installation"
    if job.image.commands:
        return f"`image.{'run' if job.image.run else 'pre_install'}` may change what is installed"
    if source.has(_PACKAGE) and isinstance(job.entry_point, ScriptEntry):
        return f"`{_PACKAGE}` may require more"
    if any(name.startswith(_INDEX) for name in job.secrets) or _INDEX[-1] in job.environment:
        return "only the job knows its package index"
    return ""


def image_at_start(job: JobSpec, image: ImagePlan) -> ImagePlan:
    """Return an image with the variables of its job, and without packages to install: pip finds those installed."""
    variables = {name: value for name, value in job.environment.items() if name.startswith("PIP_")}
    return replace(
        image,
        python_packages=(),
        python_requirements=None,
        secrets={},
        env=dict(sorted({**image.env, **variables}.items())),
    )


def key_at_start(image: ImagePlan, content: bytes, installed: LockedEnvironment | None) -> str:
    """Return the key of the packages that a job adds to those in its image. ``image``: that of `image_at_start`."""
    return environment_key(
        base=image.base,
        platform=image.platform,
        packages=(),
        requirements=content,
        variables=image.env,
        used={"installed before": None if installed is None else installed.digest},
    )
