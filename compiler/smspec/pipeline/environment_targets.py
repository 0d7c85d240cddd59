"""Find the environments that the images of some jobs need in a lock."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from smspec.pipeline.inputs import Inputs
from smspec.pipeline.lock_targets import LockTarget
from smspec.plan.image_planning import authored_image, environment_of, image_at_start, key_at_start, obstacle_at_start
from smspec.plan.naming import with_image_uri
from smspec.plan.plan import BuildInputs, ImagePlan
from smspec.service.bare_image import BareImage, bare_image
from smspec.service.requirement_lines import has_lines
from smspec.source import Document, Scalar
from smspec.source import Mapping as MappingNode
from smspec.source.frozen import dataclass
from smspec.spec.decoding import decode
from smspec.spec.lock import Lock, LockedEnvironment
from smspec.spec.model import BuildSecret, BuiltImage, JobSpec
from smspec.spec.shape.shape_check import shape_findings, viewed
from smspec.spec.startup import startup_requirements


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentTarget:
    """The packages of one image. ``spec``: the path of the first job that needs it. ``key`` empty: unknown.

    ``image``: None and ``bare`` a reason if they cannot be locked. ``requirements``: the content of the author's file,
    at the path ``requirements_file``. ``instance_type``: of the hosts; empty for groups of them.
    ``is_at_start``: the requirements are those that the job installs at startup, in addition to the ``installed``.
    """

    spec: str
    key: str
    image: ImagePlan | None
    bare: BareImage | str
    requirements: bytes | None
    requirements_file: str | None
    secrets: Mapping[str, BuildSecret]
    directory: str
    document: Document
    instance_type: str = ""
    is_at_start: bool = False
    installed: LockedEnvironment | None = None


def environment_targets(target: LockTarget, lock: Lock) -> tuple[EnvironmentTarget, ...]:
    """Return the environments of jobs, each once; ``lock``: with the digests of their base images."""
    found: dict[str, EnvironmentTarget] = {}
    for job in target.jobs:
        for environment in _environment(job, lock):
            found.setdefault(environment.key or environment.spec, environment)
    return tuple(found.values())


def startup_targets(
    target: LockTarget, lock: Lock, needed: Mapping[str, LockedEnvironment]
) -> tuple[EnvironmentTarget, ...]:
    """Return what jobs install at startup, each list once. ``needed``: the environments of their images."""
    found: dict[str, EnvironmentTarget] = {}
    for job in target.jobs:
        if job.build_inputs.startup is not None:
            for environment in _at_start(job, lock, needed):
                found.setdefault(environment.key or environment.spec, environment)
    return tuple(found.values())


def _at_start(inputs: Inputs, lock: Lock, needed: Mapping[str, LockedEnvironment]) -> Iterator[EnvironmentTarget]:
    described, startup = _described(inputs, lock), inputs.build_inputs.startup
    listed = None if described is None else startup_requirements(described[0], inputs.build_inputs.source)
    if described is None or startup is None or listed is None or not has_lines(startup.content):
        return
    job, image = described
    spec = inputs.document.texts[-1].name
    requirements = None if image.python_requirements is None else inputs.build_inputs.requirements
    key = environment_of(image, requirements)
    installed = None if key is None else needed.get(key)
    obstacle = obstacle_at_start(job, inputs.build_inputs.source)
    if key is not None and installed is None:
        obstacle = "those of its image are not locked"
    at_start = image_at_start(job, image)
    bare = bare_image(image.base, image.system_packages, image.platform, image.python)
    yield EnvironmentTarget(
        spec=spec,
        key="" if obstacle else key_at_start(at_start, startup.content, installed),
        image=at_start,
        bare=obstacle or bare,
        requirements=startup.content,
        requirements_file=os.path.relpath(listed.origin),
        secrets={},
        directory=inputs.directory,
        document=inputs.document,
        is_at_start=True,
        installed=installed,
    )


def _described(inputs: Inputs, lock: Lock) -> tuple[JobSpec, ImagePlan] | None:
    """Return the job of a spec, and the image that it builds; None without one, or for a spec with errors."""
    document = inputs.document
    if not isinstance(document.node(("image",)), MappingNode):
        return None
    data = viewed(document.root)
    if document.is_partly_known or shape_findings(document, data):
        return None
    # Without what the lock already has for the image: the packages that the author lists determine the key.
    known = inputs.build_inputs
    build_inputs = BuildInputs(
        source=known.source,
        runtime=known.runtime,
        templates=known.templates,
        requirements=known.requirements,
        lock=lock,
    )
    job, _ = with_image_uri(decode(document, data), lock)
    image = authored_image(job, build_inputs)
    return None if image is None else (job, image)


def _environment(inputs: Inputs, lock: Lock) -> Iterator[EnvironmentTarget]:
    document = inputs.document
    spec = document.texts[-1].name if document.texts else ""
    if not isinstance(document.node(("image",)), MappingNode):
        return
    described = _described(inputs, lock)
    if described is None:
        if document.is_partly_known or shape_findings(document, viewed(document.root)):
            yield _target(inputs, spec, "", None, "the spec has errors; run `smspec validate`", {})
        return
    job, image = described
    assert isinstance(job.image, BuiltImage)  # it has a plan
    requirements = None if image.python_requirements is None else inputs.build_inputs.requirements
    key = environment_of(image, requirements)
    if key is not None:
        bare = bare_image(image.base, image.system_packages, image.platform, image.python)
        yield _target(inputs, spec, key, image, bare, job.image.secrets)


def _target(
    inputs: Inputs,
    spec: str,
    key: str,
    image: ImagePlan | None,
    bare: BareImage | str,
    secrets: Mapping[str, BuildSecret],
) -> EnvironmentTarget:
    hosts = inputs.document.node(("hosts", "instance_type"))
    has_file = image is not None and image.python_requirements is not None
    return EnvironmentTarget(
        spec=spec,
        key=key,
        image=image,
        bare=bare,
        requirements=inputs.build_inputs.requirements if has_file else None,
        requirements_file=inputs.requirements_file if has_file else None,
        secrets=secrets,
        directory=inputs.directory,
        document=inputs.document,
        instance_type=hosts.text if isinstance(hosts, Scalar) else "",
    )
