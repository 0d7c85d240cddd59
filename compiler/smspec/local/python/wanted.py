"""The Python that a job needs: version, packages, and build secrets of its image, and what it installs at startup."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from smspec.local.running.image_content import source_files
from smspec.local.running.request import RunFailed
from smspec.local.running.training_request import TrainingRequest
from smspec.plan import NeededEnvironment, Plan
from smspec.render.dockerfile import pip_installs
from smspec.render.tree import FileTree, GeneratedFile
from smspec.service.image_python import locked_python, python_of_image
from smspec.service.requirement_lines import installing_variables, named_variables
from smspec.source.frozen import dataclass, replace
from smspec.spec.lock import LockedEnvironment
from smspec.spec.model import BuildSecret, BuiltImage, JobSpec

_REQUIREMENTS, _SETUP = "requirements.txt", "setup.py"
_INDEX_OF_AWS = "CA_REPOSITORY_ARN"
_OFFICIAL = re.compile(r"(?:.*/)?python(?::[^/@]*)?(?:@.*)?")
"""A Python image with pip and nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """``version`` None: unknown. ``turns``: the arguments of ``pip install`` in the image.

    ``files``: the files in these arguments, by name, with their bytes. ``locked``: the environment of the lock that
    they install; on other Pythons, ``unlocked`` is used instead. ``secrets`` are set while packages are installed, and
    so are ``variables``: those of the image that choose its packages, ``variables_at_start`` at startup.
    ``at_start``: the requirements that the job installs at startup, if they can be installed in advance;
    ``start_locked``: what the lock has of them; ``installs``: it runs pip then, for these or a package. ``is_known``:
    ``turns`` contains everything in the image. ``is_isolated``: the job cannot reach an index.
    """

    version: str | None
    turns: tuple[tuple[str, ...], ...]
    files: Mapping[str, bytes]
    secrets: Mapping[str, BuildSecret]
    variables: Mapping[str, str]
    variables_at_start: Mapping[str, str]
    locked: LockedEnvironment | None
    unlocked: Wanted | None
    at_start: bytes | None
    start_locked: NeededEnvironment | None
    installs: bool
    is_known: bool
    is_isolated: bool


def _version(job: JobSpec, plan: Plan) -> str | None:
    """Return the version of Python that the name of the image or the lockfile shows, as `validate` reads it."""
    if job.image is None:
        return None
    if isinstance(job.image, BuiltImage):
        found = python_of_image(job.image.base, job.image.system_packages)
        if found is None and plan.image is not None:
            found = locked_python(plan.image.python)
    else:
        found = python_of_image(job.image.uri)
    return None if found is None else f"{found[0]}.{found[1]}"


def wanted_python(
    job: JobSpec,
    plan: Plan,
    tree: FileTree,
    authored: bytes | None = None,
    startup: NeededEnvironment | None = None,
) -> Wanted:
    """Return the Python that a job needs. ``authored``: the content of the requirements file that the spec names.

    ``startup``: what the lock has of the packages that the job installs at startup.
    """
    image = job.image if isinstance(job.image, BuiltImage) else None
    requirements = next(
        (file.content for file in tree.files if isinstance(file, GeneratedFile) and file.path == _REQUIREMENTS), None
    )
    locked = plan.image.environment if plan.image is not None else None
    packages = image.python_packages if image is not None else ()
    official = _OFFICIAL.fullmatch(image.base) if image is not None else None
    installed = {path: origin for path, origin in source_files(tree) if path in (_REQUIREMENTS, _SETUP)}
    is_isolated = bool(plan.request.payload.get("EnableNetworkIsolation"))
    has_index_of_aws = _INDEX_OF_AWS in TrainingRequest(plan.request.payload).environment
    at_start = None
    if _REQUIREMENTS in installed and not is_isolated and not has_index_of_aws:
        with open(installed[_REQUIREMENTS], "rb") as file:
            at_start = file.read()
    env = {} if plan.image is None else plan.image.env
    wanted = Wanted(
        version=_version(job, plan),
        turns=tuple(pip_installs(packages, requirements, _REQUIREMENTS, is_locked=locked is not None)),
        files={} if requirements is None else {_REQUIREMENTS: requirements},
        locked=locked,
        unlocked=None,
        secrets=image.secrets if image is not None else {},
        variables=installing_variables(env, named_variables(authored or b"")),
        variables_at_start=installing_variables({**env, **job.environment}, named_variables(at_start or b"")),
        at_start=at_start,
        start_locked=startup if startup is not None and startup.content is not None else None,
        installs=bool(installed),
        is_known=official is not None and image is not None and not image.commands,
        is_isolated=is_isolated,
    )
    if locked is None:
        return wanted
    unlocked = replace(
        wanted,
        turns=tuple(pip_installs(packages, authored, _REQUIREMENTS, is_locked=False)),
        files={} if authored is None else {_REQUIREMENTS: authored},
        locked=None,
    )
    return replace(wanted, unlocked=unlocked, version=locked.python, is_known=image is not None and not image.commands)


def secret_variables(secrets: Mapping[str, BuildSecret], variables: Mapping[str, str], base_dir: str) -> dict[str, str]:
    """Return the variables that the commands of the build get; a file is relative to ``base_dir``. Raise RunFailed."""
    found = {}
    for name, secret in secrets.items():
        if secret.env is not None:
            if secret.env not in variables:
                raise RunFailed(
                    3, f"the variable `{secret.env}` is not set: `image.secrets.{name}` needs it to install packages"
                )
            found[name] = variables[secret.env]
            continue
        path = os.path.abspath(os.path.join(base_dir, os.path.expanduser(secret.file or "")))
        if not os.access(path, os.R_OK):
            raise RunFailed(
                3, f"cannot read the file of `image.secrets.{name}`, which is needed to install packages: {path}"
            )
        found[name] = path
    return found
