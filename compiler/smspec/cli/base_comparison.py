"""The comparison of ``smspec diff --base``: every spec below some paths with its state in a git revision.

A spec is compared with what the revision has at its own path. Its name pairs only what has no partner by path: anyone
can write a second spec of that name, and what CI submits is a path.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from smspec.cli.comparison import (
    NothingToCompare,
    Outcome,
    Prices,
    check_variation,
    directory_of,
    outcome_of,
    prices_for,
    state_of,
    unfit_notes,
)
from smspec.pipeline.affected_specs import check_checkout, unread_notice, unread_submodules
from smspec.pipeline.changes_elsewhere import (
    changed_secrets,
    linked_data,
    replaced_specs,
    rewritten_files,
    twin_names,
    unknown_submodules,
)
from smspec.pipeline.compared_specs import (
    ComparedSpec,
    Tracked,
    absent_specs,
    compared_specs,
    is_no_job,
    repeated_specs,
    tracked_files,
    unsearched_specs,
)
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.lifted_patterns import ignored_sources, lifted_patterns, moved_sources
from smspec.pipeline.spec_discovery import is_job_at, is_yaml
from smspec.pipeline.untouched_specs import UntouchedSpecs, untouched_specs
from smspec.pipeline.variants import (
    Gathered,
    Variants,
    are_same,
    compile_variants,
    gather_variants,
    misplaced,
    shown_as_of,
    text_as_of,
)
from smspec.review.comparison import State, paired
from smspec.review.job_review import JobReview
from smspec.review.kinds.same_job import COSMETIC
from smspec.review.settings_changes import (
    ignored_source_review,
    lifted_review,
    linked_review,
    lost_review,
    moved_source_review,
    replaced_review,
    rewritten_review,
    secret_review,
    settings_reviews,
    twin_review,
    uncompared_review,
    unsearched_review,
)
from smspec.service.job_costs import PriceBook
from smspec.source.frozen import dataclass, replace
from smspec.source.real_file import is_below
from smspec.spec.lock import DIRECTORY as LOCK_DIRECTORY
from smspec.workspace.git import repository_of
from smspec.workspace.own_directories import temporary_directory
from smspec.workspace.revision import Revision, place_below
from smspec.workspace.settings_files import policies_in, settings_of_revision, settings_of_tree
from smspec.workspace.working_tree import ChangedFiles, unexecuted

Specs = dict[str, ComparedSpec]
"""The specs of one state by their places."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listed:
    """The specs of both states, and the places of those that a search ``lost``, or never lists: ``hidden``.

    ``replaced``: files that may be specs elsewhere, each with the name of a filter of git, or of none for a link.
    """

    now: Specs
    then: Specs
    lost: set[str]
    hidden: set[str]
    replaced: dict[str, str]
    tracked: Tracked


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compiled:
    """Both states of the specs by their places, as far as they differ; the paths of the others are ``unchanged``.

    ``uncompared``: places of specs that no search lists, and that do not compile as they are here; each with whether
    the value of an option is missing. ``unfit``: a note for each setting that a spec is compared without.
    """

    gathered: list[Gathered]
    unchanged: dict[str, str]
    news: dict[str, Variants]
    olds: dict[str, Variants]
    uncompared: dict[str, bool]
    unfit: list[str]


def against_base(
    revision: str, paths: list[str], overlay: str | None, settings: Mapping[str, str], root: str | None = None
) -> Outcome:
    """Compare the specs below ``paths`` with their versions in a git revision."""
    repository = repository_of(directory_of(paths[0]))
    with temporary_directory() as scratch, repository.objects() as objects:
        top = os.path.join(scratch, "tree")
        os.makedirs(top)
        cache, changed = InputCache(root), ChangedFiles(repository, revision)
        # A setting, or an overlay, may concern any spec.
        is_simple = root is None and overlay is None and not settings
        untouched = untouched_specs(paths, changed, cache, compares=True) if is_simple else None
        same = {} if untouched is None else untouched.jobs()
        skipped = set() if untouched is None else untouched.places()
        base = Revision(repository, objects, revision, top, changed, skipped)
        base_cache = InputCache(None if root is None else base.root(root), bring=base.bring)
        listed = _listed(paths, base, changed, settings, cache, base_cache, untouched, same)
        sides = _compiled(listed, base, repository.top, overlay, settings, cache, base_cache)
        pairs = paired(
            [state_of(side, place, base, listed.then[place].is_found) for place, side in sides.olds.items()],
            [state_of(side, place, is_found=listed.now[place].is_found) for place, side in sides.news.items()],
        )
        made_from = [*(spec.path for spec in listed.now.values()), *same.values()]
        unread = unread_submodules(changed, map(os.path.realpath, paths), made_from, cache)
        notes = [
            *unknown_submodules(base, paths, changed, sides.olds.values()),
            *filter(None, [unexecuted(base.unexecuted_filters())]),
            *sides.unfit,
        ]
        compiled = [*sides.news.values(), *sides.olds.values()]
        equal = [*sides.unchanged.values(), *same.values()]
        outcome = outcome_of(pairs, compiled, _prices(base, base_cache), notes, equal)
        differing = {
            review.file
            for review in outcome.comparison.reviews
            if review.status != "changed" or any(change.kind != COSMETIC.name for change in review.changes)
        }
        places = [(old.place, new.place) for old, new in pairs if old is not None and new is not None]
        moved = [(os.path.dirname(old), os.path.dirname(new)) for old, new in places]
        reviews = (
            *(
                lost_review(place)
                for place in sorted(listed.lost)
                if place in sides.news
                or place in sides.unchanged
                or os.path.islink(os.path.join(repository.top, place))
            ),
            *(uncompared_review(place, is_unset) for place, is_unset in sorted(sides.uncompared.items())),
            *(replaced_review(place, name) for place, name in listed.replaced.items()),
            *(secret_review(place, name) for place, name in changed_secrets(changed, sides.gathered, top).items()),
            *(linked_review(*linked) for linked in linked_data(changed, sides.gathered, top).items()),
            *(lifted_review(*lifted) for lifted in lifted_patterns(changed, sides.gathered, base).items()),
            *(ignored_source_review(*one) for one in ignored_sources(changed, sides.gathered, base).items()),
            *(moved_source_review(*one) for one in moved_sources(sides.gathered, places, base, repository.top).items()),
            *(rewritten_review(*one) for one in rewritten_files(changed, made_from, revision, cache).items()),
            *(twin_review(*names) for names in twin_names(changed, made_from, listed.tracked, cache).items()),
            *_settings(repository.top, base, paths, sides.gathered, moved, cache, base_cache),
            *(
                unsearched_review(place)
                for place in sorted(listed.hidden)
                if place in sides.news and sides.news[place].path in differing
            ),
        )
        first = ((base.path(paths[0]), base_cache), (paths[0], cache))
        of_prices = (prices_for(*known)[1] for known in first)
        obstacle = unread_notice(unread) or outcome.obstacle or next(filter(None, of_prices), "")
        return replace(
            outcome, comparison=replace(outcome.comparison, settings=reviews), obstacle=text_as_of(obstacle, base)
        )


def _prices(base: Revision, base_cache: InputCache) -> Prices:
    """Return the prices that the base has for a spec, where the spec was there, or is now."""
    known: dict[str, tuple[PriceBook, str]] = {}

    def of(old: State | None, new: State | None) -> tuple[PriceBook, str]:
        state = old or new
        assert state is not None
        directory = directory_of(os.path.dirname(os.path.join(base.directory, state.place)))
        if directory not in known:
            known[directory] = prices_for(directory, base_cache)
        return known[directory]

    return of


def _listed(
    paths: list[str],
    base: Revision,
    changed: ChangedFiles,
    settings: Mapping[str, str],
    cache: InputCache,
    base_cache: InputCache,
    untouched: UntouchedSpecs | None,
    same: Mapping[str, str],
) -> _Listed:
    """List the specs of both states that are compared. Raise `NothingToCompare` if there are none.

    ``same``: jobs of ``untouched`` specs, which need no comparison.
    """
    repository = changed.repository
    there = [base.path(path) for path in paths]
    if untouched is not None:
        os.makedirs(there[0], exist_ok=True)  # with all its specs left out, it would be taken for a spec
    for path, old in zip(paths, there, strict=True):
        if not os.path.isdir(old):
            base.bring(old)  # a spec with any name
        if not os.path.lexists(path) and not os.path.lexists(old):
            raise NothingToCompare(f"cannot find `{path}`, now or at `{base.name}`")
    tracked = tracked_files(repository)
    now = compared_specs(paths, cache, tracked, None if untouched is None else untouched.others)
    then = compared_specs(there, base_cache, Tracked(top=base.directory, paths=None))
    gone = {os.path.join(repository.top, place) for place in then}
    tops = [*map(os.path.realpath, paths)]
    gone |= absent_specs(changed, tops, tracked)
    absent = tracked.absent()
    # What a search skips is not among the specs of the base, but may extend a changed one.
    gone |= {
        path
        for path in absent - gone
        if is_yaml(path) and any(is_below(path, top) for top in tops) and is_job_at(base.path(path), base_cache)
    }
    check_checkout(absent, [spec.path for spec in now.values()], gone, cache)
    if not now and not then and not same:
        raise NothingToCompare(
            f"no job spec found in {', '.join(f'`{path}`' for path in paths)}, now or at `{base.name}`"
        )
    lost = {place for place, spec in then.items() if spec.is_found and not (place in now and now[place].is_found)}
    replaced = replaced_specs(changed, tops, lost, now, tracked)
    start = None if any(map(os.path.isabs, paths)) else os.curdir
    now |= _still_there(then, now, repository.top, cache, start)
    then |= _still_there(now, then, base.directory, base_cache, None)
    made_from = [spec.path for spec in now.values()]
    found = unsearched_specs(changed, paths, made_from, settings, tracked, cache, base.without)
    hidden = {os.path.relpath(path, repository.top): path for path in found}
    for place, path in hidden.items():
        shown = path if start is None else os.path.relpath(path, start)
        now[place] = ComparedSpec(path=shown, place=place, is_found=False)
        base.bring(os.path.join(base.directory, place))
    then |= _still_there({place: now[place] for place in hidden}, then, base.directory, base_cache, None)
    return _Listed(now=now, then=then, lost=lost, hidden=set(hidden), replaced=replaced, tracked=tracked)


def _compiled(
    listed: _Listed,
    base: Revision,
    top: str,
    overlay: str | None,
    settings: Mapping[str, str],
    cache: InputCache,
    base_cache: InputCache,
) -> _Compiled:
    """Compile both states of the specs that differ; take what moved, and left a link, from ``listed.lost``."""
    new = {}
    for place, spec in listed.now.items():
        # A change does not lower severities for itself.
        levels = base_cache.levels(os.path.dirname(os.path.join(base.directory, place)))
        new[place] = gather_variants(spec.path, overlay, settings, cache, levels=levels)
    old = {
        place: gather_variants(spec.path, overlay, settings, base_cache, base) for place, spec in listed.then.items()
    }
    for place in repeated_specs(old, new, base.directory, top):
        del old[place], new[place]
    for place, target in _linked(listed, new, top).items():
        listed.lost.discard(place)
        if target not in old and are_same(old[place], new[place]):
            del new[place]  # it is at the target now
    gathered = [*new.values(), *old.values()]
    check_variation(gathered, overlay, settings)
    same = {place for place, side in new.items() if place in old and are_same(old[place], side)}
    news = {place: compile_variants(side) for place, side in new.items() if place not in same}
    olds = {place: shown_as_of(compile_variants(side), base) for place, side in old.items() if place not in same}
    for place in misplaced((top, new, news), (base.directory, old, olds)):
        news.pop(place, None)
        olds.pop(place, None)
    unfit = [side for place, side in new.items() if place in news]
    unfit += [side for place, side in old.items() if place in olds and not (place in news and new[place].unfit)]
    jobs = [place for place, side in news.items() if _is_job(side, listed.now[place], place in listed.lost, cache)]
    uncompared = {
        place: side.is_unset
        for place, side in news.items()
        if place not in jobs
        and (side.is_open or (place in olds and olds[place].compiled and not is_no_job(side.path, cache)))
    }
    return _Compiled(
        gathered=gathered,
        unchanged={place: new[place].path for place in same},
        news={place: news[place] for place in jobs},
        olds={
            place: side
            for place, side in olds.items()
            if place not in uncompared and _is_job(side, listed.then[place], False, base_cache)
        },
        uncompared=uncompared,
        unfit=[text_as_of(note, base) for note in unfit_notes(unfit)],
    )


def _linked(listed: _Listed, new: Mapping[str, Gathered], top: str) -> dict[str, str]:
    """Return the lost places that lead to a spec which a search lists, and make the same job, with that spec."""
    found = {}
    for place in listed.lost & new.keys():
        target = os.path.relpath(os.path.realpath(os.path.join(top, place)), top)
        spec = listed.now.get(target)
        if spec is not None and spec.is_found and target in new and are_same(new[place], new[target]):
            found[place] = target
    return found


def _still_there(others: Specs, known: Specs, top: str, cache: InputCache, start: str | None) -> Specs:
    """Return the specs that only the other state lists, as far as this state has something at their paths.

    ``start``: the directory that their paths are shown from, if not as a whole.
    """
    found = {}
    for place in others.keys() - known.keys():
        path = os.path.join(top, place)
        boundary = cache.boundary(os.path.dirname(path))
        if os.path.lexists(path) and (boundary.is_file(path) or not boundary.contains(path)):
            shown = path if start is None else os.path.relpath(path, start)
            found[place] = ComparedSpec(path=shown, place=place, is_found=False)
    return dict(sorted(found.items()))


def _is_job(side: Variants, spec: ComparedSpec, is_lost: bool, cache: InputCache) -> bool:
    """Return whether a spec counts: what no search lists counts if it is accepted as a job.

    ``is_lost``: a search listed it before, so its errors count, too, if it is still meant as a job.
    """
    return bool(side.compiled) or spec.is_found or (is_lost and not is_no_job(spec.path, cache))


def _settings(
    top: str,
    base: Revision,
    paths: Sequence[str],
    specs: Sequence[Gathered],
    moved: Iterable[tuple[str, str]],
    cache: InputCache,
    base_cache: InputCache,
) -> tuple[JobReview, ...]:
    """Return what changed in the files that decide how specs are judged: policies, prices, rules, and lockfiles.

    ``moved``: old and new directories of specs that are paired.
    """
    directories = {os.path.dirname(side.path) for side in specs}
    is_of_base = {directory: is_below(os.path.realpath(directory), base.directory) for directory in directories}
    rules = {
        place_below(file, base.directory if is_old else top)
        for directory, is_old in is_of_base.items()
        for file in (base_cache if is_old else cache).organization(directory).rule_files()
    }
    inside = [_from_top(path, top) for path in paths]
    places = [_from_top(directory, base.directory if is_old else top) for directory, is_old in is_of_base.items()]
    # Those that apply are not only above the path of a spec: a link to a directory has its target's, too.
    then, now = (
        {
            _from_top(directory, start): {_from_top(above, start) for above in known.settings_directories(directory)}
            for directory, is_old in is_of_base.items()
            if is_old is wanted
        }
        for wanted, known, start in ((True, base_cache, base.directory), (False, cache, top))
    )
    more = {*rules, *(path for above in {*chain(*then.values(), *now.values())} for path in policies_in(above))}
    old = settings_of_revision(base, inside, places, more)
    parents = {os.path.dirname(path) for path in old.keys() - more}
    around = [parent for parent in parents if os.path.basename(parent) != LOCK_DIRECTORY]
    new = settings_of_tree(top, [*places, *inside, *around], old, more)
    moves = {*((place, place) for place in then.keys() & now.keys()), *moved}
    lost = [
        (path, place)
        for before, place in moves
        for above in then.get(before, set()) - now.get(place, set())
        for path in policies_in(above)
    ]
    return settings_reviews(old, new, lost)


def _from_top(path: str, top: str) -> str:
    inside = place_below(path, top)
    return "" if inside == os.curdir else inside
