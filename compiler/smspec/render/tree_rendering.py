"""The files that a build writes: the context of ``docker build``, the uploads, the request, and the manifest."""

from __future__ import annotations

from collections.abc import Iterator

from smspec import __version__
from smspec.plan.delivery import ARCHIVE
from smspec.plan.image_planning import installed_requirements
from smspec.plan.plan import BuildInputs, Plan, Upload
from smspec.plan.run_planning import run_plan_json
from smspec.render.bill_of_materials import BILL_OF_MATERIALS, bill_of_materials
from smspec.render.dockerfile import dockerfile, dockerignore
from smspec.render.entrypoint import entrypoint
from smspec.render.manifest import MANIFEST
from smspec.render.request import request_json
from smspec.render.tree import SOURCE, UPLOAD, ArchiveFile, CopiedFile, FileTree, GeneratedFile, ManifestFile, TreeFile
from smspec.source.listing import Listing
from smspec_runtime.run_plan import CODE_CHANNEL, RUNTIME_CHANNEL

REQUEST = "create-training-job.json"


def render_tree(plan: Plan, build_inputs: BuildInputs, compiled_digest: str) -> FileTree:
    """Return every file of a build, sorted by path. Of copied files only names and digests are read."""
    files: list[TreeFile] = [_generated(REQUEST, request_json(plan.request))]
    if plan.image is not None:
        files += _context(plan, build_inputs)
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


def _context(plan: Plan, build_inputs: BuildInputs) -> Iterator[TreeFile]:
    image = plan.image
    assert image is not None
    requirements = installed_requirements(image, build_inputs)
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
