"""Find changes of a review that show in no spec here, because another checkout or a build has something else there.

A filter of git replaces files, links are files on some systems, names differ only in case, and nothing opens the
secrets of a build, or local data. A checkout that exists keeps files as they are when a review changes attributes and
not the files; a new one, from which a job may be submitted, has others: with CR LF or LF, an expanded `$Id$`, or in
another encoding.
"""

from __future__ import annotations

import functools
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Set

from smspec.pipeline.affected_specs import places_of
from smspec.pipeline.compared_specs import ComparedSpec, Tracked, tracked_files
from smspec.pipeline.compilation import Faulty
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.inputs import Inputs
from smspec.pipeline.spec_discovery import is_yaml
from smspec.pipeline.variants import Gathered, Variants
from smspec.source import Document, Path
from smspec.source.real_file import is_below, open_below
from smspec.spec.lock import DIRECTORY as LOCK_DIRECTORY
from smspec.workspace.boundary_search import SETTINGS
from smspec.workspace.git import FOR_CHECKOUTS, LINK, SUBMODULE, StagedFile
from smspec.workspace.own_directories import temporary_directory
from smspec.workspace.path_targets import places_on_the_way
from smspec.workspace.revision import Revision, place_below
from smspec.workspace.spec_reading import has_spec_key
from smspec.workspace.working_tree import ChangedFiles, object_name, unix_text

_SPECIAL = frozenset({*SETTINGS, ".gitignore", LOCK_DIRECTORY})
_BEGINNING = 1024
_ENCODING = "working-tree-encoding"
_NAMES = ("text", "crlf", "eol", "ident", _ENCODING, "filter")
_ATTRIBUTES, _MODULES, _LFS = FOR_CHECKOUTS
_LARGEST = 64 << 20
_PLAIN = ("unspecified", "unset", "set", "utf-8", "utf8")
_COLLECTION = re.compile(
    r"\ufeff?(?:[^\S\n]*(?:[#%].*|---(?:[ \t].*)?)?\n)*[^\S\n]*(?:[\[{]|[-?](?:\s|\Z)|.*:(?:\s|\Z)|[#%].*\Z|\Z)"
)
"""The beginning of what a YAML file has: a mapping, a list, or nothing. A pointer, or what is encrypted, has none."""


def replaced_specs(
    changed: ChangedFiles, tops: Iterable[str], lost: set[str], known: Mapping[str, ComparedSpec], tracked: Tracked
) -> dict[str, str]:
    """Return places of changed files that may be job specs where they run, each with the name of a filter of git.

    Such a file is what git stores: a pointer of Git LFS, or encrypted. It may lie at the end of a link, or behind one,
    of which git knows only the text. With an empty name, that text is a spec itself. ``lost``: former specs, which may
    have any name. ``known``: those that are specs here.
    """
    top = changed.repository.top
    links = {path for path in (*changed.paths, *tracked.links()) if os.path.islink(path)}
    directories = _led_to(set(tops), links, top)
    former = {os.path.join(top, place) for place in lost}
    paths = {path for directory in directories for path in changed.below(directory) if is_yaml(path)}
    paths |= {path for path in links if is_yaml(path) and any(is_below(path, one) for one in directories)}
    ends = {path: os.path.realpath(path) if path in links or path in former else path for path in (*paths, *former)}
    filters = _filters(changed, set(ends.values()), {ends[path] for path in former})
    found = {path: filters[end] for path, end in ends.items() if end in filters}
    found.update((path, "") for path in ends if path in links and _is_text_of_a_spec(path))
    places = {os.path.relpath(path, top): name for path, name in sorted(found.items()) if changed.touches(path)}
    return {place: name for place, name in places.items() if place not in known}


def _led_to(directories: set[str], links: set[str], top: str) -> set[str]:
    """Return real directories of a repository with those that links below them lead to."""
    ahead = set(directories)
    while ahead:
        reals = {os.path.realpath(link) for link in links if any(is_below(link, one) for one in ahead)}
        ahead = {real for real in reals if is_below(real, top) and os.path.isdir(real)} - directories
        directories |= ahead
    return directories


def _filters(changed: ChangedFiles, paths: set[str], former: set[str]) -> dict[str, str]:
    """Return those of some real paths that are as git stores them, each with the name of a filter that it has."""
    top = changed.repository.top
    places = {os.path.relpath(path, top): path for path in sorted(paths)}
    stored = [place for place, path in places.items() if _is_as_stored(top, place, path in former)]
    values = changed.repository.attributes(stored, ("filter",)) if stored else {}
    filters = {places[place]: values.get(place, {}).get("filter", "unspecified") for place in stored}
    return {path: name for path, name in filters.items() if name not in ("unspecified", "unset", "set")}


def _is_text_of_a_spec(path: str) -> bool:
    """Return whether a path is a link whose text has the key of a spec: a checkout without links has it as a file."""
    try:
        return has_spec_key(os.fsencode(os.readlink(path)))
    except OSError:
        return False


def _is_as_stored(top: str, place: str, is_former: bool) -> bool:
    steps = place.split("/")
    if steps[0] == ".." or ".git" in place.lower().split("/"):
        return False
    try:
        with open(open_below(top, steps), "rb") as file:
            content = file.read(_BEGINNING)
    except (OSError, ValueError):
        return False
    text = content.decode("utf-8", "replace")
    whole = text[:-3] if len(content) == _BEGINNING else text  # the last character may be cut
    return is_former or "\0" in text or "\ufffd" in whole or _COLLECTION.match(text) is None


def twin_names(changed: ChangedFiles, specs: Iterable[str], tracked: Tracked, cache: InputCache) -> dict[str, str]:
    """Return places of changed files and directories that are one with a different one on macOS, and that one.

    Its disks ignore case, and in which form an accent is written: the last file that git writes replaces the other.
    Only names count that some specs are made from, and those of settings and ignore files, of which there need be none.
    """
    top = changed.repository.top
    places = [os.path.relpath(path, top) for path in changed.paths]
    spellings: dict[str, list[str]] = {_folded(part): [] for place in places for part in _parts(place)}
    for place in (*places, *(tracked.paths or ())):
        for part in _parts(place):
            if part not in (known := spellings.get(_folded(part), [part])):
                known.append(part)
    names_in = functools.cache(_names_in)
    several = (
        {one for one in known if os.path.basename(one) in names_in(os.path.dirname(os.path.join(top, one)))}
        for known in spellings.values()
        if len(known) > 1
    )
    twins = _special(top, places) | {one: min(known - {one}) for known in several if len(known) > 1 for one in known}
    found = [next((part for part in _parts(place) if part in twins), None) for place in places] if twins else []
    used = {_folded(place_below(one, top)) for path in specs for one in places_of(path, cache)} if any(found) else set()
    return {
        part: twins[part]
        for part in filter(None, found)
        if any(
            one == os.curdir or is_below(one, reach) or is_below(reach, one) for one in used for reach in [_reach(part)]
        )
    }


def _special(top: str, places: Iterable[str]) -> dict[str, str]:
    """Return those of some places, and of the directories above, that look for macOS like what smspec or git reads."""
    parts = {part: os.path.split(part) for place in places for part in _parts(place)}
    return {
        part: os.path.join(above, _folded(name))
        for part, (above, name) in parts.items()
        if name not in _SPECIAL and _folded(name) in _SPECIAL and os.path.lexists(os.path.join(top, part))
    }


def _reach(part: str) -> str:
    """Return the folded place of what a file or directory counts for: settings and the like for their directory."""
    above, name = os.path.split(_folded(part))
    return above if name in _SPECIAL else os.path.join(above, name)


def _parts(place: str) -> Iterator[str]:
    """Yield the directories above a place, the outermost first, and the place."""
    steps = place.split("/")
    return ("/".join(steps[:number]) for number in range(1, len(steps) + 1))


def _folded(place: str) -> str:
    """Return what the names of a place are for a system that ignores case, forms of letters, and marks of direction."""
    if place.isascii():
        return place.lower()
    text = unicodedata.normalize("NFD", unicodedata.normalize("NFD", place).casefold())
    return "".join(character for character in text if unicodedata.category(character) != "Cf")


def _names_in(directory: str) -> frozenset[str]:
    """Return how the files of a directory are spelled: a system without case finds them by other names, too."""
    try:
        return frozenset(os.listdir(directory))
    except (OSError, ValueError):
        return frozenset()


def changed_secrets(changed: ChangedFiles, specs: Iterable[Gathered], base: str) -> dict[str, str]:
    """Return places of changed files of git that builds read as secrets, each with the name of the secret.

    No such file is opened, so nothing else shows a change. ``base``: the directory of the files of the revision, whose
    specs do not count.
    """
    found: dict[str, str] = {}
    for directory, document in _documents(specs):
        for name, file in _named(document, ("image", "secrets"), "file") if not is_below(directory, base) else ():
            path = os.path.join(directory, file)
            if changed.touches(path):
                found[path] = name
    tracked = tracked_files(changed.repository) if found else None
    return {
        place_below(path, changed.repository.top): name
        for path, name in sorted(found.items())
        if not os.path.lexists(path) or (tracked is not None and tracked.has(path))
    }


def _documents(specs: Iterable[Gathered]) -> Iterator[tuple[str, Document]]:
    """Yield the directory and the document of each variant that could be gathered."""
    for side in specs:
        directory = os.path.abspath(os.path.dirname(side.path))
        yield from ((directory, one.document) for one in side.inputs.values() if not isinstance(one, Faulty))


def linked_data(changed: ChangedFiles, specs: Iterable[Gathered], base: str) -> dict[str, tuple[str, str]]:
    """Return places of changed links on the way to local data, or in them and out again, with channel and target.

    An upload takes what is there, which git need not have. ``base`` as for `changed_secrets`.
    """
    links = {path: os.path.realpath(path) for path in changed.paths if os.path.islink(path)}
    found: dict[str, tuple[str, str]] = {}
    for directory, document in _documents(specs) if links else ():
        for name, local in _named(document, ("channels",), "local") if not is_below(directory, base) else ():
            ways = places_on_the_way(os.path.join(directory, local))
            real = ways[-1]
            for link, end in links.items():
                is_out = is_below(link, real) and not is_below(end, real)
                if link in ways or is_out:
                    found.setdefault(os.path.relpath(link, changed.repository.top), (name, os.readlink(link)))
    return dict(sorted(found.items()))


def _named(document: Document, path: Path, key: str) -> Iterator[tuple[str, str]]:
    """Yield the files that the items of a mapping have at a key, with their names."""
    for name in document.keys(path):
        file = document.string((*path, name, key))
        if file and "\0" not in file:
            yield name, file


def outer_data(inputs: Inputs, top: str | None) -> dict[str, str]:
    """Return the local data of channels that are no files of the repository, which has its top at ``top``."""
    directory = os.path.abspath(inputs.directory)
    found = {}
    for name, local in _named(inputs.document, ("channels",), "local"):
        whole = os.path.normpath(os.path.join(directory, local))
        is_inside = is_below(whole, top) if top else not os.path.isabs(local)
        if not is_inside or ".git" in whole.lower().split(os.sep):
            found[name] = local
    return found


def unopened_places(inputs: Inputs, top: str | None) -> dict[Path, str]:
    """Return key → place in the repository of what a comparison does not open: local data, and secrets of builds.

    A relative path is another place where the spec moved.
    """
    if top is None:
        return {}
    directory = os.path.abspath(inputs.directory)
    return {
        (*path, name, key): os.path.relpath(os.path.join(directory, file), top)
        for path, key in ((("channels",), "local"), (("image", "secrets"), "file"))
        for name, file in _named(inputs.document, path, key)
        if not os.path.isabs(file) and not file.startswith("~")
    }


def rewritten_files(changed: ChangedFiles, specs: Iterable[str], revision: str, cache: InputCache) -> dict[str, str]:
    """Return places of files because of which a new checkout has others for some specs, each with the cause.

    For a file of a spec, an attribute that changes its form; for settings, the submodule or file that may be missing.
    """
    repository = changed.repository
    deciding = {os.path.basename(path) for path in changed.paths}.intersection(FOR_CHECKOUTS)
    if not deciding:
        return {}
    used = {os.path.relpath(os.path.realpath(one), repository.top) for path in specs for one in places_of(path, cache)}
    files = {file.path: file for file in repository.staged if _is_used(file, used)}
    found = _rewritten(changed, files, repository.commit(revision)) if _ATTRIBUTES in deciding else {}
    found[_MODULES] = _lost_submodule(changed, used) if _MODULES in deciding else ""
    if changed.touches(os.path.join(repository.top, _LFS)) and files:
        filters = repository.attributes(files, ("filter",))
        found[_LFS] = min((place for place in files if filters.get(place, {}).get("filter") == "lfs"), default="")
    return {place: name for place, name in sorted(found.items()) if name}


def _rewritten(changed: ChangedFiles, files: Mapping[str, StagedFile], commit: str) -> dict[str, str]:
    repository = changed.repository
    objects = {entry.path: entry.object for entry in changed.entries}
    with temporary_directory() as scratch:
        index = os.path.join(scratch, "index")
        repository.write_index(commit, index)
        then = repository.attributes(files, _NAMES, index)
    now = repository.attributes(files, _NAMES)
    found = {}
    for place, file in files.items():
        was, will = then.get(place, {}), now.get(place, {})
        if was != will and not changed.touches(os.path.join(repository.top, place)):
            here, name = _content(repository.top, place), will.get("filter", "")
            # What is in another form here already, or still, is compared with what git stores.
            if object_name(file.object, here) != file.object:
                found[place] = _converting_back(here, file, will) if objects.get(place) != file.object else ""
            elif (
                name != was.get("filter")
                and name != "lfs"
                and any(repository.setting(f"filter.{name}.{kind}") for kind in ("smudge", "process"))
            ):
                found[place] = "filter"
            else:
                found[place] = _converting(here, will)
    return found


def _lost_submodule(changed: ChangedFiles, used: Set[str]) -> str:
    """Return a submodule with files for some specs that a new checkout leaves empty, and did not before."""
    here = os.path.join(changed.repository.top, _MODULES)
    then, now = (
        _updated(changed.repository.settings(where))
        for where in (f"--blob={changed.commit}:{_MODULES}", f"--file={here}")
    )
    places = (file.path for file in changed.repository.staged if file.mode == SUBMODULE)
    lost = (place for place in places if place in then - now)
    is_used = ((place, is_below(place, one) or is_below(one, place)) for place in lost for one in used)
    return next((place for place, is_part in is_used if is_part or os.curdir in used), "")


def _updated(settings: Iterable[tuple[str, str]]) -> set[str]:
    """Return the places of the submodules in `.gitmodules` that a new checkout fills.

    Of several values, or several submodules with one place, git takes one: `none` anywhere counts. It ignores names
    that are empty or lead upwards.
    """
    places: dict[str, set[str]] = {}
    empty: set[str] = set()
    for setting, value in settings:
        found = re.fullmatch(r"(?s)submodule\.(.*)\.(path|update)", setting)
        if found is not None and found[2] == "path":
            places.setdefault(found[1], set()).add(value)
        elif found is not None and value == "none":
            empty.add(found[1])
    empty.update(name for name, own in places.items() if len(own) > 1 or {"", ".."} & {name, *re.split(r"[/\\]", name)})
    return set().union(*places.values()).difference(*(own for name, own in places.items() if name in empty))


def _is_used(file: StagedFile, used: Set[str]) -> bool:
    return file.mode not in (LINK, SUBMODULE) and any(is_below(file.path, one) or one == os.curdir for one in used)


def _converting(stored: bytes, attributes: Mapping[str, str]) -> str:
    """Return the attribute by which git writes other bytes than those that it stores; empty for none."""
    if attributes.get(_ENCODING, "unset").lower() not in _PLAIN and stored:
        return _ENCODING
    is_text = attributes.get(_of_text(attributes)) != "unset" and b"\0" not in stored
    if attributes.get("eol") == "crlf" and is_text and re.search(rb"(?<!\r)\n", stored):
        return "eol"
    return "ident" if attributes.get("ident") == "set" and b"$Id" in stored else ""


def _of_text(attributes: Mapping[str, str]) -> str:
    """Return the attribute that decides whether a file is text: `crlf` is how git before 1.7.2 named it."""
    return "crlf" if attributes.get("text") == "unspecified" and attributes.get("crlf") != "unspecified" else "text"


def _converting_back(here: bytes, file: StagedFile, attributes: Mapping[str, str]) -> str:
    """Return the attribute by which git stores a file that did not change anew, and writes it in another form.

    Empty for none.
    """
    stored = unix_text(here)
    if object_name(file.object, stored) != file.object:
        return ""
    attribute = _converting(stored, attributes) or _of_text(attributes)
    return "" if attribute == "eol" and stored.replace(b"\n", b"\r\n") == here else attribute


def _content(top: str, place: str) -> bytes:
    try:
        with open(open_below(top, place.split("/")), "rb") as file:
            return file.read(_LARGEST)
    except (OSError, ValueError):
        return b""


def unknown_submodules(base: Revision, paths: list[str], changed: ChangedFiles, sides: Iterable[Variants]) -> list[str]:
    """Return a note for each submodule in a source, or that changed, whose commit in the base is not here."""
    directories = (
        os.path.join(os.path.dirname(side.path), job.job.source.dir)
        for side in sides
        for job in side.compiled.values()
        if job.job.source is not None
    )
    names = dict.fromkeys(name for directory in directories for name in base.submodules(directory))
    below = (name for path in paths for name in base.submodules(base.path(path)))
    names.update((name, None) for name in below if os.path.join(changed.repository.top, name) in changed.paths)
    return [
        f"`{name}` is a submodule: its contents at {base.name} are unknown, so all its files count as new"
        for name in names
        if os.path.join(changed.repository.top, name) not in changed.unread
    ]
