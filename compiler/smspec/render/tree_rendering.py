"""The files that a build writes: the context of ``docker build``, the uploads, the request, and the manifest.

The bill of materials of a locked image is CycloneDX 1.5 as JSON (https://cyclonedx.org/docs/1.5/json/). It lists what
the lock knows: the Python packages with their hashes, and the base image. It has no time and no serial number, so that
the same lock always gives the same bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from smspec import __version__
from smspec.plan import BuildInputs, ImagePlan, Plan, Upload
from smspec.plan.delivery import ARCHIVE, run_plan_json
from smspec.plan.image_planning import installed_requirements
from smspec.render import request_json
from smspec.render.dockerfile import dockerfile, dockerignore, entrypoint
from smspec.render.tree import (
    MANIFEST,
    SOURCE,
    UPLOAD,
    ArchiveFile,
    CopiedFile,
    FileTree,
    GeneratedFile,
    ManifestFile,
    TreeFile,
)
from smspec.source import Listing
from smspec_runtime.run_plan import CODE_CHANNEL, RUNTIME_CHANNEL

REQUEST = "create-training-job.json"

BILL_OF_MATERIALS = "sbom.cdx.json"

_PINNED = re.compile(r"(?m)^([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;\\]+)((?:[^\n]*\\\n)*[^\n]*)")
_HASH = re.compile(r"--hash=sha(256|384|512):([0-9a-f]+)")


def render_tree(plan: Plan, build_inputs: BuildInputs, compiled_digest: str, *, builds_image: bool = True) -> FileTree:
    """Return every file of a build, sorted by path. Of copied files only names and digests are read.

    ``builds_image``: with what only the build of the image reads.
    """
    files: list[TreeFile] = [_generated(REQUEST, request_json(plan.request))]
    if plan.image is not None:
        files += _context(plan, build_inputs, builds_image=builds_image)
    uploaded = [(upload, _uploaded(upload, plan, build_inputs)) for upload in plan.uploads]
    files += [file for _, group in uploaded for file in group]
    manifest = ManifestFile(
        path=MANIFEST,
        version=__version__,
        compiled=compiled_digest,
        runtime=None if plan.run is None else build_inputs.runtime.digest,
        uploads=tuple((file.path, _uri(upload, file)) for upload, group in uploaded for file in group),
    )
    return FileTree(tuple(sorted([*files, manifest], key=lambda file: file.path.encode())))


def _context(plan: Plan, build_inputs: BuildInputs, *, builds_image: bool) -> Iterator[TreeFile]:
    image = plan.image
    assert image is not None
    requirements = installed_requirements(image, build_inputs)
    if builds_image:
        yield _generated("Dockerfile", dockerfile(image, requirements))
        yield _generated(".dockerignore", dockerignore(image, requirements))
    yield from _runtime(plan, build_inputs, "")
    if requirements is not None:
        yield GeneratedFile(path="requirements.txt", content=requirements)
        if image.environment is not None:
            yield _generated(BILL_OF_MATERIALS, bill_of_materials(image, requirements))
    if image.holds_source:
        yield from _copied(build_inputs.source, SOURCE)


def _runtime(plan: Plan, build_inputs: BuildInputs, prefix: str) -> Iterator[TreeFile]:
    """Yield the files that start the job: entrypoint, plan, and runtime are together, in an image and in a channel."""
    if plan.run is None:
        return
    yield _generated(f"{prefix}entrypoint.py", entrypoint(plan.run))
    yield _generated(f"{prefix}run_plan.json", run_plan_json(plan.run))
    yield from _copied(build_inputs.runtime, f"{prefix}smspec_runtime/")


def _uploaded(upload: Upload, plan: Plan, build_inputs: BuildInputs) -> list[TreeFile]:
    if upload.archive:
        return [ArchiveFile(path=f"{UPLOAD}{ARCHIVE}", members=tuple(_copied(build_inputs.source, "")))]
    if upload.kind == "runtime":
        return [*_runtime(plan, build_inputs, _directory(upload))]
    return [*_copied(build_inputs.source, _directory(upload))]


def _directory(upload: Upload) -> str:
    """Return the directory of an upload, which has the name of the channel that delivers it."""
    return f"{UPLOAD}{RUNTIME_CHANNEL if upload.kind == 'runtime' else CODE_CHANNEL}/"


def _uri(upload: Upload, file: TreeFile) -> str:
    return upload.uri if upload.archive else upload.uri + file.path.removeprefix(_directory(upload))


def _copied(listing: Listing, prefix: str) -> Iterator[CopiedFile]:
    return (CopiedFile(path=prefix + file.path, file=file) for file in listing.files)


def _generated(path: str, text: str) -> GeneratedFile:
    return GeneratedFile(path=path, content=text.encode())


def bill_of_materials(image: ImagePlan, requirements: bytes) -> str:
    """Return the bill of materials of an image whose packages are locked. ``requirements``: their file with hashes."""
    name, _, digest = image.base.partition("@")
    base: dict[str, object] = {"type": "container", "bom-ref": f"base:{image.base}", "name": name}
    if digest:
        base["version"] = digest
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {"type": "container", "bom-ref": "image", "name": image.repository, "version": image.tag}
        },
        "components": [base, *_packages(requirements.decode("utf-8", "replace"))],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _packages(requirements: str) -> list[dict[str, object]]:
    components: list[dict[str, object]] = []
    for name, version, rest in _PINNED.findall(requirements):
        project = re.sub(r"[-_.]+", "-", name).lower()
        locator = f"pkg:pypi/{project}@{version.replace('+', '%2B').replace('!', '%21')}"
        components.append(
            {
                "type": "library",
                "bom-ref": locator,
                "name": project,
                "version": version,
                "hashes": [{"alg": f"SHA-{bits}", "content": content} for bits, content in _HASH.findall(rest)],
                "purl": locator,
            }
        )
    return components
