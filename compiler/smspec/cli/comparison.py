"""The comparisons of ``smspec diff``: a spec with a spec, a request, or a build, or many with a git revision."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from smspec.cli.spec_arguments import default_directory
from smspec.diagnostics import Diagnostic, InvalidInput
from smspec.importer.imported import RequestNotFound
from smspec.importer.naming import slug
from smspec.importer.source_reader import read_source
from smspec.importer.sources import imported
from smspec.organization.organization_config import MalformedConfig
from smspec.organization.policy_search import prices_of
from smspec.pipeline.compilation import Compiled
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.spec_check import CheckedSpec, checked
from smspec.pipeline.spec_discovery import NoJobs, find_job_specs
from smspec.pipeline.unsearched_specs import unsearched_specs
from smspec.pipeline.variants import Gathered, Variants, are_same, compile_variants, gather_variants, shown_as_of
from smspec.plan.image_planning import installed_requirements
from smspec.render.dockerfile import dockerfile
from smspec.review.comparison import Comparison, comparison
from smspec.review.defaults import without_defaults
from smspec.review.job_review import JobReview
from smspec.review.layers import Layers, layers_of_build, layers_of_plan
from smspec.review.missing_comparisons import State
from smspec.review.reviewing import paired
from smspec.review.settings_changes import settings_reviews, unsearched_review
from smspec.review.version import Version, Writing, version_of_build, version_of_plan, version_of_request
from smspec.service.prices import PriceBook
from smspec.source.frozen import dataclass, replace
from smspec.source.path_containment import is_below
from smspec.spec.layers.option_errors import OptionError
from smspec.spec.locked_environment import DIRECTORY as LOCK_DIRECTORY
from smspec.spec.yaml.text_limits import MAX_BYTES
from smspec.workspace.changed_files import ChangedFiles
from smspec.workspace.command_line_file import content_of
from smspec.workspace.git import repository_of
from smspec.workspace.last_build import BuildNotFound, LastBuild, digest_of, read_last_build
from smspec.workspace.revision import Revision, place_below
from smspec.workspace.settings_files import settings_of_revision, settings_of_tree
from smspec.workspace.spec_marker import has_spec_key
from smspec.workspace.temporary_directory import temporary_directory
from smspec.workspace.working_tree import unexecuted


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
    _check_variation(gathered, overlay, settings)
    sides = [compile_variants(side) for side in gathered]
    states = [_state(side, "") for side in sides]
    return _outcome([(states[0], states[1])], sides, _prices(new, cache))


def against_build(path: str, overlay: str | None, settings: Mapping[str, str], root: str | None = None) -> Outcome:
    """Compare a spec with its last build, and with each overlay with the build of that overlay."""
    cache = InputCache(root)
    gathered = gather_variants(path, overlay, settings, cache)
    _check_variation([gathered], overlay, settings)
    side = compile_variants(gathered)
    old: dict[str | None, Version] = {}
    new: dict[str | None, Version] = {}
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
    states[1] = replace(states[1], faults=_state(side, path).faults, is_read=side.is_read)
    return _outcome([(states[0], states[1])], [side], _prices(path, cache), notes)


def against_base(
    revision: str, paths: list[str], overlay: str | None, settings: Mapping[str, str], root: str | None = None
) -> Outcome:
    """Compare the specs below ``paths`` with their versions in a git revision."""
    repository = repository_of(_directory_of(paths[0]))
    with temporary_directory() as scratch, repository.objects() as objects:
        top = os.path.join(scratch, "tree")
        os.makedirs(top)
        base = Revision(repository, objects, revision, top)
        there = [base.path(path) for path in paths]
        for path in there:
            if not os.path.isdir(path):
                base.bring(path)  # a spec with any name
        cache, base_cache = InputCache(root), InputCache(None if root is None else base.root(root))
        found, outside = _found([path for path in paths if os.path.lexists(path)], cache)
        found_there, _ = _found([path for path in there if os.path.lexists(path)], base_cache)
        # A spec that is now a link out of the repository was not removed.
        was = {place_below(path, base.directory) for path in found_there}
        found += tuple(path for path in outside if place_below(path, repository.top) in was)
        if not found and not found_there:
            raise NothingToCompare(
                f"no job spec found in {', '.join(f'`{path}`' for path in paths)}, now or at `{revision}`"
            )
        new = [
            gather_variants(path, overlay, settings, cache, levels=base_cache.levels(os.path.dirname(base.path(path))))
            for path in found
        ]
        old = [gather_variants(path, overlay, settings, base_cache, base) for path in found_there]
        _check_variation([*new, *old], overlay, settings)
        same = _unchanged(old, new, base, repository.top)
        news = [compile_variants(side) for side in new if side.path not in same]
        olds = [shown_as_of(compile_variants(side), base) for side in old if side.path not in same]
        notes = [*_submodules(base, olds), *filter(None, [unexecuted(base.unexecuted_filters())])]
        settings_now = _settings(repository.top, base, paths, [*new, *old], cache, base_cache)
        hidden = unsearched_specs(ChangedFiles(repository, revision), paths, [side.path for side in new], cache)
        settings_now += tuple(unsearched_review(os.path.relpath(path, repository.top)) for path in hidden)
        new_states = [_state(side, place_below(side.path, repository.top)) for side in news]
        old_states = [_state(side, place_below(side.path, base.directory), base) for side in olds]
        pairs = paired(old_states, new_states)
        unchanged = [side.path for side in new if side.path in same]
        outcome = _outcome(pairs, [*news, *olds], _prices(there[0], base_cache), notes, unchanged)
        obstacle = outcome.obstacle or _prices(paths[0], cache)[1]
        return replace(outcome, comparison=replace(outcome.comparison, settings=settings_now), obstacle=obstacle)


def _settings(
    top: str,
    base: Revision,
    paths: Sequence[str],
    specs: Sequence[Gathered],
    cache: InputCache,
    base_cache: InputCache,
) -> tuple[JobReview, ...]:
    """Return what changed in the files that decide how specs are judged: policies, prices, rules, and lockfiles."""
    directories = {os.path.dirname(side.path) for side in specs}
    is_of_base = {directory: is_below(os.path.realpath(directory), base.directory) for directory in directories}
    rules = {
        place_below(file, base.directory if is_old else top)
        for directory, is_old in is_of_base.items()
        for file in (base_cache if is_old else cache).rule_files(directory)
    }
    inside = [_from_top(path, top) for path in paths]
    old = settings_of_revision(base, inside, rules)
    places = [_from_top(directory, base.directory if is_old else top) for directory, is_old in is_of_base.items()]
    around = [os.path.dirname(path) for path in old if os.path.basename(os.path.dirname(path)) != LOCK_DIRECTORY]
    return settings_reviews(old, settings_of_tree(top, [*places, *inside, *around], old, rules))


def _from_top(path: str, top: str) -> str:
    inside = place_below(path, top)
    return "" if inside == os.curdir else inside


def _against_request(
    old: str, new: str, overlay: str | None, settings: Mapping[str, str], cache: InputCache
) -> Outcome:
    """Compare if at least one side is a request: a spec on the other side may have an overlay."""
    specs = {path: gather_variants(path, overlay, settings, cache) for path in (old, new) if not _is_request(path)}
    _check_variation(list(specs.values()), overlay, settings)
    sides: list[Variants] = []
    states: list[State] = []
    notes: list[str] = []
    for path in (old, new):
        if path not in specs:
            version, more = _requested(path)
            notes += more
            states.append(State(file=path, place="", versions={None: version}, faults={}))
        else:
            side = compile_variants(specs[path])
            sides.append(side)
            versions: dict[str | None, Version] = {}
            if overlay in side.compiled:
                version = _version(side.compiled[overlay])
                versions[None] = replace(version, payload=without_defaults(version.payload))
            state = _state(side, "")
            fault = state.faults.get(overlay if side.is_read else None)
            faults: dict[str | None, tuple[Diagnostic, ...]] = {} if fault is None else {None: fault}
            states.append(replace(state, versions=versions, faults=faults))
    return _outcome([(states[0], states[1])], sides, _prices(new, cache), notes)


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


def _requested(path: str) -> tuple[Version, list[str]]:
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


def _outcome(
    pairs: list[tuple[State | None, State | None]],
    sides: list[Variants],
    prices: tuple[PriceBook, str],
    notes: list[str] | None = None,
    unchanged: Iterable[str] = (),
) -> Outcome:
    return Outcome(
        comparison=comparison(pairs, prices[0], unchanged),
        faults=tuple(checked(side.faults.items()) for side in sides if side.faults),
        notes=tuple(dict.fromkeys(notes or ())),
        obstacle=prices[1],
    )


def _state(side: Variants, place: str, base: Revision | None = None) -> State:
    """Return a spec for the comparison; one of a revision with its name there."""
    return State(
        file=side.path if base is None else f"{base.name}:{os.path.relpath(side.path, base.directory)}",
        place=place,
        versions={name: _version(job, base) for name, job in side.compiled.items()},
        faults={name: fault.diagnostics for name, fault in side.faults.items()},
        is_read=side.is_read,
    )


def _version(job: Compiled, base: Revision | None = None) -> Version:
    plan, build_inputs, document = job.plan, job.inputs.build_inputs, job.inputs.document
    writing = Writing(document=document)
    if base is not None:
        writing = Writing(document=document, root=base.directory, shown=f"{base.name}:")
    layers = None if plan.image is None else layers_of_plan(plan.image, plan.run, build_inputs)
    return version_of_plan(plan, job.job, build_inputs, layers, writing)


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


def _unchanged(olds: list[Gathered], news: list[Gathered], base: Revision, top: str) -> set[str]:
    """Return the paths, of both sides, of specs with the same path and the same bytes."""
    at_place = {place_below(side.path, base.directory): side for side in olds}
    pairs = ((at_place.get(place_below(side.path, top)), side) for side in news)
    return {path for old, new in pairs if old is not None and are_same(old, new) for path in (old.path, new.path)}


def _check_variation(sides: Sequence[Gathered], overlay: str | None, settings: Mapping[str, str]) -> None:
    """Raise `OptionError` for an overlay that no spec has, or a variable that none declares.

    An invalid spec may have any.
    """
    if not all(side.is_read for side in sides):
        return
    if overlay is not None and not any(overlay in side.overlays for side in sides):
        raise OptionError(f"none of the compared specs has an overlay `{overlay}`")
    for name in settings:
        if not any(name in side.variables for side in sides):
            raise OptionError(f"--set vars.{name}: none of the compared specs declares `vars.{name}`")


def _found(paths: list[str], cache: InputCache) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the job specs for paths, possibly none, and unread links out of the repository."""
    try:
        found = find_job_specs(paths, cache)
    except NoJobs as none:
        return (), none.outside
    except OptionError:
        return (), ()
    return found.jobs, found.outside


def _submodules(base: Revision, sides: list[Variants]) -> list[str]:
    """Return a note for each submodule in a source: git stores its content elsewhere."""
    directories = (
        os.path.join(os.path.dirname(side.path), job.job.source.dir)
        for side in sides
        for job in side.compiled.values()
        if job.job.source is not None
    )
    names = dict.fromkeys(name for directory in directories for name in base.submodules(directory))
    return [
        f"`{name}` is a submodule: its contents at {base.name} are unknown, so all its files count as new"
        for name in names
    ]


def _directory_of(path: str) -> str:
    """Return the nearest existing directory of a path."""
    while path and not os.path.isdir(path):
        path = os.path.dirname(path)
    return path or "."


def _prices(path: str, cache: InputCache) -> tuple[PriceBook, str]:
    """Return the prices for a path, or none and why they cannot be read."""
    directory = _directory_of(path)
    try:
        return prices_of(directory, cache.boundary(directory)), ""
    except MalformedConfig as malformed:
        return PriceBook(), f"{malformed}; costs are compared in instance hours only"
    except InvalidInput as rejected:
        return PriceBook(), f"{rejected.diagnostics[0].message}; costs are compared in instance hours only"
