"""Find what the jobs on a command line need in a lockfile: base images, requirements files, and environments."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping

from smspec.diagnostics import Diagnostic, Finding, InvalidInput, placed
from smspec.organization.lock_file import first_lock_path, name_in_lock
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.inputs import Inputs, gather_all
from smspec.pipeline.named_files import REQUIREMENTS
from smspec.pipeline.spec_discovery import find_job_specs
from smspec.plan import BuildInputs, ImagePlan, with_image_uri
from smspec.plan.image_planning import authored_image, environment_of, image_at_start, key_at_start, obstacle_at_start
from smspec.render.representable import base_findings
from smspec.rules.naming import unknown_image_name
from smspec.service.bare_image import BareImage, bare_image
from smspec.service.image_names import NamedImage, named_image
from smspec.service.requirement_lines import has_lines
from smspec.source import Document, Path, Scalar, Sequence, SourceText
from smspec.source import Mapping as MappingNode
from smspec.source.frozen import dataclass
from smspec.spec.decoding import decode
from smspec.spec.lock import Lock, LockedEnvironment, content_digest
from smspec.spec.model import BuildSecret, BuiltImage, JobSpec
from smspec.spec.shape import shape_findings, viewed
from smspec.spec.startup import startup_requirements
from smspec.workspace.path_targets import is_directory

_IMAGE: Path = ("image",)
_BASE: Path = ("image", "base")

Wanted = Callable[[tuple[str, ...], InputCache], tuple[str, ...]]
"""Returns those of the paths of specs that count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockTarget:
    """The entries of the lock at ``path``. ``requirements``: file, as the lock names it → digest of its content.

    ``images``: base image → the platforms that jobs build on it for. ``names``: short name of an image → URI;
    ``existing``: those URIs that jobs run as they are. ``jobs``: all of them.
    """

    path: str
    is_there: bool
    before: Lock
    images: dict[str, tuple[str, ...]]
    requirements: dict[str, str]
    names: dict[str, str]
    existing: tuple[str, ...]
    jobs: tuple[Inputs, ...] = ()


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


def find_lock_targets(
    paths: Iterable[str],
    settings: Mapping[str, str],
    root: str | None = None,
    *,
    update: bool = False,
    wanted: Wanted | None = None,
) -> tuple[LockTarget, ...]:
    """Return what to lock for specs, and for all specs below directories, by lockfile.

    A spec counts on its own and with each overlay. ``update``: forget what short names stand for. ``wanted`` selects
    some of the specs that were found.

    Raise `OptionError` for a path without a spec, `InvalidInput` with the errors of all of them, OSError if the disk
    fails.
    """
    cache = InputCache(root)
    jobs: dict[str, list[Inputs]] = {}
    diagnostics: dict[Diagnostic, None] = {}
    texts: dict[str, SourceText] = {}
    specs = dict(_specs(paths, cache))
    for spec in tuple(specs) if wanted is None else wanted(tuple(specs), cache):
        named = specs[spec]
        try:
            for _, outcome in gather_all(spec, settings, cache):
                if isinstance(outcome, InvalidInput):
                    raise outcome
                faults = outcome.faults or placed(_unlockable(outcome, update=update), outcome.document)
                if faults:
                    raise InvalidInput(faults, outcome.document.texts)
                boundary = cache.boundary(outcome.directory)
                lock = cache.lock_path(outcome.directory) or first_lock_path(outcome.directory, named, boundary)
                jobs.setdefault(lock, []).append(outcome)
        except InvalidInput as rejected:
            diagnostics.update(dict.fromkeys(rejected.diagnostics))
            texts.update((text.name, text) for text in rejected.texts)
    if diagnostics:
        raise InvalidInput(diagnostics, texts.values())
    return tuple(_lockable(lock, found, cache, update=update) for lock, found in jobs.items())


def platforms_of(found: Iterable[LockTarget]) -> dict[str, tuple[str, ...]]:
    """Return the platforms for each base image of all locks together."""
    return _merged(each.images for each in found)


def _specs(paths: Iterable[str], cache: InputCache) -> Iterator[tuple[str, str]]:
    """Yield each spec once, with the named directory, or that of a named file."""
    found: set[str] = set()
    for path in paths:
        specs = find_job_specs([path], cache).jobs if is_directory(path) else (path,)
        for spec in specs:
            if cache.identity(spec) not in found:
                found.add(cache.identity(spec))
                yield spec, path if is_directory(path) else os.path.dirname(path) or os.curdir


def _lockable(lock: str, jobs: list[Inputs], cache: InputCache, *, update: bool) -> LockTarget:
    directory = os.path.dirname(lock)
    is_there = cache.lock_path(directory) == lock
    named = [(job, _named(job, update=update)) for job in jobs]
    bases = [(job, _base(job, name)) for job, name in named]
    names = {name.key: name.uri for _, name in named if name is not None and isinstance(name.uri, str)}
    existing = (name.uri for _, name in named if name is not None and name.path == _IMAGE)
    return LockTarget(
        path=lock,
        is_there=is_there,
        before=cache.own_lock(lock, cache.boundary(directory)) if is_there else Lock(),
        images=_merged({base: (_platform(job, base),)} for job, base in bases if base is not None and "@" not in base),
        requirements=dict(entry for job in jobs for entry in _requirements(job, lock)),
        names=names,
        existing=tuple(dict.fromkeys(uri for uri in existing if isinstance(uri, str))),
        jobs=tuple(jobs),
    )


def _unlockable(job: Inputs, *, update: bool) -> Iterator[Finding]:
    """Yield why an image or a requirements file cannot be locked; the rest of the spec is ignored here."""
    named = _named(job, update=update)
    base = _base(job, named)
    yield from () if base is None else base_findings(base)
    yield from () if named is None else unknown_image_name(named)
    yield from (finding for finding in job.findings if finding.path == REQUIREMENTS)


def _named(job: Inputs, *, update: bool) -> NamedImage | None:
    """Return what the short name of an image stands for; None if the image has none."""
    path = _BASE if isinstance(job.document.node(_IMAGE), MappingNode) else _IMAGE
    groups = job.document.node(("hosts", "groups"))
    types = [_text(job, ("hosts", "instance_type"))]
    types += [
        _text(job, ("hosts", "groups", number, "instance_type"))
        for number in range(len(groups.items) if isinstance(groups, Sequence) else 0)
    ]
    lock = None if update else job.build_inputs.lock
    return named_image(
        path,
        _text(job, path) or "",
        region=_text(job, ("region",)),
        instance_types=[kind for kind in types if kind],
        locked=lock.names if lock else {},
    )


def _base(job: Inputs, named: NamedImage | None) -> str | None:
    """Return the base image of a job that builds an image, with the URI instead of a short name."""
    if named is not None and named.path == _BASE and isinstance(named.uri, str):
        return named.uri
    return _text(job, _BASE)


def _text(job: Inputs, path: Path) -> str | None:
    node = job.document.node(path)
    return node.text if isinstance(node, Scalar) and isinstance(node.value, str) else None


def _platform(job: Inputs, base: str) -> str:
    node = job.document.node(("image", "platform"))
    return node.text if isinstance(node, Scalar) else BuiltImage(base=base).platform


def _merged(parts: Iterable[Mapping[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
    merged: dict[str, tuple[str, ...]] = {}
    for part in parts:
        for image, platforms in part.items():
            merged[image] = tuple(dict.fromkeys((*merged.get(image, ()), *platforms)))
    return merged


def _requirements(job: Inputs, lock: str) -> Iterator[tuple[str, str]]:
    path, content = job.requirements_file, job.build_inputs.requirements
    if path is not None and content is not None:
        yield name_in_lock(path, lock), content_digest(content)


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
