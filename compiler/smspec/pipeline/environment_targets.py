"""Find the environments that the images of some jobs need in a lock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from smspec.pipeline.inputs import Inputs
from smspec.pipeline.lock_targets import LockTarget
from smspec.plan.build_inputs import BuildInputs
from smspec.plan.environment_of_image import environment_of
from smspec.plan.image_planning import authored_image
from smspec.plan.image_uris import with_image_uri
from smspec.plan.plan import ImagePlan
from smspec.service.bare_image import BareImage, bare_image
from smspec.source import Document, Scalar
from smspec.source import Mapping as MappingNode
from smspec.source.frozen import dataclass
from smspec.spec.decoding import decode
from smspec.spec.lock import Lock
from smspec.spec.model import BuildSecret, BuiltImage
from smspec.spec.shape.plain_data import viewed
from smspec.spec.shape.shape_check import shape_findings


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentTarget:
    """The packages of one image. ``spec``: the path of the first job that needs it. ``key`` empty: unknown.

    ``image``: None and ``bare`` a reason if they cannot be locked. ``requirements``: the content of the author's file,
    at the path ``requirements_file``. ``instance_type``: of the hosts; empty for groups of them.
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


def environment_targets(target: LockTarget, lock: Lock) -> tuple[EnvironmentTarget, ...]:
    """Return the environments of jobs, each once; ``lock``: with the digests of their base images."""
    found: dict[str, EnvironmentTarget] = {}
    for job in target.jobs:
        for environment in _environment(job, lock):
            found.setdefault(environment.key or environment.spec, environment)
    return tuple(found.values())


def _environment(inputs: Inputs, lock: Lock) -> Iterator[EnvironmentTarget]:
    document = inputs.document
    spec = document.texts[-1].name if document.texts else ""
    if not isinstance(document.node(("image",)), MappingNode):
        return
    data = viewed(document.root)
    if document.is_partly_known or shape_findings(document, data):
        yield _target(inputs, spec, "", None, "the spec has errors; run `smspec validate`", {})
        return
    known = inputs.build_inputs
    # Without what the lock already has for the image: the packages that the author lists determine the key.
    build_inputs = BuildInputs(
        source=known.source,
        runtime=known.runtime,
        templates=known.templates,
        requirements=known.requirements,
        lock=lock,
    )
    job, _ = with_image_uri(decode(document, data), lock)
    image = authored_image(job, build_inputs)
    if image is None or not isinstance(job.image, BuiltImage):
        return
    requirements = None if image.python_requirements is None else build_inputs.requirements
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
