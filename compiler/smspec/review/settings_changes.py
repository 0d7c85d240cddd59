"""What changed in the files that decide how jobs are judged: policies, prices, quotas, rules, and lockfiles."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping

from smspec.diagnostics import InvalidInput
from smspec.organization.organization_config import (
    MalformedConfig,
    OrganizationConfig,
    TomlPlaces,
    nests_too_deep,
    parsed_config,
)
from smspec.organization.policy_file import loosens, undercuts
from smspec.review.change import LONGEST, Change, quoted, safe
from smspec.review.job_review import JobReview, job_review
from smspec.review.kinds.security import SECURITY
from smspec.review.kinds.software import CODE
from smspec.source import Path, to_data
from smspec.source.frozen import replace
from smspec.spec.lock import DIRECTORY as LOCK_DIRECTORY
from smspec.spec.lock import NAME as LOCK
from smspec.spec.yaml import decode_bytes, read
from smspec.workspace.boundary_search import DATED_FILES, NAME, PYPROJECT
from smspec.workspace.settings_files import SettingsFile

MOST_LISTED = 20
"""How many changed entries of a file that smspec writes are listed."""

_PRICES, _QUOTAS, _FACTS = DATED_FILES
_UNREADABLE = "cannot be read"


def settings_reviews(
    old: Mapping[str, SettingsFile], new: Mapping[str, SettingsFile], lost: Iterable[tuple[str, str]] = ()
) -> tuple[JobReview, ...]:
    """Return a review for each file that differs, in the order of their paths.

    ``lost``: old paths of policies, each with a directory of specs that it applied to, and no longer does.
    """
    moved = _moved(old, new)
    reviews = []
    for path in sorted({*old, *new}):
        if path in moved.values():
            continue  # it is shown at its new place
        before = old.get(moved.get(path, path))
        changes = [*_changes(before, new.get(path), new)]
        if path in new and not _is_foreign(before):
            changes += [
                _change(path, (), f"the {_called(path)} no longer applies to specs in `{place}`", brief=_called(path))
                for known, place in sorted(lost)
                if known == path
            ]
        if changes:
            reviews.append(
                job_review(
                    name=path,
                    file=path,
                    old_file=path if before is None else before.path,
                    status="added" if before is None else "removed" if path not in new else "changed",
                    outcomes={None: changes},
                )
            )
    return tuple(reviews)


def lost_review(path: str) -> JobReview:
    """Return the review of a job spec that is still there, but that a search of a directory no longer lists."""
    what = (
        "a search no longer lists this file as a job spec, but it is still here: `validate` of a directory skips it, "
        "or checks it only on its own"
    )
    return _file_review(path, what, "lost spec")


def uncompared_review(path: str, is_unset: bool) -> JobReview:
    """Return the review of a changed spec that no search lists, and that may be a job only with options."""
    missing = "a value of `--set`, or the region of `submit`, is missing"
    why = missing if is_unset else "it has errors here, but `--set` or files made in CI might change that"
    what = f"a changed job spec that cannot be compared: {why}"
    return _file_review(path, what, "unset value" if is_unset else "cannot be compared")


def replaced_review(path: str, name: str) -> JobReview:
    """Return the review of a changed file that a filter of git may replace by a job spec where it runs.

    Without the name of a filter: of a link that a checkout without links has as a file.
    """
    how = f"the filter {quoted(name)} of git replaces this file where it runs"
    how = how if name else "a checkout without links has the text of this one as a file"
    what = f"{how}: it may be a job spec there, not compared"
    return _file_review(path, what, "filtered file" if name else "text of a link")


def secret_review(path: str, name: str) -> JobReview:
    """Return the review of a changed file that builds read as a secret."""
    what = f"builds read this file as the secret {quoted(name)}: it changed, and is not opened here"
    return _file_review(path, what, "secret of the build")


def lifted_review(path: str, patterns: list[str]) -> JobReview:
    """Return the review of a file of ignored names that no longer keeps some out of a source below it."""
    more = f" and {len(patterns) - 1} more" if len(patterns) > 1 else ""
    what = f"no longer ignored: {_short(patterns[0])}{more}; a source may send such files, which git does not track"
    return _file_review(path, what, "ignored files", kind=CODE.name)


def ignored_source_review(path: str, source: str) -> JobReview:
    """Return the review of a file of ignored names that ignores a source as a whole now."""
    what = (
        f"ignores the source {_short(source)} itself, so no pattern above it counts there any more; it may send files "
        "that git does not track"
    )
    return _file_review(path, what, "ignored files", kind=CODE.name)


def moved_source_review(path: str, places: tuple[str, str]) -> JobReview:
    """Return the review of a spec whose source is a different directory now, where git may lack files."""
    old, new = map(_short, places)
    what = f"the source is {new}, not {old}: files there that git does not track travel, and are not compared"
    return _file_review(path, what, "place of the source", kind=CODE.name)


def rewritten_review(path: str, cause: str) -> JobReview:
    """Return the review of a file because of which a new checkout has other files, and this one shows no difference.

    In another encoding, the same letters may be any text.
    """
    name = quoted(cause)
    what = {
        ".gitmodules": f"a new checkout may not have the files of the submodule {name}, which jobs are made from",
        ".lfsconfig": f"decides which files of Git LFS a new checkout has: {name} may be a pointer there, not compared",
    }.get(path, f"the attribute {name} of git changes this file in a new checkout; this form is not compared")
    is_any = cause == "working-tree-encoding"
    return _file_review(path, what, "rewritten file", kind=SECURITY.name if is_any else CODE.name)


def linked_review(path: str, data: tuple[str, str]) -> JobReview:
    """Return the review of a changed link that leads local data of a channel to another place."""
    channel, target = map(_short, data)
    what = f"leads local data of the channel {channel} to {target}: no comparison has these files"
    return _file_review(path, what, "local data")


def _short(text: str) -> str:
    """Return user text for a sentence; the target of a link and a pattern may have thousands of letters."""
    return quoted(text if len(text) <= LONGEST else f"{text[:LONGEST]}…")


def twin_review(path: str, twin: str) -> JobReview:
    """Return the review of a changed file or directory that has the name of a different one on some systems."""
    name = twin.encode("unicode_escape").decode()  # the forms of a letter look alike
    what = f"on a disk that ignores case, as of macOS, this is {quoted(name)}, too: a job may have one for the other"
    return _file_review(path, what, "ambiguous name")


def unsearched_review(path: str) -> JobReview:
    """Return the review of a job spec that no search of a directory finds."""
    what = "a job spec that a search skips: `validate` of a directory does not check it"
    return _file_review(path, what, "unsearched spec")


def _file_review(path: str, what: str, brief: str, kind: str = SECURITY.name) -> JobReview:
    """Return the review of a file that has one change."""
    changes = [replace(_change(path, (), what, brief=brief), kind=kind)]
    return job_review(name=path, file=path, old_file=path, status="changed", outcomes={None: changes})


def _moved(old: Mapping[str, SettingsFile], new: Mapping[str, SettingsFile]) -> dict[str, str]:
    """Return new path → old path of files that are only somewhere else now."""
    gone = {file.content: path for path, file in old.items() if path not in new and file.content}
    return {
        path: gone[file.content]
        for path, file in new.items()
        if path not in old and file.content in gone and os.path.basename(gone[file.content]) == os.path.basename(path)
    }


def _changes(
    old: SettingsFile | None, new: SettingsFile | None, others: Mapping[str, SettingsFile]
) -> Iterator[Change]:
    known = new or old
    if old == new or known is None:
        return
    path = known.path
    called = _called(path)
    if _is_foreign(old) and _is_foreign(new):
        return
    if old is not None and new is not None and old.path != new.path:
        what = f"the {called} moved, and applies to other directories"
        yield _change(path, (), what, old.path, new.path, called)
        return
    was, will = (None if file is None or _is_foreign(file) else file.form for file in (old, new))
    if was != will:
        how = "is new" if was is None else "is gone, which loosens it" if will is None else "has another form"
        yield _change(path, (), f"the {called} {how}", was, will, called)
    if (old and old.content) == (new and new.content):
        return
    if called == "policy":
        yield from _of_policy(path, _bytes(old), _bytes(new), _outer(path, others))
    elif called in _COMPARED:
        yield from _COMPARED[called](path, _bytes(old), _bytes(new))
    else:
        yield _change(path, (), f"the {called} changed", None, None, called)


def _outer(path: str, files: Mapping[str, SettingsFile]) -> Iterator[bytes]:
    """Yield the policies in the directories above that of one."""
    directory = os.path.dirname(path)
    while directory:
        directory = os.path.dirname(directory)
        for name in (NAME, PYPROJECT):
            content = _bytes(files.get(os.path.join(directory, name)))
            if content is not None:
                yield content


def _bytes(file: SettingsFile | None) -> bytes | None:
    return None if file is None else file.content


def _of_policy(path: str, old: bytes | None, new: bytes | None, outer: Iterable[bytes]) -> Iterator[Change]:
    try:
        before, after, *above = (_config(path, content) for content in (old, new, *outer))
    except MalformedConfig:
        yield _change(path, (), f"the policy {_UNREADABLE}, now or before", None, None, "policy")
        return
    places = TomlPlaces(after), TomlPlaces(before)
    was, will = (dict(_leaves(file.tables)) for file in (before, after))
    for at in dict.fromkeys([*was, *will]):
        if _are_equal(was.get(at), will.get(at)):
            continue
        loose = any(undercuts(at[0], each, after, at[1:]) for each in above) or loosens(at[0], before, after, at[1:])
        how = "may loosen" if loose is None else "loosens" if loose else "does not loosen"
        line = places[at not in will].of(at).line
        values = [safe(at[-1], _plain(value)) for value in (was.get(at), will.get(at))]
        yield _change(path, at, f"this {how} the policy", values[0], values[1], quoted(at[0]), line)


def _config(path: str, content: bytes | None) -> OrganizationConfig:
    found = None if content is None else parsed_config(path, content)
    return OrganizationConfig(path, {}, b"") if found is None else found


def _leaves(tables: Mapping[str, object]) -> Iterator[tuple[tuple[str, ...], object]]:
    for key, value in tables.items():
        if isinstance(value, dict) and value:
            yield from (((key, name), inner) for name, inner in value.items())
        else:
            yield (key,), value


def _are_equal(old: object, new: object) -> bool:
    """Return whether two values are the same for a reader: for Python, `true` and `1` are, too."""
    one, other = (json.dumps(value, sort_keys=True, default=str) for value in (old, new))
    return one == other


def _plain(value: object) -> object:
    """Return a value of TOML as one of JSON."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    return float(str(value)) if str(value).replace(".", "", 1).isdigit() else str(value)


def _of_rule(path: str, old: bytes | None, new: bytes | None) -> Iterator[Change]:
    was, will = (_yaml(path, content) for content in (old, new))
    for key in dict.fromkeys([*was, *will]):
        if not _are_equal(was.get(key), will.get(key)) and key != "cases":
            what = "a key of the rule, which may loosen it"
            yield _change(path, (key,), what, safe(key, was.get(key)), safe(key, will.get(key)), quoted(key))
    if all(key == "cases" or _are_equal(was.get(key), will.get(key)) for key in {**was, **will}):
        yield _change(path, (), "the file of the rule changed, but not what it requires", None, None, "rule")


def _yaml(path: str, content: bytes | None) -> dict[str, object]:
    try:
        data = {} if content is None else to_data(read(decode_bytes(path, content)).root)
    except InvalidInput:
        return {}
    return {str(key): value for key, value in data.items()} if isinstance(data, dict) else {}


def _of_entries(called: str, worse: Callable[[object, object], bool | None]) -> Callable[..., Iterator[Change]]:
    def compare(path: str, old: bytes | None, new: bytes | None) -> Iterator[Change]:
        was, will = ({} if content is None else _json(content) for content in (old, new))
        if was is None or will is None:
            yield _change(path, (), f"the {called} {_UNREADABLE}, now or before", None, None, called)
            return
        both = dict.fromkeys([*was, *will])
        differing = [at for at in both if not _are_equal(was.get(at), will.get(at)) and not _is_origin(at)]
        for at in differing[:MOST_LISTED]:
            one, other = was.get(at), will.get(at)
            loose = worse(one, other)
            how = "an entry, which may loosen" if loose is None else "an entry that loosens" if loose else "an entry of"
            if isinstance(one, list) and isinstance(other, list):
                one, other = ([word for word in one if word not in other], [word for word in other if word not in one])
            yield _change(path, at, f"{how} the {called}", one, other, called)
        if len(differing) > MOST_LISTED:
            what = f"{len(differing) - MOST_LISTED:,} more entries of the {called} changed"
            yield _change(path, (), what, None, None, called)
        if not differing:
            yield _change(path, (), f"the {called} changed, but none of the entries", None, None, called)

    return compare


def _json(content: bytes) -> dict[Path, object] | None:
    try:
        data = json.loads(content, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or nests_too_deep(data):
        return None
    return dict(_entries((), data, 6)) if data else {}


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the members of an object. Raise `ValueError` for a name that is twice: each could be the used one."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("duplicate member")
    return found


def _entries(at: Path, value: object, depth: int) -> Iterator[tuple[Path, object]]:
    if isinstance(value, dict) and value and depth:
        for key, inner in value.items():
            yield from _entries((*at, key), inner, depth - 1)
    else:
        yield at, value


def _is_cheaper(old: object, new: object) -> bool | None:
    try:
        return None if old is None or new is None else float(str(new)) < float(str(old))
    except ValueError:
        return None


def _is_higher(old: object, new: object) -> bool | None:
    return new > old if isinstance(old, int) and isinstance(new, int) else None


def _is_origin(at: Path) -> bool:
    """Return whether an entry is a date, or the name of a source. A member of the API may have either name."""
    return len(at) == (4 if at[0] == "accounts" else 3) and at[-1] in ("as_of", "source")


def _adds(old: object, new: object) -> bool:
    """Return whether an entry about AWS permits more: each may turn off a finding, so all but fewer words do."""
    if isinstance(old, list) and isinstance(new, list):
        return any(word not in old for word in new)
    return new is not None


def _is_foreign(file: SettingsFile | None) -> bool:
    """Return whether a file is missing, or a pyproject.toml without a policy."""
    if file is None:
        return True
    if os.path.basename(file.path).lower() != PYPROJECT or file.content is None:
        return False
    try:
        return parsed_config(file.path, file.content) is None
    except MalformedConfig:
        return b"smspec" not in file.content


def _called(path: str) -> str:
    directory, name = os.path.split(path)
    if os.path.basename(directory) == LOCK_DIRECTORY:
        return "list of locked packages"
    return _NAMES.get(name.lower(), "rule")


def _change(
    path: str, at: Path, what: str, old: object = None, new: object = None, brief: str = "", line: int | None = None
) -> Change:
    return Change(kind=SECURITY.name, path=at, old=old, new=new, what=what, brief=brief, file=path, line=line or 1)


_NAMES = {NAME: "policy", PYPROJECT: "policy", LOCK: "lockfile"}
_NAMES |= {_PRICES: "price file", _QUOTAS: "quota file", _FACTS: "facts file"}
_COMPARED: dict[str, Callable[[str, bytes | None, bytes | None], Iterator[Change]]] = {
    "rule": _of_rule,
    "price file": _of_entries("price file", _is_cheaper),
    "quota file": _of_entries("quota file", _is_higher),
    "facts file": _of_entries("facts file", _adds),
    "lockfile": _of_entries("lockfile", lambda _old, _new: None),
}
