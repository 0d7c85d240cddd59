"""The comparisons of ``smspec diff``: a spec with a spec, a request, or a build, or many with a git revision."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence

from smspec.cli.spec_arguments import default_directory
from smspec.diagnostics import Diagnostic, InvalidInput
from smspec.importer.imported import RequestNotFound, slug
from smspec.importer.source_reader import read_source
from smspec.importer.sources import imported
from smspec.organization import prices_of
from smspec.organization.organization_config import MalformedConfig
from smspec.pipeline.changes_elsewhere import outer_data, unopened_places
from smspec.pipeline.compilation import Compiled
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.validation_result import CheckedSpec, check_of_variants
from smspec.pipeline.variants import Gathered, Variants, compile_variants, gather_variants
from smspec.plan.image_planning import installed_requirements
from smspec.render.dockerfile import dockerfile
from smspec.review.comparison import Comparison, State, comparison
from smspec.review.layers import Layers, layers_of_build, layers_of_plan
from smspec.review.request_differences import without_defaults
from smspec.review.version import JobVersion, Writing, version_of_build, version_of_plan, version_of_request
from smspec.service.job_costs import PriceBook
from smspec.source.frozen import dataclass, replace
from smspec.spec.layers.variables import OptionError
from smspec.spec.yaml.events import MAX_BYTES
from smspec.workspace.last_build import BuildNotFound, LastBuild, digest_of, read_last_build
from smspec.workspace.path_targets import repository_top
from smspec.workspace.revision import Revision
from smspec.workspace.spec_reading import content_of, has_spec_key

Prices = Callable[[State | None, State | None], tuple[PriceBook, str]]
"""Returns the prices for two states of a spec, or none and why they cannot be read."""


class NothingToCompare(Exception):
    """The arguments cannot be compared; the text explains why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """``faults`` of specs that could not be compared; ``notes`` for the reader.

    ``obstacle``: what prevents a complete comparison besides specs, such as a malformed smspec.toml.
    """

    comparison: Comparison
    faults: tuple[CheckedSpec, ...] = ()
    notes: tuple[str, ...] = ()
    obstacle: str = ""


def against_other(
    old: str, new: str, overlay: str | None, settings: Mapping[str, str], root: str | None = None
) -> Outcome:
    """Compare two specs, or requests."""
    cache = InputCache(root)
    if _is_request(old) or _is_request(new):
        return _against_request(old, new, overlay, settings, cache)
    gathered = [gather_variants(path, overlay, settings, cache) for path in (old, new)]
    check_variation(gathered, overlay, settings)
    sides = [compile_variants(side) for side in gathered]
    states = [state_of(side, "") for side in sides]
    return outcome_of([(states[0], states[1])], sides, same_prices(prices_for(new, cache)), unfit_notes(gathered))


def against_build(path: str, overlay: str | None, settings: Mapping[str, str], root: str | None = None) -> Outcome:
    """Compare a spec with its last build, and with each overlay with the build of that overlay."""
    cache = InputCache(root)
    gathered = gather_variants(path, overlay, settings, cache)
    check_variation([gathered], overlay, settings)
    side = compile_variants(gathered)
    old: dict[str | None, JobVersion] = {}
    new: dict[str | None, JobVersion] = {}
    notes: list[str] = []
    missing: BuildNotFound | None = None
    for name, job in side.compiled.items():
        try:
            build = read_last_build(default_directory("build", job))
        except BuildNotFound as fault:
            missing = missing or fault
            continue
        built = version_of_build(build.payload, _layers_of_build(build), build.code, build.delivery, build.run_plan)
        old[name] = replace(built, packages=build.packages)
        new[name] = replace(_version(job), layers=_layers_as_built(job))
        notes.append(f"compared with {build.directory}, written by smspec {build.version}")
    if missing is not None and not old:
        raise missing
    states = [State(file=path, place=path, versions=versions, faults={}) for versions in (old, new)]
    states[1] = replace(states[1], faults=state_of(side, path).faults, is_read=side.is_read)
    return outcome_of([(states[0], states[1])], [side], same_prices(prices_for(path, cache)), notes)


def _against_request(
    old: str, new: str, overlay: str | None, settings: Mapping[str, str], cache: InputCache
) -> Outcome:
    """Compare if at least one side is a request: a spec on the other side may have an overlay."""
    specs = {path: gather_variants(path, overlay, settings, cache) for path in (old, new) if not _is_request(path)}
    check_variation(list(specs.values()), overlay, settings)
    sides: list[Variants] = []
    states: list[State] = []
    notes = unfit_notes(specs.values())
    for path in (old, new):
        if path not in specs:
            version, more = _requested(path)
            notes += more
            states.append(State(file=path, place="", versions={None: version}, faults={}))
        else:
            side = compile_variants(specs[path])
            sides.append(side)
            versions: dict[str | None, JobVersion] = {}
            if overlay in side.compiled:
                version = _version(side.compiled[overlay])
                versions[None] = replace(version, payload=without_defaults(version.payload))
            state = state_of(side, "")
            fault = state.faults.get(overlay if side.is_read else None)
            faults: dict[str | None, tuple[Diagnostic, ...]] = {} if fault is None else {None: fault}
            states.append(replace(state, versions=versions, faults=faults))
    return outcome_of([(states[0], states[1])], sides, same_prices(prices_for(new, cache)), notes)


def _is_request(path: str) -> bool:
    """Return whether a file is a request: any other JSON, or a request in YAML.

    An unreadable file is reported later.
    """
    if not path.endswith((".json", ".yaml", ".yml")):
        return False
    try:
        content = content_of(path, MAX_BYTES, "a request")
        if has_spec_key(content):
            return False
        return path.endswith(".json") or bool(imported(read_source(path, content).data))
    except (OSError, OptionError, RequestNotFound, InvalidInput):
        return False


def _requested(path: str) -> tuple[JobVersion, list[str]]:
    """Return the job of a request, or of its description by the service, and what is unknown about it."""
    try:
        source = read_source(path, content_of(path, MAX_BYTES, "a request"))
        found = imported(source.data)
    except RequestNotFound as fault:
        raise NothingToCompare(f"`{path}`: {fault}") from fault
    if source.document is None or found.variables:
        raise NothingToCompare(f"`{path}` is a definition with variables; compare the spec that `smspec import` prints")
    notes = [f"`{path}` is {found.form}: not compared: {part}" for part in found.not_imported]
    if not found.has_tags:
        notes.append(f"`{path}` is {found.form}, which has no tags; tags are not compared")
    writing = Writing(document=source.document, form=found.form if found.has_tags else None)
    version = version_of_request(found.request, found.region, writing, is_whole=found.has_tags)
    # A request has no `name`, only that of one job: it counts as the spec that `smspec import` writes for it.
    return replace(version, name=slug(version.job_name)), notes


def outcome_of(
    pairs: list[tuple[State | None, State | None]],
    sides: list[Variants],
    prices: Prices,
    notes: list[str] | None = None,
    unchanged: Iterable[str] = (),
) -> Outcome:
    books = [prices(old, new) for old, new in pairs]
    return Outcome(
        comparison=comparison(
            [(old, new, book) for (old, new), (book, _) in zip(pairs, books, strict=True)], unchanged
        ),
        faults=tuple(check_of_variants(side.faults.items()) for side in sides if side.faults),
        notes=tuple(dict.fromkeys(notes or ())),
        obstacle=next((obstacle for _, obstacle in books if obstacle), ""),
    )


def state_of(side: Variants, place: str, base: Revision | None = None, is_found: bool = True) -> State:
    """Return a spec for the comparison; one of a revision with its name there."""
    return State(
        file=side.path if base is None else f"{base.name}:{os.path.relpath(side.path, base.directory)}",
        place=place,
        versions={name: _version(job, base) for name, job in side.compiled.items()},
        faults={name: fault.diagnostics for name, fault in side.faults.items()},
        is_read=side.is_read,
        is_found=is_found,
    )


def _version(job: Compiled, base: Revision | None = None) -> JobVersion:
    plan, build_inputs, document = job.plan, job.inputs.build_inputs, job.inputs.document
    writing = Writing(document=document)
    if base is not None:
        writing = Writing(document=document, root=base.directory, shown=f"{base.name}:")
    layers = None if plan.image is None else layers_of_plan(plan.image, plan.run, build_inputs)
    top = repository_top(os.path.abspath(job.inputs.directory)) if base is None else base.directory
    return replace(
        version_of_plan(plan, job.job, build_inputs, layers, writing),
        outer_data=outer_data(job.inputs, top),
        unopened_places=unopened_places(job.inputs, top),
    )


def _layers_of_build(build: LastBuild) -> Layers | None:
    if build.dockerfile is None:
        return None
    source = build.code.digest if build.code is not None and build.delivery == "image" else None
    return layers_of_build(build.dockerfile, build.run_plan or {}, build.runtime, build.requirements, source)


def _layers_as_built(job: Compiled) -> Layers | None:
    """Return the layers of a job as they would be parsed from its build."""
    plan, build_inputs = job.plan, job.inputs.build_inputs
    if plan.image is None:
        return None
    requirements = installed_requirements(plan.image, build_inputs)
    return layers_of_build(
        dockerfile(plan.image, requirements),
        {} if plan.run is None else plan.run._asdict(),
        None if plan.run is None else build_inputs.runtime.digest,
        digest_of(requirements),
        build_inputs.source.digest if plan.image.holds_source else None,
    )


def check_variation(sides: Sequence[Gathered], overlay: str | None, settings: Mapping[str, str]) -> None:
    """Raise `OptionError` for an overlay that no spec has, a variable that none declares, or a value that none takes.

    An invalid spec may have any.
    """
    if not all(side.is_read for side in sides):
        return
    if overlay is not None and not any(overlay in side.overlays for side in sides):
        raise OptionError(f"none of the compared specs has an overlay `{overlay}`")
    for name in settings:
        if not any(name in side.variables for side in sides):
            raise OptionError(f"--set vars.{name}: none of the compared specs declares `vars.{name}`")
        unfit = [{fault.name: fault for fault in side.unfit}.get(name) for side in sides if name in side.variables]
        if unfit[0] is not None and all(unfit):
            raise unfit[0]


def unfit_notes(sides: Iterable[Gathered]) -> list[str]:
    """Return a note for each setting that a spec is compared without, since its variable takes other values."""
    return [
        f"`{side.path}` is compared without {fault.option}: {fault.reason}" for side in sides for fault in side.unfit
    ]


def directory_of(path: str) -> str:
    """Return the nearest existing directory of a path."""
    while path and not os.path.isdir(path):
        path = os.path.dirname(path)
    return path or "."


def same_prices(known: tuple[PriceBook, str]) -> Prices:
    return lambda _old, _new: known


def prices_for(path: str, cache: InputCache) -> tuple[PriceBook, str]:
    """Return the prices for a path, or none and why they cannot be read."""
    directory = directory_of(path)
    try:
        return prices_of(directory, cache.boundary(directory)), ""
    except MalformedConfig as malformed:
        return PriceBook(), f"{malformed}; costs are compared in instance hours only"
    except InvalidInput as rejected:
        return PriceBook(), f"{rejected.diagnostics[0].message}; costs are compared in instance hours only"
