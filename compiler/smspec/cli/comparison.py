"""What ``smspec diff`` compares: a spec with another one, a request or a build, or many with a revision of git."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from smspec.adoption.imported import NoRequest
from smspec.adoption.naming import slug
from smspec.adoption.reading import read_source
from smspec.adoption.sources import imported
from smspec.cli.scratch import scratch_directory
from smspec.cli.spec_arguments import default_directory
from smspec.diagnostics import Rejected
from smspec.pipeline.compilation import Compiled
from smspec.pipeline.git import repository_of
from smspec.pipeline.job_search import find_job_specs
from smspec.pipeline.last_build import LastBuild, NoBuild, digest_of, read_last_build
from smspec.pipeline.organisation_file import organisation_file
from smspec.pipeline.price_list import price_list
from smspec.pipeline.revision import Revision
from smspec.pipeline.shelf import Shelf
from smspec.pipeline.spec_check import CheckedSpec, checked
from smspec.pipeline.spec_marker import has_spec_key
from smspec.pipeline.variants import Gathered, Variants, are_same, compile_variants, gather_variants, shown_faults
from smspec.render.dockerfile import dockerfile
from smspec.review.defaults import without_defaults
from smspec.review.job_review import JobReview
from smspec.review.layers import Layers, layers_of_build, layers_of_plan
from smspec.review.prices import Prices
from smspec.review.reviewing import State, paired, reviewed
from smspec.review.version import Version, Writing, version_of_build, version_of_plan, version_of_request
from smspec.source.frozen import dataclass, replace
from smspec.spec.layers.misuse import Misuse
from smspec.spec.yaml.guard import MAX_BYTES


class NothingToCompare(Exception):
    """What is named cannot be compared; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """``reviews`` of what differs; ``faults`` of specs that could not be compared; ``notes`` for whoever reads."""

    reviews: tuple[JobReview, ...]
    faults: tuple[CheckedSpec, ...] = ()
    notes: tuple[str, ...] = ()


def against_other(old: str, new: str, overlay: str | None, settings: Mapping[str, str]) -> Outcome:
    """Compare two specs, or requests."""
    shelf = Shelf()
    if _is_request(old) or _is_request(new):
        return _against_request(old, new, overlay, settings, shelf)
    gathered = [gather_variants(path, overlay, settings, shelf) for path in (old, new)]
    _check_variation(gathered, overlay, settings)
    sides = [compile_variants(side) for side in gathered]
    states = [_state(side, "") for side in sides]
    return _outcome([(states[0], states[1])], sides, _prices(new))


def against_build(path: str, overlay: str | None, settings: Mapping[str, str]) -> Outcome:
    """Compare a spec with what was last built from it, and under each overlay with what was built under that."""
    gathered = gather_variants(path, overlay, settings, Shelf())
    _check_variation([gathered], overlay, settings)
    side = compile_variants(gathered)
    old: dict[str | None, Version] = {}
    new: dict[str | None, Version] = {}
    notes: list[str] = []
    missing: NoBuild | None = None
    for name, job in side.compiled.items():
        try:
            build = read_last_build(default_directory("build", job))
        except NoBuild as fault:
            missing = missing or fault
            continue
        old[name] = version_of_build(build.payload, _layers_of_build(build), build.code, build.delivery, build.run_plan)
        new[name] = replace(_version(job), layers=_layers_as_built(job))
        notes.append(f"compared with {build.directory}, which smspec {build.version} wrote")
    if missing is not None and not old:
        raise missing
    states = [State(file=path, place=path, versions=versions) for versions in (old, new)]
    return _outcome([(states[0], states[1])] if new else [], [side], _prices(path), notes)


def against_base(revision: str, paths: list[str], overlay: str | None, settings: Mapping[str, str]) -> Outcome:
    """Compare the specs below ``paths`` with what they were in a revision of git."""
    repository = repository_of(_directory_of(paths[0]))
    with scratch_directory() as scratch, repository.objects() as objects:
        top = os.path.join(scratch, "tree")
        os.makedirs(top)
        base = Revision(repository, objects, revision, top)
        there = [base.path(path) for path in paths]
        shelf, base_shelf = Shelf(), Shelf()
        found = _found([path for path in paths if os.path.lexists(path)], shelf)
        found_there = _found([path for path in there if os.path.lexists(path)], base_shelf)
        if not found and not found_there:
            raise NothingToCompare(
                f"there is no job spec in {', '.join(f'`{path}`' for path in paths)}, now or at `{revision}`"
            )
        new = [gather_variants(path, overlay, settings, shelf) for path in found]
        old = [gather_variants(path, overlay, settings, base_shelf, base) for path in found_there]
        _check_variation([*new, *old], overlay, settings)
        same = _unchanged(old, new, base, repository.top)
        news = [compile_variants(side) for side in new if side.path not in same]
        olds = [compile_variants(side) for side in old if side.path not in same]
        notes = _submodules(base, olds)
        faulty_olds = ({name: shown_faults(fault, base) for name, fault in side.faults.items()} for side in olds)
        faults = [*(side.faults for side in news), *faulty_olds]
        new_states = [_state(side, _place(side.path, repository.top)) for side in news]
        old_states = [_state(side, _place(side.path, base.directory), base) for side in olds]
        pairs = paired(old_states, new_states)
        outcome = _outcome(pairs, [], _prices(paths[0]), notes)
        return replace(outcome, faults=tuple(checked(found.items()) for found in faults if found))


def _against_request(old: str, new: str, overlay: str | None, settings: Mapping[str, str], shelf: Shelf) -> Outcome:
    """Compare where at least one side is a request: the other, if it is a spec, as it is or under the overlay."""
    specs = {path: gather_variants(path, overlay, settings, shelf) for path in (old, new) if not _is_request(path)}
    _check_variation(list(specs.values()), overlay, settings)
    sides: list[Variants] = []
    states: list[State] = []
    notes: list[str] = []
    for path in (old, new):
        if path not in specs:
            version, more = _requested(path)
            notes += more
            states.append(State(file=path, place="", versions={None: version}))
        else:
            side = compile_variants(specs[path])
            sides.append(side)
            versions: dict[str | None, Version] = {}
            if overlay in side.compiled:
                version = _version(side.compiled[overlay])
                versions[None] = replace(version, payload=without_defaults(version.payload))
            states.append(State(file=path, place="", versions=versions))
    is_whole = all(state.versions for state in states)
    return _outcome([(states[0], states[1])] if is_whole else [], sides, _prices(new), notes)


def _is_request(path: str) -> bool:
    """Tell whether a file is no spec: any other JSON, or a request in YAML. What cannot be read is told later."""
    if not path.endswith((".json", ".yaml", ".yml")):
        return False
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES)
        if has_spec_key(content):
            return False
        return path.endswith(".json") or bool(imported(read_source(path, content).data))
    except (OSError, NoRequest, Rejected):
        return False


def _requested(path: str) -> tuple[Version, list[str]]:
    """Return the job of a request, or of what the service says of a job, and what is not known of it."""
    try:
        with open(path, "rb") as file:
            source = read_source(path, file.read(MAX_BYTES + 1))
        found = imported(source.data)
    except NoRequest as fault:
        raise NothingToCompare(f"`{path}`: {fault}") from fault
    notes = [f"`{path}` is {found.form}: not compared: {part}" for part in found.lost]
    if not found.has_tags:
        notes.append(f"`{path}` is {found.form}: it does not say tags, so they are not compared")
    writing = Writing(document=source.document, form=found.form if found.has_tags else None)
    version = version_of_request(found.request, found.region, writing, is_whole=found.has_tags)
    # A request has no `name`, only that of one job: it counts as the spec that `smspec import` makes of it.
    return replace(version, name=slug(version.job_name)), notes


def _outcome(
    pairs: list[tuple[State | None, State | None]],
    sides: list[Variants],
    prices: Prices,
    notes: list[str] | None = None,
) -> Outcome:
    reviews = [reviewed(old, new, prices) for old, new in pairs]
    return Outcome(
        reviews=tuple(review for review in reviews if review is not None),
        faults=tuple(checked(side.faults.items()) for side in sides if side.faults),
        notes=tuple(dict.fromkeys(notes or ())),
    )


def _state(side: Variants, place: str, base: Revision | None = None) -> State:
    """Return a spec as it is compared; one of a revision under the name that it has there."""
    file = side.path if base is None else f"{base.name}:{os.path.relpath(side.path, base.directory)}"
    versions = {name: _version(job, base) for name, job in side.compiled.items()}
    return State(file=file, place=place, versions=versions, faulty=frozenset(side.faults) if side.is_read else None)


def _version(job: Compiled, base: Revision | None = None) -> Version:
    plan, ingredients, document = job.plan, job.inputs.ingredients, job.inputs.document
    writing = Writing(document=document)
    if base is not None:
        writing = Writing(document=document, root=base.directory, shown=f"{base.name}:")
    layers = None if plan.image is None else layers_of_plan(plan.image, plan.run, ingredients)
    return version_of_plan(plan, job.job, ingredients, layers, writing)


def _layers_of_build(build: LastBuild) -> Layers | None:
    if build.dockerfile is None:
        return None
    source = build.code.digest if build.code is not None and build.delivery == "image" else None
    return layers_of_build(build.dockerfile, build.run_plan or {}, build.runtime, build.requirements, source)


def _layers_as_built(job: Compiled) -> Layers | None:
    """Return the layers of a job as they would be read back from its build."""
    plan, ingredients = job.plan, job.inputs.ingredients
    if plan.image is None:
        return None
    requirements = None if plan.image.python_requirements is None else ingredients.requirements
    return layers_of_build(
        dockerfile(plan.image, requirements),
        {} if plan.run is None else plan.run._asdict(),
        None if plan.run is None else ingredients.runtime.digest,
        digest_of(requirements),
        ingredients.source.digest if plan.image.holds_source else None,
    )


def _unchanged(olds: list[Gathered], news: list[Gathered], base: Revision, top: str) -> set[str]:
    """Return the paths, of both sides, of specs that are in place and made of the same bytes."""
    at_place = {_place(side.path, base.directory): side for side in olds}
    pairs = ((at_place.get(_place(side.path, top)), side) for side in news)
    return {path for old, new in pairs if old is not None and are_same(old, new) for path in (old.path, new.path)}


def _place(path: str, top: str) -> str:
    return os.path.relpath(os.path.realpath(path), top)


def _check_variation(sides: Sequence[Gathered], overlay: str | None, settings: Mapping[str, str]) -> None:
    """Raise `Misuse` for an overlay that no spec has, or a variable that none declares; a faulty one may have any."""
    if not all(side.is_read for side in sides):
        return
    if overlay is not None and not any(overlay in side.overlays for side in sides):
        raise Misuse(f"no spec that is compared has an overlay `{overlay}`")
    for name in settings:
        if not any(name in side.variables for side in sides):
            raise Misuse(f"--set vars.{name}: no spec that is compared declares a variable `{name}`")


def _found(paths: list[str], shelf: Shelf) -> tuple[str, ...]:
    """Return the job specs that paths mean; none where there are none."""
    try:
        return find_job_specs(paths, shelf).jobs
    except Misuse:
        return ()


def _submodules(base: Revision, sides: list[Variants]) -> list[str]:
    """Return a note for each submodule in a source: git keeps what is in it elsewhere."""
    directories = (
        os.path.join(os.path.dirname(side.path), job.job.source.dir)
        for side in sides
        for job in side.compiled.values()
        if job.job.source is not None
    )
    names = dict.fromkeys(name for directory in directories for name in base.submodules(directory))
    return [
        f"`{name}` is a submodule: what was in it at {base.name} is not known, its files count as new" for name in names
    ]


def _directory_of(path: str) -> str:
    """Return the nearest directory that a path leads to."""
    while path and not os.path.isdir(path):
        path = os.path.dirname(path)
    return path or "."


def _prices(path: str) -> Prices:
    return price_list(organisation_file(_directory_of(path)))
