"""Render plans: texts, and the tree of files that a build writes. Nothing is decided here, and nothing is read.

`TARGETS` are the outputs of ``smspec render``; ``smspec render --<name>`` is made from each. A target returns a
`Rendering`: its text, and what the reader should know about it. `render_tree` returns the `FileTree` of a build:
Dockerfile, entrypoint, runtime, source, request, and a manifest.

The same plan gives the same bytes. What generates files is part of an image's tag (`templates_digest`), so a change of
a template makes a new tag. Each target is imported when it is rendered.

The package must not know where the files go, or whether the job has errors.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Callable

from smspec.plan import BuildInputs, Plan, RequestPlan
from smspec.render.tree import NothingToRender, Rendering
from smspec.source import Document, SourceText
from smspec.source.frozen import dataclass

__all__ = ["TARGETS", "NothingToRender", "Rendering", "Target", "templates_digest"]

_HERE = os.path.dirname(os.path.abspath(__file__))
_MODULES = ("dockerfile.py", "filled_templates.py", "image_settings.py", "quoting.py")
"""The templates, as functions, and the modules that fill them.

A change of a module may change a generated file, and then the tag must change.
"""

Script = tuple[SourceText, ...]
"""The modules of the script, as far as they are known."""


Render = Callable[[Plan, BuildInputs, Document, Script], Rendering]
"""Renders the plans of a job, the files that are sent, the merged spec, and the script to one text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """``meaning`` is its description in `render --help`; ``also`` are more spellings of its option.

    ``suffix``: the end of the name of its file, where several jobs are rendered.
    """

    meaning: str
    suffix: str
    render: Render
    also: tuple[str, ...] = ()


def _api_json(plan: Plan, _build_inputs: BuildInputs, _spec: Document, _script: Script) -> Rendering:
    return Rendering(text=request_json(plan.request))


def _dockerfile(plan: Plan, build_inputs: BuildInputs, _spec: Document, _script: Script) -> Rendering:
    from smspec.plan.image_planning import installed_requirements
    from smspec.render.dockerfile import dockerfile

    if plan.image is None:
        raise NothingToRender("no Dockerfile: the job uses an existing image")
    return Rendering(text=dockerfile(plan.image, installed_requirements(plan.image, build_inputs)))


def _entrypoint(plan: Plan, _build_inputs: BuildInputs, _spec: Document, _script: Script) -> Rendering:
    from smspec.render.dockerfile import entrypoint

    if plan.run is None:
        raise NothingToRender("no generated entrypoint: the image starts its own program")
    return Rendering(text=entrypoint(plan.run))


def _spec(_plan: Plan, _build_inputs: BuildInputs, spec: Document, _script: Script) -> Rendering:
    from smspec.render.spec_yaml import spec_yaml

    return Rendering(text=spec_yaml(spec))


def _role(plan: Plan, _build_inputs: BuildInputs, spec: Document, script: Script) -> Rendering:
    from smspec.render.iam.role import role_policy

    image_env = plan.image.env if plan.image else None
    secrets = plan.settings.secrets.values() if plan.settings else ()
    region = _region(plan, spec)
    return role_policy(
        plan.request.payload, region, image_env=image_env, script=script, secrets=secrets, source_key=plan.source_key
    )


def _submitter(plan: Plan, _build_inputs: BuildInputs, spec: Document, _script: Script) -> Rendering:
    from smspec.render.iam.submitter import submitter_policy

    return submitter_policy(plan, _region(plan, spec))


def _ack(plan: Plan, _build_inputs: BuildInputs, spec: Document, _script: Script) -> Rendering:
    from smspec.render.ack import ack

    return ack(plan.request.payload, _written_region(spec))


def _step_functions(plan: Plan, _build_inputs: BuildInputs, _spec: Document, _script: Script) -> Rendering:
    from smspec.render.step_functions import step_functions

    return step_functions([request.payload for request in plan.requests])


def _terraform(plan: Plan, _build_inputs: BuildInputs, spec: Document, _script: Script) -> Rendering:
    from smspec.render.terraform import terraform

    return terraform(plan.name, plan.request.payload, _written_region(spec))


def _region(plan: Plan, spec: Document) -> str | None:
    """Return the region of the job: the one in the spec, else that of its image."""
    from smspec.service.request import Request

    written = _written_region(spec)
    if written is not None:
        return written
    image = Request(payload=plan.request.payload).image
    return image.region if image else None


def _written_region(spec: Document) -> str | None:
    """Return the region in the spec; a request does not contain it, so a tool needs it separately."""
    from smspec.source import Scalar

    written = spec.node(("region",))
    return written.value if isinstance(written, Scalar) and isinstance(written.value, str) else None


def request_json(request: RequestPlan) -> str:
    """Return the request as JSON in ASCII, members in the order of the API.

    ASCII, because the AWS CLI reads the file in whatever encoding the locale names.
    """
    return json.dumps(request.payload, indent=2) + "\n"


TARGETS: dict[str, Target] = {
    "api-json": Target(meaning="the CreateTrainingJob request", suffix=".json", render=_api_json),
    "dockerfile": Target(meaning="the Dockerfile", suffix=".Dockerfile", render=_dockerfile),
    "entrypoint": Target(meaning="the entrypoint of the container", suffix=".py", render=_entrypoint),
    "spec": Target(
        meaning="the spec, merged with its base specs, overlay, and variables", suffix=".yaml", render=_spec
    ),
    "iam-policy": Target(
        meaning="least-privilege policy and trust policy for the execution role",
        suffix=".role.json",
        render=_role,
        also=("iam-policy=role",),
    ),
    "iam-policy=submitter": Target(
        meaning="least-privilege policy for the submitter", suffix=".submitter.json", render=_submitter
    ),
    "ack": Target(meaning="the TrainingJob object for the ACK controller of Kubernetes", suffix=".yaml", render=_ack),
    "step-functions": Target(
        meaning="the AWS Step Functions state machine that runs the job", suffix=".asl.json", render=_step_functions
    ),
    "terraform": Target(meaning="the resource for Terraform's AWS provider", suffix=".tf", render=_terraform),
}


@functools.cache
def templates_digest() -> str:
    """Return the SHA-256 of the templates and of the modules that fill them."""
    digest = hashlib.sha256()
    for name in _MODULES:
        with open(os.path.join(_HERE, name), "rb") as file:
            content = hashlib.sha256(file.read()).hexdigest()
        digest.update(f"{name}\0{content}\n".encode())
    return digest.hexdigest()
